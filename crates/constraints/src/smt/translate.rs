//! From term graphs to Z3 and back. A term of width 1 is a Z3 boolean where it is logical and a bit-vector where
//! it is cut from one; each is converted when it is used as the other.

use std::time::{Duration, Instant};

use z3::ast::{Ast, BV, Bool};
use z3::{Config, Params, SatResult, Solver, Tactic, with_z3_config};

use super::extremes::{Ordered, extremes};
use super::floats;
use super::narrowing::{Widths, widths_by_bounds, widths_by_order};
use super::wire::{Graph, GraphNode, Reply};
use crate::solver::{Limits, Procedure};
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp};

/// Runs in a context without a history: in another one Z3 may find another model for the same query.
pub(crate) fn in_new_context<R: Send + Sync>(run: impl FnOnce() -> R + Send + Sync) -> R {
    with_z3_config(&Config::new(), run)
}

/// As [`in_new_context`], and Z3 looks at the clock now and then. Not for the worker, which its client watches:
/// the timer is a thread for each query and was half the cost of an easy one.
pub(crate) fn in_new_timed_context<R: Send + Sync>(limits: &Limits, run: impl FnOnce() -> R + Send + Sync) -> R {
    let mut configuration = Config::new();
    configuration.set_timeout_msec(limits.milliseconds);
    with_z3_config(&configuration, run)
}

/// Conditions over many paths at once are larger than this. With names a hard one took up to twice as long, variables may be
/// narrowed by all that the others say only where none is named, and nobody asks for another that contains its core.
const MOST_NODES_NAMED: usize = 1_000;

/// Decides the graph in the current context. The constraints of a small one are named, so that a refutation says which ones
/// it used.
pub(crate) fn solve(graph: &Graph, limits: &Limits) -> Reply {
    let named = graph.nodes.len() <= MOST_NODES_NAMED;
    let widths = if named { widths_by_order(graph) } else { widths_by_bounds(graph) };
    let translated = translate(graph, &widths);
    let start = Instant::now();
    let solver = tactic(limits.procedure).solver();
    solver.set_params(&parameters(limits.resource, named));
    let names = names(if named { graph.constraints.len() } else { 0 });
    for (place, &constraint) in graph.constraints.iter().enumerate() {
        let constraint = translated[constraint.index()].boolean();
        match names.get(place) {
            Some(name) => solver.assert_and_track(constraint, name),
            None => solver.assert(constraint),
        }
    }
    if !named {
        extremes(graph).iter().for_each(|ordered| solver.assert(comparison(ordered, &translated)));
    }
    match solver.check() {
        SatResult::Sat => model_values(&solver, graph, &translated, &widths),
        SatResult::Unsat => Reply::Unsat(places(&names, &solver.get_unsat_core())),
        SatResult::Unknown => {
            let words = solver.get_reason_unknown().unwrap_or_default();
            unknown(&words, start.elapsed(), limits)
        }
    }
}

/// The preprocessors that pay and that keep track of names, then SAT. On the path conditions of real programs that
/// the cheaper layers leave over it was as fast as Z3's lazy core, and six times as fast where memory is read at symbolic
/// places. Cores came at no cost that could be measured. On conditions with hundreds of terms the lazy core with names
/// took more than five times as long, and so did these steps without `solve-eqs`. `elim-uncnstr` was not tried with names.
///
/// On proofs by induction, which are about equal arguments of functions, the lazy core took a fifth to two thirds of the time.
fn tactic(procedure: Procedure) -> Tactic {
    let last: &[&str] = match procedure {
        Procedure::Eager => &["bit-blast", "sat"],
        Procedure::Lazy => &["smt"],
    };
    let steps = ["propagate-values", "solve-eqs", "simplify"].iter().chain(last);
    steps.fold(Tactic::new("simplify"), |all, step| all.and_then(&Tactic::new(step)))
}

fn comparison(ordered: &Ordered, translated: &[Translated]) -> Bool {
    let [least, most] = [ordered.least, ordered.most].map(|term| translated[term.index()].vector());
    if ordered.signed { least.bvsle(&most) } else { least.bvule(&most) }
}

/// Variables are numbers, so that these words are not theirs.
fn names(count: usize) -> Vec<Bool> {
    (0..count).map(|place| Bool::new_const(format!("constraint {place}"))).collect()
}

fn places(names: &[Bool], core: &[Bool]) -> Vec<u32> {
    let is_named = |name: &Bool| core.iter().any(|member| member == name);
    (0..).zip(names).filter(|(_, name)| is_named(name)).map(|(place, _)| place).collect()
}

fn parameters(resource: u32, cores: bool) -> Params {
    let mut parameters = Params::new();
    parameters.set_u32("rlimit", resource);
    parameters.set_u32("random_seed", 0);
    parameters.set_bool("unsat_core", cores);
    parameters
}

/// Z3 has no codes for these, only words, and "canceled" for both the clock and the count of steps.
fn unknown(words: &str, elapsed: Duration, limits: &Limits) -> Reply {
    let late = elapsed >= Duration::from_millis(limits.milliseconds);
    match words {
        _ if words.contains("timeout") || late => Reply::TimeLimit,
        _ if words.contains("memory") || words.contains("memout") => Reply::MemoryLimit,
        _ if words.contains("resource") || words.contains("canceled") => Reply::ResourceLimit,
        _ => Reply::GaveUp(words.to_owned()),
    }
}

fn model_values(solver: &Solver, graph: &Graph, translated: &[Translated], widths: &Widths) -> Reply {
    let Some(model) = solver.get_model() else {
        return Reply::GaveUp("no model".to_owned());
    };
    let mut values = Vec::new();
    for (node, ast) in graph.nodes.iter().zip(translated) {
        let TermKind::Variable(id) = node.kind else {
            continue;
        };
        let value = match ast {
            Translated::Boolean(ast) => model.get_const_interp(ast).and_then(|value| value.as_bool()).map(u128::from),
            // Where no value matters, not all do: those that others leave are below the width.
            Translated::Vector(ast) if widths[id.0 as usize].is_some() => {
                model.eval(ast, true).and_then(|value| vector_value(&value, node.width))
            }
            Translated::Vector(ast) => model.get_const_interp(ast).and_then(|value| vector_value(&value, node.width)),
        };
        values.extend(value.map(|value| (id.0, value)));
    }
    Reply::Sat(values)
}

fn vector_value(value: &BV, width: u32) -> Option<u128> {
    if width <= 64 {
        return value.as_u64().map(u128::from);
    }
    let high = value.extract(width - 1, 64).simplify().as_u64()?;
    let low = value.extract(63, 0).simplify().as_u64()?;
    Some((u128::from(high) << 64) | u128::from(low))
}

pub(super) enum Translated {
    Boolean(Bool),
    Vector(BV),
}

impl Translated {
    fn boolean(&self) -> Bool {
        match self {
            Translated::Boolean(ast) => ast.clone(),
            Translated::Vector(ast) => ast.eq(BV::from_u64(1, 1)),
        }
    }

    fn vector(&self) -> BV {
        self.extended(1)
    }

    /// The vector, or the boolean as 0 or 1 of this width.
    fn extended(&self, width: u32) -> BV {
        match self {
            Translated::Boolean(ast) => ast.ite(&BV::from_u64(1, width), &BV::from_u64(0, width)),
            Translated::Vector(ast) => ast.clone(),
        }
    }
}

fn translate(graph: &Graph, widths: &Widths) -> Vec<Translated> {
    let mut translation = Translation { graph, widths, done: Vec::with_capacity(graph.nodes.len()) };
    for node in &graph.nodes {
        let ast = translation.node(node);
        translation.done.push(ast);
    }
    translation.done
}

struct Translation<'a> {
    graph: &'a Graph,
    widths: &'a Widths,
    done: Vec<Translated>,
}

impl Translation<'_> {
    fn node(&self, node: &GraphNode) -> Translated {
        match node.kind {
            TermKind::Constant(value) => constant(value, node.width),
            TermKind::Variable(id) => variable(id.0, node.width, self.widths[id.0 as usize]),
            TermKind::Unary(op, a) => self.unary(op, a, node.width),
            TermKind::Binary(op, a, b) => self.binary(op, a, b, node.width),
            TermKind::Compare(op, a, b) => Translated::Boolean(self.compare(op, a, b)),
            TermKind::IfThenElse { condition, then, otherwise } => self.if_then_else(condition, then, otherwise),
            TermKind::Extract { term, low } => Translated::Vector(self.vector(term).extract(low + node.width - 1, low)),
            TermKind::Concat { high, low } => Translated::Vector(self.vector(high).concat(self.vector(low))),
            TermKind::ZeroExtend(a) => Translated::Vector(self.zero_extend(a, node.width)),
            TermKind::SignExtend(a) => Translated::Vector(self.vector(a).sign_ext(node.width - self.width(a))),
            TermKind::Float(op, a, Some(b), _) if op.is_comparison() => {
                Translated::Boolean(floats::compare(op, &self.vector(a), &self.vector(b), self.width(a)))
            }
            TermKind::Float(..) => floats::any_value(self.done.len(), node.width),
        }
    }

    fn width(&self, term: TermId) -> u32 {
        self.graph.nodes[term.index()].width
    }

    fn boolean(&self, term: TermId) -> Bool {
        self.done[term.index()].boolean()
    }

    fn vector(&self, term: TermId) -> BV {
        self.done[term.index()].vector()
    }

    fn zero_extend(&self, a: TermId, width: u32) -> BV {
        match &self.done[a.index()] {
            boolean @ Translated::Boolean(_) => boolean.extended(width),
            Translated::Vector(ast) => ast.zero_ext(width - self.width(a)),
        }
    }

    fn unary(&self, op: UnaryOp, a: TermId, width: u32) -> Translated {
        match op {
            UnaryOp::Not if width == 1 => Translated::Boolean(self.boolean(a).not()),
            UnaryOp::Not => Translated::Vector(self.vector(a).bvnot()),
            UnaryOp::Neg => Translated::Vector(self.vector(a).bvneg()),
        }
    }

    fn binary(&self, op: BinaryOp, a: TermId, b: TermId, width: u32) -> Translated {
        match op {
            BinaryOp::And if width == 1 => Translated::Boolean(Bool::and(&[self.boolean(a), self.boolean(b)])),
            BinaryOp::Or if width == 1 => Translated::Boolean(Bool::or(&[self.boolean(a), self.boolean(b)])),
            BinaryOp::Xor if width == 1 => Translated::Boolean(self.boolean(a).xor(self.boolean(b))),
            _ => Translated::Vector(vector_operation(op, &self.vector(a), &self.vector(b))),
        }
    }

    fn compare(&self, op: CompareOp, a: TermId, b: TermId) -> Bool {
        match op {
            CompareOp::Eq if self.width(a) == 1 => self.boolean(a).iff(self.boolean(b)),
            CompareOp::Eq => self.vector(a).eq(self.vector(b)),
            CompareOp::Ult => self.vector(a).bvult(self.vector(b)),
            CompareOp::Ule => self.vector(a).bvule(self.vector(b)),
            CompareOp::Slt => self.vector(a).bvslt(self.vector(b)),
            CompareOp::Sle => self.vector(a).bvsle(self.vector(b)),
        }
    }

    fn if_then_else(&self, condition: TermId, then: TermId, otherwise: TermId) -> Translated {
        let condition = self.boolean(condition);
        match self.width(then) {
            1 => Translated::Boolean(condition.ite(&self.boolean(then), &self.boolean(otherwise))),
            _ => Translated::Vector(condition.ite(&self.vector(then), &self.vector(otherwise))),
        }
    }
}

fn vector_operation(op: BinaryOp, a: &BV, b: &BV) -> BV {
    match op {
        BinaryOp::Add => a.bvadd(b),
        BinaryOp::Sub => a.bvsub(b),
        BinaryOp::Mul => a.bvmul(b),
        BinaryOp::UDiv => a.bvudiv(b),
        BinaryOp::SDiv => a.bvsdiv(b),
        BinaryOp::URem => a.bvurem(b),
        BinaryOp::SRem => a.bvsrem(b),
        BinaryOp::And => a.bvand(b),
        BinaryOp::Or => a.bvor(b),
        BinaryOp::Xor => a.bvxor(b),
        BinaryOp::Shl => a.bvshl(b),
        BinaryOp::LShr => a.bvlshr(b),
        BinaryOp::AShr => a.bvashr(b),
    }
}

fn constant(value: u128, width: u32) -> Translated {
    match width {
        1 => Translated::Boolean(Bool::from_bool(value == 1)),
        2..=64 => Translated::Vector(BV::from_u64(value as u64, width)),
        _ => {
            let high = BV::from_u64((value >> 64) as u64, width - 64);
            Translated::Vector(high.concat(BV::from_u64(value as u64, 64)))
        }
    }
}

fn variable(number: u32, width: u32, narrowed: Option<u32>) -> Translated {
    match (width, narrowed) {
        (1, _) => Translated::Boolean(Bool::new_const(number)),
        (_, Some(bits)) => Translated::Vector(BV::new_const(number, bits).zero_ext(width - bits)),
        (_, None) => Translated::Vector(BV::new_const(number, width)),
    }
}
