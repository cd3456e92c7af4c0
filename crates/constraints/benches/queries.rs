//! Queries per second on the shapes that path conditions have, in this process and in a worker. Each query has
//! variables of its own, so that neither the cache nor recent models answer: what is measured is the way to SMT.

use std::process::ExitCode;
use std::time::Instant;

use branchwise_constraints::{
    BinaryOp, FloatOp, Limits, MathFunction, Model, Solver, SolverSettings, TermId, Terms, Workers, smt_worker_main,
};

const QUERIES: usize = 200;

type Shape = fn(&mut Terms, u128) -> Vec<TermId>;

const SHAPES: [(&str, Shape); 11] = [
    ("one comparison", one_comparison),
    ("linear, 12 conditions", linear),
    ("linear, wraps around", linear_wrapping),
    ("array of 10, symbolic index", array_cells),
    ("remainder by a constant", remainder),
    ("bubble sort of 5", sorting),
    ("product of two ints", product),
    ("floats, bounds exclude", floats_excluded),
    ("floats, square excludes", floats_square_excluded),
    ("floats, sum and product", floats_found),
    ("floats, sine and square", floats_with_sine),
];

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("smt-worker") {
        return smt_worker_main();
    }
    let worker = std::env::current_exe().ok();
    for (name, shape) in SHAPES {
        let here = measure(shape, SolverSettings::default());
        let child = measure(
            shape,
            SolverSettings { workers: worker.as_deref().map(Workers::new), ..SolverSettings::default() },
        );
        println!("{name:30} in process {here}   worker {child}");
    }
    println!("steps per second on a hard query: {:.1} million", steps_per_second() / 1e6);
    construction();
    ExitCode::SUCCESS
}

fn measure(shape: Shape, settings: SolverSettings) -> String {
    let mut terms = Terms::new();
    let mut queries: Vec<Vec<TermId>> = Vec::new();
    for number in 0..QUERIES {
        queries.push(shape(&mut terms, number as u128));
    }
    let mut solver = Solver::new(settings);
    let start = Instant::now();
    for query in &queries {
        solver.check(&terms, query, &Model::new());
    }
    let rate = QUERIES as f64 / start.elapsed().as_secs_f64();
    let statistics = solver.statistics();
    let slowest = statistics.slowest_smt_call.as_secs_f64() * 1e3;
    let (sat, unsat, unknown) = (statistics.sat, statistics.unsat, statistics.unknown);
    format!("{rate:7.0}/s, slowest {slowest:6.1} ms ({sat} sat, {unsat} unsat, {unknown} unknown)")
}

fn ints(terms: &mut Terms, count: usize) -> Vec<TermId> {
    (0..count).map(|number| terms.variable(&format!("x{number}"), 32)).collect()
}

fn one_comparison(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let x = terms.variable("x", 32);
    let bound = terms.constant(100 + seed, 32);
    vec![terms.signed_less(bound, x)]
}

fn chain_of_sums(terms: &mut Terms, seed: u128) -> (Vec<TermId>, Vec<TermId>) {
    let x = ints(terms, 6);
    let mut conditions = Vec::new();
    for pair in x.windows(2) {
        let gap = terms.constant(3 + seed, 32);
        let above = terms.add(pair[0], gap);
        conditions.push(terms.signed_less(above, pair[1]));
        let most = terms.constant(100_000, 32);
        conditions.push(terms.signed_less(pair[1], most));
        let least = terms.constant(7, 32);
        conditions.push(terms.signed_less(least, pair[0]));
    }
    (conditions, x)
}

fn linear(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let (mut conditions, x) = chain_of_sums(terms, seed);
    let sum = terms.add(x[0], x[5]);
    let total = terms.constant(5000 + seed, 32);
    conditions.push(terms.equal(sum, total));
    conditions
}

fn linear_wrapping(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let (mut conditions, x) = chain_of_sums(terms, seed);
    conditions.push(terms.signed_less(x[5], x[0]));
    conditions
}

fn array_cells(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let cells = ints(terms, 10);
    let index = terms.variable("index", 32);
    let length = terms.constant(10, 32);
    let within = terms.unsigned_less(index, length);
    let read = cells.iter().enumerate().fold(cells[0], |chain, (number, &cell)| {
        let number = terms.constant(number as u128, 32);
        let here = terms.equal(index, number);
        terms.if_then_else(here, cell, chain)
    });
    let wanted = terms.constant(42 + seed, 32);
    let found = terms.equal(read, wanted);
    let zero = terms.constant(0, 32);
    let positive: Vec<TermId> = cells.iter().map(|&cell| terms.signed_less(zero, cell)).collect();
    [vec![within, found], positive].concat()
}

fn double(terms: &mut Terms, value: f64) -> TermId {
    terms.constant(u128::from(value.to_bits()), 64)
}

fn less(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    terms.float(FloatOp::Less, 1, &[a, b])
}

/// `x > n && sqrt(x) < 0`.
fn floats_excluded(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let x = terms.variable("x", 64);
    let (bound, zero) = (double(terms, seed as f64), double(terms, 0.0));
    let root = terms.float(FloatOp::Sqrt, 64, &[x]);
    vec![less(terms, bound, x), less(terms, root, zero)]
}

/// `x > 1.5 && x < n && x * x + 1 < 2 * x`.
fn floats_square_excluded(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let x = terms.variable("x", 64);
    let [low, high, one, two] = [1.5, 1e6 + seed as f64, 1.0, 2.0].map(|value| double(terms, value));
    let square = terms.float(FloatOp::Mul, 64, &[x, x]);
    let (sum, twice) = (terms.float(FloatOp::Add, 64, &[square, one]), terms.float(FloatOp::Mul, 64, &[two, x]));
    vec![less(terms, low, x), less(terms, x, high), less(terms, sum, twice)]
}

/// `x + y == n + 7.25 && x * y > n`.
fn floats_found(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let (x, y) = (terms.variable("x", 64), terms.variable("y", 64));
    let (total, least) = (double(terms, seed as f64 + 7.25), double(terms, seed as f64));
    let (sum, product) = (terms.float(FloatOp::Add, 64, &[x, y]), terms.float(FloatOp::Mul, 64, &[x, y]));
    vec![terms.float(FloatOp::Equal, 1, &[sum, total]), less(terms, least, product)]
}

/// `sin(x) > 0.99 && x * x < n + 3`.
fn floats_with_sine(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let x = terms.variable("x", 64);
    let (high, most) = (double(terms, 0.99), double(terms, seed as f64 + 3.0));
    let sine = terms.float(FloatOp::Library(MathFunction::Sin), 64, &[x]);
    let square = terms.float(FloatOp::Mul, 64, &[x, x]);
    vec![less(terms, high, sine), less(terms, square, most)]
}

fn remainder(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let x = terms.variable("x", 32);
    let (seven, three, limit) = (terms.constant(7, 32), terms.constant(3, 32), terms.constant(1000 + seed, 32));
    let rest = terms.binary(BinaryOp::URem, x, seven);
    let quotient = terms.binary(BinaryOp::SDiv, x, seven);
    vec![terms.equal(rest, three), terms.signed_less(limit, quotient)]
}

fn sorting(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let mut cells = ints(terms, 5);
    let mut conditions = Vec::new();
    for end in (1..5).rev() {
        for position in 0..end {
            let swap = (seed >> ((end + position) % 8)) & 1 == 1;
            let greater = terms.signed_less(cells[position + 1], cells[position]);
            conditions.push(if swap { greater } else { terms.not(greater) });
            if swap {
                cells.swap(position, position + 1);
            }
        }
    }
    conditions
}

fn product(terms: &mut Terms, seed: u128) -> Vec<TermId> {
    let x = ints(terms, 2);
    let product = terms.mul(x[0], x[1]);
    let wanted = terms.constant(1001 + 2 * seed, 32);
    let one = terms.constant(1, 32);
    vec![terms.equal(product, wanted), terms.signed_less(one, x[0]), terms.signed_less(one, x[1])]
}

/// To choose the default of [`Limits::resource`]: how far it gets in a known time.
fn steps_per_second() -> f64 {
    let mut terms = Terms::new();
    let x = ints(&mut terms, 2);
    let wide: Vec<TermId> = x.iter().map(|&x| terms.zero_extend(x, 64)).collect();
    let product = terms.mul(wide[0], wide[1]);
    let number = terms.constant(2_147_483_647 * 2_147_483_629, 64);
    let one = terms.constant(1, 32);
    let query = [terms.equal(product, number), terms.unsigned_less(one, x[0]), terms.unsigned_less(one, x[1])];
    let resource = 2_000_000;
    let limits = Limits { resource, milliseconds: 60_000, ..Limits::default() };
    let mut solver = Solver::new(SolverSettings { limits, ..SolverSettings::default() });
    let start = Instant::now();
    solver.check(&terms, &query, &Model::new());
    f64::from(resource) / start.elapsed().as_secs_f64()
}

fn construction() {
    let mut terms = Terms::new();
    let x = ints(&mut terms, 4);
    let start = Instant::now();
    let mut value = x[0];
    for number in 0..1_000_000u128 {
        let constant = terms.constant(number, 32);
        let sum = terms.add(value, x[number as usize % 4]);
        value = terms.xor(sum, constant);
    }
    println!("construction: {:.1} million terms/s", 3.0 / start.elapsed().as_secs_f64());
}
