//! `branchwise map`: the graphs of a file's functions.

use branchwise_program::FunctionId;
use branchwise_program::map::Map;
use branchwise_report::map_view;

use crate::arguments::MapArguments;
use crate::error::CliError;
use crate::exit::Exit;
use crate::generate::print_text;
use crate::pipeline::load_map;

pub fn map(arguments: &MapArguments) -> Result<Exit, CliError> {
    if (arguments.svg || arguments.json) && arguments.files.len() > 1 {
        return Err(CliError::usage("--svg and --json take one file").with_hint("call once for each file"));
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
        _ => map_view::text(map, selection),
    }
}

fn find(map: &Map, name: &str, file: &str) -> Result<FunctionId, CliError> {
    let known = map.functions.values().map(|function| function.name.as_str());
    map.function_named(name).ok_or_else(|| CliError::no_such_function(name, file, known))
}
