//! The generated functions that ask for the inputs of a function, call it and hand out its results.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::fmt::Write;

use branchwise_program::TypeId;
use branchwise_program::map::{Map, UndefinedVariable};
use branchwise_program::usage::{ONLY_NATIVE, Usage};
use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::ctypes::{array_element, variable_element};
use crate::functions::qualified;
use crate::making::{self, Preparation};
use crate::observers;
use crate::preconditions;
use crate::usage::{Given, is_plain};

/// Declarations that markers and drivers need. A marker neither throws nor calls back, and says so.
pub(crate) const PRELUDE: &str = "\
extern int __bw_condition(unsigned, int) __attribute__((nothrow, leaf));
extern void __bw_switch(unsigned, long long) __attribute__((nothrow, leaf));
extern int __bw_otherwise(const char *) __attribute__((nothrow, leaf));
extern int __bw_probe(unsigned, int) __attribute__((nothrow, leaf));
extern void __bw_input(void *, unsigned);
extern void __bw_output(const void *, unsigned, unsigned long);
extern void __bw_feed(void *, unsigned, unsigned long);
extern void __bw_assume(int);
";

/// The same in C++, with what its markers are made of. Inlined, so that an event happens in the user's function.
pub(crate) const CPP_PRELUDE: &str = r#"
extern "C" {
int __bw_condition(unsigned, int) noexcept __attribute__((leaf));
void __bw_switch(unsigned, long long) noexcept __attribute__((leaf));
void __bw_input(void *, unsigned) noexcept;
void __bw_output(const void *, unsigned, unsigned long) noexcept;
void __bw_feed(void *, unsigned, unsigned long) noexcept;
void __bw_assume(int) noexcept;
void __bw_start(void) noexcept;
void __bw_threw(void) noexcept;
int __bw_observing(void) noexcept;
void __bw_observed(unsigned, const void *, unsigned long) noexcept;
void __bw_fill(void *, unsigned long) noexcept;
void __bw_objects_begin(void) noexcept;
void __bw_objects_end(void) noexcept;
void __bw_objects_called(const char *) noexcept;
void __bw_objects_constructed(const char *) noexcept;
void __bw_objects_left_out(const char *) noexcept;
int __bw_objects_more_calls(unsigned) noexcept;
int __bw_objects_more_elements(unsigned) noexcept;
int __bw_objects_share(const char *, const char *) noexcept;
int __bw_objects_owners(const char *) noexcept;
int __bw_objects_lasting_owners(const char *) noexcept;
int __bw_objects_past(const char *) noexcept;
}
struct __bw_here {};
inline void *operator new(decltype(sizeof 0), void *__bw_at, __bw_here) noexcept { return __bw_at; }
template <class __bw_T> inline void __bw_end_of(__bw_T *object) { object->~__bw_T(); }
template <unsigned __bw_N> struct __bw_value {
  template <class __bw_T> operator __bw_T() const {
    __bw_T value;
    __bw_feed(&value, __bw_N, sizeof value);
    return value;
  }
};
struct __bw_kept { __bw_kept *before; void *object; void (*end)(void *); };
struct __bw_objects {
  __bw_kept *last = nullptr;
  template <class __bw_T> void keep(void *room, __bw_T *object) {
    last = ::new (room, __bw_here{}) __bw_kept{last, object, [](void *ended) { __bw_end_of(static_cast<__bw_T *>(ended)); }};
  }
  ~__bw_objects() {
    for (; last; last = last->before) last->end(last->object);
  }
};
[[gnu::always_inline]] inline constexpr bool __bw_constexpr_condition(unsigned __bw_m, bool __bw_v) {
  return __builtin_is_constant_evaluated() ? __bw_v : __bw_condition(__bw_m, __bw_v) != 0;
}
template <class __bw_T> [[gnu::always_inline]] inline constexpr __bw_T __bw_switched(unsigned __bw_m, __bw_T __bw_v) {
  if (!__builtin_is_constant_evaluated()) __bw_switch(__bw_m, (long long)__bw_v);
  return __bw_v;
}
template <class __bw_E> struct __bw_range_end { __bw_E last; };
template <unsigned __bw_M, class __bw_I> struct __bw_range_place {
  __bw_I at;
  [[gnu::always_inline]] decltype(auto) operator*() { return *at; }
  [[gnu::always_inline]] void operator++() { ++at; }
  template <class __bw_E> [[gnu::always_inline]] bool operator!=(__bw_range_end<__bw_E> &end) {
    return __bw_condition(__bw_M, static_cast<bool>(at != end.last)) != 0;
  }
};
struct __bw_by_name {
  template <class __bw_R> [[gnu::always_inline]] static auto first(__bw_R &range, int) -> decltype(range.begin()) { return range.begin(); }
  template <class __bw_R> [[gnu::always_inline]] static auto last(__bw_R &range, int) -> decltype(range.end()) { return range.end(); }
  template <class __bw_R> [[gnu::always_inline]] static auto first(__bw_R &range, long) -> decltype(begin(range)) { return begin(range); }
  template <class __bw_R> [[gnu::always_inline]] static auto last(__bw_R &range, long) -> decltype(end(range)) { return end(range); }
  template <class __bw_T, unsigned long __bw_N> [[gnu::always_inline]] static __bw_T *first(__bw_T (&range)[__bw_N], int) { return range; }
  template <class __bw_T, unsigned long __bw_N> [[gnu::always_inline]] static __bw_T *last(__bw_T (&range)[__bw_N], int) { return range + __bw_N; }
};
template <unsigned __bw_M, class __bw_R> struct __bw_range {
  __bw_R range;
  [[gnu::always_inline]] auto begin() {
    return __bw_range_place<__bw_M, decltype(__bw_by_name::first(range, 0))>{__bw_by_name::first(range, 0)};
  }
  [[gnu::always_inline]] auto end() {
    return __bw_range_end<decltype(__bw_by_name::last(range, 0))>{__bw_by_name::last(range, 0)};
  }
};
"#;

/// What the driver of one function is made of.
pub(crate) struct Driven<'a, 'u> {
    pub number: u32,
    pub name: &'a str,
    pub function: Cursor<'u>,
    /// What it returns; an instance of a template, what that returns.
    pub result: ClangType<'u>,
    pub globals: &'a [Cursor<'u>],
    /// How many preconditions are checked before the call; see `preconditions`.
    pub preconditions: usize,
}

/// How the names of drivers begin.
pub(crate) const DRIVER: &str = "__bw_drive_";

pub(crate) fn driver_name(number: u32) -> String {
    format!("{DRIVER}{number}")
}

/// The C text of a driver, or why there can be none.
pub(crate) fn driver(driven: &Driven<'_, '_>) -> Result<String, String> {
    if driven.name != driven.function.spelling() {
        return Err("it has the attribute overloadable, which is not supported".to_owned());
    }
    let parameters = driven.function.arguments();
    let mut text = format!("void {}(void) {{\n", driver_name(driven.number));
    for (index, parameter) in parameters.iter().enumerate() {
        let declared =
            argument_type(parameter.clang_type()).map_err(|type_name| unspellable(*parameter, &type_name))?;
        let _ = writeln!(text, "  {declared}__bw_a{index}; __bw_input(&__bw_a{index}, {index});");
    }
    for (index, global) in driven.globals.iter().enumerate() {
        let _ = writeln!(text, "  __bw_input((void *)&{}, {});", global.spelling(), parameters.len() + index);
    }
    let arguments: Vec<String> = (0..parameters.len()).map(|index| format!("__bw_a{index}")).collect();
    let arguments = arguments.join(", ");
    for number in 0..driven.preconditions {
        let check = preconditions::check_name(driven.name, number);
        let _ = writeln!(text, "  __bw_assume({check}({arguments}));");
    }
    let call = format!("{}({arguments})", driven.name);
    text += &call_and_result(driven.function.result_type(), &call)?;
    for (index, global) in driven.globals.iter().enumerate() {
        let (name, output, size) = (global.spelling(), 1 + parameters.len() + index, size_of(*global));
        let _ = writeln!(text, "  __bw_output((const void *)&{name}, {output}, {size});");
    }
    Ok(text + "}\n")
}

/// The same in C++. What a call throws is caught, so that the test goes on; what leaves `main` ends it.
pub(crate) fn cpp_driver(driven: &Driven<'_, '_>, usage: &Usage, given: &[Given<'_>]) -> Result<String, String> {
    let mut text = format!("extern \"C\" void {}() noexcept {{\n  __bw_start();\n", driver_name(driven.number));
    for (index, value) in given.iter().enumerate() {
        let declared = variable_of(value.declared)?;
        let _ = writeln!(text, "  {declared}__bw_a{index}; __bw_input(&__bw_a{index}, {index});");
    }
    for (index, global) in driven.globals.iter().enumerate() {
        let _ = writeln!(text, "  __bw_input((void *)&{}, {});", qualified(*global), given.len() + index);
    }
    let arguments: Vec<String> = (0..given.len()).map(|index| format!("__bw_a{index}")).collect();
    for number in 0..driven.preconditions {
        let check = preconditions::check_name(driven.name, number);
        let _ = writeln!(text, "  __bw_assume({check}({}));", arguments.join(", "));
    }
    let (preparation, call) = Preparation::of(usage);
    let (room, threw) = room_of_constructed(usage);
    let call = cpp_call(driven.result, usage, &call);
    text += &match driven.name {
        "main" => call,
        // What is thrown while objects are made makes no test.
        _ if !preparation.is_empty() => format!(
            "{room}  bool __bw_ready = false;\n  try {{\n{preparation}  __bw_ready = true;\n{call}  }} \
             catch (...) {{\n    if (!__bw_ready) __bw_assume(0);\n    {threw}\n  }}\n"
        ),
        _ => format!("{room}  try {{\n{call}  }} catch (...) {{ {threw} }}\n"),
    };
    for (index, global) in driven.globals.iter().enumerate() {
        let (name, output) = (qualified(*global), 1 + given.len() + index);
        let _ = writeln!(text, "  __bw_output((const void *)&{name}, {output}, sizeof {name});");
    }
    Ok(text + "}\n")
}

/// Where the object that the call constructs comes to lie, and what is done when the call threw. There is no object then:
/// what its members pointed to is out of reach.
fn room_of_constructed(usage: &Usage) -> (String, &'static str) {
    match &usage.constructs {
        Some(class) => (
            format!("  alignas({class}) unsigned char __bw_room[sizeof({class})];\n"),
            "__builtin_memset(__bw_room, 0, sizeof __bw_room); __bw_threw();",
        ),
        None => (String::new(), "__bw_threw();"),
    }
}

fn cpp_call(result: ClangType<'_>, usage: &Usage, call: &str) -> String {
    if let Some(class) = &usage.constructs {
        // What a test writes in parentheses, lest it be a declaration.
        let call = call.strip_prefix('(').and_then(|call| call.strip_suffix(')')).unwrap_or(call);
        let observed = observers::native_line(&usage.observers, making::expression);
        return format!(
            "  {class} *__bw_new = ::new (__bw_room, __bw_here{{}}) {call};\n{ONLY_NATIVE} auto &__bw_r = *__bw_new; \
             (void)__bw_r;\n{observed}  __bw_end_of(__bw_new);\n"
        );
    }
    let call = match observable_result(result) {
        Some(_) => format!("  auto __bw_r = {call};\n  __bw_output(&__bw_r, 0, sizeof __bw_r);\n"),
        None if usage.looks_at_result() => format!("{ONLY_NATIVE} auto &&__bw_r =\n  {call};\n"),
        None => format!("  {call};\n"),
    };
    call + &observers::native_line(&usage.observers, making::expression)
}

/// The type of what a call returns, where a test can look at it.
pub(crate) fn observable_result(result: ClangType<'_>) -> Option<ClangType<'_>> {
    let canonical = result.canonical();
    let reference = matches!(canonical.kind(), CXType_LValueReference | CXType_RValueReference);
    let value = if reference { canonical.pointee() } else { result };
    (value.canonical().kind() != CXType_Void && is_plain(value)).then_some(value)
}

/// The start of a declaration of what is passed for a parameter; for a reference, a pointer to what it refers to.
pub(crate) fn variable_of(declared: ClangType<'_>) -> Result<String, String> {
    let canonical = declared.canonical();
    let text = match canonical.kind() {
        CXType_LValueReference | CXType_RValueReference => {
            Ok(format!("__typeof__({}) *", canonical.pointee().spelling()))
        }
        // A name inside a class means nothing outside, where the type has a name there.
        _ => match is_unspellable(&canonical.spelling()) {
            true => parameter_type(declared),
            false => parameter_type(canonical),
        },
    };
    text.ok()
        .filter(|text| !is_unspellable(text))
        .ok_or_else(|| format!("the type `{}` cannot be written in a driver", declared.spelling()))
}

fn call_and_result(result: ClangType<'_>, call: &str) -> Result<String, String> {
    if result.canonical().kind() == CXType_Void {
        return Ok(format!("  {call};\n"));
    }
    let spelling = result.unqualified().spelling();
    if is_unspellable(&spelling) {
        return Err(format!("its result type `{spelling}` has no name"));
    }
    Ok(format!("  __typeof__({spelling}) __bw_r = {call};\n  __bw_output(&__bw_r, 0, sizeof __bw_r);\n"))
}

/// The start of a declaration of what is passed for a parameter. Where its type depends on other parameters, that is a
/// `void *`, which becomes any pointer.
fn argument_type(declared: ClangType<'_>) -> Result<String, String> {
    match variable_element(declared) {
        Some(_) => Ok("void *".to_owned()),
        None => parameter_type(declared),
    }
}

/// The start of a declaration of the adjusted parameter type: arrays and functions become pointers.
pub(crate) fn parameter_type(declared: ClangType<'_>) -> Result<String, String> {
    let function = matches!(declared.canonical().kind(), CXType_FunctionProto | CXType_FunctionNoProto);
    let (target, star) = match array_element(declared) {
        Some(element) => (element.spelling(), "*"),
        None if function => (declared.spelling(), "*"),
        None => (declared.unqualified().spelling(), ""),
    };
    match is_unspellable(&target) {
        true => Err(target),
        false => Ok(format!("__typeof__({target}) {star}")),
    }
}

/// clang writes types without a name as `struct (unnamed at file.c:1:2)`.
pub(crate) fn is_unspellable(spelling: &str) -> bool {
    spelling.contains("(unnamed") || spelling.contains("(anonymous")
}

pub(crate) fn unspellable(parameter: Cursor<'_>, type_name: &str) -> String {
    match parameter.spelling() {
        name if name.is_empty() => format!("the type `{type_name}` of a parameter cannot be written in a driver"),
        name => format!("the type `{type_name}` of parameter `{name}` cannot be written in a driver"),
    }
}

/// A definition for a variable that the unit only declares, so that the unit can be linked alone.
pub(crate) fn tentative_definition(global: Cursor<'_>) -> String {
    let name = global.spelling();
    let storage = if global.is_thread_local() { "_Thread_local " } else { "" };
    match unknown_length(global) {
        Some(elements) => format!("{storage}__typeof__({name}[0]) {name}[{elements}];\n"),
        None => format!("{storage}__typeof__({name}) {name};\n"),
    }
}

/// A table of the addresses of variables that stubs can change.
pub(crate) fn variable_table(map: &Map) -> String {
    let entries: String = map.variables.iter().map(|variable| format!("(void *)&{}, ", variable.name)).collect();
    let (count, table) = (map.variables.len(), "void *const __bw_variables");
    match (count, map.is_cpp()) {
        (0, _) => String::new(),
        (_, true) => format!("extern \"C\" {{ extern {table}[{count}]; {table}[{count}] = {{{entries}}}; }}\n"),
        (_, false) => format!("extern {table}[{count}]; {table}[{count}] = {{{entries}}};\n"),
    }
}

/// How many elements an array gets of which the unit does not say how many it has (`extern int a[];`).
pub(crate) fn unknown_length(global: Cursor<'_>) -> Option<u64> {
    let unknown = global.definition().is_none() && has_no_length(global);
    unknown.then_some(ELEMENTS_OF_UNKNOWN_ARRAY)
}

/// Whether a declaration leaves the length of its array open.
pub(crate) fn has_no_length(global: Cursor<'_>) -> bool {
    global.clang_type().canonical().kind() == CXType_IncompleteArray
}

/// The size of a variable as an expression. An array whose length only the end of the unit decides (`int a[];`) has no
/// size of its own before.
fn size_of(global: Cursor<'_>) -> String {
    let name = global.spelling();
    match global.clang_type().canonical().array_count().filter(|_| global.definition().is_none()) {
        Some(elements) => format!("{elements} * sizeof {name}[0]"),
        None => format!("sizeof {name}"),
    }
}

const ELEMENTS_OF_UNKNOWN_ARRAY: u64 = 16;

/// Whether a declaration is a definition of a variable, at least where no other file has one.
pub(crate) fn defines_variable(declaration: Cursor<'_>) -> bool {
    declaration.kind() == CXCursor_VarDecl && declaration.storage_class() != CX_SC_Extern
}

/// `tentative`: some declaration of it is a definition unless another file has one.
pub(crate) fn undefined_variable(global: Cursor<'_>, type_id: TypeId, tentative: bool) -> UndefinedVariable {
    UndefinedVariable {
        name: global.spelling(),
        type_id,
        tentative,
        thread_local: global.is_thread_local(),
        elements: unknown_length(global),
    }
}

/// Makes clang emit functions that nothing else of the unit may use, so that the coverage mapping has their regions.
/// The declaration makes a C99 `inline` definition an external one.
pub(crate) fn keep_alive(names: &[&str]) -> String {
    let declarations: String = names.iter().map(|name| extern_declaration(name)).collect();
    let addresses: String = names.iter().map(|name| format!("(void *){name}, ")).collect();
    format!("{declarations}__attribute__((used)) static void *__bw_keep[] = {{{addresses}0}};\n")
}

pub(crate) fn extern_declaration(name: &str) -> String {
    format!("extern __typeof__({name}) {name};\n")
}
