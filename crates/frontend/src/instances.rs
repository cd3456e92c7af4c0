//! Instances of templates that the user names, such as `clamp<double>` or `Stack<int>`: units of their own.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeSet;

use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::functions::{is_method, qualified};

/// How generated text knows them.
const ALIAS: &str = "__bw_instance_";

/// An instance of a function template (a pointer to its function) or of a class template.
#[derive(Copy, Clone)]
pub(crate) struct Instance<'a, 'u> {
    /// As the user wrote it.
    pub text: &'a str,
    of: ClangType<'u>,
}

/// What the compiler makes of the texts: the lines that declare those that this unit has, one for each text.
pub(crate) fn declarations(texts: &[String], compiles: impl Fn(&str) -> bool) -> Vec<Option<String>> {
    let line = |(number, text): (usize, &String)| {
        let of_function = format!("using {ALIAS}{number} = decltype(&{text});\n");
        let of_class = format!("using {ALIAS}{number} = {text};\ntemplate class {text};\n");
        [of_function, of_class].into_iter().find(|line| compiles(line))
    };
    texts.iter().enumerate().map(line).collect()
}

/// The lines that make the compiler emit them.
pub(crate) fn kept(texts: &[String], declarations: &[Option<String>]) -> String {
    let line = |(number, (text, declared)): (usize, (&String, &Option<String>))| match declared {
        Some(line) if line.contains("template class") => format!("template class {text};\n"),
        Some(_) => format!("__attribute__((used)) static const auto __bw_keep_{number} = &{text};\n"),
        None => String::new(),
    };
    texts.iter().zip(declarations).enumerate().map(line).collect()
}

/// The instances that were declared, as the parsed unit knows them.
pub(crate) fn declared<'a, 'u>(texts: &'a [String], declarations: &[Cursor<'u>]) -> Vec<Instance<'a, 'u>> {
    let aliases = declarations.iter().filter(|cursor| cursor.kind() == CXCursor_TypeAliasDecl);
    let instance = |alias: &Cursor<'u>| {
        let number: usize = alias.spelling().strip_prefix(ALIAS)?.parse().ok()?;
        Some(Instance { text: texts.get(number)?, of: alias.clang_type().canonical() })
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
}

impl<'u> Instance<'_, 'u> {
    /// The instance of a function template, or of a method of a class template.
    pub fn called(self, template: Cursor<'u>) -> Option<Called<'u>> {
        let named = self.text.split('<').next().unwrap_or_default().trim().trim_start_matches("::");
        let is_named = |cursor: Cursor<'u>| {
            let name = qualified(cursor);
            name == named || name.ends_with(&format!("::{named}"))
        };
        if self.of.kind() == CXType_Pointer {
            let fits = template.kind() == CXCursor_FunctionTemplate && is_named(template);
            return fits.then(|| Called::Function(self.of.pointee().canonical()));
        }
        let class = template.semantic_parent()?;
        if !is_method(template.kind()) || class.kind() != CXCursor_ClassTemplate || !is_named(class) {
            return None;
        }
        Some(Called::Method(self.of))
    }
}
