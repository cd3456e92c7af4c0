//! What may be true of every call of a function that returns.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_constraints::TermId;
use branchwise_program::CodeFunctionId;

use crate::memory::Memory;
use crate::observers::{Ghost, Mark};
use crate::proof::Proof;
use crate::regions::Field;

/// One sentence about a call; a parameter is meant by its number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Fields that lead to elements, and parameters and results that do, are null or the address of one. It is taken for
    /// granted everywhere.
    Links,
    /// Of all elements: the field is null, or leads to a later element. It holds before every call too.
    Order(Field),
    /// Once a cell is no longer as it was at the program's start, it stays so.
    Sticky(Field),
    /// The counter does not decrease.
    Grows(Field),
    /// The result is not null if the cell is in the end as at the program's start.
    NotNull(Field),
    /// The result is null or was not given out before.
    AboveMark(Mark),
    /// The result is not before the element that the parameter points to; null comes last.
    AboveParameter(usize),
    /// Elements that were given out before do not change.
    FrameOfMark(Mark),
    /// Elements before that of the parameter do not change, and none does if that is null.
    FrameOfParameter(usize),
    /// Where an observer was content, it still is, and says the same.
    Preserves(usize),
    /// Where an observer is content with the parameter's element in the end, it is with the result, and says the same.
    Like(usize, usize),
    /// An observer is content with the result, unless it is null, for these parameters.
    Makes(usize, Vec<usize>),
    /// If the result is not zero, an observer says the same of two parameters.
    Compares(usize, usize, usize),
}

impl Claim {
    /// Whether it speaks of all elements.
    pub(crate) fn is_about_all(&self) -> bool {
        matches!(self, Claim::Order(_) | Claim::FrameOfMark(_) | Claim::FrameOfParameter(_) | Claim::Preserves(_))
    }

    pub(crate) fn observer(&self) -> Option<usize> {
        match self {
            Claim::Preserves(index) | Claim::Like(index, _) | Claim::Makes(index, _) | Claim::Compares(index, ..) => {
                Some(*index)
            }
            _ => None,
        }
    }
}

/// What is claimed of functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contracts {
    /// What holds of all elements before and after every call.
    pub orders: BTreeSet<Field>,
    /// [`Claim::Links`] does not hold: nothing does.
    pub broken: bool,
    pub proved: BTreeMap<CodeFunctionId, BTreeSet<Claim>>,
    /// What is assumed while it is looked whether it follows from itself.
    pub open: BTreeMap<CodeFunctionId, BTreeSet<Claim>>,
}

impl Contracts {
    pub(crate) fn claims(&self, function: CodeFunctionId) -> Vec<Claim> {
        [&self.proved, &self.open].into_iter().filter_map(|all| all.get(&function)).flatten().cloned().collect()
    }

    pub(crate) fn has(&self, function: CodeFunctionId, claim: &Claim) -> bool {
        [&self.proved, &self.open].into_iter().any(|all| all.get(&function).is_some_and(|all| all.contains(claim)))
    }

    /// What concerns these functions.
    pub(crate) fn of(&self, functions: &BTreeSet<CodeFunctionId>) -> Contracts {
        let mut part = self.clone();
        part.proved.retain(|function, _| functions.contains(function));
        part.open.retain(|function, _| functions.contains(function));
        part
    }

    pub(crate) fn conclude(&mut self) {
        for (function, claims) in std::mem::take(&mut self.open) {
            self.proved.entry(function).or_default().extend(claims);
        }
    }
}

/// A call, from its beginning to its end.
#[derive(Debug, Clone)]
pub(crate) struct Transition {
    /// It happens and returns.
    pub guard: TermId,
    pub function: CodeFunctionId,
    pub arguments: Vec<TermId>,
    pub results: Vec<TermId>,
    pub before: (Memory, Vec<Ghost>),
    pub after: (Memory, Vec<Ghost>),
}

impl Proof<'_> {
    /// The claim as a term, at the element and the parameters of an observer in `keys` if it speaks of all.
    pub(crate) fn claimed(&mut self, claim: &Claim, call: &Transition, keys: &[TermId]) -> TermId {
        let (before, ghosts_before) = &call.before;
        let (after, ghosts_after) = &call.after;
        match claim {
            Claim::Links => self.theory.terms.boolean(true),
            Claim::Order(field) => self.order(*field, after, keys[0]),
            Claim::Sticky(cell) => self.sticky(*cell, before, after),
            Claim::Grows(cell) => self.theory.terms.signed_less_or_equal(before.cells[cell], after.cells[cell]),
            Claim::NotNull(cell) => {
                let kept = self.is_initial(*cell, after);
                let not_null = self.not_null(call.results[0]);
                self.theory.terms.implies(kept, not_null)
            }
            Claim::AboveMark(mark) => {
                let mark = self.mark(*mark, before);
                self.null_or_from(call.results[0], mark)
            }
            Claim::AboveParameter(index) => {
                let earlier = self.is_later(call.results[0], call.arguments[*index]);
                self.theory.terms.not(earlier)
            }
            Claim::FrameOfMark(mark) => {
                let old = self.below_mark(Some(*mark), before, keys[0]);
                self.unchanged_where(old, before, after, keys[0])
            }
            Claim::FrameOfParameter(index) => {
                let bound = call.arguments[*index];
                let (not_null, below) = (self.not_null(bound), self.theory.terms.unsigned_less(keys[0], bound));
                let outside = self.theory.terms.implies(not_null, below);
                self.unchanged_where(outside, before, after, keys[0])
            }
            Claim::Preserves(index) => {
                let good = self.is_good(*index, ghosts_before, keys);
                let link = self.is_link(keys[0]);
                let good = self.theory.terms.and(link, good);
                let still = self.says_the_same(*index, &ghosts_before[*index], keys, &ghosts_after[*index], keys);
                self.theory.terms.implies(good, still)
            }
            Claim::Like(index, parameter) => {
                let (from, to) = ([call.arguments[*parameter]], [call.results[0]]);
                let good = self.is_good(*index, ghosts_after, &from);
                let ghost = &ghosts_after[*index];
                let still = self.says_the_same(*index, ghost, &from, ghost, &to);
                self.theory.terms.implies(good, still)
            }
            Claim::Makes(index, parameters) => {
                let mut keys = vec![call.results[0]];
                keys.extend(parameters.iter().map(|parameter| call.arguments[*parameter]));
                let (not_null, holds) = (self.not_null(keys[0]), self.theory.value(ghosts_after[*index].holds, &keys));
                self.theory.terms.implies(not_null, holds)
            }
            Claim::Compares(index, left, right) => self.compares(call, *index, [*left, *right]),
        }
    }

    fn compares(&mut self, call: &Transition, index: usize, sides: [usize; 2]) -> TermId {
        let ghosts = &call.before.1;
        let [left, right] = sides.map(|side| [call.arguments[side]]);
        let mut applies = vec![self.not_zero(call.results[0])];
        for condition in self.observers[index].conditions.clone() {
            applies.push(self.theory.value(ghosts[condition].holds, &left));
            applies.push(self.theory.value(ghosts[condition].holds, &right));
        }
        let applies = self.theory.terms.conjunction(&applies);
        let ghost = &ghosts[index];
        let [holds, other] = [left, right].map(|keys| self.theory.value(ghost.holds, &keys));
        let same = self.says_the_same(index, ghost, &left, ghost, &right);
        let (there, back) = (self.theory.terms.implies(holds, same), self.theory.terms.implies(other, holds));
        let both = self.theory.terms.and(there, back);
        self.theory.terms.implies(applies, both)
    }

    /// Whether an observer and those that it depends on are content.
    pub(crate) fn is_good(&mut self, index: usize, ghosts: &[Ghost], keys: &[TermId]) -> TermId {
        let mut all = self.theory.value(ghosts[index].holds, keys);
        for condition in self.observers[index].conditions.clone() {
            let holds = self.theory.value(ghosts[condition].holds, &keys[..1]);
            all = self.theory.terms.and(all, holds);
        }
        all
    }

    /// The second ghost is content, and has the value of the first.
    pub(crate) fn says_the_same(
        &mut self,
        index: usize,
        from: &Ghost,
        at: &[TermId],
        to: &Ghost,
        there: &[TermId],
    ) -> TermId {
        let holds = self.theory.value(to.holds, there);
        if !self.observers[index].says_value() {
            return holds;
        }
        let (old, new) = (self.theory.value(from.value, at), self.theory.value(to.value, there));
        let same = self.theory.terms.equal(old, new);
        self.theory.terms.and(holds, same)
    }

    pub(crate) fn order(&mut self, field: Field, memory: &Memory, element: TermId) -> TermId {
        let next = self.field(memory, field, element);
        let (inside, later) = (self.is_inside(self.array, element), self.is_later(element, next));
        self.theory.terms.implies(inside, later)
    }

    /// Whether an element comes after another; null comes last.
    pub(crate) fn is_later(&mut self, element: TermId, other: TermId) -> TermId {
        let one = self.theory.terms.constant(1, 64);
        let [element, other] = [element, other].map(|pointer| self.theory.terms.sub(pointer, one));
        self.theory.terms.unsigned_less(element, other)
    }

    pub(crate) fn sticky(&mut self, cell: Field, before: &Memory, after: &Memory) -> TermId {
        let (again, already) = (self.is_initial(cell, after), self.is_initial(cell, before));
        self.theory.terms.implies(again, already)
    }

    fn is_initial(&mut self, cell: Field, memory: &Memory) -> TermId {
        let initial = self.initial[&cell];
        let initial = self.theory.terms.constant(initial, self.unit.regions.width(cell));
        self.theory.terms.equal(memory.cells[&cell], initial)
    }

    fn not_null(&mut self, pointer: TermId) -> TermId {
        self.not_zero(pointer)
    }

    fn not_zero(&mut self, value: TermId) -> TermId {
        let zero = self.theory.terms.constant(0, self.theory.terms.width(value));
        self.theory.terms.not_equal(value, zero)
    }

    fn null_or_from(&mut self, pointer: TermId, bound: TermId) -> TermId {
        let (not_null, from) = (self.not_null(pointer), self.theory.terms.unsigned_less_or_equal(bound, pointer));
        self.theory.terms.implies(not_null, from)
    }

    fn unchanged_where(&mut self, condition: TermId, before: &Memory, after: &Memory, element: TermId) -> TermId {
        let mut all = self.theory.terms.boolean(true);
        for (field, map) in before.fields.iter().filter(|(field, _)| field.object == self.array) {
            let (old, new) = (self.theory.value(*map, &[element]), self.theory.value(after.fields[field], &[element]));
            let same = self.theory.terms.equal(old, new);
            all = self.theory.terms.and(all, same);
        }
        let inside = self.is_inside(self.array, element);
        let applies = self.theory.terms.and(condition, inside);
        self.theory.terms.implies(applies, all)
    }
}
