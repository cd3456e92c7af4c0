//! `branchwise map`: the graphs of a file's functions.

use std::sync::atomic::AtomicBool;

use branchwise_generate::{GoalTrees, Routes};
use branchwise_goals::{Goal, branch_goals};
use branchwise_program::FunctionId;
use branchwise_program::map::Map;
use branchwise_report::map_view;

use crate::arguments::{MapArguments, TreeGoal};
use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;
use crate::pipeline::{load_alone, load_map};

pub fn map(arguments: &MapArguments) -> Result<Exit, CliError> {
    if (arguments.svg || arguments.json) && arguments.files.len() > 1 {
        return Err(CliError::usage("--svg and --json take one file").with_hint("call once for each file"));
    }
    if let (Some(goal), Some(function)) = (arguments.tree, &arguments.function) {
        return tree(arguments, goal, function);
    }
    for file in &arguments.files {
        let map = load_map(file, &arguments.flags)?;
        let function =
            arguments.function.as_deref().map(|name| find(&map, name, &file.display().to_string())).transpose()?;
        print_text(&view(arguments, &map, function))?;
    }
    Ok(Exit::Done)
}

fn view(arguments: &MapArguments, map: &Map, function: Option<FunctionId>) -> String {
    let selection = map_view::Selection { function, interprocedural: arguments.interprocedural };
    let graph = arguments.graph.into();
    match (arguments.json, arguments.dot, arguments.svg) {
        (true, ..) => format!("{:#}\n", map_view::json(map, selection)),
        (_, true, _) => map_view::dot(map, selection, graph),
        (.., true) => map_view::svg(map, selection, graph),
        _ if graph == map_view::Graph::Abstract => map_view::abstract_text(map, selection),
        _ => map_view::text(map, selection),
    }
}

fn tree(arguments: &MapArguments, wanted: TreeGoal, function: &str) -> Result<Exit, CliError> {
    for file in &arguments.files {
        let loaded = load_alone(file, &arguments.flags)?;
        let (program, map) = (&loaded.program, &loaded.program.map);
        let id = find(map, function, &file.display().to_string())?;
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
