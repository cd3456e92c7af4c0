//! One executed path: what was decided, what was seen and how it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use branchwise_constraints::TermId;
use branchwise_program::assumption::Assumption;
use branchwise_program::assumption::catalogue::{CONSTANTS_ARE_SEPARATE, OBJECTS_NOT_ADJACENT};
use branchwise_program::code::Location;
use branchwise_program::map::{Event, Reading};
use branchwise_program::{BlockId, CodeFunctionId, FeedId, FunctionId};

use crate::arguments::ArgumentLimits;
use crate::changes::Change;
use crate::inputs::{ShapeId, Sharing};
use crate::possible::PossibleFault;
use crate::probes::Probed;
use crate::registers::Registers;
use crate::streams::{GivenStream, StreamPiece};

#[derive(Debug, Clone)]
pub struct Path {
    pub decisions: Vec<Decision>,
    /// Conditions on the inputs' shapes that became active after the last decision.
    pub domain: Vec<TermId>,
    /// The predicted marker log.
    pub events: Vec<Event>,
    /// How many of its events come before the call under test: of earlier calls and of preconditions.
    pub events_before_unit: usize,
    /// How many there were when the call under test was over: what comes behind is the end of objects that the test made.
    pub events_up_to_end: Option<usize>,
    pub end: PathEnd,
    /// Where the functions on the call stack stood when it ended, innermost last.
    pub end_positions: Rc<[Position]>,
    pub outputs: Vec<Output>,
    /// How many values of each feed it asked for.
    pub feeds_taken: BTreeMap<FeedId, u32>,
    /// What stubs write beside that.
    pub changes: Vec<Change>,
    /// What it did at fixed addresses.
    pub registers: Registers,
    /// The functions that it called before the one under test.
    pub calls: Vec<FunctionId>,
    /// So many calls fewer than the session has.
    pub skipped_calls: u32,
    /// It came to the call under test.
    pub called_unit: bool,
    /// What it read of standard input.
    pub standard_input: Vec<StreamPiece>,
    /// What it asked of the streams that the test gives.
    pub streams: BTreeMap<ShapeId, GivenStream>,
    pub notes: Notes,
    /// Undefined behaviour that other inputs may show on the same way.
    pub possible: Vec<PossibleFault>,
    /// The predicted answers of probes, and what they depend on where other inputs give others.
    pub readings: Vec<Reading>,
    pub probed: Vec<Probed>,
    pub instructions: u64,
}

impl Path {
    /// What goes wrong in the call under test. In a call before, it is a fault of that function.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        let ending = match &self.end {
            PathEnd::Fault(fault) | PathEnd::SizeBound { fault, .. } if self.called_unit => Some(fault),
            _ => None,
        };
        self.notes.undefined[self.notes.undefined_in_earlier_calls..].iter().chain(&self.notes.leaks).chain(ending)
    }

    /// The first undefined behaviour, where there is some: C says nothing of what comes behind it.
    pub fn undefined_behaviour(&self) -> Option<UndefinedFrom> {
        let ending = match &self.end {
            PathEnd::Fault(fault) | PathEnd::SizeBound { fault, .. } if fault.kind.is_undefined() => Some(fault),
            _ => None,
        };
        let at_end = |fault: &Fault| UndefinedFrom {
            events: self.events.len(),
            readings: self.readings.len(),
            fault: fault.clone(),
        };
        self.notes.undefined_from.clone().or_else(|| ending.map(at_end))
    }
}

/// An undecided point at which the guide chose one alternative.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Conditions on the inputs' shapes that became active since the decision before: they hold for all inputs.
    pub domain: Vec<TermId>,
    /// Index into `alternatives`.
    pub taken: usize,
    /// They exclude each other, and one of them holds.
    pub alternatives: Vec<Alternative>,
    /// Where the functions on the call stack stand, innermost last.
    pub positions: Rc<[Position]>,
    /// How many events came before.
    pub events_before: usize,
    /// It belongs to a call before the one under test.
    pub in_earlier_call: bool,
    /// The path has decided it before, at a marker where this condition held.
    pub repeats: Option<TermId>,
}

#[derive(Debug, Clone)]
pub struct Alternative {
    /// What an input must satisfy to go this way.
    pub constraint: TermId,
    pub kind: AlternativeKind,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum AlternativeKind {
    /// A marker goes this way.
    Event(Event),
    /// The path ends here with a fault.
    Fault(Site, FaultKind),
    /// The path goes on; no marker tells.
    Continue,
    /// A precondition does not hold: no input goes there.
    Rejected,
    /// The path ends here at a bound on the size of an input.
    Cut(Site),
}

/// An instruction.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    pub function: CodeFunctionId,
    pub block: BlockId,
    pub instruction: u32,
}

/// A function on the call stack and the last event in it.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Position {
    pub function: FunctionId,
    pub after: Option<Event>,
}

/// Every way a path can end has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathEnd {
    Returned,
    Exited {
        status: Option<i32>,
    },
    Fault(Fault),
    /// The inputs break a precondition: this is no test.
    Rejected,
    /// A loop made this many iterations whose end was open.
    LoopBound {
        location: Option<Location>,
        bound: u64,
    },
    CallDepth {
        location: Option<Location>,
        bound: u64,
    },
    InstructionLimit {
        location: Option<Location>,
        bound: u64,
    },
    /// It read this many bytes and numbers from standard input, or from a stream that a test gives, and went on
    /// reading.
    StreamBound {
        location: Option<Location>,
        shape: Option<ShapeId>,
        bound: u64,
    },
    /// An access behind the end of an input that could be larger than the bound allows.
    SizeBound {
        fault: Fault,
        shape: ShapeId,
        elements: u64,
    },
    /// `new` was asked for an object of more bytes than this.
    ObjectBound {
        location: Option<Location>,
        bound: u64,
    },
    /// What the executor cannot do; nothing may be concluded from the end of this path.
    Unsupported {
        what: String,
        location: Option<Location>,
    },
    Interrupted,
    /// The session has as many terms as it may have.
    MemoryLimit,
}

/// A bad end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub site: Site,
    pub location: Option<Location>,
    pub message: String,
    /// The statement without which the path might go on here.
    pub assumption: Option<Assumption>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultKind {
    OutOfBounds,
    /// An access before the first element that a pointer input points to. The pointer may as well point into an array.
    BeforeStart,
    NullDereference,
    InvalidPointer,
    DivisionByZero,
    DivisionOverflow,
    WriteToConstant,
    UseAfterReturn,
    UseAfterFree,
    DoubleFree,
    /// What is freed did not come from an allocation, or not its start is.
    InvalidFree,
    UninitialisedRead,
    Abort,
    /// `std::terminate` was called by the program.
    Terminate,
    /// An exception came to where none may leave: `noexcept`, the end of `main`.
    UncaughtException,
    /// A destructor threw while another exception was on its way.
    ExceptionWhileUnwinding,
    PureVirtualCall,
    /// Nobody can give back an object any more, because an exception left those who knew it.
    LeakOnUnwinding,
    AssertFailed,
    /// C says nothing of what happens next; the path goes on as the machine does.
    SignedOverflow,
    ShiftTooFar,
    FloatOutOfRange,
}

impl FaultKind {
    /// Tells whether C leaves undefined what happens next. The others end the program in a way that the language defines, or
    /// lose memory.
    pub fn is_undefined(self) -> bool {
        match self {
            FaultKind::Abort
            | FaultKind::Terminate
            | FaultKind::UncaughtException
            | FaultKind::ExceptionWhileUnwinding
            | FaultKind::LeakOnUnwinding
            | FaultKind::AssertFailed => false,
            FaultKind::OutOfBounds
            | FaultKind::BeforeStart
            | FaultKind::NullDereference
            | FaultKind::InvalidPointer
            | FaultKind::DivisionByZero
            | FaultKind::DivisionOverflow
            | FaultKind::WriteToConstant
            | FaultKind::UseAfterReturn
            | FaultKind::UseAfterFree
            | FaultKind::DoubleFree
            | FaultKind::InvalidFree
            | FaultKind::UninitialisedRead
            | FaultKind::PureVirtualCall
            | FaultKind::SignedOverflow
            | FaultKind::ShiftTooFar
            | FaultKind::FloatOutOfRange => true,
        }
    }
}

/// The point of a path at which undefined behaviour begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndefinedFrom {
    /// How many events and answers of probes came before.
    pub events: usize,
    pub readings: usize,
    pub fault: Fault,
}

/// What there is to say of a path beside its decisions.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    pub caveats: Caveats,
    /// It ended before the function under test was called: it is no test.
    pub ended_in_precondition: bool,
    /// Undefined behaviour that this input shows and that did not end the path.
    pub undefined: Vec<Fault>,
    /// How many of them belong to calls before the one under test.
    pub undefined_in_earlier_calls: usize,
    /// Where the first of them stands.
    pub undefined_from: Option<UndefinedFrom>,
    /// An exception left the call under test.
    pub threw: bool,
    /// What the call under test allocated and an exception put out of reach.
    pub leaks: Vec<Fault>,
}

/// What limits a conclusion drawn from this path.
#[derive(Debug, Clone, Default)]
pub struct Caveats {
    /// It looked at data that earlier calls may have changed.
    pub reads_state: bool,
    /// More functions can change such data than those that its test could have called: so many.
    pub cut_callers: Option<u64>,
    /// It looked at the number of an address, which another run may choose differently.
    pub looks_at_addresses: bool,
    /// The statements that it took for granted, where they could have made a difference.
    pub assumed: BTreeMap<Assumption, Places>,
    /// It read on behind a number of standard input that has other texts, behind which other bytes could follow.
    pub plain_numbers: bool,
    /// Names of pointer inputs and globals that might share an object, where that could have made a difference: it
    /// compared them, or went through both and wrote through one.
    pub may_alias: BTreeSet<(String, String)>,
    /// What a session could let pointers point to and does not.
    pub could: Sharing,
    /// What a session could let its driver do in other ways than the first, and does not.
    pub could_vary: BTreeSet<(String, String)>,
    /// Classes of which it got objects in states that constructors and the calls of a test lead to, and in no others.
    pub made_objects: BTreeSet<String>,
    /// The same, where no calls follow the constructor.
    pub fixed_objects: BTreeSet<String>,
    /// Methods that could have changed them and that no test can call.
    pub left_out_methods: BTreeSet<String>,
    /// A longer sequence of calls on an object could have been made.
    pub cut_calls: bool,
    /// A container could have had more elements.
    pub cut_containers: bool,
    /// It began in `main`, with arguments within these limits.
    pub arguments_of_main: Option<ArgumentLimits>,
    /// Pointer inputs that were taken for null, because what they point to cannot be an input yet.
    pub always_null: BTreeSet<String>,
    /// The first event to which the map knows no way: nothing may be concluded from the map then.
    pub off_the_map: Option<Event>,
}

/// Where functions stood when something happened on a path; goals that cannot follow from there do not depend on it.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// It happened in more places than are listed.
    anywhere: bool,
    listed: Vec<Rc<[Position]>>,
}

impl Places {
    /// More places are as good as all.
    const MOST: usize = 64;

    /// Adds a place: the functions on the call stack, innermost last.
    pub fn insert(&mut self, positions: &Rc<[Position]>) {
        if self.anywhere || self.listed.contains(positions) {
            return;
        }
        self.anywhere = self.listed.len() == Places::MOST;
        self.listed.push(Rc::clone(positions));
    }

    /// From where it happened, every goal can follow.
    pub fn add_everywhere(&mut self) {
        self.anywhere = true;
    }

    fn add(&mut self, other: &Places) {
        self.anywhere |= other.anywhere;
        other.listed.iter().for_each(|positions| self.insert(positions));
    }

    /// Tells whether one of the places satisfies a condition, or may.
    pub fn any(&self, condition: impl FnMut(&Rc<[Position]>) -> bool) -> bool {
        self.anywhere || self.listed.iter().any(condition)
    }
}

impl Caveats {
    /// Tells whether the path depends on where objects lie, which another run may choose differently.
    pub fn is_guess(&self) -> bool {
        let is_place = |it: &Assumption| OBJECTS_NOT_ADJACENT.is(it) || CONSTANTS_ARE_SEPARATE.is(it);
        self.looks_at_addresses || self.assumed.keys().any(is_place)
    }

    /// What limits a conclusion drawn from both. Taken apart by name, so that nobody forgets a new one here.
    pub fn add(&mut self, other: &Caveats) {
        let Caveats {
            reads_state,
            cut_callers,
            looks_at_addresses,
            assumed,
            plain_numbers,
            may_alias,
            could,
            could_vary,
            made_objects,
            fixed_objects,
            left_out_methods,
            cut_calls,
            cut_containers,
            arguments_of_main,
            always_null,
            off_the_map,
        } = other;
        self.reads_state |= reads_state;
        self.cut_callers = cut_callers.or(self.cut_callers);
        self.looks_at_addresses |= looks_at_addresses;
        for (assumption, places) in assumed {
            self.assumed.entry(assumption.clone()).or_default().add(places);
        }
        self.plain_numbers |= plain_numbers;
        self.may_alias.extend(may_alias.iter().cloned());
        self.could.add(could);
        self.could_vary.extend(could_vary.iter().cloned());
        self.made_objects.extend(made_objects.iter().cloned());
        self.fixed_objects.extend(fixed_objects.iter().cloned());
        self.left_out_methods.extend(left_out_methods.iter().cloned());
        self.cut_calls |= cut_calls;
        self.cut_containers |= cut_containers;
        self.arguments_of_main = arguments_of_main.or(self.arguments_of_main);
        self.always_null.extend(always_null.iter().cloned());
        self.off_the_map = self.off_the_map.or(*off_the_map);
    }
}

/// A value that the driver handed out.
#[derive(Debug, Clone)]
pub struct Output {
    pub index: u32,
    /// Byte by byte; `None` where no prediction is made (pointers, padding, uninitialised).
    pub bytes: Vec<Option<u8>>,
}
