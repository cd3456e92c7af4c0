//! Annex C of Lapierre 1998 on its twelve programs: execution trees for the unconstrained edges and for all, what they lead
//! to, and the linear layer beside the chain of solvers on their conditions.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use branchwise_constraints::linear::{LinearAnswer, LinearLimits, LinearQuery, decide};
use branchwise_constraints::{Answer, Model, Solver, SolverSettings, Workers};
use branchwise_generate::{GoalTrees, Routes};
use branchwise_goals::{Aim, Goal, branch_goals};
use branchwise_program::graph::{edge_graph, statement_map, unconstrained_edges};
use branchwise_program::{FunctionId, Program};
use branchwise_symbolic::ExecutionTree;

use super::{COLUMNS, load, numbers, programs};

/// What TAO reports: paths and statements for each tree, coverage in percent and seconds, each for the unconstrained edges
/// and for all.
struct Tao {
    paths: [f64; 2],
    statements: [f64; 2],
    coverage: [f64; 2],
    seconds: [f64; 2],
}

const fn tao(paths: [f64; 2], statements: [f64; 2], coverage: [f64; 2], seconds: [f64; 2]) -> Tao {
    Tao { paths, statements, coverage, seconds }
}

const PROGRAMS: [(&str, Tao); 12] = [
    ("wc", tao([1.53, 5.21], [7.60, 41.18], [100.0, 100.0], [1.15, 3.7])),
    ("patternmatcher", tao([3.00, 2.29], [23.50, 20.00], [100.0, 100.0], [1.48, 7.2])),
    ("prog6", tao([5.00, 4.30], [39.75, 36.59], [100.0, 100.0], [0.68, 5.1])),
    ("taotest", tao([2.65, 2.87], [21.06, 35.20], [100.0, 100.0], [11.23, 62.0])),
    ("minpath", tao([16.31, 13.05], [217.90, 95.77], [94.0, 98.0], [14.97, 88.5])),
    ("quicksort", tao([2.68, 2.22], [50.12, 27.77], [100.0, 100.0], [2.70, 18.6])),
    ("histogramme", tao([3.33, 2.62], [40.33, 47.95], [100.0, 100.0], [0.78, 6.2])),
    ("what", tao([4.20, 3.91], [37.00, 33.80], [100.0, 100.0], [1.29, 8.7])),
    ("trityp", tao([18.74, 52.42], [173.90, 344.66], [94.7, 97.0], [12.67, 66.8])),
    ("exptree", tao([13.13, 8.67], [294.47, 90.80], [100.0, 100.0], [36.5, 179.6])),
    ("nombre", tao([13.33, 10.95], [65.33, 63.47], [100.0, 100.0], [0.63, 4.3])),
    ("inves", tao([1.00, 1.25], [4.00, 7.43], [100.0, 100.0], [0.07, 0.9])),
];

/// As far as TAO went.
const LARGEST_K: u32 = 2;

/// Trees of one program, added up.
#[derive(Default)]
struct Grown {
    trees: u64,
    paths: u64,
    lines: u64,
    symbols: u64,
}

/// What one solver said of the conditions, and how long it took.
#[derive(Default)]
struct Answers {
    models: u64,
    refuted: u64,
    open: u64,
    seconds: f64,
}

#[derive(Default)]
struct Measured {
    grown: Grown,
    linear: Answers,
    chain: Answers,
    contradictions: u64,
}

pub fn trees_table() {
    let workers = Workers::new(Path::new(env!("CARGO_BIN_EXE_branchwise")));
    println!(
        "| program | edges (conditions) | unconstrained (conditions) | paths/tree | TAO | lines/tree | TAO: statements | symbols/tree |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut all: Vec<(&str, Measured)> = Vec::new();
    let mut counted = [Edges::default(); 2];
    for (name, tao) in &PROGRAMS {
        let program = load(&programs().join(name).with_extension("c"));
        let [(few, aim), (every, _)] = [true, false].map(|only| measure(&program, only, &workers));
        let edges = [Edges::of_statements(&program), Edges { all: aim.edges, unconstrained: aim.unconstrained_edges }];
        println!("| {name} | {} {}", edges_cells(edges), trees_cells(tao, [&few.grown, &every.grown]));
        counted.iter_mut().zip(edges).for_each(|(sum, edges)| sum.add(edges));
        all.push((name, every));
    }
    println!("| all | {} | | | | | |", edges_cells(counted));
    println!();
    coverage_table();
    println!();
    solvers_table(&all);
}

fn share(part: usize, whole: usize) -> String {
    format!("{part}, {:.0} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// Edges of control-flow graphs that can be reached.
#[derive(Debug, Clone, Copy, Default)]
struct Edges {
    all: usize,
    unconstrained: usize,
}

impl Edges {
    /// Of annex C's graphs, in which a node is a statement.
    fn of_statements(program: &Program) -> Self {
        let map = statement_map(&program.map);
        let mut edges = Edges::default();
        for function in map.functions.values() {
            let all = edge_graph(&function.cfg).vertices.len();
            edges.add(Edges { all, unconstrained: unconstrained_edges(&function.cfg).len() });
        }
        edges
    }

    fn add(&mut self, other: Edges) {
        self.all += other.all;
        self.unconstrained += other.unconstrained;
    }
}

/// Of statements, and of conditions in brackets.
fn edges_cells([statements, conditions]: [Edges; 2]) -> String {
    let [few, every] = [statements, conditions].map(|edges| share(edges.unconstrained, edges.all));
    format!("{} ({}) | {few} ({every})", statements.all, conditions.all)
}

fn trees_cells(tao: &Tao, both: [&Grown; 2]) -> String {
    let each = |count: fn(&Grown) -> u64| {
        let [few, every] = both.map(|grown| count(grown) as f64 / grown.trees.max(1) as f64);
        format!("{few:.2} ({every:.2})")
    };
    format!(
        "| {} | {:.2} ({:.2}) | {} | {:.2} ({:.2}) | {} |",
        each(|grown| grown.paths),
        tao.paths[0],
        tao.paths[1],
        each(|grown| grown.lines),
        tao.statements[0],
        tao.statements[1],
        each(|grown| grown.symbols),
    )
}

/// The trees of all functions for k = 0, 1, 2, until one has an input.
fn measure(program: &Program, only_unconstrained: bool, workers: &Workers) -> (Measured, Aim) {
    let routes = Routes::of(&program.map);
    let (mut measured, mut all) = (Measured::default(), Aim::default());
    for (function, _) in program.map.functions.iter() {
        let aim = Aim::in_function(&program.map, function);
        let never = AtomicBool::new(false);
        if let Some(mut trees) = GoalTrees::of(program, &routes, function, &never) {
            for goal in goals(program, function, only_unconstrained.then_some(&aim)) {
                measured.try_goal(&mut trees, &goal, workers);
            }
        }
        all.edges += aim.edges;
        all.unconstrained_edges += aim.unconstrained_edges;
    }
    (measured, all)
}

fn goals(program: &Program, function: FunctionId, aim: Option<&Aim>) -> Vec<Goal> {
    let mut goals = branch_goals(&program.map, function);
    goals.retain(|goal| aim.is_none_or(|aim| aim.outcomes.iter().any(|&event| goal.reached_by(event))));
    goals
}

impl Measured {
    fn try_goal(&mut self, trees: &mut GoalTrees<'_>, goal: &Goal, workers: &Workers) {
        for k in 0..=LARGEST_K {
            let Some(tree) = trees.tree(goal, k) else { return };
            self.grown.trees += 1;
            self.grown.paths += tree.paths() as u64;
            self.grown.lines += tree.lines();
            let has_input = tree.paths() > 0 && self.solve(trees, &tree, workers);
            if has_input || tree.whole && !tree.could_grow() {
                return;
            }
        }
    }

    /// Whether an input goes one of the tree's ways, as either says.
    fn solve(&mut self, trees: &mut GoalTrees<'_>, tree: &ExecutionTree, workers: &Workers) -> bool {
        let condition = tree.condition().simplified(trees.terms());
        let variables = condition.conditions().flat_map(|term| trees.terms().variables(term).to_vec());
        self.grown.symbols += variables.collect::<HashSet<_>>().len() as u64;
        let hint = Model::new();
        let started = Instant::now();
        let query = LinearQuery { terms: trees.terms(), formula: &condition, domain: &tree.domain, hint: &hint };
        let linear = match decide(&query, &LinearLimits::default()).answer {
            LinearAnswer::Model(_) => Some(true),
            LinearAnswer::Infeasible(_) => Some(false),
            LinearAnswer::NoLinearSolution { .. } | LinearAnswer::NotLinear | LinearAnswer::Unknown(_) => None,
        };
        self.linear.count(linear, started);
        let started = Instant::now();
        let term = condition.term(trees.terms());
        let constraints: Vec<_> = tree.domain.iter().copied().chain([term]).collect();
        let mut solver = Solver::new(SolverSettings { workers: Some(workers.clone()), ..SolverSettings::default() });
        let chain = match solver.check(trees.terms(), &constraints, &hint).answer {
            Answer::Sat(_) => Some(true),
            Answer::Unsat(_) => Some(false),
            Answer::Unknown(_) => None,
        };
        self.chain.count(chain, started);
        self.contradictions += u64::from(linear.is_some() && chain.is_some() && linear != chain);
        linear == Some(true) || chain == Some(true)
    }
}

impl Answers {
    fn count(&mut self, answer: Option<bool>, started: Instant) {
        self.seconds += started.elapsed().as_secs_f64();
        match answer {
            Some(true) => self.models += 1,
            Some(false) => self.refuted += 1,
            None => self.open += 1,
        }
    }
}

/// The whole tool, aiming at unconstrained edges first (and at all goals alike).
fn coverage_table() {
    println!("| program | goals | covered | infeasible | open | seconds | TAO: coverage % | TAO: seconds |");
    println!("|---|---|---|---|---|---|---|---|");
    let column = |name: &str| COLUMNS.iter().position(|column| *column == name).expect("a column");
    let [goals, covered, infeasible, seconds] = ["goals", "covered", "infeasible", "seconds"].map(column);
    let mut total = [0.0; 2];
    for (name, tao) in &PROGRAMS {
        let common = ["--strategy", "tree", "--time", "5", "--findings", "none", "--seed", "1", "--jobs", "1", "--aim"];
        let both = ["unconstrained", "all"].map(|aim| numbers(name, &[&common[..], &[aim]].concat()));
        let shown = |number: fn(f64) -> String, of: &dyn Fn(&[f64; COLUMNS.len()]) -> f64| {
            format!("{} ({})", number(of(&both[0])), number(of(&both[1])))
        };
        let whole = |number: f64| number.to_string();
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} ({}) | {} ({}) |",
            both[0][goals],
            shown(whole, &|row| row[covered]),
            shown(whole, &|row| row[infeasible]),
            shown(whole, &|row| row[goals] - row[covered] - row[infeasible]),
            shown(|number| format!("{number:.2}"), &|row| row[seconds]),
            tao.coverage[0],
            tao.coverage[1],
            tao.seconds[0],
            tao.seconds[1],
        );
        total.iter_mut().zip(&both).for_each(|(total, row)| *total += row[seconds]);
    }
    let tao = [0, 1].map(|which| PROGRAMS.iter().map(|(_, tao)| tao.seconds[which]).sum::<f64>());
    println!("| all | | | | | {:.2} ({:.2}) | | {:.2} ({:.2}) |", total[0], total[1], tao[0], tao[1]);
}

/// All conditions of all goals' trees.
fn solvers_table(all: &[(&str, Measured)]) {
    println!(
        "| program | conditions | linear: models, refuted, open | seconds | chain: models, refuted, open | seconds | contradictions |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut total = (Answers::default(), Answers::default(), 0);
    for (name, measured) in all {
        println!("{}", solvers_row(name, &measured.linear, &measured.chain, measured.contradictions));
        total.0.add(&measured.linear);
        total.1.add(&measured.chain);
        total.2 += measured.contradictions;
    }
    println!("{}", solvers_row("all", &total.0, &total.1, total.2));
}

fn solvers_row(name: &str, linear: &Answers, chain: &Answers, contradictions: u64) -> String {
    let cells = |answers: &Answers| {
        format!("{}, {}, {} | {:.2}", answers.models, answers.refuted, answers.open, answers.seconds)
    };
    let conditions = linear.models + linear.refuted + linear.open;
    format!("| {name} | {conditions} | {} | {} | {contradictions} |", cells(linear), cells(chain))
}

impl Answers {
    fn add(&mut self, other: &Answers) {
        self.models += other.models;
        self.refuted += other.refuted;
        self.open += other.open;
        self.seconds += other.seconds;
    }
}
