//! How a test calls a function of C++: which values it needs, and what it makes of them. The driver and the emitted tests
//! are written from the same description.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use branchwise_program::map::Usage;
use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::functions::{is_method, qualified};

/// Objects inside objects are made down to this depth.
const DEEPEST: usize = 3;

/// A value that a test gives, by the type that its variable has.
#[derive(Clone)]
pub(crate) struct Given<'u> {
    pub name: String,
    pub declared: ClangType<'u>,
}

/// What a call of the function needs, and how it is written; `Err` says why a test cannot call it.
pub(crate) fn usage<'u>(function: Cursor<'u>) -> Result<(Usage, Vec<Given<'u>>), String> {
    let mut maker = Maker { given: Vec::new(), usage: Usage::default() };
    maker.usage.call = match function.kind() {
        CXCursor_LambdaExpr => return Err("a lambda is called by the function that makes it".to_owned()),
        CXCursor_FunctionTemplate => return Err("a template runs as the instances that others call".to_owned()),
        CXCursor_FunctionDecl => format!("{}({})", callable_name(function)?, maker.arguments(function)?),
        kind if is_method(kind) => maker.method(function)?,
        _ => return Err("it is no function that a test can call".to_owned()),
    };
    Ok((maker.usage, maker.given))
}

/// As a test names it: parts of the language that have no name are in the way.
fn callable_name(function: Cursor<'_>) -> Result<String, String> {
    let mut scope = function.semantic_parent();
    while let Some(inner) = scope {
        if matches!(inner.kind(), CXCursor_ClassTemplate | CXCursor_ClassTemplatePartialSpecialization) {
            return Err("a template runs as the instances that others call".to_owned());
        }
        if is_code(inner.kind()) {
            return Err("it belongs to a function".to_owned());
        }
        scope = inner.semantic_parent();
    }
    Ok(qualified(function))
}

fn is_code(kind: CXCursorKind) -> bool {
    crate::functions::is_function(kind) || kind == CXCursor_LambdaExpr
}

struct Maker<'u> {
    given: Vec<Given<'u>>,
    usage: Usage,
}

impl<'u> Maker<'u> {
    fn method(&mut self, method: Cursor<'u>) -> Result<String, String> {
        let name = callable_name(method)?;
        let class = method.semantic_parent().ok_or("its class is not known")?;
        if !method.is_public() {
            return Err("it is not public: what calls it is tested".to_owned());
        }
        match method.kind() {
            CXCursor_Constructor => {
                self.usage.objects.push(qualified(class));
                Ok(format!("static_cast<void>({}({}))", qualified(class), self.arguments(method)?))
            }
            CXCursor_Destructor => {
                let made = self.made(class, DEEPEST)?;
                Ok(format!("static_cast<void>({made})"))
            }
            _ if method.is_static_method() => Ok(format!("{name}({})", self.arguments(method)?)),
            _ => {
                let object = self.object(class, "object", DEEPEST)?;
                let spelling = method.spelling();
                // The method of this class, not one that redefines it.
                let chosen = format!("{}::{spelling}", qualified(class));
                Ok(format!("{object}.{chosen}({})", self.arguments(method)?))
            }
        }
    }

    fn arguments(&mut self, function: Cursor<'u>) -> Result<String, String> {
        self.arguments_at(function, DEEPEST)
    }

    fn arguments_at(&mut self, function: Cursor<'u>, depth: usize) -> Result<String, String> {
        let mut arguments = Vec::new();
        for (index, parameter) in function.arguments().into_iter().enumerate() {
            let name = match parameter.spelling() {
                name if name.is_empty() => format!("argument_{}", index + 1),
                name => name,
            };
            arguments.push(self.argument(&name, parameter.clang_type(), depth)?);
        }
        Ok(arguments.join(", "))
    }

    fn argument(&mut self, name: &str, declared: ClangType<'u>, depth: usize) -> Result<String, String> {
        let canonical = declared.canonical();
        let reference = matches!(canonical.kind(), CXType_LValueReference | CXType_RValueReference);
        let target = if reference { canonical.pointee() } else { canonical };
        let moved = |value: String| match canonical.kind() {
            CXType_RValueReference => format!("static_cast<{} &&>({value})", target.spelling()),
            _ => value,
        };
        if is_plain(target) {
            let value = self.give(name, declared);
            return Ok(moved(if reference { format!("*{value}") } else { value }));
        }
        let class = target.declaration();
        let known = target.canonical().kind() == CXType_Record && !class.in_system_header();
        match known {
            true => Ok(moved(self.object(class, name, depth)?)),
            false => Err(format!("a test cannot make a `{}` yet", declared.spelling())),
        }
    }

    /// A value that the test gives; its number in braces stands for it.
    fn give(&mut self, name: &str, declared: ClangType<'u>) -> String {
        let taken = self.given.iter().filter(|given| given.name == name).count();
        let name = if taken == 0 { name.to_owned() } else { format!("{name}_{}", self.given.len()) };
        self.given.push(Given { name, declared });
        format!("{{{}}}", self.given.len() - 1)
    }

    /// A local object, made by a constructor, with its public members set.
    fn object(&mut self, class: Cursor<'u>, name: &str, depth: usize) -> Result<String, String> {
        let depth = depth.checked_sub(1).ok_or("its objects are nested too deeply")?;
        let class = class.definition().unwrap_or(class);
        let taken = self.usage.objects.len();
        let name = if taken == 0 { name.to_owned() } else { format!("{name}_{taken}") };
        let made = self.initialised(class, depth)?;
        self.usage.objects.push(qualified(class));
        self.usage.locals.push(name.clone());
        self.usage.before.push(format!("{} {name}{made};", qualified(class)));
        for member in class.clang_type().fields() {
            let of = member.clang_type();
            if member.is_public() && is_number(of) && !of.canonical().is_const() && member.bit_width().is_none() {
                let value = self.give(&member.spelling(), of);
                self.usage.before.push(format!("{name}.{} = {value};", member.spelling()));
            }
        }
        Ok(name)
    }

    /// A temporary object.
    fn made(&mut self, class: Cursor<'u>, depth: usize) -> Result<String, String> {
        let made = self.initialised(class, depth)?;
        self.usage.objects.push(qualified(class));
        Ok(format!("{}{}", qualified(class), if made == "{}" { "()" } else { &made }))
    }

    /// What follows the name of an object: the public constructor with the most parameters that a test can give.
    fn initialised(&mut self, class: Cursor<'u>, depth: usize) -> Result<String, String> {
        if class.is_abstract_record() {
            return Err(format!("`{}` is abstract", qualified(class)));
        }
        let all = class.children().into_iter().filter(|child| child.kind() == CXCursor_Constructor);
        let constructors: Vec<Cursor<'u>> = all.filter(|one| !one.is_copy_or_move()).collect();
        if constructors.is_empty() {
            return Ok("{}".to_owned());
        }
        let mut usable: Vec<Cursor<'u>> =
            constructors.into_iter().filter(|one| one.is_public() && !one.is_deleted()).collect();
        usable.sort_by_key(|one| std::cmp::Reverse(one.arguments().len()));
        for constructor in usable {
            let (given, usage) = (self.given.clone(), self.usage.clone());
            match self.arguments_at(constructor, depth) {
                Ok(arguments) if arguments.is_empty() => return Ok("{}".to_owned()),
                Ok(arguments) => return Ok(format!("({arguments})")),
                Err(_) => (self.given, self.usage) = (given, usage),
            }
        }
        Err(format!("no constructor of `{}` that a test could call", qualified(class)))
    }
}

fn is_number(of: ClangType<'_>) -> bool {
    crate::ctypes::is_arithmetic(of)
}

/// A type that C has too: what a test gives are its bytes.
pub(crate) fn is_plain(of: ClangType<'_>) -> bool {
    plain_within(of, &mut Vec::new())
}

fn plain_within(of: ClangType<'_>, open: &mut Vec<String>) -> bool {
    let of = of.canonical();
    match of.kind() {
        CXType_Pointer if of.pointee().canonical().kind() == CXType_Void => true,
        CXType_Pointer => plain_within(of.pointee(), open),
        CXType_ConstantArray | CXType_IncompleteArray => plain_within(of.element(), open),
        CXType_Record if of.declaration().spelling() == "_IO_FILE" => true,
        CXType_Record => {
            let key = of.declaration().usr();
            if open.contains(&key) {
                return true;
            }
            open.push(key);
            let public = |field: &Cursor<'_>| field.is_public() && plain_within(field.clang_type(), open);
            of.is_pod() && of.size().is_some() && of.fields().iter().all(public)
        }
        _ => is_number(of),
    }
}
