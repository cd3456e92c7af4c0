//! How boxes are best searched: `cargo bench -p branchwise-constraints --bench boxes`. Queries on two or three doubles that
//! contraction alone does not decide, each kind with several numbers, under each way to split, to choose boxes and to
//! filter them. Repair is left out, because it would find most models before. Prints Markdown.

use std::time::{Duration, Instant};

use branchwise_constraints::{
    BoxTactics, Filtering, FloatOp, Layer, MathFunction, Model, Solver, SolverSettings, SplittingOrder, TermId, Terms,
    Traversal,
};

/// Numbers that each kind of query is made with.
const SEEDS: usize = 32;

type Kind = fn(&mut Doubles, f64) -> Vec<TermId>;

const KINDS: [(&str, Kind); 12] = [
    ("sum and product", sum_and_product),
    ("point of a circle", circle),
    ("root of a cubic", cubic),
    ("hyperbola", hyperbola),
    ("sine", sine),
    ("mean below all", mean),
    ("absorbed", absorbed),
    ("no: square below its tangent", below_tangent),
    ("no: parabola above its top", above_top),
    ("no: far and near", far_and_near),
    ("no: exponential below its tangent", exponential),
    ("no: discriminant", discriminant),
];

fn main() {
    println!("| split | traversal | filtering | found | refuted | open | seconds |");
    println!("|---|---|---|---|---|---|---|");
    for split in [SplittingOrder::Heaviest, SplittingOrder::Widest, SplittingOrder::InTurn, SplittingOrder::MostUsed] {
        for traversal in [Traversal::Nearest, Traversal::DepthFirst] {
            for filtering in [Filtering::Contraction, Filtering::BothEnds] {
                row(BoxTactics { split, traversal, filtering });
            }
        }
    }
}

fn row(tactics: BoxTactics) {
    let (mut found, mut refuted, mut open) = (0, 0, 0);
    let (mut time, mut left) = (Duration::ZERO, Vec::new());
    for (name, kind) in KINDS {
        let mut open_of_kind = 0;
        for seed in 0..SEEDS {
            let mut doubles = Doubles::new();
            let query = kind(&mut doubles, seed as f64 / 4.0);
            let without = vec![Layer::Repair];
            let mut solver = Solver::new(SolverSettings { without, tactics, ..SolverSettings::default() });
            let start = Instant::now();
            let solved = solver.check(&doubles.terms, &query, &Model::new());
            // What boxes leave goes to the SMT solver, whose time is not theirs.
            time += start.elapsed().saturating_sub(solver.statistics().smt_time);
            match solved.layer {
                Layer::Smt => open_of_kind += 1,
                _ if solved.answer.is_sat() => found += 1,
                _ => refuted += 1,
            }
        }
        open += open_of_kind;
        left.extend((open_of_kind > 0).then(|| format!("{name} {open_of_kind}")));
    }
    let BoxTactics { split, traversal, filtering } = tactics;
    let left = if left.is_empty() { String::new() } else { format!(": {}", left.join(", ")) };
    println!(
        "| {split:?} | {traversal:?} | {filtering:?} | {found} | {refuted} | {open}{left} | {:.2} |",
        time.as_secs_f64()
    );
}

struct Doubles {
    terms: Terms,
    x: TermId,
    y: TermId,
}

impl Doubles {
    fn new() -> Self {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable("x", 64), terms.variable("y", 64));
        Self { terms, x, y }
    }

    fn number(&mut self, value: f64) -> TermId {
        self.terms.constant(u128::from(value.to_bits()), 64)
    }

    fn op(&mut self, op: FloatOp, a: TermId, b: TermId) -> TermId {
        self.terms.float(op, 64, &[a, b])
    }

    fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Mul, a, b)
    }

    fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Add, a, b)
    }

    fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Sub, a, b)
    }

    fn less(&mut self, a: TermId, b: TermId) -> TermId {
        self.terms.float(FloatOp::Less, 1, &[a, b])
    }

    fn equal(&mut self, a: TermId, value: f64) -> TermId {
        let value = self.number(value);
        self.terms.float(FloatOp::Equal, 1, &[a, value])
    }

    fn above(&mut self, a: TermId, value: f64) -> TermId {
        let value = self.number(value);
        self.less(value, a)
    }

    fn below(&mut self, a: TermId, value: f64) -> TermId {
        let value = self.number(value);
        self.less(a, value)
    }

    fn within(&mut self, a: TermId, low: f64, high: f64) -> [TermId; 2] {
        [self.above(a, low), self.below(a, high)]
    }

    fn squares(&mut self) -> (TermId, TermId) {
        let (x, y) = (self.x, self.y);
        (self.mul(x, x), self.mul(y, y))
    }
}

fn sum_and_product(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (sum, product) = (d.add(d.x, d.y), d.mul(d.x, d.y));
    vec![d.equal(sum, n + 7.25), d.equal(product, 12.75 + n)]
}

fn circle(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (a, b) = d.squares();
    let sum = d.add(a, b);
    vec![d.equal(sum, 25.0 + n), d.above(d.x, 1.25), d.above(d.y, 1.75)]
}

fn cubic(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (square, _) = d.squares();
    let (cube, two) = (d.mul(square, d.x), d.number(2.0));
    let twice = d.mul(two, d.x);
    let value = d.sub(cube, twice);
    d.within(value, 5.0 + n, 5.0 + n + 1e-12).to_vec()
}

fn hyperbola(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (a, b) = d.squares();
    let (difference, product) = (d.sub(a, b), d.mul(d.x, d.y));
    let mut query = d.within(difference, 1.0, 1.0 + 1e-9).to_vec();
    query.extend(d.within(product, 1.0 + n, 1.0 + n + 1e-9));
    query
}

fn sine(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let sine = d.terms.float(FloatOp::Library(MathFunction::Sin), 64, &[d.x]);
    let product = d.mul(sine, d.x);
    let mut query = d.within(d.x, 0.0, 40.0).to_vec();
    query.extend(d.within(product, 10.0 + n, 10.0 + n + 1e-9));
    query
}

/// Only rounding makes it true.
fn mean(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let z = d.terms.variable("z", 64);
    let first = d.add(d.x, d.y);
    let (sum, three) = (d.add(first, z), d.number(3.0));
    let mean = d.op(FloatOp::Div, sum, three);
    let mut query = [d.x, d.y, z].map(|one| d.less(mean, one)).to_vec();
    query.extend([d.x, d.y, z].into_iter().flat_map(|one| d.within(one, 1.0 + n, 2.0 + n)));
    query
}

fn absorbed(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let sum = d.add(d.x, d.y);
    let same = d.terms.float(FloatOp::Equal, 1, &[sum, d.x]);
    vec![same, d.above(d.y, n), d.above(d.x, 0.0)]
}

fn below_tangent(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (square, _) = d.squares();
    let (one, two) = (d.number(1.0), d.number(2.0));
    let (left, right) = (d.add(square, one), d.mul(two, d.x));
    let mut query = d.within(d.x, 1.25 + n / 8.0, 1e6).to_vec();
    query.push(d.less(left, right));
    query
}

fn above_top(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let one = d.number(1.0);
    let rest = d.sub(one, d.x);
    let product = d.mul(d.x, rest);
    let mut query = d.within(d.x, 0.0, 1.0).to_vec();
    query.push(d.above(product, 0.2501 + n / 100.0));
    query
}

fn far_and_near(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (a, b) = d.squares();
    let (squares, sum) = (d.add(a, b), d.add(d.x, d.y));
    vec![d.above(sum, 2.0 + n), d.below(squares, (2.0 + n) * (2.0 + n) / 2.0 * 0.95)]
}

fn exponential(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let power = d.terms.float(FloatOp::Library(MathFunction::Exp), 64, &[d.x]);
    let one = d.number(0.99 - n / 50.0);
    let tangent = d.add(d.x, one);
    let mut query = d.within(d.x, -10.0, 10.0).to_vec();
    query.push(d.less(power, tangent));
    query
}

/// A quadratic equation without a root.
fn discriminant(d: &mut Doubles, n: f64) -> Vec<TermId> {
    let (square, _) = d.squares();
    let product = d.mul(d.y, d.x);
    let sum = d.add(square, product);
    let mut query = d.within(d.y, -1.9, 1.9).to_vec();
    query.extend(d.within(d.x, -100.0, 100.0));
    query.push(d.below(sum, -1.0 - n / 10.0));
    query
}
