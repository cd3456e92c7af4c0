//! Why results could not be read.

use std::fmt::{self, Display};
use std::path::Path;

/// Names the file and the cause, and says how to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    pub message: String,
    pub hint: String,
}

impl LoadError {
    pub(crate) fn no_index(path: &Path, cause: &impl Display) -> Self {
        LoadError {
            message: format!("cannot read {}: {cause}", path.display()),
            hint: "give a folder that `branchwise generate --out` wrote".to_owned(),
        }
    }

    pub(crate) fn not_an_index(path: &Path, cause: &impl Display) -> Self {
        LoadError {
            message: format!("{} is no index of results: {cause}", path.display()),
            hint: "generate the suite again with this version".to_owned(),
        }
    }

    pub(crate) fn no_details(path: &Path, cause: &impl Display) -> Self {
        LoadError {
            message: format!("cannot read {}, which the index names: {cause}", path.display()),
            hint: "keep report.json and the folder report together, or generate the suite again".to_owned(),
        }
    }

    pub(crate) fn other_details(path: &Path, cause: &impl Display) -> Self {
        LoadError {
            message: format!("{} is not the file that the index names: {cause}", path.display()),
            hint: "it was changed or is damaged; generate the suite again".to_owned(),
        }
    }
}

impl Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}
