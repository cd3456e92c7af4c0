//! Names for the locals of an emitted test.

use std::collections::BTreeSet;

use branchwise_program::map::{Function, InputOrigin, Map};
use branchwise_program::types::TypeKind;

/// Names that are taken, and new ones that are not.
#[derive(Debug, Clone)]
pub struct Names {
    taken: BTreeSet<String>,
}

/// Longer names of objects behind objects tell a reader nothing more: they are cut at a word.
const LONGEST_PATH: usize = 40;

/// Macros and functions of the headers and helpers that tests use, and C's keywords that a generated name could hit.
const RESERVED: [&str; 17] = [
    "main", "errno", "stdin", "stdout", "stderr", "NULL", "assert", "int", "long", "short", "double", "float",
    "default", "case", "register", "static", "volatile",
];

impl Names {
    /// A local must hide neither the functions that its test calls, nor the globals, types, constants and functions
    /// that it mentions.
    pub fn new<'m>(map: &Map, called: impl Iterator<Item = &'m Function>) -> Self {
        let mut taken: BTreeSet<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
        for function in called {
            taken.insert(function.name.clone());
            let globals = function.inputs.iter().filter(|input| input.origin == InputOrigin::Global);
            taken.extend(globals.map(|input| input.name.clone()));
        }
        taken.extend(map.callables.values().map(|callable| callable.name.clone()));
        for of in map.types.values() {
            taken.extend(ordinary_words(&of.spelling));
            if let TypeKind::Enumeration { constants, .. } = &of.kind {
                taken.extend(constants.iter().map(|(name, _)| name.clone()));
            }
        }
        Names { taken }
    }

    /// A name that stands in the test anyway.
    pub fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// `wish`, or the nearest name that is free.
    pub fn fresh(&mut self, wish: &str) -> String {
        let wish = identifier(wish);
        let numbered = (2..).map(|number| format!("{wish}_{number}"));
        let name = std::iter::once(wish.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let name = name.unwrap_or(wish);
        self.taken.insert(name.clone());
        name
    }
}

fn words(spelling: &str) -> impl Iterator<Item = String> {
    spelling.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).map(str::to_owned)
}

/// The names in a type but for tags, which live apart: `struct pair pair` is fine.
fn ordinary_words(spelling: &str) -> Vec<String> {
    let words: Vec<String> = words(spelling).collect();
    let is_tag = |at: usize| at > 0 && matches!(words[at - 1].as_str(), "struct" | "union" | "enum");
    (0..words.len()).filter(|at| !is_tag(*at)).map(|at| words[at].clone()).collect()
}

/// `list->next[3]` becomes `list_next_3`.
pub(super) fn identifier(wish: &str) -> String {
    let words: Vec<String> = words(wish).collect();
    let joined = words.join("_");
    match joined.chars().next() {
        Some(first) if !first.is_ascii_digit() => shortened(&joined).to_owned(),
        _ => "object".to_owned(),
    }
}

fn shortened(name: &str) -> &str {
    let cut = name.char_indices().nth(LONGEST_PATH).and_then(|(end, _)| name[..end].rfind('_'));
    cut.filter(|end| *end > 0).map_or(name, |end| &name[..end])
}
