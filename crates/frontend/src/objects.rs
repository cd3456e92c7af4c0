//! What is known of an object while it is described how a test makes it.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use clang_sys::*;

use crate::clang::{ClangType, Cursor};
use crate::classes;
use crate::containers::{Standard, spelled, standard};

/// A class of which an object can be.
#[derive(Clone)]
pub(crate) struct Concrete<'u> {
    /// Its constructors and methods are known; of a generated class, those of its base.
    pub class: Cursor<'u>,
    pub name: String,
    pub generated: bool,
    /// Of an instance of a template, whose constructors and methods are those of the template.
    pub arguments: Vec<ClangType<'u>>,
}

impl<'u> Concrete<'u> {
    pub fn itself(class: Cursor<'u>) -> Self {
        let (name, generated) = (classes::name(class), false);
        match class.template() {
            Some(template) => {
                let arguments = class.clang_type().canonical().template_arguments();
                Concrete { class: template.definition().unwrap_or(template), name, generated, arguments }
            }
            None => Concrete { class: class.definition().unwrap_or(class), name, generated, arguments: Vec::new() },
        }
    }

    /// Where its objects are known as ones of another class.
    pub fn hidden_behind(&self, known: Cursor<'u>) -> Option<Hidden> {
        let is_other = self.class.usr() != known.usr();
        let behind_virtual = || classes::has_virtual_base(self.class);
        is_other.then(|| Hidden { name: self.name.clone(), behind_virtual: behind_virtual() })
    }

    pub fn constructors(&self) -> Vec<Option<Cursor<'u>>> {
        match self.generated {
            true => classes::constructors_for_derived(self.class),
            false => match classes::constructors(self.class) {
                none if none.is_empty() && self.arguments.is_empty() => {
                    classes::factories(self.class).into_iter().map(Some).collect()
                }
                constructors => constructors,
            },
        }
    }
}

/// A public static method that returns an object of its class.
pub(crate) struct Factory<'u> {
    pub function: Cursor<'u>,
    pub returns: Returns<'u>,
}

/// How it hands the object out.
pub(crate) enum Returns<'u> {
    Value,
    Reference,
    Pointer,
    Smart(ClangType<'u>),
}

impl<'u> Factory<'u> {
    pub fn of(function: Cursor<'u>, class: Cursor<'u>) -> Option<Self> {
        if function.kind() != CXCursor_CXXMethod || !function.is_static_method() {
            return None;
        }
        let result = function.result_type().canonical();
        let is_class = |of: ClangType<'u>| of.canonical().declaration().usr() == class.usr() && !of.is_const();
        let returns = match (result.kind(), standard(result.unqualified())) {
            (CXType_LValueReference, _) => is_class(result.pointee()).then_some(Returns::Reference),
            (CXType_Pointer, _) => is_class(result.pointee()).then_some(Returns::Pointer),
            (_, Some(Standard::SmartPointer { target, .. })) => is_class(target).then_some(Returns::Smart(result)),
            (CXType_Record, None) => is_class(result).then_some(Returns::Value),
            _ => None,
        };
        Some(Factory { function, returns: returns? })
    }

    /// Whether a test can put what it returns into such a holder.
    pub fn fits(&self, holder: Option<&str>) -> bool {
        match (&self.returns, holder) {
            (_, None) | (Returns::Value, _) => true,
            (Returns::Smart(pointer), Some(holder)) => spelled(*pointer) == holder,
            (Returns::Reference | Returns::Pointer, Some(_)) => false,
        }
    }
}

/// How the texts know an object.
pub(crate) struct Known<'u> {
    pub class: Cursor<'u>,
    pub may_be_null: bool,
    /// The smart pointer that holds it.
    pub holder: Option<String>,
    /// The name of its class, where that is not the name of the cursor.
    pub name: Option<String>,
}

impl<'u> Known<'u> {
    pub fn exactly(class: Cursor<'u>) -> Self {
        Known { class, may_be_null: false, holder: None, name: None }
    }
}

/// An object that is being described.
pub(crate) struct Making {
    pub number: usize,
    pub depth: usize,
    /// Whether it is made at all, or in this way, is the test's choice.
    pub optional: bool,
    pub holder: Option<String>,
    /// Whatever its constructor, the same methods can be called on it: they are, behind all ways to make it.
    pub calls_behind: bool,
    /// The class that it is of, where its holder knows it as another.
    pub hidden: Option<Hidden>,
}

/// A class that is derived from the one by which an object is known.
#[derive(Clone)]
pub(crate) struct Hidden {
    pub name: String,
    /// A virtual base stands between them.
    pub behind_virtual: bool,
}

impl Making {
    /// The object itself.
    pub fn target(&self) -> String {
        match (&self.holder, &self.hidden) {
            (Some(_), Some(Hidden { name, behind_virtual })) => {
                let cast = if *behind_virtual { "dynamic_cast" } else { "static_cast" };
                format!("{cast}<{name} &>(*{{@{}}})", self.number)
            }
            (Some(_), None) => format!("(*{{@{}}})", self.number),
            (None, _) => format!("{{@{}}}", self.number),
        }
    }

    /// What stands before the name of a member.
    pub fn member(&self) -> String {
        match (&self.holder, &self.hidden) {
            (Some(_), None) => format!("{{@{}}}->", self.number),
            _ => format!("{}.", self.target()),
        }
    }
}
