//! Symbols of the file under test that the tests need for themselves get other names.

use branchwise_program::map::{InputOrigin, Map};

/// Lines before the unit. An external function gets another symbol, which nothing in C sees; a static one, and a variable,
/// can only be replaced as a word.
pub fn own_symbols(map: &Map, foreign: &[&str]) -> String {
    let clashes = |name: &str| foreign.contains(&name);
    let functions = map.functions.values().filter(|function| clashes(&function.name));
    let mut lines: Vec<String> = functions.map(|function| renamed(&function.name, function.internal)).collect();
    let inputs = map.functions.values().flat_map(|function| &function.inputs);
    let globals = inputs.filter(|input| input.origin == InputOrigin::Global && clashes(&input.name));
    lines.extend(globals.map(|input| replaced(&input.name)));
    lines.sort();
    lines.dedup();
    lines.concat()
}

fn renamed(name: &str, internal: bool) -> String {
    if internal { replaced(name) } else { format!("#pragma redefine_extname {name} branchwise_user_{name}\n") }
}

fn replaced(name: &str) -> String {
    format!("#define {name} branchwise_user_{name}\n")
}
