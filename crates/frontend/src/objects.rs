//! What is known of an object while it is described how a test makes it.

use crate::clang::{ClangType, Cursor};
use crate::classes;

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
            false => classes::constructors(self.class),
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
