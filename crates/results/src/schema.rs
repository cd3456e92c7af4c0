//! The JSON schema of all objects, generated from their types.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::{FunctionFile, Index, Report};

/// Any of the objects.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
enum Document {
    Index(Index),
    FunctionFile(FunctionFile),
    Report(Report),
}

/// Returns the schema of the index, of a function's file and of the object that `--json` prints.
pub fn schema() -> Value {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), "Results of Branchwise, version 1".into());
    schema.to_value()
}
