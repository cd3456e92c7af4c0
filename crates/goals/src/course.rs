//! What an execution did, step by step, reconstructed from its marker log.
//!
//! The log has the outcomes of conditions and switches and nothing else. Between two of them the graphs leave one way, as
//! long as every call is one of a function that is here, so the log determines which nodes ran and in which activation.

use branchwise_program::map::{Event, Reading};
use branchwise_program::{FunctionId, Id, NodeId};

use crate::ahead::Point;
use crate::graphs::{Callee, Graphs, Next};

/// An execution as its marker log shows it.
#[derive(Debug, Copy, Clone)]
pub struct Trace<'a> {
    /// The functions that the test calls, the unit under test last.
    pub calls: &'a [FunctionId],
    pub events: &'a [Event],
    /// What probes answered.
    pub readings: &'a [Reading],
    /// How many of them come before the call of the unit under test.
    pub before_unit: usize,
    /// How many there were when the call of the unit was over, where something may come behind it.
    pub up_to_end: Option<usize>,
    pub end: TraceEnd,
    /// How many events and answers come before the first undefined behaviour, where there is some.
    pub undefined_from: Option<(usize, usize)>,
}

impl Trace<'_> {
    /// The call of the unit under test alone. What probes answered does not tell in which call, and is left out.
    pub fn of_unit(&self) -> Trace<'_> {
        let before = self.before_unit.min(self.events.len());
        Trace {
            calls: &self.calls[self.calls.len().saturating_sub(1)..],
            events: &self.events[before..],
            readings: &[],
            before_unit: 0,
            up_to_end: self.up_to_end.map(|end| end.saturating_sub(before)),
            undefined_from: self.undefined_from.map(|(events, _)| (events.saturating_sub(before), 0)),
            ..*self
        }
    }

    /// The part of it that lies before all undefined behaviour.
    pub fn defined(&self) -> Trace<'_> {
        let Some((events, readings)) = self.undefined_from else { return *self };
        Trace {
            events: &self.events[..events.min(self.events.len())],
            readings: &self.readings[..readings.min(self.readings.len())],
            up_to_end: self.up_to_end.filter(|&end| end <= events),
            end: TraceEnd::Stopped,
            undefined_from: None,
            ..*self
        }
    }

    /// The events of the functions that the test calls. Where that is one, what came before it made objects for it, and what
    /// comes behind is their end.
    fn events_followed(&self) -> &[Event] {
        match self.calls {
            [_] => {
                let end = self.up_to_end.unwrap_or(self.events.len()).min(self.events.len());
                self.events.get(self.before_unit..end).unwrap_or_default()
            }
            _ => self.events,
        }
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum TraceEnd {
    Returned,
    /// An exception left the unit.
    Threw,
    /// By `exit()` or its like: something that was called ended it.
    Exited,
    /// Anything may have stopped it anywhere behind the last event.
    Stopped,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Step {
    Enter(FunctionId),
    /// A node of the innermost activation is reached.
    Node(NodeId),
    /// The call with this index among those of the node.
    Call(usize),
    Take(Event),
    Leave,
}

/// What is known to have happened.
#[derive(Debug, Clone, Default)]
pub struct Course {
    pub steps: Vec<Step>,
    /// How many of the steps are known; the others may have followed before something stopped the run.
    pub certain: usize,
    /// The log does not fit the graphs, or they do not say what came next: more may have happened.
    pub lost: bool,
    /// It called something that may have run functions without leaving a trace.
    pub unseen: bool,
    /// What may have happened before an exception was thrown: behind so many steps, these.
    pub doubts: Vec<(usize, Vec<Step>)>,
}

/// So many steps without an event: an endless loop, or a recursion without a condition.
const MOST_SILENT_STEPS: usize = 100_000;

struct Activation {
    function: FunctionId,
    node: NodeId,
    /// How many calls of the node have returned.
    calls_done: usize,
    arrived: bool,
    /// Callees that ran before the node that stands for the rest of their statement.
    early: Vec<FunctionId>,
    /// It was called early itself.
    is_early: bool,
}

struct Follower<'a> {
    graphs: &'a Graphs,
    events: &'a [Event],
    end: TraceEnd,
    next_event: usize,
    stack: Vec<Activation>,
    course: Course,
    /// How many of the steps are known even if something stopped the run unexpectedly.
    certain: usize,
    /// The rest of the steps is only what may have happened.
    in_doubt: bool,
    /// Where the exception that comes next may have been thrown, the first place first.
    throwers: Vec<Thrower>,
}

/// A call that may have thrown.
struct Thrower {
    /// How many steps had been made, the call the last of them.
    steps: usize,
    /// The functions that were active and their nodes.
    stack: Vec<(FunctionId, NodeId)>,
}

/// What to do after one step.
enum Progress {
    Goes,
    /// The activations of this call are over.
    Done,
    /// All that is known is known.
    Stop,
}

impl Graphs {
    /// Follows a trace as far as it can be followed.
    pub fn follow(&self, trace: &Trace<'_>) -> Course {
        let events = trace.events_followed();
        let mut follower = Follower {
            graphs: self,
            events,
            end: trace.end,
            next_event: 0,
            stack: Vec::new(),
            course: Course::default(),
            certain: 0,
            in_doubt: false,
            throwers: Vec::new(),
        };
        for &function in trace.calls {
            if !follower.call(function) {
                break;
            }
        }
        let Follower { mut course, certain, in_doubt, next_event, .. } = follower;
        course.lost |= next_event < events.len();
        course.certain = if in_doubt || course.lost { certain } else { course.steps.len() };
        course
    }
}

impl Graphs {
    /// What a prefix of a trace did, and at which condition it stands then, if the run does not end without another.
    /// `None` where the graphs do not tell.
    pub(crate) fn follow_prefix(&self, calls: &[FunctionId], events: &[Event]) -> Option<(Vec<Step>, Option<Point>)> {
        let mut follower = Follower {
            graphs: self,
            events,
            end: TraceEnd::Returned,
            next_event: 0,
            stack: Vec::new(),
            course: Course::default(),
            certain: 0,
            in_doubt: false,
            throwers: Vec::new(),
        };
        let over = calls.iter().all(|&function| follower.call(function));
        let Follower { course, stack, next_event, .. } = follower;
        let plain = |activation: &Activation| !activation.is_early && activation.early.is_empty();
        let waits = |activation: &Activation| {
            let vertex = &self.functions[activation.function].nodes[activation.node.index()];
            matches!(vertex.next, Next::Marker(_)) && activation.calls_done == vertex.calls.len()
        };
        if next_event < events.len() || !stack.iter().all(plain) || course.unseen || !course.doubts.is_empty() {
            return None;
        }
        match over {
            true => Some((course.steps, None)),
            // It waits for an event in the last call of the test.
            false if calls.len() == 1 && stack.last().is_some_and(waits) => {
                let stack = stack.iter().map(|it| (it.function, it.node, it.calls_done)).collect();
                Some((course.steps, Some(Point { stack })))
            }
            false => None,
        }
    }
}

impl Follower<'_> {
    /// Runs one call of the test to its end; `false` if the run ended in it.
    fn call(&mut self, function: FunctionId) -> bool {
        self.enter(function, false);
        let (mut silent, mut seen) = (0, self.next_event);
        loop {
            silent = if seen == self.next_event { silent + 1 } else { 0 };
            seen = self.next_event;
            if silent > MOST_SILENT_STEPS {
                self.lose();
                return false;
            }
            match self.step() {
                Progress::Goes => {}
                Progress::Done => return true,
                Progress::Stop => return false,
            }
        }
    }

    fn enter(&mut self, function: FunctionId, is_early: bool) {
        self.course.steps.push(Step::Enter(function));
        let node = self.graphs.functions[function].entry;
        self.stack.push(Activation { function, node, calls_done: 0, arrived: false, early: Vec::new(), is_early });
    }

    /// Only what had happened up to the first node behind the last event is certain.
    fn lose(&mut self) -> Progress {
        self.course.lost = true;
        Progress::Stop
    }

    fn event(&self) -> Option<Event> {
        self.events.get(self.next_event).copied()
    }

    fn step(&mut self) -> Progress {
        let Some(top) = self.stack.last_mut() else { return Progress::Done };
        let vertex = &self.graphs.functions[top.function].nodes[top.node.index()];
        if !top.arrived {
            top.arrived = true;
            let first_behind_event = match self.course.steps.last() {
                Some(Step::Take(_)) => true,
                // The first call begins, and an entry does nothing.
                Some(Step::Enter(_)) => self.course.steps.len() == 1,
                Some(Step::Node(node)) => {
                    *node == self.graphs.functions[top.function].entry && self.certain == self.course.steps.len()
                }
                _ => false,
            };
            self.course.steps.push(Step::Node(top.node));
            if first_behind_event {
                self.certain = self.course.steps.len();
            }
        }
        self.in_doubt |= self.is_over() && self.end == TraceEnd::Stopped;
        let top = self.stack.last_mut().expect("it is still there");
        if let Some(&callee) = vertex.calls.get(top.calls_done) {
            return self.called(callee);
        }
        match vertex.next {
            Next::Node(node) => self.go(node),
            Next::Marker(marker) => self.marker(marker),
            Next::Return => self.leave(),
            Next::Unknown => self.unknown(),
        }
    }

    fn is_over(&self) -> bool {
        self.next_event == self.events.len()
    }

    fn go(&mut self, node: NodeId) -> Progress {
        let top = self.stack.last_mut().expect("an activation goes on");
        (top.node, top.calls_done, top.arrived) = (node, 0, false);
        Progress::Goes
    }

    /// The last call has come back, or needs no following.
    fn called(&mut self, callee: Callee) -> Progress {
        let event = self.event();
        let top = self.stack.last_mut().expect("somebody calls");
        if let Callee::Function(function) = callee {
            if let Some(at) = top.early.iter().position(|&early| early == function) {
                top.early.remove(at);
                self.course.steps.push(Step::Call(top.calls_done));
                top.calls_done += 1;
                return Progress::Goes;
            }
            self.course.steps.push(Step::Call(top.calls_done));
            self.enter(function, false);
            return Progress::Goes;
        }
        let calls_back = event.is_some_and(|event| self.begins_elsewhere(event));
        let top = self.stack.last_mut().expect("somebody calls");
        if self.course.steps.last() != Some(&Step::Call(top.calls_done)) {
            self.course.steps.push(Step::Call(top.calls_done));
        }
        match callee {
            Callee::Opaque if calls_back => {
                let function = self.graphs.function_of[event.expect("it calls back").marker];
                self.enter(function, true);
                return Progress::Goes;
            }
            Callee::Opaque => self.course.unseen = true,
            Callee::Jumps => return self.lose(),
            Callee::Throws => {
                self.note_thrower();
                return if self.comes_exception() { self.unwind() } else { self.lose() };
            }
            Callee::Returns | Callee::MayEnd | Callee::MayThrow | Callee::Function(_) => {}
        }
        if callee != Callee::Returns {
            self.note_thrower();
        }
        if self.is_over() && self.end == TraceEnd::Exited && callee != Callee::Returns && !self.in_doubt {
            (self.in_doubt, self.certain) = (true, self.course.steps.len());
        }
        self.stack.last_mut().expect("somebody calls").calls_done += 1;
        Progress::Goes
    }

    /// Whether an event begins an activation, and not one of those that wait goes on with it.
    fn begins_elsewhere(&self, event: Event) -> bool {
        let function = self.graphs.function_of[event.marker];
        self.graphs.can_begin(event) && !self.stack.iter().any(|activation| activation.function == function)
    }

    fn marker(&mut self, marker: branchwise_program::MarkerId) -> Progress {
        let Some(event) = self.event() else {
            // Something ended the run on the way here, or its log is not whole.
            return match self.in_doubt {
                true => Progress::Stop,
                false if self.comes_exception() => self.unwind(),
                false => self.lose(),
            };
        };
        let top = self.stack.last().expect("somebody decides");
        if event.marker == marker {
            let Some(&target) = self.graphs.functions[top.function].targets.get(&event) else { return self.lose() };
            self.take(event);
            return self.go(target);
        }
        if self.comes_exception() {
            return self.unwind();
        }
        // A call whose statement comes later in the graph than the conditions inside the same statement.
        let function = self.graphs.function_of[event.marker];
        let top = self.stack.last_mut().expect("somebody decides");
        let called = self.graphs.functions[top.function].callees.contains(&function);
        if called && self.graphs.can_begin(event) {
            top.early.push(function);
            self.enter(function, true);
            return Progress::Goes;
        }
        self.lose()
    }

    fn take(&mut self, event: Event) {
        self.next_event += 1;
        self.course.steps.push(Step::Take(event));
        self.certain = self.course.steps.len();
        self.throwers.clear();
    }

    fn leave(&mut self) -> Progress {
        if self.comes_exception() && self.is_handled_here() {
            return self.unwind();
        }
        self.course.steps.push(Step::Leave);
        let left = self.stack.pop().expect("somebody returns");
        match self.stack.last_mut() {
            None => Progress::Done,
            Some(caller) => {
                caller.calls_done += usize::from(!left.is_early);
                Progress::Goes
            }
        }
    }

    /// What comes next is that a handler takes an exception, or that it leaves the unit.
    fn comes_exception(&self) -> bool {
        match self.event() {
            Some(event) => self.graphs.is_handler(event.marker),
            None => self.end == TraceEnd::Threw,
        }
    }

    /// The innermost activation is the one whose handler comes next, or nobody handles the exception and it is the last.
    fn is_handled_here(&self) -> bool {
        match (self.event(), self.stack.last()) {
            (Some(event), Some(top)) => self.graphs.function_of[event.marker] == top.function,
            _ => self.stack.len() == 1,
        }
    }

    fn note_thrower(&mut self) {
        if self.comes_exception() {
            let stack = self.stack.iter().map(|activation| (activation.function, activation.node)).collect();
            self.throwers.push(Thrower { steps: self.course.steps.len(), stack });
        }
    }

    /// An exception has been thrown, nobody knows where: what follows the first place where it can have been may not have
    /// happened.
    fn unwind(&mut self) -> Progress {
        let Some(event) = self.event() else { return self.leave_by_exception() };
        let function = self.graphs.function_of[event.marker];
        let graph = &self.graphs.functions[function];
        let Some(handler) = graph.handlers.get(&event.marker) else { return self.lose() };
        let guarded = |&(active, node): &(FunctionId, NodeId)| active == function && handler.guarded.contains(&node);
        let first =
            self.throwers.iter().find_map(|it| Some((it.steps, it.stack.len(), it.stack.iter().rposition(guarded)?)));
        let target = graph.targets.get(&event).copied();
        let (Some((steps, depth, at)), Some(target)) = (first, target) else { return self.lose() };
        if self.stack.get(at).is_none_or(|activation| activation.function != function) {
            return self.lose();
        }
        self.doubt_behind(steps);
        self.course.steps.extend(vec![Step::Leave; depth - at - 1]);
        self.course.steps.push(Step::Node(handler.node));
        self.stack.truncate(at + 1);
        self.take(event);
        self.go(target)
    }

    fn leave_by_exception(&mut self) -> Progress {
        let Some(first) = self.throwers.first() else { return self.lose() };
        self.doubt_behind(first.steps);
        Progress::Stop
    }

    fn doubt_behind(&mut self, steps: usize) {
        let doubted = self.course.steps.split_off(steps);
        if !doubted.is_empty() {
            self.course.doubts.push((steps, doubted));
        }
    }

    /// No marker tells what comes next. Where nothing does, the run has ended in what was called there.
    fn unknown(&mut self) -> Progress {
        match self.in_doubt {
            true => Progress::Stop,
            false if self.comes_exception() => self.unwind(),
            false => self.lose(),
        }
    }
}
