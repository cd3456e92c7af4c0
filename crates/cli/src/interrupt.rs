//! Ctrl-C: generation stops at the next step and what was found is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::CliError;
use crate::exit::Exit;

/// Set by the first Ctrl-C; the second one ends at once.
pub fn watch() -> Result<Arc<AtomicBool>, CliError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let handler = move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted as i32);
        }
    };
    let set = ctrlc::set_handler(handler);
    set.map_err(|cause| CliError::our_fault("cannot watch for Ctrl-C").with_cause(cause))?;
    Ok(interrupted)
}
