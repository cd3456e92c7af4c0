//! The catalogue of assumptions: every statement that a proof may take for granted has its name and its text here.
//!
//! An assumption is what a linker, another thread, another caller, a callee without a body, the operating system or the
//! library could do, and the search did not try. A verdict that needs one holds within bounds only, unless the user accepts
//! it: then it is a precondition.

use std::collections::BTreeSet;
use std::fmt;

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
    /// The user states it: it is a precondition, and does not weaken a verdict.
    #[serde(default, skip_serializing_if = "is_false")]
    pub accepted: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A line of the catalogue.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KnownAssumption {
    pub name: &'static str,
    /// One sentence; the subject stands for `{}`.
    pub text: &'static str,
    /// A name that accepts this assumption together with others.
    pub bundle: Option<Bundle>,
}

/// A set of assumptions that users accept together.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bundle {
    /// The program runs on a usual system: it starts with `main`, output works, the library is the installed one.
    Hosted,
    /// Functions without a body return, and change nothing but what they are obviously given.
    QuietCallees,
}

impl Bundle {
    pub const ALL: [Bundle; 2] = [Bundle::Hosted, Bundle::QuietCallees];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Bundle::Hosted => "hosted",
            Bundle::QuietCallees => "quiet-callees",
        }
    }
}

/// All assumptions by name.
pub mod catalogue {
    use super::Bundle::{Hosted, QuietCallees};
    use super::{Bundle, KnownAssumption};

    /// Writes the catalogue: a constant for each assumption, and `ALL`.
    macro_rules! catalogue {
        ($($constant:ident = $name:literal, $bundle:expr, $text:literal;)*) => {
            $(pub const $constant: KnownAssumption = row($name, $bundle, $text);)*
            /// The whole catalogue.
            pub const ALL: &[KnownAssumption] = &[$($constant),*];
        };
    }

    const fn row(name: &'static str, bundle: Option<Bundle>, text: &'static str) -> KnownAssumption {
        KnownAssumption { name, text, bundle }
    }

    catalogue! {
        PRECONDITION = "precondition", None, "precondition: {}";
        MAIN_STARTS_THE_PROGRAM = "main-starts-the-program", Some(Hosted),
            "main is called once, by the system, when all variables have their initial values";
        EXTERNALS_START_INITIALISED = "externals-start-initialised", Some(Hosted),
            "'{}', which other files can change, has its initial value when the test begins";
        OTHER_FILES_START_INITIALISED = "other-files-start-initialised", Some(Hosted),
            "'{}', a variable that only other files use, has its initial value when the test begins";
        NOTHING_AFTER_RETURN = "nothing-after-return", None,
            "what runs after the tested call has returned (handlers of atexit, destructors of static objects) does not run {}";
        CALLEES_LEAVE_GLOBALS = "callees-leave-globals", Some(QuietCallees),
            "{}, which no file defines, changes nothing but what its parameters point to";
        CALLEES_WRITE_ONE_LEVEL = "callees-write-one-level", Some(QuietCallees),
            "{}, which no file defines, writes at most the first object that each pointer parameter points to";
        CALLEES_RESPECT_CONST = "callees-respect-const", Some(QuietCallees),
            "{}, which no file defines, writes nothing behind its pointers to constant data";
        CALLEES_KEEP_NO_POINTERS = "callees-keep-no-pointers", Some(QuietCallees),
            "{}, which no file defines, writes through no pointer that it was not given in the same call";
        CALLEES_DO_NOT_CALL_BACK = "callees-do-not-call-back", Some(QuietCallees),
            "{}, which no file defines, calls no function of the file whose address it was given";
        CALLS_DO_NOT_NEST = "calls-do-not-nest", Some(QuietCallees),
            "{}, which no file defines, calls no function of the file while a call is half-way";
        EARLIER_CALLS_RETURNED = "earlier-calls-returned", Some(QuietCallees),
            "no earlier call was left half-way, in {}, by a jump, an exception or the end of its thread";
        WEAK_DEFINITIONS_STAY = "weak-definitions-stay", Some(Hosted),
            "the linker takes this definition of {}, which is weak";
        INLINE_DEFINITIONS_AGREE = "inline-definitions-agree", Some(Hosted),
            "the definition of {} that another file has does the same as the inline one here";
        NO_INTERPOSITION = "no-interposition", Some(Hosted),
            "no other library replaces {} when the program is loaded";
        WEAK_REFERENCES_RESOLVE = "weak-references-resolve", None,
            "some file defines {}, which is declared weak";
        CALLEES_DO_NOT_THROW = "callees-do-not-throw", Some(QuietCallees),
            "{}, which no file defines, throws no exceptions";
        CALLEES_DO_NOT_JUMP = "callees-do-not-jump", Some(QuietCallees),
            "nothing jumps back to where {} was called";
        RESULTS_ARE_SEPARATE = "results-are-separate", Some(QuietCallees),
            "pointers that come from {}, which no file defines, lead to no object that the program gave it";
        MEMORY_IS_OURS = "memory-is-ours", None,
            "there is nothing at address {}: no register of a device, no memory that others share";
        ONE_THREAD = "one-thread", None,
            "no other thread changes what the program reads: atomic objects, and others behind a lock or a join";
        NO_SIGNALS = "no-signals", None,
            "no signal handler runs between two accesses of the test to an atomic or volatile object";
        NO_SPURIOUS_FAILURE = "no-spurious-failure", None,
            "a weak compare-and-exchange fails only where the values differ, and trying a lock only where it is held";
        VOLATILE_HOLDS = "volatile-holds", None,
            "a volatile object keeps its value between two accesses of the test";
        PADDING_IS_KEPT = "padding-is-kept", None,
            "bytes between the members of a structure hold what was written or copied there last";
        OBJECTS_NOT_ADJACENT = "objects-not-adjacent", None,
            "no object begins where another ends: {}";
        CONSTANTS_ARE_SEPARATE = "constants-are-separate", None,
            "no two string literals share bytes: {}";
        OPTIMISER_KNOWS_NOTHING = "optimiser-knows-nothing", None,
            "__builtin_constant_p is 0 for what is no constant in the text";
        EVALUATION_ORDER_AS_HERE = "evaluation-order-as-here", None,
            "calls in one expression run in the order that this compiler chose: {}";
        NAMES_ARE_NOT_ALIASES = "names-are-not-aliases", Some(Hosted),
            "{}, which no file defines, are two variables";
        TRAILING_ARRAYS_END = "trailing-arrays-end", None,
            "'{}', which no file defines, has no elements in the flexible array at its end";
        POINTERS_TO_STARTS = "pointers-to-starts", None,
            "'{}' points to the first element of an array, with nothing before it";
        INPUTS_DO_NOT_OVERLAP = "inputs-do-not-overlap", None,
            "{} share no memory, other than in the ways that were tried";
        OPAQUE_POINTERS_HAVE_ONE_TYPE = "opaque-pointers-have-one-type", None,
            "'{}', a pointer to void or to a structure that the file does not define, points to objects of the one type that \
             the program converts it to";
        ALLOCATION_SUCCEEDS = "allocation-succeeds", None, "an allocation of up to 256 MiB succeeds";
        OUTPUT_SUCCEEDS = "output-succeeds", Some(Hosted), "writing to a stream does not fail: {}";
        INPUT_DOES_NOT_FAIL = "input-does-not-fail", Some(Hosted), "reading standard input finds its end, and never fails";
        INPUT_ENDS_ONCE = "input-ends-once", Some(Hosted), "nothing more comes after the end of standard input";
        READS_ARE_WHOLE = "reads-are-whole", Some(Hosted),
            "a call of read() gets all bytes that it asks for, while there are so many, and is not interrupted";
        LOCALE_IS_C = "locale-is-c", Some(Hosted), "the locale is the one in which every program starts, \"C\"";
        ERRNO_KEPT_ON_SUCCESS = "errno-kept-on-success", Some(Hosted),
            "{}, which may change errno even where it succeeds, leaves it alone";
        LIBRARY_AS_HERE = "library-as-here", Some(Hosted),
            "where the standard leaves it open, {} does what it does in the library of this machine";
        MATH_AS_HERE = "math-as-here", Some(Hosted),
            "{}, whose results the standard lets be rounded in any way, returns what it does in the library of this machine";
        NO_HUGE_ALLOCATION = "no-huge-allocation", None, "an allocation of more than 256 MiB fails";
        NO_EXCEPTION_MEANWHILE = "no-exception-meanwhile", None,
            "nobody calls the tested function from a handler, or while an exception is on its way";
        NO_FILES = "no-files", None, "files that the program opens for reading do not exist";
        INITIALISED_BEFORE_CALLED = "initialised-before-called", Some(Hosted),
            "no function of the file is called before '{}' has its initial value, which code computes";
        ALLOCATORS_ARE_DEFAULT = "allocators-are-default", Some(Hosted),
            "no other file replaces {}";
        PRIVATE_STATE_BY_PUBLIC_CALLS = "private-state-by-public-calls", None,
            "nothing but the public members of {} changes its other members";
        NO_OTHER_CLASSES = "no-other-classes", None, "no other file derives a class from {}";
        POINTERS_OWN_ALONE = "pointers-own-alone", None,
            "what '{}' points to has no owners but those that tests make";
        STREAMS_ARE_FRESH = "streams-are-fresh", None, "streams from outside are none of: {}";
        ONE_INSTANCE = "one-instance", None, "the template behaves as its instance {}";
    }
}

impl KnownAssumption {
    /// Makes the assumption, without a subject.
    pub fn assumed(self) -> Assumption {
        let text = self.text.replace(" {}", "").replace("{}", "it");
        Assumption { name: self.name.to_owned(), subject: None, text, accepted: false }
    }

    /// Makes the assumption about a subject.
    pub fn about(self, subject: &str) -> Assumption {
        let text = self.text.replace("{}", subject);
        Assumption { name: self.name.to_owned(), subject: Some(subject.to_owned()), text, accepted: false }
    }

    /// Tells whether an assumption is this one, whatever its subject.
    pub fn is(self, assumption: &Assumption) -> bool {
        assumption.name == self.name
    }
}

impl Assumption {
    /// Marks the assumption as stated by the user.
    pub fn stated(self) -> Self {
        Assumption { accepted: true, ..self }
    }

    /// Returns the assumption as `--assume` accepts it: `NAME` or `NAME:SUBJECT`.
    pub fn key(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}:{subject}", self.name),
            None => self.name.clone(),
        }
    }
}

/// The assumptions that the user accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accepted {
    /// Names, each with a subject or for all subjects.
    entries: BTreeSet<(&'static str, Option<String>)>,
}

/// A name that is neither an assumption nor a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAssumption(pub String);

impl fmt::Display for UnknownAssumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no assumption", self.0)
    }
}

impl std::error::Error for UnknownAssumption {}

impl Accepted {
    /// Accepts what a text names: `NAME`, `NAME:SUBJECT` or the name of a bundle.
    pub fn add(&mut self, text: &str) -> Result<(), UnknownAssumption> {
        let (name, subject) = match text.split_once(':') {
            Some((name, subject)) => (name.trim(), Some(subject.trim().to_owned())),
            None => (text.trim(), None),
        };
        let bundled = |known: &&KnownAssumption| known.bundle.is_some_and(|bundle| bundle.name() == name);
        let named = acceptable().filter(|known| known.name == name || (subject.is_none() && bundled(known)));
        let found: Vec<&'static str> = named.map(|known| known.name).collect();
        if found.is_empty() {
            return Err(UnknownAssumption(name.to_owned()));
        }
        self.entries.extend(found.into_iter().map(|name| (name, subject.clone())));
        Ok(())
    }

    /// Tells whether the user accepts this assumption for all subjects.
    pub fn accepts_all(&self, known: KnownAssumption) -> bool {
        self.entries.contains(&(known.name, None))
    }

    /// The assumption, marked where the user accepts it.
    pub fn judged(&self, assumption: Assumption) -> Assumption {
        let fits = |(name, subject): &(&str, Option<String>)| {
            *name == assumption.name && (subject.is_none() || *subject == assumption.subject)
        };
        let accepted = assumption.accepted || self.entries.iter().any(fits);
        Assumption { accepted, ..assumption }
    }

    /// The names as the user may write them, in order.
    pub fn keys(&self) -> Vec<String> {
        let key = |(name, subject): &(&str, Option<String>)| match subject {
            Some(subject) => format!("{name}:{subject}"),
            None => (*name).to_owned(),
        };
        self.entries.iter().map(key).collect()
    }
}

/// The assumptions that a user may accept: all but preconditions, which have a form of their own.
pub fn acceptable() -> impl Iterator<Item = &'static KnownAssumption> {
    catalogue::ALL.iter().filter(|known| **known != catalogue::PRECONDITION)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let bundles = Bundle::ALL.iter().map(|bundle| bundle.name());
        let names: BTreeSet<&str> = catalogue::ALL.iter().map(|known| known.name).chain(bundles).collect();
        assert_eq!(names.len(), catalogue::ALL.len() + Bundle::ALL.len());
        let is_kebab = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        assert!(names.iter().all(|name| name.chars().all(is_kebab)), "{names:?}");
    }

    #[test]
    fn a_subject_stands_apart_and_in_the_text() {
        let assumption = catalogue::PRECONDITION.about("low <= high");
        assert_eq!(assumption.subject.as_deref(), Some("low <= high"));
        assert_eq!(assumption.text, "precondition: low <= high");
        assert!(catalogue::PRECONDITION.is(&assumption) && !catalogue::NO_FILES.is(&assumption));
    }

    #[test]
    fn accepted_names_cover_their_subjects_and_bundles_their_names() {
        let mut accepted = Accepted::default();
        accepted.add("callees-write-one-level:fill").unwrap();
        accepted.add("hosted").unwrap();
        let is_accepted = |assumption| accepted.judged(assumption).accepted;
        assert!(is_accepted(catalogue::CALLEES_WRITE_ONE_LEVEL.about("fill")));
        assert!(!is_accepted(catalogue::CALLEES_WRITE_ONE_LEVEL.about("scan")));
        assert!(is_accepted(catalogue::OUTPUT_SUCCEEDS.about("printf")));
        assert!(!is_accepted(catalogue::NO_FILES.assumed()));
        assert_eq!(accepted.add("callees-are-nice"), Err(UnknownAssumption("callees-are-nice".to_owned())));
        assert_eq!(accepted.add("precondition:x > 0"), Err(UnknownAssumption("precondition".to_owned())));
    }
}
