//! The client of the worker process. It waits in short steps, so that the wall-clock limit and the interrupt flag
//! hold whatever the worker does, and kills a worker that has not answered in time.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::in_process::verdict;
use super::wire;
use super::{Backend, Verdict};
use crate::answer::Reason;
use crate::solver::Limits;
use crate::terms::{TermId, Terms};

/// How long an interrupt may go unseen.
const STEP: Duration = Duration::from_millis(20);

/// Z3 in a worker process, started at the first query and again after it had to be killed or has crashed.
pub(crate) struct Child {
    program: PathBuf,
    limits: Limits,
    interrupt: Arc<AtomicBool>,
    worker: Option<Worker>,
}

impl Child {
    pub(crate) fn new(program: PathBuf, limits: Limits, interrupt: Arc<AtomicBool>) -> Self {
        Self { program, limits, interrupt, worker: None }
    }

    fn exchange(&mut self, query: &[u8]) -> Result<Vec<u8>, Reason> {
        self.ensure_worker()?;
        let deadline = Deadline::new(&self.limits, &self.interrupt);
        let worker = self.worker.as_mut().ok_or(Reason::SolverCrashed)?;
        let reply = worker.send(query, &deadline).and_then(|()| worker.receive(&deadline));
        if reply.is_err() {
            self.worker = None;
        }
        reply
    }

    /// A worker that died since its last answer says nothing about this query: start another.
    fn ensure_worker(&mut self) -> Result<(), Reason> {
        if self.worker.as_mut().is_some_and(|worker| worker.is_alive()) {
            return Ok(());
        }
        self.worker = None;
        let started = Worker::start(&self.program);
        self.worker = Some(started.map_err(|error| unavailable(&self.program, &error))?);
        Ok(())
    }
}

impl Backend for Child {
    fn solve(&mut self, terms: &Terms, constraints: &[TermId]) -> Verdict {
        let (graph, variables) = wire::graph(terms, constraints);
        let reply = self.exchange(&wire::encode_query(&graph, &self.limits));
        match reply.map(|bytes| wire::decode_reply(&bytes)) {
            Ok(Ok(reply)) => verdict(reply, constraints, &variables, &self.limits),
            Ok(Err(_)) => self.malformed_reply(),
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

impl Child {
    fn malformed_reply(&mut self) -> Verdict {
        self.worker = None;
        Verdict::Unknown(Reason::SolverCrashed)
    }
}

fn unavailable(program: &Path, error: &io::Error) -> Reason {
    Reason::WorkerUnavailable { message: format!("{}: {error}", program.display()) }
}

/// Killed and reaped when dropped.
struct Worker {
    process: std::process::Child,
    /// Standard input and output of the worker. A socket, because it has time limits for both directions.
    stream: UnixStream,
}

impl Worker {
    fn start(program: &Path) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(STEP))?;
        ours.set_write_timeout(Some(STEP))?;
        let input = OwnedFd::from(theirs.try_clone()?);
        let process = Command::new(program)
            .arg("smt-worker")
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { process, stream: ours })
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    fn send(&mut self, query: &[u8], deadline: &Deadline<'_>) -> Result<(), Reason> {
        let message = wire::framed(query).map_err(|_| Reason::GaveUp { message: "query too long".to_owned() })?;
        let mut rest = &message[..];
        while !rest.is_empty() {
            let written = deadline.attempt(|| self.stream.write(rest))?;
            rest = &rest[written..];
        }
        Ok(())
    }

    fn receive(&mut self, deadline: &Deadline<'_>) -> Result<Vec<u8>, Reason> {
        let mut header = [0; 4];
        self.fill(&mut header, deadline)?;
        let length = wire::message_length(header).map_err(|_| Reason::SolverCrashed)?;
        let mut payload = vec![0; length];
        self.fill(&mut payload, deadline)?;
        Ok(payload)
    }

    fn fill(&mut self, buffer: &mut [u8], deadline: &Deadline<'_>) -> Result<(), Reason> {
        let mut filled = 0;
        while filled < buffer.len() {
            filled += deadline.attempt(|| self.stream.read(&mut buffer[filled..]))?;
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Either fails only when the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// When to stop waiting.
struct Deadline<'a> {
    at: Instant,
    milliseconds: u64,
    interrupt: &'a AtomicBool,
}

impl<'a> Deadline<'a> {
    fn new(limits: &Limits, interrupt: &'a AtomicBool) -> Self {
        let at = Instant::now() + Duration::from_millis(limits.milliseconds);
        Self { at, milliseconds: limits.milliseconds, interrupt }
    }

    /// Repeats an operation that gives up after [`STEP`] until it moves some bytes, or it is time to stop.
    fn attempt(&self, mut operation: impl FnMut() -> io::Result<usize>) -> Result<usize, Reason> {
        loop {
            match operation() {
                Ok(0) => return Err(Reason::SolverCrashed),
                Ok(moved) => return Ok(moved),
                Err(error) if is_temporary(&error) => self.check()?,
                Err(_) => return Err(Reason::SolverCrashed),
            }
        }
    }

    fn check(&self) -> Result<(), Reason> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Reason::Interrupted);
        }
        if Instant::now() >= self.at {
            return Err(Reason::TimeLimit { milliseconds: self.milliseconds });
        }
        Ok(())
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
