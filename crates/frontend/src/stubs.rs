//! Generated definitions for functions that the unit uses and nobody defines, and for function pointers among the
//! inputs: each call takes the next value of a feed. Also the table of what function pointers may point to.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use branchwise_program::library::{self, Model};
use branchwise_program::map::{
    Callable, Feed, FeedOrigin, HandedOver, MOST_CALLBACKS, Map, Stub, StubAct, StubParameter,
};
use branchwise_program::types::TypeKind;
use branchwise_program::{CallableId, FeedId, Id, IdVec, TypeId};
use clang_sys::*;

use crate::clang::{ClangType, Cursor, file_location};
use crate::ctypes::{Types, array_element, is_arithmetic, is_integer};
use crate::functions::{is_function, qualified};
use crate::lower::library::is_modelled;
use crate::signatures::{Callback, Fed, Formal, Handed, MOST_WRITTEN_BYTES, Signature};

/// Declarations that only stubs need: how a function that never returns ends the test, and how many bytes behind a
/// parameter it has written, where the real function might have written more. A call of `__bw_outside` says in C++ that
/// the real function might throw, so that the compiler keeps the handlers around its calls. In `__bw_act` it writes what
/// the test says beside that: variables, and what its arguments lead to.
const ENDS: &str = "\
extern void __bw_end(int) __asm__(\"_exit\") __attribute__((noreturn));
extern void __bw_abort(void) __asm__(\"abort\") __attribute__((noreturn));
extern void __bw_left_alone(const volatile void *, unsigned long);
extern void __bw_outside(void);
extern void __bw_act(const char *, const void *const *);
extern void __bw_act_again(const char *, const void *const *);
extern int __bw_may_call(void);
extern unsigned long __bw_looks_at(const char *, unsigned long);
";

/// Variable arguments of a call behind which it may write.
const MOST_VARIABLE: usize = 8;

/// Bytes of a buffer that a stub takes from its feed; the others are zeros.
const BUFFER_BYTES: u64 = 16;

/// A function that the unit uses and nobody defines.
pub(crate) struct Undefined {
    pub name: String,
    pub symbol: String,
    pub type_id: TypeId,
    /// Names of its parameters, empty where there is none.
    parameters: Vec<String>,
    returns: bool,
    /// Declared `static`.
    internal: bool,
    /// Declared to do nothing but return a value.
    pure: bool,
    /// Parameters through which arrays are written.
    written: BTreeMap<usize, WrittenArray>,
}

/// An array that a stub writes through a parameter.
#[derive(Debug, Copy, Clone)]
struct WrittenArray {
    type_id: TypeId,
    bytes: u64,
    /// It has as many bytes as the next parameter says, of which the value of the feed are the first.
    buffer: bool,
}

/// The function types that pointers of the table point to.
pub(crate) fn pointed_functions(types: &Types) -> Vec<TypeId> {
    let target = |kind: &TypeKind| match kind {
        TypeKind::Pointer { target, .. } if types.table[*target].kind == TypeKind::Function => Some(*target),
        _ => None,
    };
    let targets: BTreeSet<TypeId> = types.table.values().filter_map(|pointer| target(&pointer.kind)).collect();
    targets.into_iter().collect()
}

/// In the order of their first use. `never_returns`: what the control-flow graphs take for such a function.
pub(crate) fn undefined_functions<'u>(
    declarations: &[Cursor<'u>],
    types: &mut Types,
    never_returns: impl Fn(Cursor<'u>) -> bool,
) -> Vec<Undefined> {
    let mut used = Vec::new();
    let ours = |cursor: &&Cursor<'u>| !cursor.in_system_header();
    for &declaration in declarations.iter().filter(ours) {
        if is_function(declaration.kind()) || declaration.kind() == CXCursor_VarDecl {
            collect_used(declaration, &mut used);
        }
    }
    let mut seen = BTreeSet::new();
    used.retain(|function| seen.insert(function.spelling()) && is_candidate(*function));
    let mut undefined = Vec::new();
    for function in used {
        undefined.push(Undefined {
            name: function.spelling(),
            symbol: function.mangled().trim_start_matches('\u{1}').to_owned(),
            type_id: types.id(function.clang_type()),
            parameters: function.arguments().into_iter().map(Cursor::spelling).collect(),
            returns: !never_returns(function),
            internal: function.has_internal_linkage(),
            pure: is_pure(function),
            written: written_arrays(function, types),
        });
    }
    undefined
}

/// `__attribute__((pure))` or `((const))`.
fn is_pure(function: Cursor<'_>) -> bool {
    let says = |attribute: Cursor<'_>| matches!(attribute.kind(), CXCursor_PureAttr | CXCursor_ConstAttr);
    function.children().into_iter().any(says)
}

fn collect_used<'u>(cursor: Cursor<'u>, used: &mut Vec<Cursor<'u>>) {
    if cursor.kind() == CXCursor_DeclRefExpr {
        let function = cursor.referenced().filter(|function| function.kind() == CXCursor_FunctionDecl);
        used.extend(function.filter(|function| function.definition().is_none() && is_definable(*function)));
    }
    cursor.children().into_iter().for_each(|child| collect_used(child, used));
}

/// In C++: a function outside all namespaces, and no instance of a template. The library always defines how memory is
/// allocated.
fn is_definable(function: Cursor<'_>) -> bool {
    let name = function.spelling();
    let allocates = ["operator new", "operator new[]", "operator delete", "operator delete[]"].contains(&name.as_str());
    !function.is_cpp() || function.template().is_none() && qualified(function) == name && !allocates
}

/// Arrays that a function writes through its parameters: of the length that the declaration says or, where the function is
/// a library's, of as many bytes as the next parameter says.
fn written_arrays(function: Cursor<'_>, types: &mut Types) -> BTreeMap<usize, WrittenArray> {
    let declared: Vec<ClangType<'_>> =
        function.arguments().into_iter().map(|parameter| parameter.clang_type().canonical()).collect();
    let of = |(index, parameter): (usize, &ClangType<'_>)| {
        let sized = declared.get(index + 1).is_some_and(|&next| is_integer(next));
        let written = match is_buffer(*parameter) && sized && function.in_system_header() {
            true => Some(WrittenArray { type_id: types.bytes(BUFFER_BYTES), bytes: BUFFER_BYTES, buffer: true }),
            false => fixed_array(*parameter, types),
        };
        Some((index, written?))
    };
    declared.iter().enumerate().filter_map(of).collect()
}

/// A pointer to bytes that a function may change.
fn is_buffer(parameter: ClangType<'_>) -> bool {
    let target = parameter.pointee().canonical();
    let bytes = matches!(target.kind(), CXType_Void | CXType_Char_S | CXType_Char_U);
    parameter.kind() == CXType_Pointer && bytes && !target.is_const()
}

/// A parameter that is declared as an array of so many numbers.
fn fixed_array(parameter: ClangType<'_>, types: &mut Types) -> Option<WrittenArray> {
    let (element, count) = (array_element(parameter)?, parameter.array_count()?);
    let bytes = element.size()? * count;
    let written = is_arithmetic(element) && !element.canonical().is_const() && bytes > 0 && bytes <= MOST_WRITTEN_BYTES;
    written.then(|| WrittenArray { type_id: types.array_of(element, count), bytes, buffer: false })
}

/// Not one of the compiler's own functions (which stand in no file), and not one that the execution knows.
fn is_candidate(function: Cursor<'_>) -> bool {
    let name = function.spelling();
    let ours = name.starts_with("__bw_") || name.starts_with("__builtin_");
    let model = library::row(&name).map(|row| row.model);
    match model {
        _ if ours => false,
        Some(Model::Stub) => true,
        Some(Model::Code | Model::Stream | Model::Executor) => false,
        // A function of this name that is not the library's.
        Some(Model::Term | Model::Nothing) => !function.in_system_header(),
        None => !is_reserved(function, &name) && !is_modelled(&name),
    }
}

/// The library's own, which no program calls by this name.
fn is_reserved(function: Cursor<'_>, name: &str) -> bool {
    let declared = file_location(function.location()).file.is_some();
    name.starts_with('_') && (!declared || function.in_system_header())
}

/// Generated definitions, and what they add to the map.
#[derive(Default)]
pub(crate) struct Written {
    pub text: String,
    pub feeds: IdVec<FeedId, Feed>,
    pub callables: IdVec<CallableId, Callable>,
    pub stubs: Vec<Stub>,
}

impl Written {
    /// Definitions of these functions, and of one for each of these types of function pointers.
    pub fn of(functions: &[Undefined], pointed: &[TypeId], map: &Map, types: &Types) -> Written {
        let cpp = map.is_cpp();
        let ends = if cpp { format!("extern \"C\" {{\n{ENDS}}}\n") } else { ENDS.to_string() };
        let mut writer = Writer {
            map,
            types,
            is_cpp: cpp,
            written: Written { text: ends, feeds: map.feeds.clone(), ..Written::default() },
        };
        writer.undefined(functions);
        writer.callables(pointed);
        writer.written
    }
}

struct Writer<'m, 'u> {
    map: &'m Map,
    types: &'m Types<'u>,
    is_cpp: bool,
    written: Written,
}

impl Writer<'_, '_> {
    /// Definitions for functions that nobody defines.
    fn undefined(&mut self, functions: &[Undefined]) {
        for function in functions {
            let Some(Ok(signature)) = self.types.signatures.get(&function.type_id) else { continue };
            let name = function.name.clone();
            let called = format!("{name}()");
            let owner = Owner {
                called,
                name,
                parameters: &function.parameters,
                internal: function.internal,
                pure: function.pure,
                calls_back: library::row(&function.name).is_none() && !function.name.starts_with("__VERIFIER_"),
                written: &function.written,
            };
            let act = match function.name.as_str() {
                "__VERIFIER_assume" if signature.parameters.len() == 1 => StubAct::Assumes,
                "__VERIFIER_error" | "reach_error" => StubAct::Aborts,
                _ if !function.returns => StubAct::Ends,
                _ => act_of(signature),
            };
            self.define(&owner, &function.symbol, signature, act);
        }
    }

    /// What function pointers among the inputs may point to: the user's functions of that type, and one generated.
    fn callables(&mut self, pointed: &[TypeId]) {
        for &type_id in pointed {
            self.add_fitting(type_id);
            self.add_generated(type_id);
        }
        if !self.written.callables.is_empty() {
            let entry = |callable: &Callable| format!("(void *){}, ", callable.name);
            let entries: String = self.written.callables.values().map(entry).collect();
            let (table, count) = ("void *const __bw_callables", self.written.callables.len());
            let declared = format!("{}extern {table}[{count}];", if self.is_cpp { "extern \"C\" { " } else { "" });
            let behind = if self.is_cpp { " }" } else { "" };
            let _ = writeln!(self.written.text, "{declared} {table}[{count}] = {{{entries}}};{behind}");
        }
    }

    fn add_fitting(&mut self, type_id: TypeId) {
        let fits = |name: &str| self.types.functions.get(name) == Some(&type_id) && name != "main";
        let fitting: Vec<(String, String)> = self
            .map
            .functions
            .values()
            .filter(|function| fits(&function.name))
            .map(|function| (function.name.clone(), function.symbol.clone()))
            .collect();
        for (name, symbol) in fitting {
            self.written.callables.push(Callable { name, symbol, type_id, stub: false });
        }
    }

    fn add_generated(&mut self, type_id: TypeId) {
        let Some(Ok(signature)) = self.types.signatures.get(&type_id) else { return };
        let name = format!("__bw_function_{}", self.written.callables.next_id().index());
        let called = format!("({})()", self.types.table[type_id].spelling);
        let written = &BTreeMap::new();
        let owner = Owner {
            called,
            name: name.clone(),
            parameters: &[],
            internal: false,
            pure: false,
            calls_back: false,
            written,
        };
        if self.is_cpp {
            self.written.text += "extern \"C\" ";
        }
        self.define(&owner, &name, signature, act_of(signature));
        self.written.callables.push(Callable { name: name.clone(), symbol: name, type_id, stub: true });
    }

    fn define(&mut self, owner: &Owner<'_>, symbol: &str, signature: &Signature, act: StubAct) {
        let body = match act {
            StubAct::Feeds => self.body(owner, signature),
            StubAct::Assumes => "  if (!__bw_p0) __bw_end(1);\n".to_string(),
            StubAct::Aborts => "  __bw_abort();\n".to_string(),
            StubAct::Ends => "  __bw_end(1);\n".to_string(),
        };
        let body = if self.is_cpp { format!("  __bw_outside();\n{body}") } else { body };
        let definition = definition(&owner.name, signature, &body);
        self.written.text += &definition;
        let parameter = |(index, formal): (usize, &Formal)| StubParameter {
            name: owner.parameters.get(index).cloned().unwrap_or_default(),
            spelling: match owner.written.get(&index).filter(|written| !written.buffer) {
                Some(array) => self.types.table[array.type_id].spelling.clone(),
                None => formal.written_as.spelling.clone(),
            },
            buffer: owner.written.get(&index).is_some_and(|written| written.buffer),
            calls: formal.callback.as_ref().filter(|_| owner.calls_back && !owner.pure).map(handed_over),
        };
        self.written.stubs.push(Stub {
            name: owner.name.clone(),
            symbol: symbol.to_string(),
            internal: owner.internal,
            definition,
            result: signature.result.as_ref().map_or("void".to_string(), |fed| fed.written_as.spelling.clone()),
            parameters: signature.parameters.iter().enumerate().map(parameter).collect(),
            variadic: signature.variadic,
            pure: owner.pure,
            act,
        });
    }

    fn body(&mut self, owner: &Owner<'_>, signature: &Signature) -> String {
        // What lies deep comes first, while the pointers to it stand.
        let mut body = self.act(owner, signature);
        let written = signature.parameters.iter().enumerate().filter(|_| !owner.pure);
        for (index, parameter) in written {
            body += &match (owner.written.get(&index), &parameter.written) {
                (Some(array), _) if array.buffer => self.fill(owner, index, array),
                (Some(array), _) => self.write_array(owner, index, array),
                (None, Some(fed)) => self.write(owner, index, fed),
                (None, None) if parameter.left_alone => left_alone(index, parameter),
                (None, None) => String::new(),
            };
        }
        body += &self.callbacks(owner, signature);
        if let Some(fed) = &signature.result {
            let origin = FeedOrigin::StubResult { function: owner.name.clone() };
            let feed = self.feed(owner.called.clone(), fed.type_id, origin);
            let declared = &fed.written_as.declared;
            let failed = match library::fails_with_all_ones(&owner.name) {
                true => format!("if (!__bw_r) return ({declared})-1l; "),
                false => String::new(),
            };
            let ask = format!("{declared} __bw_r; __bw_feed(&__bw_r, {feed}, sizeof __bw_r)");
            let _ = writeln!(body, "  {ask}; {failed}return __bw_r;");
        }
        body
    }

    /// Statements that change what no feed is for. Pure functions and inputs by agreement change nothing.
    fn act(&self, owner: &Owner<'_>, signature: &Signature) -> String {
        if owner.pure || owner.name.starts_with("__VERIFIER_") {
            return String::new();
        }
        let (mut before, mut places) = (String::new(), Vec::new());
        for (index, formal) in signature.parameters.iter().enumerate() {
            places.push(match (self.is_cpp, formal.reference) {
                (true, _) if !formal.plain => "0".to_owned(),
                (_, true) => {
                    before += &format!(" void *__bw_r{index} = (void *)__builtin_addressof(__bw_p{index});");
                    format!("&__bw_r{index}")
                }
                (_, false) => format!("(const void *)&__bw_p{index}"),
            });
        }
        // In C++ they may lead to objects that only their own methods change.
        if signature.variadic && !self.is_cpp {
            before += &look_at_variable(owner, signature);
            places.extend((0..MOST_VARIABLE).map(|index| format!("__bw_more + {index}")));
        }
        let places = if places.is_empty() { "0".to_owned() } else { places.join(", ") };
        format!("  {{{before} const void *__bw_at[] = {{{places}}}; __bw_act(\"{}\", __bw_at); }}\n", owner.name)
    }

    /// Statements that call the functions that a function of the user is given, as often as the test says. It acts once more
    /// after each call.
    fn callbacks(&mut self, owner: &Owner<'_>, signature: &Signature) -> String {
        if owner.pure || !owner.calls_back {
            return String::new();
        }
        let again = self.act(owner, signature).replace("__bw_act(", "__bw_act_again(");
        let callable = signature.parameters.iter().enumerate();
        let callable = callable.filter_map(|(index, formal)| Some((index, formal.callback.as_ref()?)));
        callable.map(|(index, callback)| self.callback(owner, index, callback, &again)).collect()
    }

    fn callback(&mut self, owner: &Owner<'_>, index: usize, callback: &Callback, again: &str) -> String {
        let function = || owner.name.clone();
        let shown = owner.parameters.get(index).filter(|name| !name.is_empty());
        let shown = shown.map_or(format!("argument {}", index + 1), String::clone);
        let origin = FeedOrigin::StubCalls { function: function(), parameter: index };
        let asked = self.feed(format!("{} calls {shown}", owner.called), callback.truth, origin);
        let (mut values, mut arguments) = (String::new(), Vec::new());
        for (argument, handed) in callback.arguments.iter().enumerate() {
            arguments.push(match handed {
                Handed::Parameter(given) => format!("({})__bw_p{given}", callback.spelled[argument].declared),
                Handed::Fed(fed) => {
                    let origin = FeedOrigin::StubArgument { function: function(), parameter: index, argument };
                    let name = format!("argument {} of {shown} of {}", argument + 1, owner.called);
                    let feed = self.feed(name, fed.type_id, origin);
                    let declared = &fed.written_as.declared;
                    let value = format!("__bw_a{argument}");
                    let _ = write!(values, "{declared} {value}; __bw_feed(&{value}, {feed}, sizeof {value}); ");
                    value
                }
            });
        }
        let call = format!("{{ {values}(void)__bw_p{index}({}); }}\n{again}", arguments.join(", "));
        let ask = format!("__bw_feed(&__bw_c, {asked}, 1);");
        let mut text = String::new();
        for _ in 0..MOST_CALLBACKS {
            let _ = write!(text, "  {ask} if (__bw_c) {{ {call}");
        }
        let ends = "}".repeat(MOST_CALLBACKS as usize);
        format!("  if (__bw_p{index} && __bw_may_call()) {{ unsigned char __bw_c;\n{text}  {ends} }}\n")
    }

    /// Statements that write a value of a feed to the object behind a parameter.
    fn write(&mut self, owner: &Owner<'_>, index: usize, fed: &Fed) -> String {
        let feed = self.parameter_feed(owner, index, fed.type_id);
        let assign = match fed.record {
            // A structure with a constant member cannot be assigned.
            true => format!("__builtin_memcpy((void *)__bw_p{index}, &__bw_v, sizeof __bw_v)"),
            false => format!("*__bw_p{index} = __bw_v"),
        };
        let declared = &fed.written_as.declared;
        let ask = format!("{declared} __bw_v; __bw_feed(&__bw_v, {feed}, sizeof __bw_v)");
        format!(
            "  if (__bw_p{index}) {{ {ask}; {assign}; }}\n  __bw_left_alone(__bw_p{index}, sizeof *__bw_p{index});\n"
        )
    }

    /// Statements that write the first bytes of a buffer from a feed and zeros behind them.
    fn fill(&mut self, owner: &Owner<'_>, index: usize, array: &WrittenArray) -> String {
        let feed = self.parameter_feed(owner, index, array.type_id);
        let size = format!("__bw_p{}", index + 1);
        let ask = format!("unsigned char __bw_v[{BUFFER_BYTES}]; __bw_feed(__bw_v, {feed}, sizeof __bw_v)");
        let given = format!("{size} < {BUFFER_BYTES} ? {size} : {BUFFER_BYTES}");
        format!(
            "  if (__bw_p{index} && {size} > 0) {{ {ask}; __builtin_memset(__bw_p{index}, 0, {size}); \
             __builtin_memcpy(__bw_p{index}, __bw_v, {given}); }}\n  \
             __bw_left_alone(__bw_p{index}, {BUFFER_BYTES});\n"
        )
    }

    /// Statements that write all elements of an array whose length the declaration says.
    fn write_array(&mut self, owner: &Owner<'_>, index: usize, array: &WrittenArray) -> String {
        let feed = self.parameter_feed(owner, index, array.type_id);
        let bytes = array.bytes;
        let ask = format!("unsigned char __bw_v[{bytes}]; __bw_feed(__bw_v, {feed}, {bytes})");
        format!(
            "  if (__bw_p{index}) {{ {ask}; __builtin_memcpy((void *)__bw_p{index}, __bw_v, {bytes}); }}\n  \
             __bw_left_alone(__bw_p{index}, {bytes});\n"
        )
    }

    fn parameter_feed(&mut self, owner: &Owner<'_>, index: usize, type_id: TypeId) -> usize {
        let shown = owner.parameters.get(index).filter(|name| !name.is_empty());
        let shown = shown.map_or(format!("*argument {}", index + 1), |name| format!("*{name}"));
        let origin = FeedOrigin::StubParameter { function: owner.name.clone(), parameter: index };
        self.feed(format!("{shown} of {}", owner.called), type_id, origin)
    }

    fn feed(&mut self, name: String, type_id: TypeId, origin: FeedOrigin) -> usize {
        self.written.feeds.push(Feed { name, type_id, origin }).index()
    }
}

/// A statement that tells that the real function may change what the stub does not.
fn left_alone(index: usize, parameter: &Formal) -> String {
    let address = if parameter.reference { "&" } else { "" };
    format!("  __bw_left_alone((const volatile void *){address}__bw_p{index}, 0);\n")
}

fn handed_over(callback: &Callback) -> Vec<HandedOver> {
    let arguments = callback.arguments.iter().zip(&callback.spelled).map(|(handed, spelled)| match handed {
        Handed::Parameter(index) => HandedOver::Argument(*index, spelled.spelling.clone()),
        Handed::Fed(fed) => HandedOver::Fed(fed.written_as.spelling.clone()),
    });
    arguments.collect()
}

/// Statements that take as many variable arguments as the test changes something behind.
fn look_at_variable(owner: &Owner<'_>, signature: &Signature) -> String {
    let named = signature.parameters.len();
    format!(
        " void *__bw_more[{MOST_VARIABLE}]; unsigned long __bw_n = __bw_looks_at(\"{}\", {named}), __bw_i; \
         if (__bw_n) {{ __builtin_va_list __bw_l; __builtin_va_start(__bw_l, __bw_p{}); \
         for (__bw_i = 0; __bw_i < __bw_n; __bw_i++) __bw_more[__bw_i] = __builtin_va_arg(__bw_l, void *); \
         __builtin_va_end(__bw_l); }}",
        owner.name,
        named - 1
    )
}

fn act_of(signature: &Signature) -> StubAct {
    if signature.returns { StubAct::Feeds } else { StubAct::Ends }
}

/// Whose values are asked for.
struct Owner<'a> {
    name: String,
    /// As reports name a call of it.
    called: String,
    parameters: &'a [String],
    internal: bool,
    pure: bool,
    /// It may call functions that it is given, when it is called.
    calls_back: bool,
    written: &'a BTreeMap<usize, WrittenArray>,
}

/// The parentheses keep a macro of the same name away.
fn definition(name: &str, signature: &Signature, body: &str) -> String {
    let numbered = signature.parameters.iter().enumerate();
    let mut parameters: Vec<String> =
        numbered.map(|(index, parameter)| format!("{} __bw_p{index}", parameter.written_as.declared)).collect();
    if signature.variadic {
        parameters.push("...".into());
    }
    let result = signature.result.as_ref().map_or("void", |fed| fed.written_as.declared.as_str());
    format!("{result} ({name})({}) {{\n{body}}}\n", parameters.join(", "))
}
