//! What people see: the functions, conditions, decisions, loops and calls of the user's files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::aliasing::Aliasing;
use crate::hierarchy::Class;
use crate::library;
use crate::types::TypeTable;
use crate::usage::Usage;
use crate::{CallableId, EdgeId, FeedId, FileId, FunctionId, Id, IdVec, MarkerId, NodeId, ProbeId, TypeId};

/// The map of one translation unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Map {
    pub files: IdVec<FileId, SourceFile>,
    pub types: TypeTable,
    pub functions: IdVec<FunctionId, Function>,
    /// Indexed by the number that the marked source carries.
    pub markers: IdVec<MarkerId, Marker>,
    /// The same for probes.
    pub probes: IdVec<ProbeId, Probe>,
    /// What stubs ask for, by the number that their generated text carries.
    pub feeds: IdVec<FeedId, Feed>,
    /// What function pointers among the inputs may point to, by the number in the generated table.
    pub callables: IdVec<CallableId, Callable>,
    /// Generated definitions of functions that no file defines, callables among them.
    pub stubs: Vec<Stub>,
    /// What the nodes of each function do with variables.
    pub accesses: BTreeMap<FunctionId, Accesses>,
    /// What the inputs of a function must satisfy; most functions have no such entry.
    pub domains: BTreeMap<FunctionId, Domain>,
    /// Parameters that are `restrict` pointers, by name: what is written behind one, nothing else leads to.
    pub restricted: BTreeMap<FunctionId, BTreeSet<String>>,
    /// What stubs may return, by the name of the function that they stand for.
    pub stub_results: BTreeMap<String, ResultDomain>,
    /// The functions of the C library that mean nothing to the unit's compiler: who links it may define others.
    pub freestanding: Freestanding,
    /// What registers may hold, by address.
    pub registers: BTreeMap<u64, ResultDomain>,
    /// Functions that act on the world and that the user allows to run.
    pub allowed_calls: BTreeSet<String>,
    /// The unit has streams of C++ that open files by their names.
    pub opens_files: bool,
    /// Variables of the unit that other files can name, by the number in the generated table of their addresses.
    pub variables: Vec<Variable>,
    /// Variables that the unit declares and no file defines.
    pub undefined_variables: Vec<UndefinedVariable>,
    /// Functions of the C library that the unit calls and that never call a function of the unit.
    pub closed_functions: BTreeSet<String>,
    /// The classes of C++, in source order.
    pub classes: Vec<Class>,
    /// Classes of C++ that a test can name.
    pub nameable_classes: BTreeSet<String>,
    /// Generated classes of C++.
    pub derived_classes: Vec<DerivedClass>,
    /// Calls in one expression of which the language does not say which comes first.
    pub unordered_calls: Vec<UnorderedCalls>,
    /// Which types an object may be accessed as.
    pub aliasing: Aliasing,
    /// Inline functions of C of which another file has the definition that callers may get instead.
    pub inline_functions: BTreeSet<String>,
    /// Definitions may be replaced when the program is loaded (`-fsemantic-interposition`).
    pub is_interposable: bool,
}

/// Names of the C library that are those of ordinary functions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Freestanding {
    /// None: there is a C library.
    #[default]
    Hosted,
    All,
    Names(BTreeSet<String>),
}

impl Freestanding {
    /// Tells whether a function of the C library is an ordinary one here.
    pub fn has(&self, name: &str) -> bool {
        let is_one = match self {
            Freestanding::Hosted => false,
            Freestanding::All => true,
            Freestanding::Names(names) => names.contains(name),
        };
        is_one && library::row(name).is_some()
    }
}

/// A generated class for an abstract one from which the unit derives none: its methods take values of stubs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivedClass {
    pub name: String,
    pub base: String,
    pub definition: String,
    /// Names of the stubs that its methods call.
    pub stubs: Vec<String>,
}

/// A variable that functions of other files can write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// As the translation unit names it.
    pub name: String,
    /// Name in the object code.
    pub symbol: String,
    pub type_id: TypeId,
}

/// A place that a function which nobody defines can write, beside what its feeds are for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ChangedPlace {
    /// So many bytes into a variable of the map.
    Variable {
        number: usize,
        offset: i64,
    },
    Errno,
    /// What an argument leads to. Each offset but the last is where the next pointer stands, the last is the place: the first
    /// counts from the argument itself, every other one from where the pointer before points to.
    Argument {
        number: u64,
        offsets: Vec<i64>,
    },
}

impl ChangedPlace {
    /// The place so many bytes behind.
    pub fn behind(&self, bytes: i64) -> ChangedPlace {
        let mut place = self.clone();
        match &mut place {
            ChangedPlace::Variable { offset, .. } => *offset += bytes,
            ChangedPlace::Errno => {}
            ChangedPlace::Argument { offsets, .. } => offsets.last_mut().into_iter().for_each(|last| *last += bytes),
        }
        place
    }
}

/// Two functions that an expression calls in an order that the compiler chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnorderedCalls {
    /// Whose expression it is.
    pub function: FunctionId,
    pub symbols: [String; 2],
    /// Both by name.
    pub text: String,
}

/// A variable with external linkage that only another file could define.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndefinedVariable {
    pub name: String,
    pub type_id: TypeId,
    /// `int x;`: the unit defines it where nobody else does.
    pub tentative: bool,
    pub thread_local: bool,
    /// An array of which nobody says how long it is: so many elements are a bound of ours.
    pub elements: Option<u64>,
}

/// The values that a stub may return.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultDomain {
    /// Lowest and highest value of each range.
    pub ranges: Vec<(i128, i128)>,
    pub written: Written,
}

/// The inputs for which a function is meant. Others are never generated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    pub preconditions: Vec<Precondition>,
    pub pointers: Vec<PointerDomain>,
    /// Of the numbers that are read from a stream, one after the other; the last one also of all that follow.
    pub read: Vec<ReadDomain>,
}

/// A condition on the inputs of a function, as the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Precondition {
    /// A C expression over the function's parameters and the globals.
    pub expression: String,
    pub written: Written,
    /// Why it cannot be used, in the compiler's words.
    pub error: Option<String>,
}

/// Where the user wrote something that need not be C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    pub path: PathBuf,
    pub line: u32,
    pub column: u32,
}

/// What a pointer input may point to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointerDomain {
    /// As C names the pointer: `p`, `p->next`, `table.rows`. It speaks of the pointers of every element.
    pub name: String,
    pub may_be_null: bool,
    /// Fewest and most elements; `None`: any number.
    pub elements: Option<(u64, u64)>,
    pub written: Written,
}

/// What a number may be that `scanf` reads as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadDomain {
    /// Lowest and highest value of each range, for conversions to integers.
    pub integers: Vec<(i128, i128)>,
    /// The same for conversions to floats, as the bits of doubles.
    pub floats: Vec<(u64, u64)>,
    pub written: Written,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

impl Domain {
    /// Everything it demands, one text each, with the place where it is written.
    pub fn demands(&self) -> Vec<String> {
        let preconditions = self.preconditions.iter().map(|one| format!("{} ({})", one.expression, one.written));
        let read = self.read.iter().enumerate().map(|(nth, domain)| domain.demand(nth, nth + 1 == self.read.len()));
        preconditions.chain(self.pointers.iter().map(PointerDomain::demand)).chain(read).collect()
    }

    /// What is said of the number that is read after this many others.
    pub fn of_number_read(&self, before: usize) -> Option<&ReadDomain> {
        self.read.get(before).or(self.read.last())
    }

    /// The preconditions that cannot be used.
    pub fn errors(&self) -> impl Iterator<Item = &str> {
        self.preconditions.iter().filter_map(|precondition| precondition.error.as_deref())
    }
}

impl ResultDomain {
    /// What is declared of a subject with its verb.
    fn demand(&self, subject: &str) -> String {
        let range = |&(low, high): &(i128, i128)| match low == high {
            true => low.to_string(),
            false => format!("{low} to {high}"),
        };
        let ranges: Vec<String> = self.ranges.iter().map(range).collect();
        format!("{subject} {} ({})", ranges.join(" or "), self.written)
    }
}

impl ReadDomain {
    fn demand(&self, nth: usize, last: bool) -> String {
        let range = |&(low, high): &(u64, u64)| match (f64::from_bits(low), f64::from_bits(high)) {
            (low, high) if low == high => format!("{low}"),
            (f64::NEG_INFINITY, high) => format!("at most {high}"),
            (low, f64::INFINITY) => format!("at least {low}"),
            (low, high) => format!("{low} to {high}"),
        };
        let ranges: Vec<String> = self.floats.iter().map(range).collect();
        let which = match (nth, last) {
            (0, true) => "each number read".to_owned(),
            (_, true) => format!("each number read from the {}. on", nth + 1),
            (_, false) => format!("the {}. number read", nth + 1),
        };
        format!("{which} is {} ({})", ranges.join(" or "), self.written)
    }
}

impl PointerDomain {
    fn demand(&self) -> String {
        let elements = match self.elements {
            Some((least, most)) if least == most => format!("{least} elements"),
            Some((least, most)) => format!("{least} to {most} elements"),
            None => "an object".to_string(),
        };
        let null = if self.may_be_null { "is null or points" } else { "points" };
        format!("{} {null} to {elements} ({})", self.name, self.written)
    }
}

/// A sequence of values that the program asks for while it runs: each call of a stub takes the next one. A sequence
/// that is used up goes on with zeros.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feed {
    /// As tests and reports name it: `read_sensor()`, `*value of read_sensor()`.
    pub name: String,
    pub type_id: TypeId,
    pub origin: FeedOrigin,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FeedOrigin {
    /// The result of a function that no file defines.
    StubResult { function: String },
    /// What such a function writes through its parameter with this index.
    StubParameter { function: String, parameter: usize },
    /// Whether such a function calls the function that its parameter with this index points to, once more.
    StubCalls { function: String, parameter: usize },
    /// What it gives that function then, as the argument with this index.
    StubArgument { function: String, parameter: usize, argument: usize },
    /// Whether an allocation fails: one for each call of malloc() and its like.
    AllocationFails,
    /// A value with which a test of C++ makes an object, or a choice of how it is made.
    Object,
}

/// A function that a function pointer among the inputs may point to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Callable {
    /// As the translation unit names it.
    pub name: String,
    /// Name in the object code.
    pub symbol: String,
    /// Its function type; pointers to the same type fit.
    pub type_id: TypeId,
    /// Generated for pointers of this type, not the user's.
    pub stub: bool,
}

/// A generated function. It returns what its feed says, and changes what its parameters' feeds and the changes of a test say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stub {
    /// As the translation unit names it.
    pub name: String,
    /// Name in the object code.
    pub symbol: String,
    /// The unit declares it `static`, and never defines it.
    pub internal: bool,
    /// The C text; it calls `__bw_act`, `__bw_feed`, `__bw_assume`, `__bw_end` (of the test, with a status) and `__bw_abort`.
    pub definition: String,
    /// Its result type as C spells it.
    pub result: String,
    pub parameters: Vec<StubParameter>,
    pub variadic: bool,
    /// It is declared to do nothing but return a value.
    pub pure: bool,
    pub act: StubAct,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StubParameter {
    /// Empty where the declaration names none.
    pub name: String,
    /// Its type as C spells it, after adjustment.
    pub spelling: String,
    /// The stub writes as many bytes behind it as the next parameter says; its feed gives the first of them.
    pub buffer: bool,
    /// It points to a function that the stub may call, with these arguments.
    pub calls: Option<Vec<HandedOver>>,
}

/// What a stub gives to a function that it calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandedOver {
    /// A pointer that it was given itself, as the argument with this index; as C spells the type that it becomes.
    Argument(usize, String),
    /// A value of a feed, of this type as C spells it.
    Fed(String),
}

/// How often a stub calls a function in one call at most.
pub const MOST_CALLBACKS: u32 = 2;

/// Begins the names of functions that are inputs by agreement of verifiers.
const VERIFIER: &str = "__VERIFIER_";

impl Stub {
    /// Returns how assumptions name the function that it stands for.
    pub fn subject(&self) -> &str {
        match self.name.starts_with("__bw_") {
            true => "a function behind a pointer",
            false => &self.name,
        }
    }

    /// Tells whether it stands for a function of the C library. That writes what it is given and variables of the library.
    pub fn is_of_library(&self) -> bool {
        library::row(&self.name).is_some()
    }

    /// Tells whether the function that it stands for may do what no feed says: change what others see, or call the unit.
    /// That of a known library function does neither, unless it calls back.
    pub fn may_interfere(&self) -> bool {
        let is_known_input = self.name.starts_with(VERIFIER);
        !is_known_input && !self.pure && library::row(&self.name).is_none_or(|row| row.calls_back())
    }
}

/// What a call of a stub does.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StubAct {
    /// Takes the next value of each of its feeds.
    Feeds,
    /// Ends the process with status 1 if its first parameter is zero.
    Assumes,
    Aborts,
    /// Ends the process with status 1.
    Ends,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// As the user named it (or as an `#include` resolved it).
    pub path: PathBuf,
}

/// A place in a user's file; line and column count from 1, columns in bytes.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub file: FileId,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    C,
    Cpp,
}

/// Why no test calls a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoDriver {
    /// Only other functions of the program can: they stand for everybody.
    Hidden(String),
    /// Others could, but no test can be written.
    Lacking(String),
    /// It has conditions that no marker watches: they are no goals, and that is said.
    Unwatched(String),
}

impl NoDriver {
    pub fn reason(&self) -> &str {
        let (NoDriver::Hidden(reason) | NoDriver::Lacking(reason) | NoDriver::Unwatched(reason)) = self;
        reason
    }
}

/// A function with a body in a user's file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    /// Name in the object code.
    pub symbol: String,
    /// Other names of the same source there: instances of a template, variants of constructors and destructors.
    pub variants: Vec<String>,
    pub place: Place,
    /// The closing brace.
    pub end: Place,
    pub language: Language,
    /// Internal linkage (`static`).
    pub internal: bool,
    pub variadic: bool,
    pub result: TypeId,
    pub parameters: Vec<Parameter>,
    /// What a test must provide, in the order in which the driver asks for it: parameters first, then globals.
    pub inputs: Vec<Input>,
    /// The generated function of the same translation unit that asks for the inputs, calls this function and hands
    /// out the results; `Err` says why there is none (for example a parameter whose type cannot be an input yet).
    pub driver: Result<String, NoDriver>,
    /// How a test calls it, where that takes more than its name: in C++.
    pub usage: Option<Usage>,
    /// The markers inside this function's body, in source order.
    pub markers: Vec<MarkerId>,
    pub decisions: Vec<Decision>,
    pub cfg: Cfg,
    pub loops: Vec<Loop>,
    pub calls: Vec<CallSite>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Empty where the source names none.
    pub name: String,
    pub type_id: TypeId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    pub name: String,
    pub type_id: TypeId,
    pub origin: InputOrigin,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputOrigin {
    /// The parameter with this index.
    Parameter(usize),
    /// A global variable that the function, or one it calls, reads.
    Global,
}

/// A decision point of the source that the marked text reports when it is evaluated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Marker {
    pub function: FunctionId,
    /// The condition as the user wrote it (shortened when very long).
    pub text: String,
    /// Where it stands in the user's file; inside a macro expansion: where the macro is used.
    pub place: Place,
    /// Where it is spelled, which is where llvm-cov reports it; differs from `place` inside macros only.
    pub spelled: Place,
    pub kind: MarkerKind,
    /// The node of the function's control-flow graph that evaluates it.
    pub node: NodeId,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum MarkerKind {
    /// A leaf condition with outcomes 0 (false) and 1 (true).
    Condition {
        /// llvm-cov counts its outcomes. (It does not for what it folds to a constant.)
        counted: bool,
    },
    /// A switch: outcome i is the jump to label i; outcome `labels.len()` is the implicit default, where there is none.
    Switch {
        labels: Vec<Label>,
        bits: u32,
        signed: bool,
        /// llvm-cov counts the implicit default. (It does not where the condition is a constant or a connective.)
        default_counted: bool,
    },
    /// A `catch`: its one outcome, 0, is that it takes an exception. llvm-cov counts nothing there, but paths are known by it.
    Handler,
}

impl MarkerKind {
    /// The labels among which a value decides, and whether it has a sign. The values of a handler are all the same.
    pub fn labels(&self) -> Option<(&[Label], bool)> {
        match self {
            MarkerKind::Condition { .. } => None,
            MarkerKind::Switch { labels, signed, .. } => Some((labels, *signed)),
            MarkerKind::Handler => Some((&[], true)),
        }
    }
}

/// One `case` or `default` label.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Label {
    pub values: LabelValues,
    pub text: String,
    pub place: Place,
    pub spelled: Place,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelValues {
    /// `case LOW:` has `low == high`; GNU `case LOW ... HIGH:` is a range.
    Range {
        low: i128,
        high: i128,
    },
    Default,
}

/// The callee of a `throw`, which is none of the unit's functions.
pub const THROW: &str = "throw";
/// What else the compiler calls of itself and may throw: `new` and `dynamic_cast`.
pub const NEW: &str = "operator new";
pub const CAST: &str = "dynamic_cast";

/// A marker went this way. For a condition 0 is false and 1 is true; for a switch it is the index of the label.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(MarkerId, u32)", into = "(MarkerId, u32)")]
pub struct Event {
    pub marker: MarkerId,
    pub outcome: u32,
}

impl Marker {
    /// How many outcomes it has.
    pub fn outcomes(&self) -> u32 {
        match &self.kind {
            MarkerKind::Condition { .. } => 2,
            MarkerKind::Switch { labels, .. } if labels.iter().any(|label| label.values == LabelValues::Default) => {
                labels.len() as u32
            }
            MarkerKind::Switch { labels, .. } => labels.len() as u32 + 1,
            MarkerKind::Handler => 1,
        }
    }

    /// Which outcome a switch takes for this value of its condition; `None` for a condition marker.
    pub fn switch_outcome(&self, value: i128) -> Option<u32> {
        let (labels, _) = self.kind.labels()?;
        let matches =
            |label: &Label| matches!(label.values, LabelValues::Range { low, high } if low <= value && value <= high);
        let default = || labels.iter().position(|label| label.values == LabelValues::Default);
        let taken = labels.iter().position(matches).or_else(default).unwrap_or(labels.len());
        Some(taken as u32)
    }
}

/// A question about values that the marked text answers when it runs there. The answer decides nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Probe {
    pub function: FunctionId,
    /// The node of the function's control-flow graph that asks.
    pub node: NodeId,
    pub kind: ProbeKind,
    /// The comparison or label as the user wrote it.
    pub text: String,
    pub place: Place,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProbeKind {
    /// How the operands of a comparison lie to each other, one of [`Probe::EQUAL`], [`Probe::BELOW`], [`Probe::ABOVE`]; 0:
    /// farther apart.
    Relation,
    /// Whether a label of the user holds: 1 if it does.
    Label,
}

impl Probe {
    pub const EQUAL: u32 = 1;
    /// The left operand is the neighbour below the right one.
    pub const BELOW: u32 = 2;
    /// The left operand is the neighbour above the right one.
    pub const ABOVE: u32 = 4;
}

/// A probe had this answer.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reading {
    pub probe: ProbeId,
    pub value: u32,
}

/// What the nodes of a function do with variables, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses {
    pub variables: Vec<String>,
    pub all: Vec<Access>,
}

/// What one node does with one variable.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub node: NodeId,
    /// Index into the variables.
    pub variable: u32,
    /// It uses the value from before the node.
    pub uses: bool,
    /// It leaves a new value.
    pub defines: bool,
}

impl Default for Access {
    fn default() -> Self {
        Access { node: NodeId(0), variable: 0, uses: false, defines: false }
    }
}

impl Access {
    pub fn read(&mut self) {
        self.uses |= !self.defines;
    }

    pub fn define(&mut self) {
        self.defines = true;
    }

    /// `+=`, `++` and the like.
    pub fn change(&mut self) {
        self.read();
        self.define();
    }
}

/// A condition of the source taken apart at `&&`, `||`, `!` and parentheses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Decision {
    pub kind: DecisionKind,
    pub place: Place,
    pub formula: Formula,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecisionKind {
    If,
    While,
    Do,
    For,
    Switch,
    /// `c ? a : b`
    Conditional,
    /// `&&` or `||` whose value is used, e.g. `v = a || b`
    Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Formula {
    Leaf(MarkerId),
    Constant(bool),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// The leaf conditions from left to right.
    pub fn leaves(&self) -> Vec<MarkerId> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn collect_leaves(&self, leaves: &mut Vec<MarkerId>) {
        match self {
            Formula::Leaf(marker) => leaves.push(*marker),
            Formula::Constant(_) => {}
            Formula::Not(inner) => inner.collect_leaves(leaves),
            Formula::And(left, right) | Formula::Or(left, right) => {
                left.collect_leaves(leaves);
                right.collect_leaves(leaves);
            }
        }
    }

    /// Its value once this leaf has this outcome; `None` if another leaf is evaluated then. Where a leaf is evaluated, its
    /// outcome alone says what comes next, whatever the leaves before it were.
    pub fn value_after(&self, leaf: MarkerId, outcome: bool) -> Option<bool> {
        match self {
            Formula::Leaf(marker) => (*marker == leaf).then_some(outcome),
            Formula::Constant(_) => None,
            Formula::Not(inner) => inner.value_after(leaf, outcome).map(|value| !value),
            Formula::And(left, right) => connective(left, right, false, leaf, outcome),
            Formula::Or(left, right) => connective(left, right, true, leaf, outcome),
        }
    }

    /// Its value where no leaf can change it any more when its evaluation begins.
    fn constant(&self) -> Option<bool> {
        match self {
            Formula::Leaf(_) => None,
            Formula::Constant(value) => Some(*value),
            Formula::Not(inner) => inner.constant().map(|value| !value),
            Formula::And(left, right) => match left.constant()? {
                false => Some(false),
                true => right.constant(),
            },
            Formula::Or(left, right) => match left.constant()? {
                true => Some(true),
                false => right.constant(),
            },
        }
    }
}

/// A connective that its left operand decides where that has the value `decisive`.
fn connective(left: &Formula, right: &Formula, decisive: bool, leaf: MarkerId, outcome: bool) -> Option<bool> {
    if !left.leaves().contains(&leaf) {
        return right.value_after(leaf, outcome);
    }
    match left.value_after(leaf, outcome)? {
        value if value == decisive => Some(decisive),
        _ => right.constant(),
    }
}

/// A control-flow graph: one entry, one exit, a node for each statement and each leaf condition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cfg {
    pub nodes: IdVec<NodeId, Node>,
    pub edges: IdVec<EdgeId, Edge>,
    pub entry: NodeId,
    pub exit: NodeId,
}

impl Cfg {
    /// For each node, by index, whether some path leads to it from the entry.
    pub fn reached_from_entry(&self) -> Vec<bool> {
        self.reached_without(|_| false)
    }

    /// The same for paths that take no outcome that is excluded.
    pub fn reached_without(&self, excluded: impl Fn(Event) -> bool) -> Vec<bool> {
        self.reached(vec![self.entry], excluded)
    }

    /// For each node, by index, whether it is one of these, or some path leads to it from one of them.
    pub fn reached_from(&self, starts: Vec<NodeId>) -> Vec<bool> {
        self.reached(starts, |_| false)
    }

    fn reached(&self, mut open: Vec<NodeId>, excluded: impl Fn(Event) -> bool) -> Vec<bool> {
        let mut successors: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        let taken = |edge: &&Edge| !matches!(edge.label, EdgeLabel::Outcome(event) if excluded(event));
        for edge in self.edges.values().filter(taken) {
            successors[edge.from.index()].push(edge.to);
        }
        let mut reached = vec![false; self.nodes.len()];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node.index()], true) {
                open.extend(&successors[node.index()]);
            }
        }
        reached
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Node {
    pub kind: NodeKind,
    pub place: Place,
    /// The statement or condition as the user wrote it, shortened to one line.
    pub text: String,
}

/// The characters that texts of nodes have at most.
const TEXT_LIMIT: usize = 60;

/// A line as the text of a node: cut where it is too long.
pub fn node_text(line: &str) -> String {
    match line.char_indices().nth(TEXT_LIMIT) {
        None => line.to_owned(),
        Some(_) => line.chars().take(TEXT_LIMIT - 1).chain(['…']).collect(),
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    Entry,
    Exit,
    Statement,
    /// A leaf condition; two outgoing edges.
    Condition(MarkerId),
    /// A switch; one outgoing edge for each outcome.
    Switch(MarkerId),
    /// Where a `catch` begins; one outgoing edge.
    Handler(MarkerId),
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    pub from: NodeId,
    pub to: NodeId,
    pub label: EdgeLabel,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EdgeLabel {
    Always,
    Outcome(Event),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Loop {
    pub kind: LoopKind,
    pub place: Place,
    /// Where every iteration begins.
    pub head: NodeId,
    pub back_edges: Vec<EdgeId>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoopKind {
    While,
    Do,
    For,
    Goto,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// `None` for a call through a pointer.
    pub callee: Option<String>,
    /// The callee is declared in a user's file, not in a system header.
    pub declared_by_user: bool,
    /// It may come back. `exit()`, `abort()` and what is declared `noreturn` do not.
    pub returns: bool,
    /// Whoever passes its node makes it.
    pub certain: bool,
    pub place: Place,
    pub node: NodeId,
}

impl Function {
    /// All its names in the object code.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        [&self.symbol].into_iter().chain(&self.variants).map(String::as_str)
    }

    /// McCabe's number: edges − nodes + 2, the exit's edge back to the entry not counted. Code that the entry does not
    /// lead to (after a return, in a `sizeof`) makes nothing more complex.
    pub fn mccabe(&self) -> i64 {
        let mut reached = self.cfg.reached_from_entry();
        let edges = self.cfg.edges.values().filter(|edge| reached[edge.from.index()]).count();
        reached[self.cfg.exit.index()] = true;
        edges as i64 - reached.iter().filter(|reached| **reached).count() as i64 + 2
    }
}

impl Map {
    /// A decision as C writes it, with the parentheses that it needs and no others.
    pub fn formula_text(&self, formula: &Formula) -> String {
        match formula {
            Formula::Leaf(marker) => self.markers.get(*marker).map_or("?", |marker| marker.text.as_str()).to_string(),
            Formula::Constant(value) => u8::from(*value).to_string(),
            Formula::Not(inner) => {
                let text = self.formula_text(inner);
                let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_');
                if simple { format!("!{text}") } else { format!("!({text})") }
            }
            Formula::And(left, right) => format!("{} && {}", self.factor_text(left), self.factor_text(right)),
            Formula::Or(left, right) => format!("{} || {}", self.formula_text(left), self.formula_text(right)),
        }
    }

    fn factor_text(&self, formula: &Formula) -> String {
        match formula {
            Formula::Or(..) => format!("({})", self.formula_text(formula)),
            _ => self.formula_text(formula),
        }
    }

    pub fn is_cpp(&self) -> bool {
        self.functions.values().any(|function| function.language == Language::Cpp)
    }

    /// Tells whether the function that a stub stands for may do what no feed says: change what others see, or call the unit.
    pub fn may_interfere(&self, stub: &Stub) -> bool {
        stub.may_interfere() || self.freestanding.has(&stub.name)
    }

    /// Everything that limits the inputs of a function, one text each.
    pub fn demands(&self, function: FunctionId) -> Vec<String> {
        let own = self.domain(function).map(Domain::demands).unwrap_or_default();
        let stubs = self.stub_results.iter().map(|(name, domain)| domain.demand(&format!("{name}() returns")));
        let held = |(address, domain): (&u64, &ResultDomain)| domain.demand(&format!("register {address:#x} holds"));
        let registers = self.registers.iter().map(held);
        own.into_iter().chain(stubs).chain(registers).collect()
    }

    /// The markers of a function that no way of its graph leads to.
    pub fn never_run(&self, function: FunctionId) -> BTreeSet<MarkerId> {
        let Function { cfg, markers, .. } = &self.functions[function];
        let reached = cfg.reached_from_entry();
        markers.iter().copied().filter(|&marker| !reached[self.markers[marker].node.index()]).collect()
    }

    /// What limits the inputs of a function, if anything does.
    pub fn domain(&self, function: FunctionId) -> Option<&Domain> {
        self.domains.get(&function)
    }

    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }
}
