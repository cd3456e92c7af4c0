//! Functions that look at a structure and call themselves for its parts: what they say of an element is a *ghost*, a function of
//! the element that the proofs speak of.
//!
//! Of the ghost of a memory two things are known, whatever the memory is: the function's body, with the ghost in place of
//! its calls of itself, says the same of an element (*unfolding*); and what all parts agree to, the element does.

use branchwise_constraints::TermId;
use branchwise_program::CodeFunctionId;
use branchwise_program::code::Width;

use crate::body::{Calls, Exit, NotUnderstood, State, Understood};
use crate::claims::Claim;
use crate::memory::Memory;
use crate::proof::Proof;
use crate::regions::Field;
use crate::theory::{Map, Theory};

/// Elements are given out one after the other: the first that is free is that with the number in the counter.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub counter: Field,
}

/// When an observer is content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Holds {
    /// It returns something that is not zero.
    NotZero,
    /// It returns, and these cells, which had these values, have them again.
    Keeps(Vec<(Field, u128)>),
}

#[derive(Debug, Clone)]
pub(crate) struct Observer {
    pub function: CodeFunctionId,
    /// The parameter that points to the element.
    pub structure: usize,
    /// Parameters that the ghost depends on.
    pub exact: Vec<usize>,
    /// Parameters that are handed on as they are.
    pub constant: Vec<usize>,
    /// Parameters that may be anything in each call: the ghost holds where any do.
    pub any: Vec<usize>,
    /// It counts only where all elements that it looks at have been given out.
    pub mark: Option<Mark>,
    pub holds: Holds,
    /// Observers that must be content too for anything to be claimed of this one.
    pub conditions: Vec<usize>,
    /// Of what it returns.
    pub width: Width,
    /// What it looks at beside fields and the cells that it keeps.
    pub cells: Vec<Field>,
}

impl Observer {
    /// Whether it matters what it returns, and not only whether that is zero.
    pub(crate) fn says_value(&self) -> bool {
        self.holds != Holds::NotZero
    }
}

/// What an observer says of the elements of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ghost {
    pub holds: Map,
    pub value: Map,
    /// With which values of the parameters that may be anything.
    pub witnesses: Vec<(Map, Width)>,
}

impl Ghost {
    pub(crate) fn unknown(theory: &mut Theory, observer: &Observer, widths: &[Width]) -> Self {
        Ghost {
            holds: theory.unknown_map(1),
            value: theory.unknown_map(observer.width),
            witnesses: observer.any.iter().map(|index| (theory.unknown_map(widths[*index]), widths[*index])).collect(),
        }
    }

    pub(crate) fn choice(&self, theory: &mut Theory, condition: TermId, otherwise: &Ghost) -> Ghost {
        let both = self.witnesses.iter().zip(&otherwise.witnesses);
        let witnesses = both.map(|((a, width), (b, _))| (theory.choice(condition, *a, *b), *width)).collect();
        Ghost {
            holds: theory.choice(condition, self.holds, otherwise.holds),
            value: theory.choice(condition, self.value, otherwise.value),
            witnesses,
        }
    }
}

/// What the calls of itself are taken for.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Parts {
    /// Anything, but where they are content, so is the ghost.
    AsTheyAre,
    /// All are content.
    Content,
}

/// A call of itself.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub guard: TermId,
    pub keys: Vec<TermId>,
    /// The call is one that the ghost speaks of.
    pub fits: TermId,
}

/// One execution of an observer's body for one element.
#[derive(Debug)]
pub(crate) struct Unfolding {
    pub observer: usize,
    pub ghost: Ghost,
    pub take: Parts,
    pub parts: Vec<Part>,
}

/// How the body ends.
#[derive(Debug)]
pub(crate) struct Unfolded {
    /// It returns and is content.
    pub content: TermId,
    pub value: TermId,
    pub parts: Vec<Part>,
}

impl Proof<'_> {
    /// The body of an observer for the element and the parameters in `keys`, in a memory.
    pub(crate) fn unfold(
        &mut self,
        index: usize,
        keys: &[TermId],
        memory: &Memory,
        ghost: &Ghost,
        take: Parts,
    ) -> Understood<Unfolded> {
        let observer = &self.observers[index];
        let function = &self.unit.code.functions[observer.function];
        let constants = self.constants_of(index);
        let mut arguments = vec![keys[0]; function.parameters.len()];
        let exact = observer.exact.iter().zip(&keys[1..]);
        let constant = observer.constant.iter().zip(&constants);
        exact.chain(constant).for_each(|(parameter, value)| arguments[*parameter] = *value);
        for (parameter, (map, _)) in observer.any.iter().zip(&ghost.witnesses) {
            arguments[*parameter] = self.theory.value(*map, keys);
        }
        let mut memory = memory.clone();
        for (cell, value) in kept(observer) {
            memory.cells.insert(cell, self.theory.terms.constant(value, self.unit.regions.width(cell)));
        }
        let guard = self.theory.terms.boolean(true);
        let bound = self.below_mark(observer.mark, &memory, keys[0]);
        let observed = memory.clone();
        let state = State { guard, registers: Default::default(), memory, ghosts: Vec::new(), observed };
        let mut unfolding = Unfolding { observer: index, ghost: ghost.clone(), take, parts: Vec::new() };
        let silent = std::mem::replace(&mut self.silent, true);
        let exit = self.run(observer.function, &arguments, state, &mut Calls::Ghosts(&mut unfolding));
        self.silent = silent;
        let Some(Exit { state, results }) = exit? else {
            let never = self.theory.terms.boolean(false);
            let value = self.theory.fresh("never", observer.width);
            return Ok(Unfolded { content: never, value, parts: unfolding.parts });
        };
        let content = self.is_content(index, &results, &state.memory);
        let content = self.theory.terms.conjunction(&[state.guard, content, bound]);
        Ok(Unfolded { content, value: results[0], parts: unfolding.parts })
    }

    /// Whether a call that has returned shows that the observer is content.
    pub(crate) fn is_content(&mut self, index: usize, results: &[TermId], memory: &Memory) -> TermId {
        let observer = &self.observers[index];
        match &observer.holds {
            Holds::NotZero => {
                let zero = self.theory.terms.constant(0, observer.width);
                self.theory.terms.not_equal(results[0], zero)
            }
            Holds::Keeps(_) => self.has_kept(index, memory),
        }
    }

    /// Whether the cells that an observer keeps have the values that it keeps.
    pub(crate) fn has_kept(&mut self, index: usize, memory: &Memory) -> TermId {
        let mut all = self.theory.terms.boolean(true);
        for (cell, value) in kept(&self.observers[index]) {
            let value = self.theory.terms.constant(value, self.unit.regions.width(cell));
            let same = self.theory.terms.equal(memory.cells[&cell], value);
            all = self.theory.terms.and(all, same);
        }
        all
    }

    /// The element and the parameters that the ghost of an observer depends on, in a call.
    pub(crate) fn keys(&self, index: usize, arguments: &[TermId]) -> Vec<TermId> {
        let observer = &self.observers[index];
        std::iter::once(&observer.structure).chain(&observer.exact).map(|parameter| arguments[*parameter]).collect()
    }

    /// Whether a call is one that the ghost speaks of.
    pub(crate) fn fits(&mut self, index: usize, arguments: &[TermId], memory: &Memory) -> TermId {
        let constants = self.constants_of(index);
        let mut all = self.has_kept(index, memory);
        for (parameter, constant) in self.observers[index].constant.clone().into_iter().zip(constants) {
            let same = self.theory.terms.equal(arguments[parameter], constant);
            all = self.theory.terms.and(all, same);
        }
        all
    }

    /// The observer that is unfolded calls itself.
    pub(crate) fn by_ghost(
        &mut self,
        callee: CodeFunctionId,
        arguments: &[TermId],
        mut state: State,
        unfolding: &mut Unfolding,
    ) -> Understood<Exit> {
        let index = unfolding.observer;
        let observer = &self.observers[index];
        if callee != observer.function {
            return Err(NotUnderstood);
        }
        let keys = self.keys(index, arguments);
        let fits = self.fits(index, arguments, &state.memory);
        let holds = self.theory.value(unfolding.ghost.holds, &keys);
        let result = self.theory.fresh("part", observer.width);
        let before = state.memory.clone();
        for (cell, _) in kept(observer) {
            let after = self.theory.fresh("kept", self.unit.regions.width(cell));
            state.memory.cells.insert(cell, after);
        }
        let content = self.is_content(index, &[result], &state.memory);
        let same = match observer.says_value() {
            true => {
                let value = self.theory.value(unfolding.ghost.value, &keys);
                self.theory.terms.equal(result, value)
            }
            false => self.theory.terms.boolean(true),
        };
        match unfolding.take {
            Parts::AsTheyAre => {
                let shown = self.theory.terms.and(fits, content);
                let known = self.theory.terms.and(holds, same);
                let fact = self.theory.terms.implies(shown, known);
                self.assumptions.push(fact);
                self.assume_sticky(callee, &before, &state.memory);
            }
            Parts::Content => {
                let fact = self.theory.terms.and(content, same);
                self.assumptions.push(fact);
            }
        }
        unfolding.parts.push(Part { guard: state.guard, keys, fits });
        Ok(Exit { state, results: vec![result] })
    }

    /// What the contract of the function says of the cells that it changes.
    fn assume_sticky(&mut self, function: CodeFunctionId, before: &Memory, after: &Memory) {
        for claim in self.contracts.claims(function) {
            if let Claim::Sticky(cell) = claim {
                let fact = self.sticky(cell, before, after);
                self.assumptions.push(fact);
            }
        }
    }
}

/// The cells that an observer keeps, with their values.
pub(crate) fn kept(observer: &Observer) -> Vec<(Field, u128)> {
    match &observer.holds {
        Holds::NotZero => Vec::new(),
        Holds::Keeps(cells) => cells.clone(),
    }
}
