use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::{Decide, Query};
use crate::answer::{Answer, Solved, Statistics};
use crate::smt::script::{is_exact, script};
use crate::smt::wire;

/// A folder for queries as SMT-LIB text, numbered in the order in which they are asked.
#[derive(Debug)]
pub struct QueryLog {
    folder: PathBuf,
    next: AtomicU64,
}

impl QueryLog {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), next: AtomicU64::new(0) }
    }

    /// The answer stands in the first line. A query that cannot be written is missing there and nowhere else.
    fn write(&self, query: &Query<'_>, solved: &Solved, microseconds: u128) {
        let (graph, _) = wire::graph(query.terms, query.constraints);
        let answer = match solved.answer {
            Answer::Sat(_) => "sat",
            Answer::Unsat(_) => "unsat",
            Answer::Unknown(_) => "unknown",
        };
        let floats = if query.has_floats() { "floats" } else { "integers" };
        let exact = if is_exact(&graph) { "exact" } else { "relaxed" };
        let head = format!("; {answer} {} {microseconds} {floats} {exact}\n", solved.layer);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let text = head + &script(&graph) + "(check-sat)\n";
        let _ = std::fs::write(self.folder.join(format!("{number:06}.smt2")), text);
    }
}

/// Writes down what the layers that compute something are asked, and what they say.
pub(crate) struct Logged<Inner> {
    inner: Inner,
    log: Option<Arc<QueryLog>>,
}

impl<Inner> Logged<Inner> {
    pub(crate) fn new(inner: Inner, log: Option<Arc<QueryLog>>) -> Self {
        Self { inner, log }
    }
}

impl<Inner: Decide> Decide for Logged<Inner> {
    fn decide(&mut self, query: &Query<'_>, statistics: &mut Statistics) -> Solved {
        let start = Instant::now();
        let solved = self.inner.decide(query, statistics);
        if let Some(log) = &self.log {
            log.write(query, &solved, start.elapsed().as_micros());
        }
        solved
    }
}
