//! The call stack.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use branchwise_constraints::TermId;
use branchwise_program::map::Event;
use branchwise_program::{BlockId, CodeFunctionId, FunctionId, Id, RegisterId};

use crate::path::Position;
use crate::plain::Decoded;
use crate::value::ObjectId;

/// The activations of functions, innermost last. Those that have ended stay behind it, to be written over by the next:
/// calls are frequent, and what they need has been allocated then.
#[derive(Default)]
pub(crate) struct Frames<'p> {
    all: Vec<Frame<'p>>,
    depth: usize,
}

/// An activation of a function.
#[derive(Clone)]
pub(crate) struct Frame<'p> {
    pub function: CodeFunctionId,
    pub map_function: Option<FunctionId>,
    pub base: usize,
    pub block: BlockId,
    /// The operation to go on with.
    pub next: usize,
    pub stack_objects: Vec<ObjectId>,
    /// Where the caller wants the results.
    pub outs: &'p [RegisterId],
    pub last_event: Option<Event>,
    /// What else may have been the last event, where many ways are followed at once.
    pub other_events: Vec<Option<Event>>,
    pub switched: Option<Switched>,
    pub decoded: Rc<Decoded>,
    pub loops: Vec<LoopCount>,
    /// The loops around the block, outermost first, and how often each has begun anew. Kept only where many ways are
    /// followed at once.
    pub passes: Vec<(BlockId, u64)>,
    /// A driver that makes objects: the function under test is still to come.
    pub makes_objects: bool,
}

/// The value that the marker of a switch has just decided.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Switched {
    pub term: TermId,
    /// A value with the label that was taken; `None` for the default.
    pub value: Option<u64>,
}

/// How often a loop went on although its end was open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoopCount {
    pub head: BlockId,
    pub iterations: u64,
    pub open: bool,
}

impl Frame<'_> {
    /// Where it stands; several places where many ways are followed at once. None for code without a map.
    pub(crate) fn positions(&self) -> impl Iterator<Item = Position> {
        let events = self.other_events.iter().copied().chain([self.last_event]);
        events.filter_map(|after| Some(Position { function: self.map_function?, after }))
    }

    /// Counts the iterations of loops whose end was open. `None`, and nothing changed: one more is too many.
    #[inline(never)]
    pub(crate) fn enter_loop(&mut self, head: BlockId, back: bool, bound: u64) -> Option<()> {
        if !back {
            self.loops.retain(|count| count.head != head);
            return Some(());
        }
        if let Some(count) = self.loops.iter_mut().find(|count| count.head == head && count.open) {
            if count.iterations >= bound {
                return None;
            }
            count.iterations += 1;
            count.open = false;
        }
        Some(())
    }
}

impl<'p> Frames<'p> {
    /// A function is called; its registers begin at `base`.
    pub(crate) fn enter(
        &mut self,
        function: CodeFunctionId,
        map_function: Option<FunctionId>,
        base: usize,
        outs: &'p [RegisterId],
        decoded: Rc<Decoded>,
    ) {
        self.depth += 1;
        let Some(frame) = self.all.get_mut(self.depth - 1) else {
            self.all.push(Frame {
                function,
                map_function,
                base,
                block: BlockId::new(0),
                next: 0,
                stack_objects: Vec::new(),
                outs,
                last_event: None,
                other_events: Vec::new(),
                switched: None,
                decoded,
                loops: Vec::new(),
                passes: Vec::new(),
                makes_objects: false,
            });
            return;
        };
        (frame.function, frame.map_function, frame.base) = (function, map_function, base);
        (frame.block, frame.next) = (BlockId::new(0), 0);
        (frame.outs, frame.decoded) = (outs, decoded);
        (frame.last_event, frame.switched) = (None, None);
        frame.stack_objects.clear();
        frame.loops.clear();
        frame.other_events.clear();
        frame.passes.clear();
        frame.makes_objects = false;
    }

    /// These activations instead of the present ones.
    pub(crate) fn replace(&mut self, frames: Vec<Frame<'p>>) {
        self.depth = frames.len();
        self.all = frames;
    }

    /// The innermost activation ends.
    pub(crate) fn leave(&mut self) -> Option<&mut Frame<'p>> {
        self.depth = self.depth.checked_sub(1)?;
        self.all.get_mut(self.depth)
    }
}

impl<'p> Deref for Frames<'p> {
    type Target = [Frame<'p>];

    fn deref(&self) -> &[Frame<'p>] {
        &self.all[..self.depth]
    }
}

impl DerefMut for Frames<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.all[..self.depth]
    }
}
