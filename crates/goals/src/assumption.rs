//! The catalogue of assumptions: every statement that a proof may take for granted has its name and its text here.

use serde::{Deserialize, Serialize};

/// A statement that a proof takes for granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Assumption {
    /// One of the catalogue, in kebab case. Names stay as they are, because users and other programs write them.
    pub name: String,
    /// The function, variable or condition that it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// One sentence.
    pub text: String,
}

/// A line of the catalogue.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct KnownAssumption {
    pub name: &'static str,
    /// One sentence; the subject follows it, where the assumption has one.
    pub text: &'static str,
}

/// All assumptions by name.
pub mod catalogue {
    use super::KnownAssumption;

    pub const ARITHMETIC_WRAPS: KnownAssumption =
        KnownAssumption { name: "arithmetic-wraps", text: "integer arithmetic wraps around as the machine's does" };

    pub const FAULTS_END_PATHS: KnownAssumption = KnownAssumption {
        name: "faults-end-paths",
        text: "a path ends at an access outside an object, through a null pointer, and at a division by zero",
    };

    pub const POINTERS_TO_STARTS: KnownAssumption = KnownAssumption {
        name: "pointers-to-starts",
        text: "a pointer points to the start of an object, or to a member or an element of its type in that of an earlier pointer",
    };

    pub const PRECONDITION: KnownAssumption = KnownAssumption { name: "precondition", text: "precondition: " };

    pub const CALLEES_LEAVE_GLOBALS: KnownAssumption = KnownAssumption {
        name: "callees-leave-globals",
        text: "functions that nobody defines return any value of their type and change nothing but what their parameters \
               point to",
    };

    pub const OPAQUE_POINTERS_HAVE_ONE_TYPE: KnownAssumption = KnownAssumption {
        name: "opaque-pointers-have-one-type",
        text: "a pointer to void, or to a structure that the file does not define, points to objects of the one type that \
               the program converts it to",
    };

    pub const ALLOCATION_SUCCEEDS: KnownAssumption = KnownAssumption {
        name: "allocation-succeeds",
        text: "an allocation of up to 256 MiB succeeds (--malloc-may-fail lets it fail)",
    };

    pub const NOTHING_AFTER_RETURN: KnownAssumption = KnownAssumption {
        name: "nothing-after-return",
        text: "what runs after the function has returned (handlers of atexit, destructors of static objects) is no part \
               of the test",
    };

    /// The whole catalogue.
    pub const ALL: [KnownAssumption; 8] = [
        ARITHMETIC_WRAPS,
        FAULTS_END_PATHS,
        POINTERS_TO_STARTS,
        PRECONDITION,
        CALLEES_LEAVE_GLOBALS,
        OPAQUE_POINTERS_HAVE_ONE_TYPE,
        ALLOCATION_SUCCEEDS,
        NOTHING_AFTER_RETURN,
    ];
}

impl KnownAssumption {
    /// Makes the assumption, without a subject.
    pub fn assumed(self) -> Assumption {
        Assumption { name: self.name.to_owned(), subject: None, text: self.text.to_owned() }
    }

    /// Makes the assumption about a subject.
    pub fn about(self, subject: &str) -> Assumption {
        let text = format!("{}{subject}", self.text);
        Assumption { name: self.name.to_owned(), subject: Some(subject.to_owned()), text }
    }

    /// Tells whether an assumption is this one, whatever its subject.
    pub fn is(self, assumption: &Assumption) -> bool {
        assumption.name == self.name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let names: BTreeSet<&str> = catalogue::ALL.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), catalogue::ALL.len());
        let is_kebab = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        assert!(names.iter().all(|name| name.chars().all(is_kebab)), "{names:?}");
    }

    #[test]
    fn a_subject_stands_apart_and_in_the_text() {
        let assumption = catalogue::PRECONDITION.about("low <= high");
        assert_eq!(assumption.subject.as_deref(), Some("low <= high"));
        assert_eq!(assumption.text, "precondition: low <= high");
        assert!(catalogue::PRECONDITION.is(&assumption) && !catalogue::ARITHMETIC_WRAPS.is(&assumption));
    }
}
