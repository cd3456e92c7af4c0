//! How a test of C++ makes what a call needs. Drivers and emitted tests are written from the same description.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use crate::{FeedId, TypeId};

/// A call, after the steps that make its objects. See [`filled`] for what stands in the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub steps: Vec<Step>,
    pub call: String,
    /// The object whose end is the call.
    pub destroys: Option<usize>,
    /// The classes of the objects that it makes and changes by calls.
    pub called: BTreeSet<String>,
    /// The classes of those that stay as they are constructed.
    pub constructed: BTreeSet<String>,
    /// Public methods that could change them and that no test can call yet.
    pub left_out: BTreeSet<String>,
    /// Parts of the one object that its state consists of, where a conclusion for any values of theirs is one for
    /// every state.
    pub state: Option<State>,
    /// The class of the object that the call makes, where it is a constructor.
    pub constructs: Option<String>,
    /// What a test looks at after the call.
    pub observers: Vec<Observer>,
    /// The compiler warns where nobody uses what the call returns.
    pub must_be_used: bool,
    /// What functions and generated classes that the test brings never do, and others may.
    pub never_done: BTreeSet<String>,
    /// The instance of a template that is called: nothing follows for others.
    pub instance: Option<String>,
    /// Generated classes of which its objects may be.
    pub derived: BTreeSet<String>,
    /// Classes of its objects with members that code elsewhere may change in ways of its own.
    pub not_public: BTreeSet<String>,
    /// Classes of its objects from which other files may derive others.
    pub open: BTreeSet<String>,
    /// What the function asks of the library that the standard leaves open.
    pub left_open: BTreeSet<String>,
}

impl Usage {
    /// Whether a test looks at parts of what the call returns or makes.
    pub fn looks_at_result(&self) -> bool {
        self.observers.iter().any(|observer| observer.text.contains(RESULT))
    }
}

/// An expression without effects that shows something of what a call did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observer {
    pub text: String,
    /// The object that it belongs to, which may not be there.
    pub object: Option<usize>,
    pub shown: Shown,
}

/// What an expression shows, as tests can write it down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shown {
    /// A number.
    Value(TypeId),
    Text,
    /// Elements in order, of a class of the standard library.
    Sequence {
        class: String,
        element: Box<Shown>,
    },
    Optional {
        class: String,
        value: Box<Shown>,
    },
    /// The parts of a pair or a tuple.
    Parts {
        class: String,
        parts: Vec<Shown>,
    },
}

/// Begins the lines of drivers that are there natively only, where they show what the call did.
pub const ONLY_NATIVE: &str = "//__bw_native:";

/// What the call returns or makes.
pub const RESULT: &str = "{=}";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Asks a feed for its next value, which the texts behind this step use.
    Value {
        feed: FeedId,
        /// The start of a declaration of a variable that holds it.
        declared: String,
    },
    Statement(String),
    Object(Object),
    Calls(Calls),
    Container(Container),
    Variation(Variation),
    /// A function of the test takes the values of this feed, one for each call of it.
    Answers {
        feed: FeedId,
        name: String,
    },
}

/// An object, made in one of several ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// Among the objects of the usage.
    pub number: usize,
    /// What a test may call it.
    pub name: String,
    /// The class by which the texts know it.
    pub class: String,
    /// Says in which way it is made, where there are several: the first for 0, the last for everything beyond.
    pub choice: Option<FeedId>,
    pub ways: Vec<Construction>,
    /// Behind the last way there is no object, but a null pointer.
    pub may_be_null: bool,
}

/// One way to make an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Construction {
    pub class: String,
    /// Steps that make what its constructor needs.
    pub before: Vec<Step>,
    /// What stands behind its name in a declaration; of what is borrowed, a pointer to it.
    pub initializer: String,
    /// What is done with it before anybody else sees it.
    pub after: Vec<Step>,
    /// It exists already: the program made it.
    pub borrowed: bool,
}

impl Construction {
    /// Nothing is done with it.
    pub fn of(class: &str, before: Vec<Step>, initializer: &str) -> Self {
        let (class, initializer) = (class.to_owned(), initializer.to_owned());
        Construction { class, before, initializer, after: Vec::new(), borrowed: false }
    }
}

/// Calls of methods, as many as the test wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Says which comes next: 0 none, 1 the first, the last for everything beyond.
    pub choice: FeedId,
    pub ways: Vec<Vec<Step>>,
}

/// Steps that a test takes in one of several ways, where the session lets it: first of all in the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variation {
    pub question: Question,
    /// Says which way is taken: the first for 0, the last for everything beyond.
    pub choice: FeedId,
    /// The object that every way leads to, where there is one.
    pub object: Option<Reached>,
    pub ways: Vec<Way>,
}

/// What the session is asked, which lets tests take other ways than the first when goals are left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// May the first of these lead into the second, which are names of arguments?
    Shares(String, String),
    /// May there be other owners of what this argument points to, for which the function asks?
    Owners(String),
    /// The same, where the function can tell only by what it does after it gave up its own.
    LastingOwners(String),
    /// May the stream with this name have been used before?
    Past(String),
}

/// The object that the ways of a variation lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// Among the objects of the usage.
    pub number: usize,
    pub name: String,
    /// The type by which the texts know it.
    pub class: String,
}

/// One of the ways of a variation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    pub steps: Vec<Step>,
    /// A condition under which it can be taken; empty where it always can.
    pub requires: String,
    /// What is done where it can.
    pub then: Vec<Step>,
    /// A pointer to the object that it leads to.
    pub pointer: String,
}

/// A container of the standard library with as many elements as the test wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Among the objects of the usage.
    pub number: usize,
    pub name: String,
    pub class: String,
    /// Says whether another element follows.
    pub more: FeedId,
    /// Steps that make an element.
    pub element: Vec<Step>,
    /// An element as a list in braces holds it; empty where it cannot be copied.
    pub listed: String,
    /// The statement that adds it.
    pub add: String,
}

/// Characters of strings are counted from here: where nothing else is said, they are letters and not null characters.
pub const FIRST_CHARACTER: u8 = b'a';

/// The members of an object by where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The object's number.
    pub object: usize,
    pub members: Vec<Member>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub offset: u64,
    pub size: u64,
    pub feed: FeedId,
}

/// What is to be filled in.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blank {
    /// `{0}`: the input with this number.
    Input(usize),
    /// `{#0}`: the value that this feed gave last.
    Fed(FeedId),
    /// `{@0}`: the object with this number.
    Object(usize),
    /// `{&0}`: a pointer to it.
    Pointer(usize),
    /// `{=}`: what the call returns or makes.
    Result,
    /// `{~0}`: what a lambda captures that takes the values of this feed.
    Capture(FeedId),
}

/// A text of a usage with its blanks filled in. What an address points to is the object itself: no `*&object`.
pub fn filled(text: &str, mut fill: impl FnMut(Blank) -> String) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at(at);
        result += before;
        match blank(behind) {
            Some((blank, length)) => {
                let text = fill(blank);
                match text.strip_prefix('&').filter(|_| result.ends_with('*')) {
                    Some(object) => result.replace_range(result.len() - 1.., object),
                    None => result += &text,
                }
                rest = &behind[length..];
            }
            None => {
                result.push('{');
                rest = &behind[1..];
            }
        }
    }
    result + rest
}

/// The blank that a text begins with, and its length.
fn blank(text: &str) -> Option<(Blank, usize)> {
    let end = text.find('}')?;
    let inside = &text[1..end];
    if inside == "=" {
        return Some((Blank::Result, end + 1));
    }
    let number = inside.trim_start_matches(['#', '@', '&', '~']);
    let sign = &inside[..inside.len() - number.len()];
    let number: usize = number.parse().ok()?;
    let blank = match sign {
        "" => Blank::Input(number),
        "#" => Blank::Fed(FeedId(number as u32)),
        "@" => Blank::Object(number),
        "&" => Blank::Pointer(number),
        "~" => Blank::Capture(FeedId(number as u32)),
        _ => return None,
    };
    Some((blank, end + 1))
}

#[cfg(test)]
mod tests {
    use super::{Blank, filled};

    #[test]
    fn blanks_are_filled_and_other_braces_stay() {
        let fill = |blank: Blank| format!("<{blank:?}>");
        assert_eq!(
            filled("{@1}.add({0}, {#2}, {&3}, {=}); T t{}; {x}", fill),
            "<Object(1)>.add(<Input(0)>, <Fed(#2)>, <Pointer(3)>, <Result>); T t{}; {x}".replace("#2", &fed(2))
        );
    }

    fn fed(number: u32) -> String {
        format!("{:?}", crate::FeedId(number))
    }
}
