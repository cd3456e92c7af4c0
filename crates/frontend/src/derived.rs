//! Generated classes for abstract ones from which the unit derives none: their methods return what a test says, as stubs do.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use branchwise_program::map::{DerivedClass, Feed, FeedOrigin, Stub, StubAct};
use branchwise_program::{FeedId, IdVec};
use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::classes;
use crate::ctypes::{Types, is_arithmetic};
use crate::functions::{identifier, qualified};
use crate::observers::is_open;

/// The generated classes of a unit.
#[derive(Default)]
pub(crate) struct Derived {
    /// By the identity of the abstract class: the name of the generated one.
    pub names: BTreeMap<String, String>,
    pub classes: Vec<DerivedClass>,
    pub stubs: Vec<Stub>,
}

impl Derived {
    /// One for each abstract class without a concrete one, where all of its methods can be generated and the compiler
    /// accepts it.
    pub fn of_unit(
        all: &[Cursor<'_>],
        types: &mut Types,
        feeds: &mut IdVec<FeedId, Feed>,
        compiles: impl Fn(&str) -> bool,
    ) -> Derived {
        let mut derived = Derived::default();
        for &class in all.iter().filter(|class| class.is_abstract_record() && is_open(**class)) {
            if !classes::concrete(class, all).is_empty() {
                continue;
            }
            let before = feeds.len();
            match Writer::written(class, types, feeds) {
                Some((generated, stubs)) if compiles(&text(&generated, &stubs)) => {
                    derived.names.insert(class.usr(), generated.name.clone());
                    derived.classes.push(generated);
                    derived.stubs.extend(stubs);
                }
                _ => feeds.truncate(before),
            }
        }
        derived
    }

    /// Definitions of all of them.
    pub fn text(&self) -> String {
        let of_class = |class: &DerivedClass| {
            let own: Vec<Stub> = self.stubs.iter().filter(|stub| class.stubs.contains(&stub.name)).cloned().collect();
            text(class, &own)
        };
        self.classes.iter().map(of_class).collect()
    }
}

fn text(class: &DerivedClass, stubs: &[Stub]) -> String {
    stubs.iter().map(|stub| stub.definition.as_str()).chain([class.definition.as_str()]).collect()
}

struct Writer<'t, 'u> {
    name: String,
    types: &'t mut Types<'u>,
    feeds: &'t mut IdVec<FeedId, Feed>,
    stubs: Vec<Stub>,
}

impl Writer<'_, '_> {
    fn written(
        class: Cursor<'_>,
        types: &mut Types,
        feeds: &mut IdVec<FeedId, Feed>,
    ) -> Option<(DerivedClass, Vec<Stub>)> {
        let base = qualified(class);
        let name = format!("__bw_{}", identifier(&base.replace("::", "_")));
        let mut writer = Writer { name: name.clone(), types, feeds, stubs: Vec::new() };
        let mut definition = format!("struct {name} : {base} {{\n{}", constructors(class, &name, &base));
        for method in pure_methods(class) {
            definition += &writer.method(method)?;
        }
        definition += "};\n";
        let stubs = writer.stubs.iter().map(|stub| stub.name.clone()).collect();
        Some((DerivedClass { name, base, definition, stubs }, writer.stubs))
    }

    /// What redefines a method; `None` where nobody can say what it returns.
    fn method(&mut self, method: Cursor<'_>) -> Option<String> {
        if method.kind() != CXCursor_CXXMethod || method.is_variadic() {
            return None;
        }
        let result = method.result_type().canonical();
        let body = match result.kind() {
            CXType_Void => String::new(),
            _ if is_arithmetic(result) => format!("return {}();", self.stub(method, result)),
            _ => return None,
        };
        let own = method.clang_type().canonical();
        let parameters: Vec<String> = own.function_parameters().into_iter().map(|of| of.spelling()).collect();
        let constant = if method.is_const_method() { " const" } else { "" };
        let spelling = own.spelling();
        let behind = &spelling[spelling.rfind(')').unwrap_or(0)..];
        let throws = if behind.contains("noexcept") { " noexcept" } else { "" };
        let (name, parameters) = (method.spelling(), parameters.join(", "));
        Some(format!("    {} {name}({parameters}){constant}{throws} override {{ {body} }}\n", result.spelling()))
    }

    /// A function that takes the next value; returns its name.
    fn stub(&mut self, method: Cursor<'_>, result: ClangType<'_>) -> String {
        let wish = format!("{}_{}", self.name, identifier(&method.spelling()));
        let numbered = (2..).map(|number| format!("{wish}_{number}"));
        let is_free = |name: &String| self.stubs.iter().all(|stub| stub.name != *name);
        let name = std::iter::once(wish.clone()).chain(numbered).find(is_free).unwrap_or(wish);
        let called = format!("{}()", qualified(method));
        let origin = FeedOrigin::StubResult { function: name.clone() };
        let feed = self.feeds.push(Feed { name: called, type_id: self.types.id(result), origin });
        let spelling = result.unqualified().spelling();
        let take = format!("__bw_feed(&__bw_r, {}, sizeof __bw_r);", feed.0);
        let definition = format!("static {spelling} {name}() {{ {spelling} __bw_r; {take} return __bw_r; }}\n");
        self.stubs.push(Stub {
            name: name.clone(),
            symbol: name.clone(),
            internal: true,
            definition,
            result: spelling,
            parameters: Vec::new(),
            variadic: false,
            pure: false,
            act: StubAct::Feeds,
        });
        name
    }
}

/// Constructors of the generated class: those of its base, protected ones too.
fn constructors(class: Cursor<'_>, name: &str, base: &str) -> String {
    let usable = classes::constructors_for_derived(class);
    let with_parameters = || usable.iter().flatten().filter(|one| !one.arguments().is_empty());
    let own = &base[base.rfind("::").map_or(0, |at| at + 2)..];
    let mut text = String::new();
    if with_parameters().any(|one| !one.is_public()) {
        let forwarded = "static_cast<__bw_T &&>(__bw_given)...";
        let _ =
            writeln!(text, "    template <class... __bw_T> {name}(__bw_T &&...__bw_given) : {base}({forwarded}) {{}}");
    } else if with_parameters().next().is_some() {
        let _ = writeln!(text, "    using {base}::{own};");
        if usable.iter().flatten().any(|one| one.arguments().is_empty()) {
            let _ = writeln!(text, "    {name}() = default;");
        }
    }
    text
}

/// The methods of a class and its bases that nobody has defined down to it.
fn pure_methods(class: Cursor<'_>) -> Vec<Cursor<'_>> {
    let mut pure = Vec::new();
    collect(class, &mut BTreeSet::new(), &mut pure);
    pure
}

fn collect<'u>(class: Cursor<'u>, seen: &mut BTreeSet<String>, pure: &mut Vec<Cursor<'u>>) {
    for method in class.children().into_iter().filter(|child| child.is_virtual_method()) {
        if method.kind() == CXCursor_Destructor {
            continue;
        }
        let parameters = method.clang_type().canonical().function_parameters().into_iter().map(|of| of.spelling());
        let parameters: Vec<String> = parameters.collect();
        let key = format!("{}({}){}", method.spelling(), parameters.join(","), method.is_const_method());
        if seen.insert(key) && method.is_pure_virtual() {
            pure.push(method);
        }
    }
    classes::all_bases(class).for_each(|base| collect(base, seen, pure));
}
