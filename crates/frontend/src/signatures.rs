//! What a generated function of a given type looks like: its result, its parameters, and what it writes through them.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use branchwise_program::TypeId;
use clang_sys::*;

use crate::clang::ClangType;
use crate::classes::is_polymorphic;
use crate::ctypes::{Types, is_arithmetic};
use crate::drivers::is_unspellable;
use crate::usage::is_plain;

/// Larger objects are not given new contents through a parameter.
pub(crate) const MOST_WRITTEN_BYTES: u64 = 4096;
/// Functions with more parameters are not called back.
const MOST_HANDED: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Signature {
    /// `None` for `void`.
    pub result: Option<Fed>,
    pub parameters: Vec<Formal>,
    pub variadic: bool,
    pub returns: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Formal {
    pub written_as: Spelled,
    /// What a function that nobody defines writes through it.
    pub written: Option<Fed>,
    /// The real function could change memory through it that the generated one leaves alone.
    pub left_alone: bool,
    /// A reference of C++.
    pub reference: bool,
    /// It points to a function that can be called.
    pub callback: Option<Callback>,
    /// What it leads to has the form of a structure or number of C, also where others write it.
    pub plain: bool,
}

/// A function that a generated one may call.
#[derive(Debug, Clone)]
pub(crate) struct Callback {
    /// The type of what says whether it does.
    pub truth: TypeId,
    pub arguments: Vec<Handed>,
    /// The types of its parameters, ready for casts.
    pub spelled: Vec<Spelled>,
}

#[derive(Debug, Clone)]
pub(crate) enum Handed {
    /// The parameter of the generated function with this index.
    Parameter(usize),
    Fed(Fed),
}

/// A value that a generated function asks for.
#[derive(Debug, Clone)]
pub(crate) struct Fed {
    pub written_as: Spelled,
    pub type_id: TypeId,
    pub record: bool,
}

/// A type in C.
#[derive(Debug, Clone)]
pub(crate) struct Spelled {
    pub spelling: String,
    /// Ready to stand before a declared name.
    pub declared: String,
}

impl Signature {
    /// Of a canonical function type; the error names the type that cannot be written down.
    pub fn of(function: ClangType<'_>, types: &mut Types) -> Result<Signature, String> {
        let result = function.function_result();
        let made_elsewhere = |value: ClangType<'_>| has_invariants(value) || has_invariants(value.pointee());
        let result = match result.kind() {
            CXType_Void => None,
            // No bytes that a test gives would make such an object.
            _ if made_elsewhere(result.canonical()) => return Err(result.spelling()),
            _ => Some(fed(result, types)?),
        };
        let mut parameters = Vec::new();
        for parameter in function.function_parameters() {
            let written_as = spelled(parameter)?;
            let written = if is_written(parameter) { fed(parameter.pointee(), types).ok() } else { None };
            let left_alone = may_be_changed(parameter) && written.is_none();
            let reference = is_reference(parameter);
            let plain = leads_to_plain(parameter);
            let callback = callback(parameter, &function.function_parameters(), types);
            parameters.push(Formal { written_as, written, left_alone, reference, callback, plain });
        }
        // A variadic function without a named parameter cannot be defined before C23; `()` accepts any arguments too.
        let variadic = function.is_variadic_function() && !parameters.is_empty();
        Ok(Signature { result, parameters, variadic, returns: !function.spelling().contains("noreturn") })
    }
}

fn fed(value: ClangType<'_>, types: &mut Types) -> Result<Fed, String> {
    let record = value.canonical().kind() == CXType_Record;
    Ok(Fed { written_as: spelled(value)?, type_id: types.id(value), record })
}

fn spelled(written: ClangType<'_>) -> Result<Spelled, String> {
    let spelling = written.unqualified().spelling();
    match spelling {
        // The compiler's own array type, whose structure has no name in C.
        list if list.contains("__va_list_tag") => {
            Ok(Spelled { spelling: "__builtin_va_list".into(), declared: "__builtin_va_list".into() })
        }
        spelling if is_unspellable(&spelling) => Err(spelling),
        spelling => Ok(Spelled { declared: format!("__typeof__({spelling})"), spelling }),
    }
}

fn is_reference(parameter: ClangType<'_>) -> bool {
    parameter.canonical().kind() == CXType_LValueReference
}

/// How a function behind a parameter of one with `given` parameters can be called. Pointers to what the caller knows are
/// handed on: the usual `each(function, context)`.
fn callback(parameter: ClangType<'_>, given: &[ClangType<'_>], types: &mut Types) -> Option<Callback> {
    let function = parameter.canonical().pointee().canonical();
    if parameter.canonical().kind() != CXType_Pointer || function.kind() != CXType_FunctionProto {
        return None;
    }
    let taken = function.function_parameters();
    if function.is_variadic_function() || taken.len() > MOST_HANDED || !taken.iter().all(|of| is_plain(*of)) {
        return None;
    }
    let handed = |of: &ClangType<'_>| match handed_on(*of, given) {
        Some(index) => Some(Handed::Parameter(index)),
        None => fed(*of, types).ok().map(Handed::Fed),
    };
    let arguments = taken.iter().map(handed).collect::<Option<Vec<_>>>()?;
    let spelled = taken.iter().map(|of| spelled(*of).ok()).collect::<Option<Vec<_>>>()?;
    Some(Callback { truth: types.truth(), arguments, spelled })
}

/// The parameter that fits a pointer of a callback: the last one of its type, or for a `void *` the last that leads to data.
fn handed_on(of: ClangType<'_>, given: &[ClangType<'_>]) -> Option<usize> {
    if !is_pointer(of) {
        return None;
    }
    let wanted = target(of);
    let name = |of: ClangType<'_>| of.unqualified().spelling();
    let fits = |of: &ClangType<'_>| is_pointer(*of) && name(target(*of)) == name(wanted);
    let is_data = |of: &ClangType<'_>| is_pointer(*of) && !is_function_type(target(*of));
    given.iter().rposition(fits).or_else(|| given.iter().rposition(is_data).filter(|_| wanted.kind() == CXType_Void))
}

fn target(pointer: ClangType<'_>) -> ClangType<'_> {
    pointer.canonical().pointee().canonical()
}

fn is_pointer(of: ClangType<'_>) -> bool {
    of.canonical().kind() == CXType_Pointer
}

/// Nobody knows of a `void *` what it leads to.
fn leads_to_plain(parameter: ClangType<'_>) -> bool {
    let parameter = parameter.canonical();
    let target = parameter.pointee().canonical();
    let leads = parameter.kind() == CXType_Pointer || is_reference(parameter);
    leads && target.kind() != CXType_Void && is_plain(target)
}

/// Whether the unit could see what a function does through this parameter: not behind `const`, and not in structures
/// that only others look into. Functions that it is given may change anything.
fn may_be_changed(parameter: ClangType<'_>) -> bool {
    let parameter = parameter.canonical();
    let target = parameter.pointee().canonical();
    let leads = parameter.kind() == CXType_Pointer || is_reference(parameter);
    leads && (!target.is_const() && !is_foreign(target) || holds_functions(target))
}

/// A structure that the unit does not know, or of the C library with nothing for its users in it.
fn is_foreign(target: ClangType<'_>) -> bool {
    let own = || target.fields().into_iter().all(|field| field.spelling().starts_with('_') || field.is_anonymous());
    let library = || target.declaration().in_system_header() && !target.spelling().contains("::") && own();
    target.kind() == CXType_Record && (target.size().is_none() || library())
}

/// A structure with pointers to functions.
fn holds_functions(value: ClangType<'_>) -> bool {
    match value.kind() {
        CXType_Pointer => is_function_type(value.pointee().canonical()),
        CXType_ConstantArray => holds_functions(value.element().canonical()),
        CXType_Record if !is_foreign(value) => {
            value.fields().into_iter().any(|field| holds_functions(field.clang_type().canonical()))
        }
        _ => false,
    }
}

/// An object that only constructors make: it has a table of virtual methods, or is one of the library's with members that
/// fit each other.
fn has_invariants(value: ClangType<'_>) -> bool {
    let value = value.canonical();
    match value.kind() {
        CXType_ConstantArray => has_invariants(value.element()),
        CXType_Record => {
            let class = value.declaration();
            let class = class.definition().unwrap_or(class);
            let of_library = class.is_cpp() && class.in_system_header() && !value.is_pod();
            of_library
                || is_polymorphic(class)
                || value.fields().into_iter().any(|field| has_invariants(field.clang_type()))
        }
        _ => false,
    }
}

fn is_function_type(value: ClangType<'_>) -> bool {
    matches!(value.kind(), CXType_FunctionProto | CXType_FunctionNoProto)
}

/// Numbers, pointers and complete structures that the function may change. Text stays as it is: what is written through a
/// `char *` is an array whose length nobody knows.
fn is_written(parameter: ClangType<'_>) -> bool {
    let target = parameter.pointee().canonical();
    if parameter.canonical().kind() != CXType_Pointer || target.is_const() {
        return false;
    }
    let size = target.size().unwrap_or(0);
    let business = || target.declaration().in_system_header() && holds_pointers(target);
    match target.kind() {
        CXType_Char_S | CXType_Char_U => false,
        CXType_Pointer => true,
        CXType_Record => (1..=MOST_WRITTEN_BYTES).contains(&size) && !business() && !has_invariants(target),
        _ => is_arithmetic(target) && size > 0,
    }
}

/// The structures of the C library with pointers to what may change (`FILE`) are its own business.
fn holds_pointers(value: ClangType<'_>) -> bool {
    match value.kind() {
        CXType_Pointer => !value.pointee().canonical().is_const(),
        CXType_ConstantArray => holds_pointers(value.element().canonical()),
        CXType_Record => value.fields().into_iter().any(|field| holds_pointers(field.clang_type().canonical())),
        _ => false,
    }
}
