//! The client of the worker process. It waits in short steps, so that the wall-clock limit and the interrupt flag
//! hold whatever the worker does, and kills a worker that has not answered in time.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::deadline::{Deadline, STEP};
use super::in_process::verdict;
use super::wire::{self, Reply};
use super::{Backend, Verdict, limits_for};
use crate::answer::Reason;
use crate::solver::Limits;
use crate::terms::{TermId, Terms};

/// The worker processes that the solvers of one thread share. Starting one costs as much as many queries, so a solver that
/// has got its answer leaves the worker here for the next. For one thread, because the kernel ends a worker together with
/// the thread that started it.
#[derive(Clone, Debug)]
pub struct Workers {
    program: Arc<Path>,
    idle: Arc<Mutex<Vec<Worker>>>,
}

impl Workers {
    /// `program` is started with the one argument `smt-worker`; it must call [`crate::smt_worker_main`] then.
    pub fn new(program: &Path) -> Self {
        Self { program: program.into(), idle: Arc::default() }
    }

    /// A worker that waits for a query. One that died since its last answer says nothing about this query: start another.
    fn take(&self) -> Result<Worker, Reason> {
        while let Some(mut worker) = self.idle().pop() {
            if worker.is_alive() {
                return Ok(worker);
            }
        }
        Worker::start(&self.program).map_err(|error| unavailable(&self.program, &error))
    }

    fn put_back(&self, worker: Worker) {
        self.idle().push(worker);
    }

    /// A thread that panicked while it held the lock left a list that is as good as any.
    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Z3 in a worker process. A worker that did not answer properly is killed, not used again.
pub(crate) struct Child {
    workers: Workers,
    limits: Limits,
    interrupt: Arc<AtomicBool>,
}

impl Child {
    pub(crate) fn new(workers: Workers, limits: Limits, interrupt: Arc<AtomicBool>) -> Self {
        Self { workers, limits, interrupt }
    }

    fn exchange(&self, query: &[u8]) -> Result<Reply, Reason> {
        let mut worker = self.workers.take()?;
        let deadline = Deadline::new(&self.limits, &self.interrupt);
        worker.send(query, &deadline)?;
        let reply = wire::decode_reply(&worker.receive(&deadline)?).map_err(|_| Reason::SolverCrashed)?;
        self.workers.put_back(worker);
        Ok(reply)
    }
}

impl Backend for Child {
    fn solve(&mut self, terms: &Terms, constraints: &[TermId]) -> Verdict {
        let (graph, variables) = wire::graph(terms, constraints);
        let Some(limits) = limits_for(&graph, &self.limits) else { return Verdict::Unknown(Reason::FloatingPoint) };
        match self.exchange(&wire::encode_query(&graph, &limits)) {
            Ok(reply) => verdict(reply, constraints, &variables, &limits),
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

fn unavailable(program: &Path, error: &io::Error) -> Reason {
    Reason::WorkerUnavailable { message: format!("{}: {error}", program.display()) }
}

/// Killed and reaped when dropped.
#[derive(Debug)]
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
            // Ctrl-C is for us alone, who end it when its time has come.
            .process_group(0)
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
