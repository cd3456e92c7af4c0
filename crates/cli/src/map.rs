//! `branchwise map`: the graphs of a file's functions.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use branchwise_generate::{GoalTrees, Routes};
use branchwise_goals::{Goal, branch_goals};
use branchwise_program::FunctionId;
use branchwise_program::map::Map;
use branchwise_replay::Layers;
use branchwise_report::map_view;
use branchwise_tools::ToolRules;

use crate::arguments::{Graph, MapArguments, Nodes, TreeGoal};
use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;
use crate::pipeline::{load_alone, load_map};
use crate::reading::FlagNotes;
use crate::sources::{self, SourceFile};

pub fn map(arguments: &MapArguments) -> Result<Exit, CliError> {
    if (arguments.svg || arguments.json) && arguments.files.len() > 1 {
        return Err(CliError::usage("--svg and --json take one file").with_hint("call once for each file"));
    }
    if let (Some(goal), Some(function)) = (arguments.tree, &arguments.function) {
        return tree(arguments, goal, function);
    }
    for file in sources(arguments)? {
        let map = load_map(&file, rules(arguments))?;
        let name = file.path.display().to_string();
        let function = arguments.function.as_deref().map(|wanted| find(&map, wanted, &name)).transpose()?;
        let text = match shown(arguments) {
            Shown::Single(graph) => view(arguments, &map, function, graph),
            Shown::Across(graph) => across(arguments, &map, function, graph)?,
            Shown::Classes => classes(arguments, &map),
        };
        print_text(&text)?;
    }
    Ok(Exit::Done)
}

/// Returns the files with the flags that are used.
fn sources(arguments: &MapArguments) -> Result<Vec<SourceFile>, CliError> {
    let mut notes = FlagNotes::default();
    let file = |path: &PathBuf| SourceFile { path: path.clone(), flags: arguments.flags.clone() };
    let files = arguments.files.iter().map(|path| arguments.reading.usable(file(path), &mut notes)).collect();
    notes.sentences().for_each(|note| sources::tell(&note));
    files
}

fn rules(arguments: &MapArguments) -> ToolRules {
    arguments.reading.rules(Layers::of_this_machine())
}

/// Graphs of each function, or of one with all it calls.
enum Shown {
    Single(map_view::Graph),
    Across(map_view::AcrossGraph),
    Classes,
}

fn shown(arguments: &MapArguments) -> Shown {
    match arguments.graph {
        Graph::Cfg => Shown::Single(map_view::Graph::Cfg),
        Graph::Edges => Shown::Single(map_view::Graph::Edges),
        Graph::Dominators => Shown::Single(map_view::Graph::Dominators),
        Graph::Postdominators => Shown::Single(map_view::Graph::Postdominators),
        Graph::Abstract => Shown::Single(map_view::Graph::Abstract),
        Graph::Classes => Shown::Classes,
        Graph::Icfg => Shown::Across(map_view::AcrossGraph::Icfg),
        Graph::Dependence => Shown::Across(map_view::AcrossGraph::Dependence),
        Graph::Decision => Shown::Across(map_view::AcrossGraph::Decision { line: arguments.line.unwrap_or(0) }),
    }
}

fn view(arguments: &MapArguments, map: &Map, function: Option<FunctionId>, graph: map_view::Graph) -> String {
    let nodes = match arguments.nodes {
        Nodes::Statements => map_view::Nodes::Statements,
        Nodes::Conditions => map_view::Nodes::Conditions,
    };
    let selection = map_view::Selection { function, interprocedural: arguments.interprocedural, nodes };
    match (arguments.json, arguments.dot, arguments.svg) {
        (true, ..) => format!("{:#}\n", map_view::json(map, selection)),
        (_, true, _) => map_view::dot(map, selection, graph),
        (.., true) => map_view::svg(map, selection, graph),
        _ if graph == map_view::Graph::Abstract => map_view::abstract_text(map, selection),
        _ => map_view::text(map, selection),
    }
}

fn classes(arguments: &MapArguments, map: &Map) -> String {
    let classes = map_view::Classes::of(map);
    match (arguments.json, arguments.dot, arguments.svg) {
        (true, ..) => format!("{:#}\n", classes.json()),
        (_, true, _) => classes.dot(),
        (.., true) => classes.svg(),
        _ => classes.text(),
    }
}

fn across(
    arguments: &MapArguments,
    map: &Map,
    function: Option<FunctionId>,
    graph: map_view::AcrossGraph,
) -> Result<String, CliError> {
    let root = function.or_else(|| map.function_named("main")).ok_or_else(|| {
        let hint = "--function NAME says which; without it main() is taken";
        CliError::usage("this graph begins in one function").with_hint(hint)
    })?;
    let graph = map_view::Across::of(map, root, graph).map_err(|why| match why {
        map_view::NoGraph::TooLarge { vertices } => {
            CliError::input(format!("{vertices} statements and calls are too many for control dependence across calls"))
                .with_hint("take a function that calls less, with --function NAME")
        }
        map_view::NoGraph::NothingOnLine { line } => {
            CliError::usage(format!("no statement begins on line {line} of what this function runs"))
        }
    })?;
    Ok(match (arguments.json, arguments.dot, arguments.svg) {
        (true, ..) => format!("{:#}\n", graph.json()),
        (_, true, _) => graph.dot(),
        (.., true) => graph.svg(),
        _ => graph.text(),
    })
}

fn tree(arguments: &MapArguments, wanted: TreeGoal, function: &str) -> Result<Exit, CliError> {
    for file in sources(arguments)? {
        let loaded = load_alone(&file, rules(arguments))?;
        let (program, map) = (&loaded.program, &loaded.program.map);
        let id = find(map, function, &file.path.display().to_string())?;
        let goals = branch_goals(map, id);
        let TreeGoal { line, column, outcome } = wanted;
        let is_wanted =
            |goal: &&Goal| (goal.place.line, goal.place.column, goal.outcome) == (line, column, Some(outcome));
        let goal = goals.iter().find(is_wanted).ok_or_else(|| no_such_goal(wanted, function, &goals))?;
        let (routes, never) = (Routes::of(map), AtomicBool::new(false));
        let drawing =
            GoalTrees::of(program, &routes, id, &never).and_then(|mut trees| trees.drawing(goal, arguments.k));
        let drawing = drawing.ok_or_else(|| CliError::input(format!("{function}() cannot be called by a test")))?;
        print_text(&match (arguments.dot, arguments.svg) {
            (true, _) => map_view::tree_dot(map, &drawing),
            (_, true) => map_view::tree_svg(map, &drawing),
            _ => map_view::tree_text(map, &drawing),
        })?;
    }
    Ok(Exit::Done)
}

fn no_such_goal(TreeGoal { line, column, outcome }: TreeGoal, function: &str, goals: &[Goal]) -> CliError {
    let places = goals
        .iter()
        .filter(|goal| goal.outcome == Some(true))
        .map(|goal| format!("{}:{}", goal.place.line, goal.place.column));
    CliError::usage(format!("no outcome {line}:{column}:{outcome} in {function}()"))
        .with_hint(format!("its conditions and labels are at {}", places.collect::<Vec<_>>().join(", ")))
}

fn find(map: &Map, name: &str, file: &str) -> Result<FunctionId, CliError> {
    let known = map.functions.values().map(|function| function.name.as_str());
    map.function_named(name).ok_or_else(|| CliError::no_such_function(name, file, known))
}
