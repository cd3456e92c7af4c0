//! And/or formulas decided as mixed-integer linear programs (Lapierre 1998, annex A, section 4 and appendix C).
//!
//! Differences to the source: M is as large as the bounds of the columns of each row need, instead of a constant; sums are
//! those of the machine, which wrap around; and the arithmetic is exact, so that "infeasible" is a proof.
//!
//! A formula is translated twice at most. First so that every solution is a model. If there is none and something had to be
//! left out, then once more so that every model is a solution: if there is still none, that is a refutation all the same.

mod budget;
mod builder;
mod cases;
mod division;
mod export;
mod orders;
mod program;
mod search;
mod simplex;
mod sum;
#[cfg(test)]
mod tests;
mod translate;

use std::time::{Duration, Instant};

pub use budget::LinearLimits;
pub use program::Program;

use crate::answer::Reason;
use crate::formula::Formula;
use crate::layers::variable_bounds;
use crate::model::{Evaluator, Model};
use crate::semantics;
use crate::terms::{TermId, Terms};
use budget::{Budget, Stop};
use search::{Found, Search};
use translate::{Aim, Translation, translate};

/// What the linear layer says of a formula within a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinearAnswer {
    /// Evaluated on the whole formula and domain.
    Model(Model),
    /// No input satisfies the formula, with all that may wrap around.
    Infeasible(LinearEvidence),
    /// The linear part has no solution, which refutes nothing.
    NoLinearSolution { why: LinearGap },
    /// Every alternative has a condition that is not linear.
    NotLinear,
    /// A limit struck.
    Unknown(Reason),
}

/// Why a formula has no model. Each number of wrap-arounds that the bounds of the inputs allow was looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinearEvidence {
    /// The bounds of the inputs exclude each other already.
    Bounds,
    /// The program has the models of the formula as its solutions, and none.
    Exact { sums_within_range: u64, sums_split: u64 },
    /// The program without what is not linear has no solution.
    Relaxed { conditions_left_out: u64, terms_left_open: u64 },
}

/// Why the lack of a linear solution is no refutation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinearGap {
    /// What is not linear was left out: so many whole alternatives, and parts of the conditions of others.
    NotLinear { alternatives: u64 },
    /// The solution that was found breaks a condition of the domain that is not linear.
    Domain,
    /// A number of the exact arithmetic did not fit 128 bits.
    NumbersTooLarge,
}

/// What the first program looked like and what it cost.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LinearCounts {
    pub rows: usize,
    /// Integer unknowns without the 0-1 variables.
    pub columns: usize,
    pub binaries: usize,
    /// Alternatives of the formula, and those of them that were dropped because they are not linear.
    pub alternatives: u64,
    pub dropped: u64,
    /// Pivots and decisions.
    pub steps: u32,
    pub time: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSolved {
    pub answer: LinearAnswer,
    pub counts: LinearCounts,
}

/// A formula to decide, with the terms of width 1 that hold for every input.
#[derive(Copy, Clone)]
pub struct LinearQuery<'a> {
    pub terms: &'a Terms,
    pub formula: &'a Formula,
    pub domain: &'a [TermId],
    /// A model stays near these values and keeps those of the variables that do not occur.
    pub hint: &'a Model,
}

/// Decides the formula within the domain.
pub fn decide(query: &LinearQuery<'_>, limits: &LinearLimits) -> LinearSolved {
    let start = Instant::now();
    let mut counts = LinearCounts::default();
    let mut budget = Budget::new(limits, start);
    let answer = answer(query, &mut budget, &mut counts);
    counts.steps = budget.steps();
    counts.time = start.elapsed();
    LinearSolved { answer, counts }
}

/// The program that [`decide`] solves first; none if the bounds of the inputs exclude each other.
pub fn program(query: &LinearQuery<'_>) -> Option<Program> {
    let formula = query.formula.simplified(query.terms);
    let bounds = variable_bounds(query.terms, &certain(&formula, query.domain))?;
    let unlimited = LinearLimits { milliseconds: u64::MAX, ..LinearLimits::default() };
    let budget = Budget::new(&unlimited, Instant::now());
    translate(query.terms, &formula, query.domain, &bounds, Aim::Models, &budget).ok().map(|made| made.program)
}

fn answer(query: &LinearQuery<'_>, budget: &mut Budget<'_>, counts: &mut LinearCounts) -> LinearAnswer {
    let formula = query.formula.simplified(query.terms);
    let Some(bounds) = variable_bounds(query.terms, &certain(&formula, query.domain)) else {
        return LinearAnswer::Infeasible(LinearEvidence::Bounds);
    };
    let translated = |aim, budget: &Budget<'_>| translate(query.terms, &formula, query.domain, &bounds, aim, budget);
    let translation = match translated(Aim::Models, budget) {
        Ok(translation) => translation,
        Err(stop) => return stopped(stop),
    };
    *counts = counted(&translation);
    let first = solve(query, &translation.program, budget);
    match first {
        Ok(Outcome::Model(model)) => return LinearAnswer::Model(model),
        Ok(Outcome::Infeasible) if translation.is_exact() => return exact_evidence(&translation),
        Err(Stop::Limit(reason)) => return LinearAnswer::Unknown(reason),
        _ => {}
    }
    if !translation.is_exact()
        && let Some(answer) = relaxed(query, translated(Aim::Refutation, budget), budget)
    {
        return answer;
    }
    if translation.linear_paths == 0 {
        return LinearAnswer::NotLinear;
    }
    LinearAnswer::NoLinearSolution { why: gap(&first, &translation) }
}

/// Whether the formula has no model even if what is not linear may be anything.
fn relaxed(
    query: &LinearQuery<'_>,
    translation: Result<Translation, Stop>,
    budget: &mut Budget<'_>,
) -> Option<LinearAnswer> {
    let translation = translation.ok()?;
    match solve(query, &translation.program, budget).ok()? {
        Outcome::Model(model) => Some(LinearAnswer::Model(model)),
        Outcome::Infeasible => Some(relaxed_evidence(&translation)),
        Outcome::Rejected => None,
    }
}

fn stopped(stop: Stop) -> LinearAnswer {
    match stop {
        Stop::Limit(reason) => LinearAnswer::Unknown(reason),
        Stop::NumbersTooLarge => LinearAnswer::NoLinearSolution { why: LinearGap::NumbersTooLarge },
    }
}

/// What holds in every model: the domain, and the conditions that the formula begins with.
fn certain(formula: &Formula, domain: &[TermId]) -> Vec<TermId> {
    let mut certain = domain.to_vec();
    match formula {
        Formula::Condition(term) => certain.push(*term),
        Formula::All(parts) => certain.extend(parts.iter().filter_map(|part| match part {
            Formula::Condition(term) => Some(*term),
            Formula::All(_) | Formula::Any(_) => None,
        })),
        Formula::Any(_) => {}
    }
    certain
}

fn counted(translation: &Translation) -> LinearCounts {
    LinearCounts {
        rows: translation.program.row_count(),
        columns: translation.program.columns.len(),
        binaries: translation.program.binaries(),
        alternatives: translation.paths,
        dropped: translation.paths.saturating_sub(translation.linear_paths),
        ..LinearCounts::default()
    }
}

fn exact_evidence(translation: &Translation) -> LinearAnswer {
    let (sums_within_range, sums_split) = (translation.tally.sums_within_range, translation.tally.sums_split);
    LinearAnswer::Infeasible(LinearEvidence::Exact { sums_within_range, sums_split })
}

fn relaxed_evidence(relaxed: &Translation) -> LinearAnswer {
    let (conditions_left_out, terms_left_open) = (relaxed.tally.not_linear, relaxed.tally.opaque);
    LinearAnswer::Infeasible(LinearEvidence::Relaxed { conditions_left_out, terms_left_open })
}

fn gap(first: &Result<Outcome, Stop>, translation: &Translation) -> LinearGap {
    match first {
        Err(_) => LinearGap::NumbersTooLarge,
        Ok(Outcome::Rejected) => LinearGap::Domain,
        Ok(_) => LinearGap::NotLinear { alternatives: translation.paths.saturating_sub(translation.linear_paths) },
    }
}

enum Outcome {
    Model(Model),
    Infeasible,
    Rejected,
}

fn solve(query: &LinearQuery<'_>, program: &Program, budget: &mut Budget<'_>) -> Result<Outcome, Stop> {
    let mut evaluator = Evaluator::new();
    let accept = |point: &[i128]| {
        let model = model(query, program, point);
        evaluator.reset();
        let within = query.domain.iter().all(|&term| evaluator.evaluate(query.terms, &model, term) == 1);
        within && query.formula.holds(query.terms, &model, &mut evaluator)
    };
    Ok(match Search::new(program, start(query, program), budget).run(accept)? {
        Found::Point(point) => Outcome::Model(model(query, program, &point)),
        Found::Infeasible => Outcome::Infeasible,
        Found::Rejected => Outcome::Rejected,
    })
}

/// The hint with the variables that are columns replaced.
fn model(query: &LinearQuery<'_>, program: &Program, point: &[i128]) -> Model {
    let mut model = query.hint.clone();
    for (column, &value) in program.columns.iter().zip(point) {
        if let Some(variable) = column.term.and_then(|term| query.terms.variable_id(term)) {
            model.set(variable, semantics::truncate(value as u128, query.terms.variable_width(variable)));
        }
    }
    model
}

/// The values of the hint, as numbers within the bounds of the columns.
fn start(query: &LinearQuery<'_>, program: &Program) -> Vec<i128> {
    let value = |column: &program::Column| {
        let variable = query.terms.variable_id(column.term?)?;
        let (bits, width) = (query.hint.get(variable), query.terms.variable_width(variable));
        let signed = semantics::signed(semantics::truncate(bits, width), width);
        let unsigned = i128::try_from(semantics::truncate(bits, width)).unwrap_or(signed);
        Some(if column.low < 0 { signed } else { unsigned })
    };
    program.columns.iter().map(|column| value(column).unwrap_or(0).clamp(column.low, column.high)).collect()
}
