//! Types of the standard library that a test makes element by element.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::classes;
use crate::functions::qualified;

/// Longer arrays are not written element by element.
const MOST_ELEMENTS: u64 = 16;

const DEEPEST_MEMBERS: usize = 6;

/// What a type of the standard library holds.
#[derive(Clone)]
pub(crate) enum Standard<'u> {
    /// Characters; a view is made from a string.
    Text,
    /// Any number of elements, which this method adds at the end.
    Sequence {
        element: ClangType<'u>,
        adds: &'static str,
    },
    /// The same, where no list in braces makes it and nobody sees all its elements.
    Adaptor {
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
    Tuple {
        parts: Vec<ClangType<'u>>,
    },
    /// A number, or a few: its constructor takes these.
    Numbers {
        parts: Vec<ClangType<'u>>,
    },
    /// One of these.
    Variant {
        alternatives: Vec<ClangType<'u>>,
    },
    Array {
        element: ClangType<'u>,
        count: u64,
    },
    /// A stream over a text of such characters; one that is only written begins with none.
    Stream {
        character: ClangType<'u>,
        class: &'static str,
        reads: bool,
        writes: bool,
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
    is_copied_within(of, DEEPEST_MEMBERS)
}

/// The same, looking at members of members down to a depth: a class may hold a container of its own objects.
pub(crate) fn is_copied_within(of: ClangType<'_>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match standard(of.unqualified()) {
        Some(Standard::SmartPointer { unique, .. }) => !unique,
        Some(Standard::Stream { .. }) => false,
        Some(Standard::Tuple { parts } | Standard::Variant { alternatives: parts }) => {
            parts.into_iter().all(|part| is_copied_within(part.canonical(), depth))
        }
        Some(
            Standard::Sequence { element, .. }
            | Standard::Adaptor { element, .. }
            | Standard::Optional { value: element }
            | Standard::Array { element, .. },
        ) => is_copied_within(element.canonical(), depth),
        None if of.kind() == CXType_Record && !of.declaration().in_system_header() => {
            classes::is_copied(of.declaration(), depth)
        }
        _ => true,
    }
}

/// What a canonical type is of these.
pub(crate) fn standard(of: ClangType<'_>) -> Option<Standard<'_>> {
    let name = template_name(of)?;
    if name == "bitset" {
        return Some(Standard::Numbers { parts: vec![number_of_bits(of)?] });
    }
    let arguments = of.template_arguments();
    let first = arguments.first().map(|argument| argument.canonical())?;
    let second = arguments.get(1).map(|argument| argument.canonical());
    match name.as_str() {
        "basic_string" | "basic_string_view" => (first.spelling() == "char").then_some(Standard::Text),
        "vector" | "deque" | "list" => Some(Standard::Sequence { element: first, adds: "push_back" }),
        "stack" | "queue" | "priority_queue" => Some(Standard::Adaptor { element: first, adds: "push" }),
        "forward_list" => Some(Standard::Adaptor { element: first, adds: "push_front" }),
        "set" | "multiset" | "unordered_set" | "unordered_multiset" => Some(Standard::Set { element: first }),
        "map" | "multimap" | "unordered_map" | "unordered_multimap" => {
            Some(Standard::Map { key: first, value: second? })
        }
        "optional" => Some(Standard::Optional { value: first }),
        "unique_ptr" => Some(Standard::SmartPointer { target: first, unique: true }),
        "shared_ptr" => Some(Standard::SmartPointer { target: first, unique: false }),
        "function" => Some(Standard::Function { signature: first }),
        "pair" => Some(Standard::Pair { first, second: second? }),
        "duration" | "atomic" => Some(Standard::Numbers { parts: vec![first] }),
        "complex" => Some(Standard::Numbers { parts: vec![first, first] }),
        "tuple" => Some(Standard::Tuple { parts: arguments }),
        "variant" => Some(Standard::Variant { alternatives: arguments }),
        "basic_istream" | "basic_istringstream" => stream(first, "std::istringstream", (true, false)),
        "basic_ostream" | "basic_ostringstream" => stream(first, "std::ostringstream", (false, true)),
        "basic_iostream" | "basic_stringstream" => stream(first, "std::stringstream", (true, true)),
        "array" => {
            let count = of.size()?.checked_div(first.size()?)?;
            (1..=MOST_ELEMENTS).contains(&count).then_some(Standard::Array { element: first, count })
        }
        _ => None,
    }
}

/// What the string streams are declared by.
pub(crate) const STRING_STREAMS: &str = "#include <sstream>\n";

/// Buffers of streams that fail: there is room for so many characters, or reading fails behind the last.
pub(crate) const STREAM_BUFFERS: &str = "\
struct __bw_limited : std::streambuf {
    char room[16];
    explicit __bw_limited(int characters) { setp(room, room + characters % 16); }
};
struct __bw_broken : std::stringbuf {
    explicit __bw_broken(const std::string &text) : std::stringbuf(text) {}
    int_type underflow() override {
        const int_type next = std::stringbuf::underflow();
        if (traits_type::eq_int_type(next, traits_type::eof())) throw 0;
        return next;
    }
};
";

/// Whether a function has a stream as a parameter.
pub(crate) fn takes_stream(function: Cursor<'_>) -> bool {
    let is_stream = |parameter: Cursor<'_>| {
        let of = parameter.clang_type().canonical();
        let leads_there = matches!(of.kind(), CXType_LValueReference | CXType_RValueReference | CXType_Pointer);
        leads_there && matches!(standard(of.pointee().canonical()), Some(Standard::Stream { .. }))
    };
    function.arguments().into_iter().any(is_stream)
}

/// The type of the number that the bits of a `std::bitset` are taken from.
fn number_of_bits(bits: ClangType<'_>) -> Option<ClangType<'_>> {
    let members = bits.declaration().template()?.definition()?.children();
    members.into_iter().find(|member| member.spelling() == "to_ullong").map(Cursor::result_type)
}

fn stream<'u>(character: ClangType<'u>, class: &'static str, (reads, writes): (bool, bool)) -> Option<Standard<'u>> {
    (character.spelling() == "char").then_some(Standard::Stream { character, class, reads, writes })
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
        | Standard::Adaptor { element, .. }
        | Standard::Set { element }
        | Standard::Optional { value: element }
        | Standard::SmartPointer { target: element, .. } => {
            format!("std::{}<{}>", of.declaration().spelling(), spelled(element))
        }
        Standard::Map { key: first, value: second } | Standard::Pair { first, second } => {
            format!("std::{}<{}, {}>", of.declaration().spelling(), spelled(first), spelled(second))
        }
        Standard::Tuple { parts } | Standard::Variant { alternatives: parts } => {
            let parts: Vec<String> = parts.into_iter().map(spelled).collect();
            format!("std::{}<{}>", of.declaration().spelling(), parts.join(", "))
        }
        Standard::Numbers { .. } => of.spelling(),
        Standard::Stream { class, .. } => class.to_owned(),
        Standard::Array { element, count } => format!("std::array<{}, {count}>", spelled(element)),
    }
}
