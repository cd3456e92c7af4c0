//! The arguments; their doc comments are the `--help`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use branchwise_generate::WantedPlace;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::reading::ReadArguments;
use crate::sandbox::SandboxArguments;

/// Generates tests for C that cover its branches, proves what no test can cover, and says of the rest why it is unknown.
#[derive(Debug, Parser)]
#[command(name = "branchwise", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Generate(Box<GenerateArguments>),
    Map(MapArguments),
    Replay(ReplayArguments),
    Explain(ExplainArguments),
    /// Check that everything Branchwise needs is installed, and say what to install if not
    Doctor,
    /// Answer solver queries for another Branchwise process
    #[command(name = "smt-worker", hide = true)]
    SmtWorker,

    /// Reads one file, as standard input asks
    #[command(name = branchwise_frontend::WORKER, hide = true)]
    ReadWorker,
}

/// Generate tests for the functions of C files
///
/// Prints a table: how many branch outcomes each function has, how many the tests cover (replayed natively and measured
/// with llvm-cov), how many are proven infeasible, and how many stay unknown.
///
/// Exit status: 0 done; 1 less covered than --require asks, or a native run disagrees with a result; 2 wrong usage; 3 a
/// file cannot be used; 4 a fault of Branchwise; 130 interrupted (what was found is kept).
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// C files to generate tests for [default: with -p, all C files of the project]
    #[arg(value_name = "FILE", required_unless_present = "project")]
    pub files: Vec<PathBuf>,

    /// Folder with compile_commands.json, which says how each file is compiled
    #[arg(short = 'p', value_name = "DIR")]
    pub project: Option<PathBuf>,

    /// Only this function; may be given several times [default: every function of the files]
    #[arg(long = "function", value_name = "NAME")]
    pub functions: Vec<String>,

    /// Whose conditions, statements and so on are goals [default: unit]
    #[arg(long, value_enum)]
    pub scope: Option<Scope>,

    /// Which faults (access out of bounds, overflow, …) are listed, each with an input that shows it [default: search]
    #[arg(long, value_enum)]
    pub findings: Option<Findings>,

    /// Executions behind undefined arithmetic: signed overflow, shifts too far, floats that do not fit an integer [default: follow]
    #[arg(long, value_enum)]
    pub undefined: Option<Undefined>,

    /// Which goals are tried first; all get their verdict [default: all]
    #[arg(long, value_enum)]
    pub aim: Option<Aim>,

    /// What tests shall cover; several criteria are set apart by commas [default: branch, or what --goal and --path name]
    #[arg(long, value_enum, value_name = "CRITERION", value_delimiter = ',')]
    pub criterion: Vec<Criterion>,

    /// Count the instructions that the tests of the longest paths execute, and name the slowest (criteria max-iterations and
    /// empty-else)
    #[arg(long, requires = "criterion")]
    pub measure: bool,

    /// Only this goal, in the function or in what it calls: a statement by its [FILE:]LINE, an outcome of a condition or
    /// label by [FILE:]LINE:COLUMN:true or :false; may be given several times
    #[arg(long = "goal", value_name = "PLACE", value_parser = wanted_place, requires = "functions")]
    pub goals: Vec<WantedPlace>,

    /// A path as a goal, in the form in which reports and tests have it, such as '34+ 23- 5b+ 7:case 2': a test shall begin
    /// with these outcomes; may be given several times
    #[arg(long = "path", value_name = "OUTCOMES", requires = "functions")]
    pub paths: Vec<String>,

    /// File with a path on each line
    #[arg(long = "paths", value_name = "FILE", requires = "functions")]
    pub paths_file: Option<PathBuf>,

    /// How paths are chosen [default: hybrid]
    #[arg(long, value_enum)]
    pub strategy: Option<Strategy>,

    /// How often the ways of execution trees may repeat a decision (strategy tree), or a path a loop (criterion k-path)
    /// [default: 2]
    #[arg(short = 'k', value_name = "N")]
    pub k: Option<u32>,

    /// Time for each function [default: 10]
    #[arg(long = "time", value_name = "SECONDS", value_parser = seconds)]
    pub time: Option<f64>,

    /// Paths and solver queries for each function, instead of a time: the same seed and steps give the same result
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub steps: Option<u64>,

    /// Share of each function's time, in percent, in which the outcomes that are called infeasible are attacked: native runs
    /// with random inputs try to take them. 0: none do [default: 3]
    #[arg(long, value_name = "SHARE", value_parser = percent)]
    pub attack: Option<f64>,

    /// Memory for each function; its exploration ends there
    #[arg(long, value_name = "MEGABYTES", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    pub memory: u64,

    /// Solver that is asked about conditions which are still undecided when nothing else is left to do: bitwuzla, cvc5 or
    /// none
    #[arg(long, value_name = "NAME", default_value = "none", value_parser = external_solver)]
    pub external_solver: ExternalSolver,

    /// Leave out a layer of the solver, to see what it is worth; may be given several times
    #[arg(long, value_enum, value_name = "LAYER", hide = true)]
    pub without: Vec<SolverLayer>,

    /// Explore also alternatives that can affect no open goal, by control and data dependence (docs/criteria.md)
    #[arg(long)]
    pub no_data_dependence: bool,

    /// Write the queries that the solver has to compute to this folder, as SMT-LIB text with its answers
    #[arg(long, value_name = "DIR", hide = true)]
    pub queries: Option<PathBuf>,

    /// Functions that are treated at the same time; the result does not depend on it [default: number of processors]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,

    /// Start of the random choices: the same seed gives the same tests [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// File with an input whose path is the first, one `name = integer` a line: `x = 3`, `a[1] = -2`, `*p = 0`
    #[arg(long, value_name = "FILE", requires = "functions")]
    pub seed_test: Option<PathBuf>,

    /// File with preconditions, domains of inputs and settings [default: the nearest branchwise.toml, here or above the
    /// first file]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Folder for the tests, report.json and suite.json
    #[arg(long, value_name = "DIR", default_value = "branchwise-out")]
    pub out: PathBuf,

    /// Go on with an earlier run that did not finish: functions whose results are in the journal of the folder are not searched
    /// again
    #[arg(long)]
    pub resume: bool,

    /// Write what the journal of the folder has, without searching the other functions
    #[arg(long)]
    pub salvage: bool,

    /// Write the results to the folder even where a fuller result is there; without it, a lesser one goes to the folder
    /// `partial` in it
    #[arg(long)]
    pub replace: bool,

    /// What tests are written as; may be given several times
    #[arg(long, value_enum, value_name = "FORMAT", default_values_t = [Emit::C])]
    pub emit: Vec<Emit>,

    /// Make the file's static variables inputs, instead of reaching their values by calls
    #[arg(long)]
    pub set_statics: bool,

    /// Call private and protected methods of C++ directly; their tests are compiled with -fno-access-control
    #[arg(long)]
    pub private: bool,

    /// Test templates as this instance, such as 'clamp<double>' or 'Stack<int>'; may be given several times. Without it,
    /// templates of C++ are tested as the simplest instance that the program uses
    #[arg(long = "instance", value_name = "INSTANCE")]
    pub instances: Vec<String>,

    /// Functions that act on the world or read from it and yet run, such as 'remove' or 'std::filesystem::remove_all',
    /// instead of returning what the test says; several are set apart by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub allow_calls: Vec<String>,

    /// Assumptions that verdicts may rest on as on preconditions: names of docs/assumptions.md, each for all subjects or as
    /// NAME:SUBJECT, or the bundles 'hosted' and 'quiet-callees'; several are set apart by commas
    #[arg(long, value_name = "NAME[:SUBJECT]", value_delimiter = ',')]
    pub assume: Vec<String>,

    /// Exit with status 1 if the tests cover less than this part of the outcomes that are not proven infeasible
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub require: Option<f64>,

    /// Print one JSON object on standard output instead of the table
    #[arg(long)]
    pub json: bool,

    /// Print nothing but errors (and the JSON object, with --json)
    #[arg(long, short)]
    pub quiet: bool,

    #[command(flatten)]
    pub sandbox: SandboxArguments,

    #[command(flatten)]
    pub reading: ReadArguments,

    /// Flags for clang, such as -I and -D
    #[arg(last = true, value_name = "CLANG FLAGS")]
    pub flags: Vec<String>,
}

/// Show the control-flow graph of functions
#[derive(Debug, Args)]
pub struct MapArguments {
    /// C files to read
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Only this function
    #[arg(long = "function", value_name = "NAME")]
    pub function: Option<String>,

    /// Which graph --dot and --svg draw
    #[arg(long, value_enum, default_value_t = Graph::Cfg)]
    pub graph: Graph,

    /// What has a node of its own in the graphs of single functions
    #[arg(long, value_enum, default_value_t = Nodes::Statements)]
    pub nodes: Nodes,

    /// The line whose decision graph is shown (with --graph decision)
    #[arg(long, value_name = "LINE", required_if_eq("graph", "decision"))]
    pub line: Option<u32>,

    /// Mark the edges that are unconstrained in the whole program, from main() or the function that is asked for, instead
    /// of those of each function alone
    #[arg(long)]
    pub interprocedural: bool,

    /// Show the execution tree of this branch outcome of the function instead: the ways that lead to it
    #[arg(long, value_name = "LINE:COLUMN:true|false", value_parser = outcome, requires = "function", conflicts_with = "json")]
    pub tree: Option<TreeGoal>,

    /// How often the ways of the tree may repeat a decision
    #[arg(short = 'k', value_name = "N", default_value_t = 1)]
    pub k: u32,

    /// Print one JSON object
    #[arg(long, group = "form")]
    pub json: bool,

    /// Print a drawing for Graphviz
    #[arg(long, group = "form")]
    pub dot: bool,

    /// Print a drawing for a browser
    #[arg(long, group = "form")]
    pub svg: bool,

    #[command(flatten)]
    pub reading: ReadArguments,

    /// Flags for clang, such as -I and -D
    #[arg(last = true, value_name = "CLANG FLAGS")]
    pub flags: Vec<String>,
}

/// An outcome of the condition or label at a place.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct TreeGoal {
    pub line: u32,
    pub column: u32,
    pub outcome: bool,
}

fn outcome(text: &str) -> Result<TreeGoal, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let parsed = match parts[..] {
        [line, column, outcome] => line.parse().ok().zip(column.parse().ok()).zip(outcome.parse().ok()),
        _ => None,
    };
    let ((line, column), outcome) = parsed.ok_or("expected a place and an outcome, such as 12:9:true")?;
    Ok(TreeGoal { line, column, outcome })
}

fn wanted_place(text: &str) -> Result<WantedPlace, String> {
    let (place, outcome) = match text.rsplit_once(':') {
        Some((place, "true")) => (place, Some(true)),
        Some((place, "false")) => (place, Some(false)),
        _ => (text, None),
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let last = |text: &str| match text.rsplit_once(':') {
        Some((file, last)) => Some((Some(file.to_owned()), number(last)?)),
        None => Some((None, number(text)?)),
    };
    let (before, first) = last(place).ok_or("expected a line, such as 12, shape.c:12 or shape.c:12:9:true")?;
    let (file, line, column) = match before.as_deref().and_then(last) {
        Some((file, line)) => (file, line, Some(first)),
        None => (before, first, None),
    };
    Ok(WantedPlace { file: file.map(PathBuf::from), line, column, outcome })
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Graph {
    /// The control-flow graph
    Cfg,
    /// The graph of its edges, unconstrained edges marked
    Edges,
    /// The dominator tree of its edges
    Dominators,
    /// The post-dominator tree of its edges
    Postdominators,
    /// The control-flow graphs of the function and of all it calls, joined at calls and returns
    Icfg,
    /// What decides whether a statement runs, within functions and across calls
    Dependence,
    /// The decisions that lead to a line, from the beginning
    Decision,
    /// The abstract nodes of PathCrawler's trees (ITE, LOOP, CALL, AND, OR) and what they contain; also as text
    Abstract,
    /// The classes of C++, what they inherit and redefine, and which methods a call may reach
    Classes,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Nodes {
    /// Every statement, with its whole condition
    Statements,
    /// Every condition between && and || too, so that each edge has its name in paths
    Conditions,
}

/// Run a generated suite again and measure it
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// A folder that `branchwise generate --out` wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub sandbox: SandboxArguments,

    #[command(flatten)]
    pub reading: ReadArguments,
}

/// Say why a goal has its verdict
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// A folder that `branchwise generate --out` wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// FUNCTION:ID, LINE, LINE:COLUMN or FILE:LINE:COLUMN, each with :true or :false behind it if only one is meant
    #[arg(value_name = "GOAL")]
    pub goal: String,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    /// Those of the function itself; what it calls runs along
    Unit,
    /// Also those of every function it can reach
    Reachable,
}

impl From<Scope> for branchwise_generate::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Unit => Self::Unit,
            Scope::Reachable => Self::Reachable,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Findings {
    /// None
    None,
    /// Those that inputs show which were made for branches
    Met,
    /// Those, and others that are looked for on the same paths, after the branches and with a small part of the time
    Search,
}

impl From<Findings> for branchwise_generate::FindingsMode {
    fn from(findings: Findings) -> Self {
        match findings {
            Findings::None => Self::None,
            Findings::Met => Self::Met,
            Findings::Search => Self::Search,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Undefined {
    /// They go on as the machine does. What only they reach is covered through undefined behaviour, and counted apart
    Follow,
    /// They end there, and what only they reach is infeasible
    Forbid,
}

impl From<Undefined> for branchwise_generate::Undefined {
    fn from(undefined: Undefined) -> Self {
        match undefined {
            Undefined::Follow => Self::Follow,
            Undefined::Forbid => Self::Forbid,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Aim {
    /// Those that are unconstrained edges of the control-flow graph: reaching them reaches the others on the way
    Unconstrained,
    /// All alike
    All,
}

impl From<Aim> for branchwise_generate::AimAt {
    fn from(aim: Aim) -> Self {
        match aim {
            Aim::Unconstrained => Self::Unconstrained,
            Aim::All => Self::All,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Criterion {
    /// Both outcomes of every condition and case label, as llvm-cov counts them
    Branch,
    /// Every statement
    Statement,
    /// Both outcomes of every decision as a whole, and every way out of a switch
    Decision,
    /// Both outcomes of every leaf condition
    Condition,
    /// Both
    #[value(name = "condition/decision")]
    ConditionDecision,
    /// Every function is entered
    Function,
    /// Every call is executed
    Call,
    /// Every loop makes no iteration, one, and more
    Loop,
    /// Every combination of outcomes with which a decision can be evaluated
    MultipleCondition,
    /// Every condition alone makes its decision true and false: two evaluations that differ in nothing else
    Mcdc,
    /// The same, where what has no effect may differ too
    McdcMasking,
    /// The paths that --path names
    Path,
    /// Every path, through all functions that run
    AllPaths,
    /// Every path with at most -k iterations of each loop
    KPath,
    /// Every path of the function, whatever happens inside connectives and calls
    MinimalAllPaths,
    /// Both outcomes of every leaf condition of the function itself, found breadth first
    MinimalAllConditions,
    /// Both outcomes of every decision of the function itself, found breadth first
    MinimalAllDecisions,
    /// Every path but those that skip all conditionals without an else where another does not
    EmptyElse,
    /// Every path but those that make fewer iterations of loops without a condition than another
    MaxIterations,
    /// Every comparison of numbers with equal operands, and with neighbours below and above
    Boundary,
    /// Every branchwise_label(expression) of the source with a true expression
    Labels,
    /// Every definition of a variable reaches every use that it can reach in the control-flow graph
    DefUse,
}

impl From<Criterion> for branchwise_goals::Criterion {
    fn from(criterion: Criterion) -> Self {
        match criterion {
            Criterion::Branch => Self::Branch,
            Criterion::Statement => Self::Statement,
            Criterion::Decision => Self::Decision,
            Criterion::Condition => Self::Condition,
            Criterion::ConditionDecision => Self::ConditionDecision,
            Criterion::Function => Self::Function,
            Criterion::Call => Self::Call,
            Criterion::Loop => Self::Loop,
            Criterion::MultipleCondition => Self::MultipleCondition,
            Criterion::Mcdc => Self::Mcdc,
            Criterion::McdcMasking => Self::McdcMasking,
            Criterion::Path => Self::Path,
            Criterion::AllPaths => Self::AllPaths,
            Criterion::KPath => Self::KPath,
            Criterion::MinimalAllPaths => Self::MinimalAllPaths,
            Criterion::MinimalAllConditions => Self::MinimalAllConditions,
            Criterion::MinimalAllDecisions => Self::MinimalAllDecisions,
            Criterion::EmptyElse => Self::EmptyElse,
            Criterion::MaxIterations => Self::MaxIterations,
            Criterion::Boundary => Self::Boundary,
            Criterion::Labels => Self::Labels,
            Criterion::DefUse => Self::DefUse,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Single paths, and where these reach nothing new, all ways at once
    Hybrid,
    /// For each branch a tree of the short ways to it, solved as one formula; then as hybrid
    Tree,
    /// Single paths: from that of one input to its neighbours, those nearest to an open goal first
    Concolic,
    /// Single paths along the decisions, across calls, that a goal depends on: those with the fewest left first
    Dependence,
    /// The latest alternative first, whether a goal can follow it or not; to compare the others with
    DepthFirst,
}

impl From<Strategy> for branchwise_generate::Strategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Hybrid => Self::Hybrid,
            Strategy::Tree => Self::Tree,
            Strategy::Concolic => Self::Concolic,
            Strategy::Dependence => Self::Dependence,
            Strategy::DepthFirst => Self::DepthFirst,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// Plain C, or C++ for files of C++, without a framework
    #[value(alias = "plain")]
    C,
    /// GoogleTest
    Gtest,
    /// Catch2 for files of C++; tests of C are plain
    Catch2,
}

impl From<Emit> for branchwise_report::EmitFormat {
    fn from(emit: Emit) -> Self {
        match emit {
            Emit::C => Self::Plain,
            Emit::Gtest => Self::GoogleTest,
            Emit::Catch2 => Self::Catch2,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, ValueEnum)]
pub enum SolverLayer {
    Intervals,
    Repair,
    Boxes,
}

impl From<SolverLayer> for branchwise_constraints::Layer {
    fn from(layer: SolverLayer) -> Self {
        match layer {
            SolverLayer::Intervals => Self::Intervals,
            SolverLayer::Repair => Self::Repair,
            SolverLayer::Boxes => Self::Boxes,
        }
    }
}

/// What the option says about it: none, or one that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExternalSolver {
    None,
    Found(branchwise_constraints::ExternalSolver),
}

fn external_solver(name: &str) -> Result<ExternalSolver, String> {
    use branchwise_constraints::ExternalSolver as Solver;
    match name {
        "none" => Ok(ExternalSolver::None),
        known if Solver::NAMES.contains(&known) => {
            Solver::named(known).map(ExternalSolver::Found).ok_or_else(|| format!("{known} is not installed"))
        }
        _ => Err(format!("expected none or one of {}", Solver::NAMES.join(", "))),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("give a number of seconds above 0".to_owned()),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("give a number from 0 to 100".to_owned()),
    }
}
