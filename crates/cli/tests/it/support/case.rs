//! Cases that are found when the tests start.

use libtest_mimic::Failed;

/// Passes where nothing is wrong.
pub fn result(wrong: Vec<String>) -> Result<(), Failed> {
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
