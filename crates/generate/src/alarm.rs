//! A clock for one function: execution and solver look at one flag, and it is raised when the time is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long an interrupt may go unseen.
const STEP: Duration = Duration::from_millis(20);

/// Raises its flag at a point of time, or when another flag is raised. It stops when it is dropped.
pub(crate) struct Alarm {
    flag: Arc<AtomicBool>,
    /// Closed to end the thread.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Alarm {
    pub(crate) fn at(end: Instant, interrupt: &Arc<AtomicBool>) -> Self {
        let flag = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = channel::<()>();
        let (raised, interrupt) = (flag.clone(), interrupt.clone());
        let watch = move || {
            while let Err(RecvTimeoutError::Timeout) =
                receiver.recv_timeout(STEP.min(end.saturating_duration_since(Instant::now())))
            {
                if interrupt.load(Ordering::Relaxed) || Instant::now() >= end {
                    raised.store(true, Ordering::Relaxed);
                    return;
                }
            }
        };
        // Without a thread the limits between two steps still hold.
        let thread = std::thread::Builder::new().name("alarm".to_string()).spawn(watch).ok();
        Alarm { flag, running: thread.map(|thread| (sender, thread)) }
    }

    /// Without a time of its own: the flag is the other one.
    pub(crate) fn on(interrupt: &Arc<AtomicBool>) -> Self {
        Alarm { flag: interrupt.clone(), running: None }
    }

    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.running.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rings_in_time_or_with_the_interrupt() {
        let interrupt = Arc::new(AtomicBool::new(false));
        let soon = Alarm::at(Instant::now() + Duration::from_millis(50), &interrupt);
        let late = Alarm::at(Instant::now() + Duration::from_secs(3600), &interrupt);
        assert!(!soon.flag().load(Ordering::Relaxed));
        std::thread::sleep(Duration::from_millis(300));
        assert!(soon.flag().load(Ordering::Relaxed));
        assert!(!late.flag().load(Ordering::Relaxed));
        interrupt.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(300));
        assert!(late.flag().load(Ordering::Relaxed));
    }
}
