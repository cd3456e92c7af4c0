//! Instances of templates that the user names, such as `clamp<double>` or `Stack<int>`, or that the program uses: units of
//! their own.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{BTreeMap, BTreeSet, HashMap};

use branchwise_program::library::{readable, signature};
use clang_sys::*;

use crate::clang::{ClangType, Cursor, presumed_location};
use crate::coverage::{FunctionRegions, LineColumn};
use crate::functions::{Named, is_method, qualified};

/// How generated text knows them.
const ALIAS: &str = "__bw_instance_";
/// Where their declarations say that they stand, and what follows them.
const FILE: &str = "branchwise-instances.h";
const BEHIND: &str = "branchwise-behind.h";

/// The declarations as a part of the unit's text.
pub(crate) fn block(declarations: &[Option<String>]) -> String {
    let lines: String = declarations.iter().flatten().map(String::as_str).collect();
    if lines.is_empty() { lines } else { format!("\n# 1 \"{FILE}\"\n{lines}# 1 \"{BEHIND}\"\n") }
}

/// Whether it stands among these declarations, and not in the user's text.
pub(crate) fn is_declared_here(cursor: Cursor<'_>) -> bool {
    presumed_location(cursor.location()).0.as_os_str() == FILE
}

/// An instance of a function template (a pointer to its function) or of a class template.
#[derive(Copy, Clone)]
pub(crate) struct Instance<'a, 'u> {
    /// As the user wrote it, or as the program's symbols tell.
    pub text: &'a str,
    of: ClangType<'u>,
    /// Where the body of its template begins, where that is known.
    at: Option<LineColumn>,
}

/// What the compiler makes of the texts: the lines that declare those that this unit has, one for each text.
pub(crate) fn declarations(texts: &[String], compiles: impl Fn(&str) -> bool) -> Vec<Option<String>> {
    let line = |(number, text): (usize, &String)| {
        let named = |is_class| Used { text: text.clone(), at: None, is_class, cast: None };
        let (function, class) = (declaration(number, &named(false)), declaration(number, &named(true)));
        let known = alias(&class);
        [function, class, known].into_iter().find(|line| compiles(line))
    };
    texts.iter().enumerate().map(line).collect()
}

/// A template of the user's.
struct Template {
    name: String,
    kind: TemplateKind,
    from: LineColumn,
    to: LineColumn,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum TemplateKind {
    Class,
    /// A function; where others have its name, only its type tells which is meant.
    Function {
        overloaded: bool,
        of_class: bool,
    },
}

/// Function templates, and classes that are templates. Members of templates are left out, and classes inside classes, which
/// may not be named from outside.
fn templates(functions: &[Named<'_>]) -> Vec<Template> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for function in functions {
        *uses.entry(qualified(function.cursor)).or_default() += 1;
    }
    let template = |function: &Named<'_>| {
        let cursor = function.cursor;
        let ((_, line, column), (_, last, end)) = (presumed_location(cursor.start()), presumed_location(cursor.end()));
        let (from, to) = ((line, column), (last, end));
        match cursor.kind() {
            CXCursor_FunctionTemplate if !is_member_of(cursor, &TEMPLATES) => {
                let name = qualified(cursor);
                let kind =
                    TemplateKind::Function { overloaded: uses[&name] > 1, of_class: is_member_of(cursor, &CLASSES) };
                Some(Template { name, kind, from, to })
            }
            kind if is_method(kind) => {
                let class = cursor.semantic_parent().filter(|class| class.kind() == CXCursor_ClassTemplate)?;
                let outside = !is_member_of(class, &CLASSES) && !is_member_of(class, &TEMPLATES);
                outside.then(|| Template { name: qualified(class), kind: TemplateKind::Class, from, to })
            }
            _ => None,
        }
    };
    functions.iter().filter_map(template).collect()
}

const CLASSES: [CXCursorKind; 2] = [CXCursor_ClassDecl, CXCursor_StructDecl];
const TEMPLATES: [CXCursorKind; 2] = [CXCursor_ClassTemplate, CXCursor_ClassTemplatePartialSpecialization];

fn is_member_of(cursor: Cursor<'_>, kinds: &[CXCursorKind]) -> bool {
    cursor.semantic_parent().is_some_and(|scope| kinds.contains(&scope.kind()))
}

pub(crate) fn has_templates(functions: &[Named<'_>]) -> bool {
    !templates(functions).is_empty()
}

/// An instance that the program uses.
pub(crate) struct Used {
    pub text: String,
    /// Where the body of its template begins, of a function.
    pub at: Option<LineColumn>,
    is_class: bool,
    /// The type by which one of several is meant.
    cast: Option<String>,
}

/// The lines that declare an instance; of a class, all its members.
fn declaration(number: usize, used: &Used) -> String {
    let Used { text, is_class, cast, .. } = used;
    match (is_class, cast) {
        (true, _) => format!("using {ALIAS}{number} = {text};\ntemplate class {text};\n"),
        (false, None) => format!("using {ALIAS}{number} = decltype(&{text});\n"),
        (false, Some(cast)) => format!("using {ALIAS}{number} = decltype(static_cast<{cast}>(&{text}));\n"),
    }
}

/// The first of these lines: not all members of a class need make sense for all its arguments, and the program may have asked
/// for all of them itself.
fn alias(declaration: &str) -> String {
    declaration.split_inclusive('\n').next().unwrap_or_default().to_owned()
}

/// For each template of the user's of which no instance is named the shortest of those that the program has, by the names of
/// its symbols.
pub(crate) fn used(functions: &[Named<'_>], regions: &HashMap<String, FunctionRegions>, named: &[String]) -> Vec<Used> {
    let mut templates = templates(functions);
    templates.retain(|template| !named.iter().any(|instance| names(instance, &template.name)));
    let mut shortest: BTreeMap<(String, Option<LineColumn>), Used> = BTreeMap::new();
    for (symbol, regions) in regions {
        let name = without_casts(&readable(symbol));
        let found = templates.iter().filter_map(|template| template.instance(symbol, &name, regions.start()?));
        for used in found {
            let key = (without_arguments(&used.text), used.at);
            let is_shorter = |known: &Used| (used.text.len(), &used.text) < (known.text.len(), &known.text);
            if shortest.get(&key).is_none_or(is_shorter) {
                shortest.insert(key, used);
            }
        }
    }
    shortest.into_values().collect()
}

impl Template {
    /// The instance that a symbol with this name belongs to, whose body begins there.
    fn instance(&self, symbol: &str, name: &str, at: LineColumn) -> Option<Used> {
        let (text, cast) = match self.kind {
            TemplateKind::Class => (class_of(name)?, None),
            TemplateKind::Function { .. } if !(self.from..self.to).contains(&at) => return None,
            TemplateKind::Function { overloaded: false, .. } => (name, None),
            TemplateKind::Function { overloaded: true, of_class } => {
                let (result, parameters) = signature(symbol)?;
                let class = class_of(name).filter(|_| of_class).map_or(String::new(), |class| format!("{class}::"));
                (name, Some(format!("{result} ({class}*){parameters}")))
            }
        };
        let is_class = self.kind == TemplateKind::Class;
        let fits = text.ends_with('>') && without_arguments(text) == self.name && can_be_written(text);
        fits.then(|| Used { text: text.to_owned(), at: (!is_class).then_some(at), is_class, cast })
    }
}

/// A template, or a method of one.
pub(crate) fn is_template(function: Cursor<'_>) -> bool {
    let of_class = || function.semantic_parent().is_some_and(|class| class.kind() == CXCursor_ClassTemplate);
    function.kind() == CXCursor_FunctionTemplate || is_method(function.kind()) && of_class()
}

/// Whether the text of an instance names this template.
fn names(instance: &str, template: &str) -> bool {
    let named = instance.split('<').next().unwrap_or_default().trim().trim_start_matches("::");
    template == named || template.ends_with(&format!("::{named}"))
}

/// What has no name that means the same elsewhere, such as a lambda.
fn can_be_written(name: &str) -> bool {
    !["{", "(", "'", "decltype"].iter().any(|part| name.contains(part))
}

/// Numbers among the arguments of templates without the types that symbols give them: `Ring<int, (unsigned long)3>` is
/// `Ring<int, 3>`.
fn without_casts(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('(') {
        let (before, cast) = rest.split_at(at);
        let end = cast.find(')').map_or(cast.len(), |end| end + 1);
        let (cast, behind) = cast.split_at(end);
        text += before;
        let number = behind.strip_prefix('-').unwrap_or(behind);
        if !(number.starts_with(|first: char| first.is_ascii_digit()) && is_type_of_numbers(cast)) {
            text += cast;
        }
        rest = behind;
    }
    text + rest
}

/// `(unsigned long)`
fn is_type_of_numbers(cast: &str) -> bool {
    let words = cast.trim_matches(['(', ')']).split(' ');
    words.into_iter().all(|word| ["signed", "unsigned", "bool", "char", "short", "int", "long"].contains(&word))
}

/// The class of a method, by its full name.
fn class_of(name: &str) -> Option<&str> {
    let mut depth = 0;
    let is_outside = |(_, character): &(usize, char)| {
        depth += i32::from(*character == '>') - i32::from(*character == '<');
        depth == 0 && *character == ':'
    };
    let at = name.char_indices().rev().find(is_outside)?.0;
    name[..at].strip_suffix(':')
}

/// `ns::Stack<int>::push` is `ns::Stack::push`.
fn without_arguments(name: &str) -> String {
    let mut depth = 0;
    let keep = |character: &char| {
        depth += i32::from(*character == '<');
        let kept = depth == 0;
        depth -= i32::from(*character == '>');
        kept
    };
    name.chars().filter(keep).collect()
}

/// The lines that declare instances that the program uses, where the compiler takes them.
pub(crate) fn declarations_of_used(
    first: usize,
    used: &[Used],
    compiles: impl Fn(&str) -> bool,
) -> Vec<Option<String>> {
    let line = |(number, used): (usize, &Used)| declaration(first + number, used);
    let lines: Vec<String> = used.iter().enumerate().map(line).collect();
    if compiles(&lines.concat()) {
        return lines.into_iter().map(Some).collect();
    }
    let alone = |line: String| {
        let alias = alias(&line);
        [line, alias].into_iter().find(|line| compiles(line))
    };
    lines.into_iter().map(alone).collect()
}

/// The lines that make the compiler emit them.
pub(crate) fn kept(texts: &[String], declarations: &[Option<String>]) -> String {
    let line = |(number, (text, declared)): (usize, (&String, &Option<String>))| match declared {
        Some(line) if line.contains("template class") => format!("template class {text};\n"),
        Some(line) => match line.split_once("decltype(").and_then(|(_, rest)| rest.strip_suffix(");\n")) {
            Some(pointer) => format!("__attribute__((used)) static const auto __bw_keep_{number} = {pointer};\n"),
            None => String::new(),
        },
        None => String::new(),
    };
    texts.iter().zip(declarations).enumerate().map(line).collect()
}

/// The instances that were declared, as the parsed unit knows them.
pub(crate) fn declared<'a, 'u>(
    texts: &'a [String],
    places: &[Option<LineColumn>],
    declarations: &[Cursor<'u>],
) -> Vec<Instance<'a, 'u>> {
    let aliases = declarations.iter().filter(|cursor| cursor.kind() == CXCursor_TypeAliasDecl);
    let instance = |alias: &Cursor<'u>| {
        let number: usize = alias.spelling().strip_prefix(ALIAS)?.parse().ok()?;
        let at = places.get(number).copied().flatten();
        Some(Instance { text: texts.get(number)?, of: alias.clang_type().canonical(), at })
    };
    aliases.filter_map(instance).collect()
}

/// The instances of class templates of the user's that functions have as parameters: tests make objects of them.
pub(crate) fn of_parameters(functions: &[Cursor<'_>]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for function in functions {
        function.arguments().into_iter().for_each(|parameter| collect(parameter.clang_type(), &mut found));
    }
    found
}

fn collect(of: ClangType<'_>, found: &mut BTreeSet<String>) {
    let of = of.canonical();
    match of.kind() {
        CXType_LValueReference | CXType_RValueReference | CXType_Pointer => collect(of.pointee(), found),
        CXType_Record if of.declaration().template().is_none() => {}
        CXType_Record if of.declaration().in_system_header() => {
            of.template_arguments().into_iter().for_each(|argument| collect(argument, found));
        }
        CXType_Record => {
            found.insert(of.unqualified().spelling());
        }
        _ => {}
    }
}

/// What a test calls for a template.
pub(crate) enum Called<'u> {
    /// A function of this type.
    Function(ClangType<'u>),
    /// A method of a class of this type.
    Method(ClangType<'u>),
    /// A method of this type that is a template itself.
    Member(ClangType<'u>),
}

impl<'u> Instance<'_, 'u> {
    /// The instance of a function template, or of a method of a class template.
    pub fn called(self, template: Cursor<'u>) -> Option<Called<'u>> {
        let is_named = |cursor: Cursor<'u>| names(self.text, &qualified(cursor));
        if let kind @ (CXType_Pointer | CXType_MemberPointer) = self.of.kind() {
            let fits = template.kind() == CXCursor_FunctionTemplate && is_named(template) && self.is_of(template);
            let of = self.of.pointee().canonical();
            return fits.then_some(if kind == CXType_Pointer { Called::Function(of) } else { Called::Member(of) });
        }
        let class = template.semantic_parent()?;
        if !is_method(template.kind()) || class.kind() != CXCursor_ClassTemplate || !is_named(class) {
            return None;
        }
        Some(Called::Method(self.of))
    }

    /// Whether it was made from this text, as far as that is known.
    fn is_of(self, template: Cursor<'u>) -> bool {
        let ((_, line, column), (_, last, end)) =
            (presumed_location(template.start()), presumed_location(template.end()));
        self.at.is_none_or(|at| (line, column) <= at && at < (last, end))
    }
}

/// The part of a member's name behind its class.
pub(crate) fn member_name(text: &str) -> &str {
    class_of(text).map_or(text, |class| &text[class.len() + 2..])
}
