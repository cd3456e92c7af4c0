//! Ctrl-C: the first ends the search, the second ends also what is running, the third ends everything.
//!
//! SIGTERM and SIGHUP are treated like Ctrl-C.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::CliError;
use crate::exit::Exit;
use crate::temporary;

/// What signals asked for so far.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    shared: Arc<(Mutex<Signals>, Condvar)>,
}

#[derive(Debug, Default)]
struct Signals {
    count: u32,
    phase: Phase,
}

/// What a second signal would interrupt.
#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is found yet.
    #[default]
    Before,
    /// A thread waits for the second signal.
    During,
    /// What was found is being written.
    After,
}

impl Interrupt {
    /// Watches for signals from now on.
    pub fn watch() -> Result<Self, CliError> {
        let interrupt = Interrupt::default();
        let signalled = interrupt.clone();
        let set = ctrlc::set_handler(move || signalled.note());
        set.map_err(|cause| CliError::our_fault("cannot watch for Ctrl-C").with_cause(cause))?;
        Ok(interrupt)
    }

    /// Raised by the first signal.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.raised
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// Ends the search as a signal does.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
    }

    fn note(&self) {
        self.raise();
        let mut signals = self.signals();
        signals.count += 1;
        match (signals.count, &signals.phase) {
            (1, _) => tell("stopping; finishing what is running; press Ctrl-C again to stop sooner"),
            (2, Phase::During | Phase::After) => tell("stopping now; writing what is known"),
            _ => end(),
        }
        self.shared.1.notify_all();
    }

    /// Does `work`. A second signal before it is done calls `sooner` in another thread, and then ends the process.
    pub fn during<T>(&self, work: impl FnOnce() -> T, sooner: impl FnOnce() + Send) -> T {
        std::thread::scope(|scope| {
            let _awaited = Awaited::begin(self);
            scope.spawn(|| {
                if self.is_second_awaited() {
                    sooner();
                    end();
                }
            });
            work()
        })
    }

    /// Waits for the second signal. Returns false if nobody waits for it any more.
    fn is_second_awaited(&self) -> bool {
        let mut signals = self.signals();
        while signals.phase == Phase::During && signals.count < 2 {
            signals = self.shared.1.wait(signals).unwrap_or_else(PoisonError::into_inner);
        }
        signals.phase == Phase::During
    }

    fn signals(&self) -> MutexGuard<'_, Signals> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, a thread waits for the second signal. A panic ends that too.
struct Awaited<'a>(&'a Interrupt);

impl<'a> Awaited<'a> {
    fn begin(interrupt: &'a Interrupt) -> Self {
        interrupt.signals().phase = Phase::During;
        Awaited(interrupt)
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.signals().phase = Phase::After;
        self.0.shared.1.notify_all();
    }
}

/// There may be nobody left to tell: a terminal that was closed sends SIGHUP.
fn tell(what: &str) {
    let _ = writeln!(std::io::stderr(), "branchwise: {what}");
}

fn end() -> ! {
    temporary::remove();
    // SAFETY: it has no preconditions. Other threads are in the middle of something, and `exit` would run the destructors
    // of the libraries that they use.
    unsafe { libc::_exit(Exit::Interrupted as i32) }
}
