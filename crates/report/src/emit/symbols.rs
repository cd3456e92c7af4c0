//! Names of the file under test that the tests need for themselves, as symbols of the C library.

use std::collections::BTreeSet;

use branchwise_program::map::{InputOrigin, Map};

/// Lines before the unit that give another name to whatever it defines under one of these. The tests call it by the same
/// word, so they need not know. (A pragma or label for the symbol alone is ignored by GCC for its built-in functions, and by
/// both compilers for static ones.)
pub fn own_symbols(map: &Map, foreign: &[&str]) -> String {
    let functions = map.functions.values().map(|function| function.name.as_str());
    let inputs = map.functions.values().flat_map(|function| &function.inputs);
    let globals = inputs.filter(|input| input.origin == InputOrigin::Global).map(|input| input.name.as_str());
    let clashing: BTreeSet<&str> = functions.chain(globals).filter(|name| foreign.contains(name)).collect();
    clashing.into_iter().map(|name| format!("#define {name} branchwise_user_{name}\n")).collect()
}
