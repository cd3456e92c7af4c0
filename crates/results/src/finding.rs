//! A bad end, with an input that shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A fault of the program under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub kind: String,
    pub file: String,
    pub line: Option<u32>,
    pub column: Option<u32>,
    /// The test of the suite that shows it, where there is one.
    pub test: Option<u32>,
    pub message: String,
    /// The function whose input shows it.
    pub function: String,
    /// The file of that function.
    pub function_file: String,
    /// The input that shows it.
    pub inputs: Map<String, Value>,
    /// All columns of the line where the same kind of fault was found, if they are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<u32>,
    /// Other functions whose inputs show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<String>,
    /// A native run or a sanitizer shows it.
    pub confirmed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_confirmed_because: Option<String>,
    /// The end of the native run with this input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Map<String, Value>>,
}
