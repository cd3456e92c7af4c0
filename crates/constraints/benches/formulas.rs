//! Whole formulas of execution trees: the linear layer beside the chain that ends in SMT, on the same formula.
//!
//! With the name of a shape as argument, the LP text of its first program is printed instead.

use std::time::Instant;

use branchwise_constraints::linear::{self, LinearAnswer, LinearLimits, LinearQuery};
use branchwise_constraints::{Answer, CompareOp, Formula, Limits, Model, Solver, SolverSettings, TermId, Terms};

type Shape = fn(&mut Terms) -> (Formula, Vec<TermId>);

const SHAPES: [(&str, Shape); 13] = [
    ("words-6", |terms| words(terms, 6, false)),
    ("words-6-none", |terms| words(terms, 6, true)),
    ("sums-30", |terms| sums(terms, [30, 2, 8], 1000, Some(25))),
    ("sums-30-none", |terms| sums(terms, [30, 2, 8], 1000, None)),
    ("sums-100", |terms| sums(terms, [100, 5, 12], 1000, Some(90))),
    ("sums-100-none", |terms| sums(terms, [100, 5, 12], 1000, None)),
    ("wrap-10", |terms| sums(terms, [10, 2, 8], i64::from(i32::MAX), Some(7))),
    ("wrap-10-small", |terms| sums(terms, [10, 2, 8], 1 << 29, None)),
    ("wrap-100", |terms| sums(terms, [100, 5, 12], i64::from(i32::MAX), Some(90))),
    ("wrap-100-small", |terms| sums(terms, [100, 5, 12], 1 << 29, None)),
    ("sorted-5", |terms| orders(terms, 5, false)),
    ("sorted-5-none", |terms| orders(terms, 5, true)),
    ("different-5", |terms| different(terms, 5)),
];

fn main() {
    let wanted = std::env::args().nth(1).filter(|argument| !argument.starts_with('-'));
    for (name, shape) in SHAPES {
        let mut terms = Terms::new();
        let (formula, domain) = shape(&mut terms);
        let hint = Model::new();
        let query = LinearQuery { terms: &terms, formula: &formula, domain: &domain, hint: &hint };
        match &wanted {
            Some(wanted) if wanted == name => {
                print!("{}", linear::program(&query).and_then(|program| program.lp_text()).unwrap_or_default());
            }
            Some(_) => {}
            None => {
                let line = linear_line(&query);
                println!("{name:14} {line}   {}", smt_line(&mut terms, &formula, &domain));
            }
        }
    }
}

fn linear_line(query: &LinearQuery<'_>) -> String {
    let limits = LinearLimits { milliseconds: 20_000, steps: u32::MAX, ..LinearLimits::default() };
    let solved = linear::decide(query, &limits);
    let answer = match solved.answer {
        LinearAnswer::Model(_) => "model",
        LinearAnswer::Infeasible(_) => "infeasible",
        LinearAnswer::NoLinearSolution { .. } => "no linear solution",
        LinearAnswer::NotLinear => "not linear",
        LinearAnswer::Unknown(_) => "unknown",
    };
    let counts = solved.counts;
    format!(
        "{:4} rows {:3} columns {:3} binaries {:5} paths: {answer:10} {:6} steps {:8.2} ms",
        counts.rows,
        counts.columns,
        counts.binaries,
        counts.alternatives,
        counts.steps,
        counts.time.as_secs_f64() * 1e3
    )
}

fn smt_line(terms: &mut Terms, formula: &Formula, domain: &[TermId]) -> String {
    let whole = [domain.to_vec(), vec![formula.term(terms)]].concat();
    let limits = Limits { milliseconds: 20_000, resource: u32::MAX, ..Limits::default() };
    let mut solver = Solver::new(SolverSettings { limits, ..SolverSettings::default() });
    let start = Instant::now();
    let solved = solver.check(terms, &whole, &Model::new());
    let answer = match solved.answer {
        Answer::Sat(_) => "sat",
        Answer::Unsat(_) => "unsat",
        Answer::Unknown(_) => "unknown",
    };
    format!("{}: {answer} {:8.2} ms", solved.layer, start.elapsed().as_secs_f64() * 1e3)
}

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn within(terms: &mut Terms, name: &str, low: i64, high: i64, domain: &mut Vec<TermId>) -> TermId {
    let x = terms.variable(name, 32);
    let (low, high) = (terms.constant(low as u128, 32), terms.constant(high as u128, 32));
    let (above, below) = (terms.signed_less_or_equal(low, x), terms.signed_less_or_equal(x, high));
    domain.extend([above, below]);
    x
}

/// As `wc` reads: each character is a blank, a newline, a tab or another, and the end comes last. Wanted are three words,
/// or, for none, also as many blanks as there are characters.
fn words(terms: &mut Terms, length: usize, none: bool) -> (Formula, Vec<TermId>) {
    let mut domain = Vec::new();
    let read: Vec<TermId> =
        (0..length).map(|number| within(terms, &format!("c{number}"), -1, 255, &mut domain)).collect();
    let is = |terms: &mut Terms, character: TermId, value: i64| {
        let value = terms.constant(value as u128, 32);
        terms.equal(character, value)
    };
    // paths[w] reaches the present character with w words begun, inside a word or not.
    let mut outside = vec![Formula::truth()];
    let mut inside: Vec<Formula> = vec![Formula::falsehood()];
    for &character in &read {
        let blanks: Vec<TermId> = [10, 32, 9].into_iter().map(|value| is(terms, character, value)).collect();
        let blank = Formula::Any(blanks.iter().map(|&term| Formula::Condition(term)).collect());
        let end = is(terms, character, -1);
        let others = blanks.iter().chain([&end]).map(|&term| Formula::Condition(terms.not(term)));
        let other = Formula::All(others.collect());
        let step = |from: Vec<Formula>, by: &Formula| Formula::All(vec![Formula::Any(from), by.clone()]);
        let most = outside.len() + 1;
        let get = |list: &[Formula], words: usize| list.get(words).cloned().unwrap_or_else(Formula::falsehood);
        let next_outside =
            (0..most).map(|words| step(vec![get(&outside, words), get(&inside, words)], &blank)).collect();
        let next_inside = (0..most)
            .map(|words| {
                let begun = if words > 0 { get(&outside, words - 1) } else { Formula::falsehood() };
                step(vec![get(&inside, words), begun], &other)
            })
            .collect();
        (outside, inside) = (next_outside, next_inside);
    }
    let mut wanted = vec![inside[3.min(length / 2)].clone()];
    if none {
        let space = read.iter().map(|&character| Formula::Condition(is(terms, character, 32)));
        wanted.push(Formula::All(space.take(length / 2).collect()));
        let letter = read.iter().map(|&character| Formula::Condition(is(terms, character, 97)));
        wanted.push(Formula::All(letter.skip(length / 2).collect()));
    }
    (Formula::All(wanted), domain)
}

/// Alternatives of several inequalities over sums; all but one contradict themselves or the domain, though no single
/// inequality does.
fn sums(terms: &mut Terms, [count, pairs, ints]: [usize; 3], most: i64, good: Option<usize>) -> (Formula, Vec<TermId>) {
    let mut domain = Vec::new();
    let x: Vec<TermId> =
        (0..ints).map(|number| within(terms, &format!("x{number}"), -most, most, &mut domain)).collect();
    let mut random = Random(7);
    let mut alternatives = Vec::new();
    for number in 0..count {
        let mut conditions = Vec::new();
        let start = random.below(ints as u64) as usize;
        // x_a + 3 < x_b, x_b + 1 < x_c, … and, unless it is the good one, back to x_a.
        for pair in 0..pairs {
            let from = x[(start + pair) % ints];
            let to = if pair + 1 == pairs && good != Some(number) { x[start] } else { x[(start + pair + 1) % ints] };
            let step = terms.constant(u128::from(random.below(5)) + 1, 32);
            let scaled = terms.constant(u128::from(random.below(3)) + 2, 32);
            let (left, right) = (terms.mul(from, scaled), terms.mul(to, scaled));
            let left = terms.add(left, step);
            conditions.push(Formula::Condition(terms.compare(CompareOp::Slt, left, right)));
        }
        alternatives.push(Formula::All(conditions));
    }
    (Formula::Any(alternatives), domain)
}

/// A tree of comparisons of all pairs, in whichever order, that ends in strictly descending numbers; for none, the first
/// is not the greatest.
fn orders(terms: &mut Terms, ints: usize, none: bool) -> (Formula, Vec<TermId>) {
    let x: Vec<TermId> = (0..ints).map(|number| terms.variable(&format!("x{number}"), 32)).collect();
    let mut parts = Vec::new();
    for a in 0..ints {
        for b in a + 1..ints {
            let less = Formula::Condition(terms.signed_less(x[a], x[b]));
            let greater = Formula::Condition(terms.signed_less(x[b], x[a]));
            parts.push(Formula::Any(vec![less, greater]));
        }
    }
    let descending = x.windows(2).map(|pair| Formula::Condition(terms.signed_less_or_equal(pair[1], pair[0])));
    let mut parts: Vec<Formula> = parts.into_iter().chain(descending.collect::<Vec<_>>()).collect();
    if none {
        parts.push(Formula::Any(x[1..].iter().map(|&y| Formula::Condition(terms.signed_less(x[0], y))).collect()));
    }
    (Formula::All(parts), Vec::new())
}

/// One number more than there are values, all different: there is none, and no short way to see it.
fn different(terms: &mut Terms, values: usize) -> (Formula, Vec<TermId>) {
    let mut domain = Vec::new();
    let x: Vec<TermId> =
        (0..=values).map(|number| within(terms, &format!("x{number}"), 1, values as i64, &mut domain)).collect();
    let mut parts = Vec::new();
    for (place, &a) in x.iter().enumerate() {
        parts.extend(x[..place].iter().map(|&b| Formula::Condition(terms.not_equal(a, b))));
    }
    (Formula::All(parts), domain)
}
