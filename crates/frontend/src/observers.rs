//! What a test of C++ looks at after a call: results that are more than bytes, and what objects show by public members and
//! by constant methods without parameters.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;
use std::fmt::Write;

use branchwise_program::usage::{ONLY_NATIVE, Observer, RESULT, Shown};
use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::classes;
use crate::containers::{Standard, spelled, standard};
use crate::ctypes::{Types, is_arithmetic};
use crate::drivers::is_unspellable;

/// More of one object would hide what a test is about.
const MOST_OF_AN_OBJECT: usize = 6;

/// What the result of a function shows, where it is no plain value that the driver hands out.
pub(crate) fn of_result(result: ClangType<'_>, types: &mut Types) -> Vec<Observer> {
    let of = referred(result);
    match shown(of, types) {
        Some(shown) => vec![Observer { text: RESULT.to_owned(), object: None, shown }],
        None => of_object(of, RESULT, None, types),
    }
}

/// What an object of a class, or one of the standard library, shows.
pub(crate) fn of_object(of: ClangType<'_>, text: &str, object: Option<usize>, types: &mut Types) -> Vec<Observer> {
    let of = referred(of);
    let of_library = standard(of);
    if let (Some(Standard::Stream { writes: true, .. }), Some(_)) = (&of_library, object) {
        return vec![Observer { text: format!("{text}.str()"), object, shown: Shown::Text }];
    }
    if let Some(shown) = of_library.and_then(|_| shown(of, types)) {
        return vec![Observer { text: text.to_owned(), object, shown }];
    }
    let class = of.declaration();
    let Some(class) = class.definition().filter(|class| of.kind() == CXType_Record && !class.in_system_header()) else {
        return Vec::new();
    };
    let mut observers = Vec::new();
    for member in of.fields().into_iter().filter(|member| member.is_public() && !member.spelling().is_empty()) {
        if let Some(shown) = shown(referred(member.clang_type()), types).filter(|_| member.bit_width().is_none()) {
            observers.push(Observer { text: format!("{text}.{}", member.spelling()), object, shown });
        }
    }
    // The members of an instance are known by its template.
    for method in classes::showing_methods(class.template().unwrap_or(class)) {
        if let Some(shown) = shown(referred(method.result_type()), types) {
            observers.push(Observer { text: format!("{text}.{}()", method.spelling()), object, shown });
        }
    }
    observers.truncate(MOST_OF_AN_OBJECT);
    observers
}

fn referred(of: ClangType<'_>) -> ClangType<'_> {
    let canonical = of.canonical();
    match canonical.kind() {
        CXType_LValueReference | CXType_RValueReference => canonical.pointee().canonical().unqualified(),
        _ => canonical.unqualified(),
    }
}

fn shown(of: ClangType<'_>, types: &mut Types) -> Option<Shown> {
    let of = of.canonical().unqualified();
    let Some(kind) = standard(of) else {
        let writable = is_arithmetic(of) && !is_unspellable(&of.spelling()) && is_open(of.declaration());
        return writable.then(|| Shown::Value(types.id(of)));
    };
    let class = spelled(of);
    let mut part = |of: ClangType<'_>| shown(of, types);
    match kind {
        Standard::Text => Some(Shown::Text),
        // Elements of `std::vector<bool>` have no address.
        Standard::Sequence { element, .. } if element.kind() == CXType_Bool => None,
        Standard::Sequence { element, .. } | Standard::Set { element } | Standard::Array { element, .. } => {
            Some(Shown::Sequence { class, element: Box::new(part(element)?) })
        }
        Standard::Map { key, value } => {
            let parts = vec![part(key)?, part(value)?];
            Some(Shown::Sequence { class, element: Box::new(Shown::Parts { class: String::new(), parts }) })
        }
        Standard::Optional { value } => Some(Shown::Optional { class, value: Box::new(part(value)?) }),
        Standard::Adaptor { .. }
        | Standard::Variant { .. }
        | Standard::Numbers { .. }
        | Standard::Stream { .. }
        | Standard::SmartPointer { .. }
        | Standard::Function { .. } => None,
        Standard::Pair { first, second } => Some(Shown::Parts { class, parts: vec![part(first)?, part(second)?] }),
        Standard::Tuple { parts } => {
            Some(Shown::Parts { class, parts: parts.into_iter().map(part).collect::<Option<_>>()? })
        }
    }
}

/// Whether every test may name it: nothing around it is private, or a function.
pub(crate) fn is_open(declaration: Cursor<'_>) -> bool {
    let mut inner = declaration;
    while let Some(scope) = inner.semantic_parent() {
        let in_class = matches!(scope.kind(), CXCursor_ClassDecl | CXCursor_StructDecl);
        let in_code = crate::functions::is_function(scope.kind()) || scope.kind() == CXCursor_LambdaExpr;
        if in_code || in_class && !inner.is_public() {
            return false;
        }
        inner = scope;
    }
    true
}

/// The names of the classes that tests can name.
pub(crate) fn nameable(classes: &[Cursor<'_>]) -> BTreeSet<String> {
    classes.iter().filter(|class| is_open(**class)).map(|class| crate::functions::qualified(*class)).collect()
}

/// The line of a driver that hands out what observers show; `known` writes an expression as the driver knows it.
pub(crate) fn native_line(observers: &[Observer], known: impl Fn(&str) -> String) -> String {
    if observers.is_empty() {
        return String::new();
    }
    let mut text = format!("{ONLY_NATIVE} if (__bw_observing()) {{");
    for (number, observer) in observers.iter().enumerate() {
        let there =
            observer.object.map_or(String::new(), |object| format!("if ({}) ", known(&format!("{{&{object}}}"))));
        let expression = known(&observer.text);
        let _ = write!(text, " {there}try {{ auto &&__bw_v = {expression};");
        hand_out(&observer.shown, "__bw_v", number, 0, &mut text);
        text += " } catch (...) {}";
    }
    text + " }\n"
}

fn hand_out(shown: &Shown, value: &str, number: usize, depth: usize, text: &mut String) {
    let _ = match shown {
        Shown::Value(_) => {
            write!(text, " {{ auto __bw_x = {value}; __bw_observed({number}, &__bw_x, sizeof __bw_x); }}")
        }
        Shown::Text => write!(text, " __bw_observed({number}, {value}.data(), {value}.size());"),
        Shown::Sequence { element, .. } => {
            let _ = write!(
                text,
                " {{ unsigned long __bw_n = {value}.size(); __bw_observed({number}, &__bw_n, sizeof __bw_n); }}"
            );
            let each = format!("__bw_e{depth}");
            let _ = write!(text, " for (auto &&{each} : {value}) {{");
            hand_out(element, &each, number, depth + 1, text);
            write!(text, " }}")
        }
        Shown::Optional { value: inside, .. } => {
            let _ = write!(
                text,
                " {{ bool __bw_n = {value}.has_value(); __bw_observed({number}, &__bw_n, sizeof __bw_n); }}"
            );
            let _ = write!(text, " if ({value}.has_value()) {{");
            hand_out(inside, &format!("(*{value})"), number, depth, text);
            write!(text, " }}")
        }
        Shown::Parts { parts, .. } => {
            for (place, part) in parts.iter().enumerate() {
                hand_out(part, &format!("std::get<{place}>({value})"), number, depth, text);
            }
            Ok(())
        }
    };
}
