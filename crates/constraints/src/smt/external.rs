//! A solver of somebody else's, if one is installed: a process for each query that reads SMT-LIB text. It is waited for in
//! short steps like our own worker, and killed when its time is over.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::deadline::{Deadline, STEP};
use super::script::{bits, script};
use super::wire::{self, Graph};
use super::worker::{die_with_parent, limit_memory};
use super::{Backend, Verdict};
use crate::answer::Reason;
use crate::model::Model;
use crate::solver::Limits;
use crate::terms::{TermId, TermKind, Terms, VariableId};

/// A solver that reads SMT-LIB text, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSolver {
    name: &'static str,
    program: Arc<Path>,
}

/// Steps of our SMT solver for one of cvc5's, which are slower: 400,000 took about 4 s, and what was not decided by then
/// was not decided in 20 s either.
const STEPS_PER_STEP: u32 = 100;

impl ExternalSolver {
    /// The names of those that are known, the better one for floats first.
    pub const NAMES: [&'static str; 2] = ["bitwuzla", "cvc5"];

    /// The one of this name, if it is in a folder of the PATH.
    pub fn named(name: &str) -> Option<Self> {
        let name = *Self::NAMES.iter().find(|known| **known == name)?;
        let path = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_program)?;
        Some(Self { name, program: program.into() })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A limit of steps gives the same answer on every machine; bitwuzla has none, only our clock.
    fn arguments(&self, limits: &Limits) -> Vec<String> {
        match self.name {
            "cvc5" => {
                let steps = format!("--rlimit={}", limits.resource / STEPS_PER_STEP);
                vec!["--lang=smt2".to_owned(), "--quiet".to_owned(), "--seed=0".to_owned(), steps]
            }
            _ => Vec::new(),
        }
    }
}

fn is_program(path: &PathBuf) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

pub(crate) struct External {
    solver: ExternalSolver,
    limits: Limits,
    interrupt: Arc<AtomicBool>,
}

impl External {
    pub(crate) fn new(solver: ExternalSolver, limits: Limits, interrupt: Arc<AtomicBool>) -> Self {
        Self { solver, limits, interrupt }
    }

    /// Everything that the solver prints.
    fn ask(&self, question: &str) -> Result<String, Reason> {
        let deadline = Deadline::new(&self.limits, &self.interrupt);
        let unavailable = |error: io::Error| Reason::WorkerUnavailable {
            message: format!("{}: {error}", self.solver.program.display()),
        };
        let mut run = Run::start(&self.solver, &self.limits).map_err(unavailable)?;
        run.send(question.as_bytes(), &deadline)?;
        run.receive(&deadline)
    }

    fn verdict(&self, reply: &str, constraints: &[TermId], variables: &[VariableId]) -> Verdict {
        let (word, rest) = reply.split_once('\n').unwrap_or((reply, ""));
        match word.trim() {
            "sat" => Verdict::Sat(model(rest, variables)),
            "unsat" => Verdict::Unsat(constraints.to_vec()),
            "unknown" => Verdict::Unknown(Reason::ResourceLimit { steps: self.limits.resource }),
            "" => Verdict::Unknown(Reason::SolverCrashed),
            other => Verdict::Unknown(Reason::GaveUp { message: other.to_owned() }),
        }
    }
}

impl Backend for External {
    fn solve(&mut self, terms: &Terms, constraints: &[TermId]) -> Verdict {
        let (graph, variables) = wire::graph(terms, constraints);
        match self.ask(&question(&graph)) {
            Ok(reply) => self.verdict(&reply, constraints, &variables),
            Err(reason) => Verdict::Unknown(reason),
        }
    }
}

/// The values come in the order of the variables, which is that of their nodes.
fn question(graph: &Graph) -> String {
    let nodes = graph.nodes.iter().enumerate();
    let variables = nodes.filter(|(_, node)| matches!(node.kind, TermKind::Variable(_)));
    let names: Vec<String> = variables.map(|(place, _)| bits(TermId(place as u32))).collect();
    format!("{}(check-sat)\n(get-value ({}))\n(exit)\n", script(graph), names.join(" "))
}

/// From `((n0 #b01) (n3 #x0f))`. What is not understood has no value: the check of the model decides.
fn model(text: &str, variables: &[VariableId]) -> Model {
    let words = text.split(|c: char| c.is_whitespace() || c == '(' || c == ')').filter(|word| !word.is_empty());
    let values = words.filter_map(|word| {
        let binary = word.strip_prefix("#b").map(|digits| u128::from_str_radix(digits, 2));
        binary.or_else(|| word.strip_prefix("#x").map(|digits| u128::from_str_radix(digits, 16)))?.ok()
    });
    variables.iter().copied().zip(values).collect()
}

/// Killed and reaped when dropped.
struct Run {
    process: Child,
    stream: UnixStream,
}

impl Run {
    fn start(solver: &ExternalSolver, limits: &Limits) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(STEP))?;
        ours.set_write_timeout(Some(STEP))?;
        let input = OwnedFd::from(theirs.try_clone()?);
        let limits = *limits;
        let mut command = Command::new(&*solver.program);
        command
            .args(solver.arguments(&limits))
            .stdin(Stdio::from(input))
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .stderr(Stdio::null());
        // SAFETY: both make system calls and allocate nothing.
        unsafe {
            command.pre_exec(move || {
                die_with_parent();
                limit_memory(&limits);
                Ok(())
            });
        }
        Ok(Self { process: command.spawn()?, stream: ours })
    }

    fn send(&mut self, question: &[u8], deadline: &Deadline<'_>) -> Result<(), Reason> {
        let mut rest = question;
        while !rest.is_empty() {
            let written = deadline.attempt(|| self.stream.write(rest))?;
            rest = &rest[written..];
        }
        self.stream.shutdown(Shutdown::Write).map_err(|_| Reason::SolverCrashed)
    }

    fn receive(&mut self, deadline: &Deadline<'_>) -> Result<String, Reason> {
        let mut reply = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match deadline.attempt_or_end(|| self.stream.read(&mut buffer))? {
                0 => return Ok(String::from_utf8_lossy(&reply).into_owned()),
                count => reply.extend_from_slice(&buffer[..count]),
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Either fails only when the process is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
