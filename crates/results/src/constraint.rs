//! Path constraints as text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditions under which an input takes a path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Constraint {
    /// The inputs that the conditions speak of.
    pub inputs: Vec<String>,
    /// Conditions that hold for these inputs on every path.
    pub domain: Vec<String>,
    /// The branches of the path, in their order.
    pub branches: Vec<Branch>,
    /// How many branches follow that are not listed.
    pub more: usize,
}

/// One branch of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The outcome in the user's source, such as `12+`; null where no condition of the source demands it.
    pub outcome: Option<String>,
    /// The condition on the inputs.
    pub condition: String,
}
