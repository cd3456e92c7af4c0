//! Types of the standard library that a test makes element by element.

use crate::clang::ClangType;
use crate::functions::qualified;

/// Longer arrays are not written element by element.
const MOST_ELEMENTS: u64 = 16;

/// What a type of the standard library holds.
pub(crate) enum Standard<'u> {
    /// Characters; a view is made from a string.
    Text,
    /// Any number of elements, which this method adds at the end.
    Sequence {
        element: ClangType<'u>,
        adds: &'static str,
    },
    /// Elements that find their place themselves.
    Set {
        element: ClangType<'u>,
    },
    Map {
        key: ClangType<'u>,
        value: ClangType<'u>,
    },
    Optional {
        value: ClangType<'u>,
    },
    Pair {
        first: ClangType<'u>,
        second: ClangType<'u>,
    },
    Array {
        element: ClangType<'u>,
        count: u64,
    },
    /// What it points to is its own.
    SmartPointer {
        target: ClangType<'u>,
        /// It can only be moved.
        unique: bool,
    },
    /// Something that can be called; its type is that of a function.
    Function {
        signature: ClangType<'u>,
    },
}

/// Whether an object of this canonical type can be copied.
pub(crate) fn is_copied(of: ClangType<'_>) -> bool {
    !matches!(standard(of.unqualified()), Some(Standard::SmartPointer { unique: true, .. }))
}

/// What a canonical type is of these.
pub(crate) fn standard(of: ClangType<'_>) -> Option<Standard<'_>> {
    let name = template_name(of)?;
    let arguments = of.template_arguments();
    let first = arguments.first().map(|argument| argument.canonical())?;
    let second = arguments.get(1).map(|argument| argument.canonical());
    match name.as_str() {
        "basic_string" | "basic_string_view" => (first.spelling() == "char").then_some(Standard::Text),
        "vector" | "deque" | "list" => Some(Standard::Sequence { element: first, adds: "push_back" }),
        "set" => Some(Standard::Set { element: first }),
        "map" => Some(Standard::Map { key: first, value: second? }),
        "optional" => Some(Standard::Optional { value: first }),
        "unique_ptr" => Some(Standard::SmartPointer { target: first, unique: true }),
        "shared_ptr" => Some(Standard::SmartPointer { target: first, unique: false }),
        "function" => Some(Standard::Function { signature: first }),
        "pair" => Some(Standard::Pair { first, second: second? }),
        "array" => {
            let count = of.size()?.checked_div(first.size()?)?;
            (1..=MOST_ELEMENTS).contains(&count).then_some(Standard::Array { element: first, count })
        }
        _ => None,
    }
}

/// The name of a template of the standard library.
fn template_name(of: ClangType<'_>) -> Option<String> {
    let declaration = of.declaration();
    let name = qualified(declaration);
    (declaration.in_system_header() && name.starts_with("std::")).then(|| declaration.spelling())
}

/// A type as people write it: without allocators and other arguments that have defaults.
pub(crate) fn spelled(of: ClangType<'_>) -> String {
    let of = of.canonical().unqualified();
    let Some(kind) = standard(of) else { return of.spelling() };
    match kind {
        Standard::Text => "std::string".to_owned(),
        Standard::Function { signature } => format!("std::function<{}>", signature.spelling()),
        Standard::Sequence { element, .. }
        | Standard::Set { element }
        | Standard::Optional { value: element }
        | Standard::SmartPointer { target: element, .. } => {
            format!("std::{}<{}>", of.declaration().spelling(), spelled(element))
        }
        Standard::Map { key: first, value: second } | Standard::Pair { first, second } => {
            format!("std::{}<{}, {}>", of.declaration().spelling(), spelled(first), spelled(second))
        }
        Standard::Array { element, count } => format!("std::array<{}, {count}>", spelled(element)),
    }
}
