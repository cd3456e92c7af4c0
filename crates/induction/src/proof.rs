//! One proof: the body of a function, what its calls do by their contracts, and what follows.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_constraints::{BinaryOp, TermId};
use branchwise_program::code::{Code, Width};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, GlobalId};

use crate::body::{Calls, Exit, State, Understood};
use crate::claims::{Claim, Contracts, Transition};
use crate::memory::Memory;
use crate::observers::{Ghost, Mark, Observer};
use crate::regions::{Field, Regions};
use crate::theory::{Map, Theory};

/// Where static data lies; no object is larger than what lies between two.
const FIRST_ADDRESS: u128 = 1 << 32;
const ADDRESSES_APART: u128 = 1 << 32;

/// What the proofs of one root are about.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Unit<'a> {
    pub code: &'a Code,
    pub regions: &'a Regions,
    /// Functions that lead to themselves.
    pub recursive: &'a BTreeSet<CodeFunctionId>,
}

/// A memory and what the observers say of it.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub guard: TermId,
    pub memory: Memory,
    pub ghosts: Vec<Ghost>,
}

/// Writes between two moments.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub guard: TermId,
    pub before: Vec<Ghost>,
    pub after: Moment,
    /// The elements that play a part there.
    pub pointers: Vec<TermId>,
    /// How many calls there were before.
    pub calls: usize,
}

#[derive(Clone)]
pub(crate) struct Proof<'a> {
    pub unit: Unit<'a>,
    /// The array whose elements are spoken of.
    pub array: GlobalId,
    pub observers: &'a [Observer],
    /// Those whose ghosts are looked at.
    pub active: &'a [usize],
    pub contracts: &'a Contracts,
    /// Values of cells at the program's start.
    pub initial: &'a BTreeMap<Field, u128>,
    pub theory: Theory,
    pub assumptions: Vec<TermId>,
    pub obligations: Vec<(Claim, TermId)>,
    /// Where conditions have which outcome.
    pub events: Vec<(Event, TermId)>,
    /// Nothing is noted: a body is looked at a second time.
    pub silent: bool,
    /// What observers say of all parts is needed to know that they say it of the whole.
    pub closes: bool,
    pub steps: usize,
    constants: Vec<Option<Vec<TermId>>>,
    pub moments: Vec<Moment>,
    pub writes: Vec<Step>,
    pub transitions: Vec<Transition>,
    pub pointers: Vec<TermId>,
    /// Those that were read before a call that changed the array: where they lead to afterwards says nothing of the end.
    pub before_calls: BTreeSet<TermId>,
    read: Vec<TermId>,
    /// Where it is known what observers say of null.
    pub nulls: BTreeSet<(Map, Vec<TermId>)>,
    /// What the observers say where the function ends.
    pub ends: BTreeSet<Map>,
    /// Of each observer, the values of the parameters that its ghost depends on.
    pub exact: Vec<Vec<Vec<TermId>>>,
    /// Of these, what the function's own contract speaks of.
    pub own_exact: Vec<Vec<Vec<TermId>>>,
}

/// Which bits of the address of an element can differ from zero: from which one on, and how many.
pub(crate) fn narrowed(unit: Unit<'_>, array: GlobalId) -> (u32, Width) {
    let stride = unit.regions.stride(array);
    let end = stride + unit.code.globals[array].size;
    let low = stride.trailing_zeros();
    (low, (u64::BITS - end.leading_zeros()) - low)
}

impl<'a> Proof<'a> {
    pub(crate) fn new(
        unit: Unit<'a>,
        array: GlobalId,
        (observers, active): (&'a [Observer], &'a [usize]),
        contracts: &'a Contracts,
        initial: &'a BTreeMap<Field, u128>,
    ) -> Self {
        Proof {
            unit,
            array,
            observers,
            active,
            contracts,
            initial,
            theory: Theory::new(),
            assumptions: Vec::new(),
            obligations: Vec::new(),
            events: Vec::new(),
            silent: false,
            closes: false,
            steps: 0,
            constants: vec![None; observers.len()],
            moments: Vec::new(),
            writes: Vec::new(),
            transitions: Vec::new(),
            pointers: Vec::new(),
            before_calls: BTreeSet::new(),
            read: Vec::new(),
            nulls: BTreeSet::new(),
            ends: BTreeSet::new(),
            exact: vec![Vec::new(); observers.len()],
            own_exact: vec![Vec::new(); observers.len()],
        }
    }

    /// Executes a function with any arguments in any memory that keeps the order, and notes what its contract owes.
    pub(crate) fn execute(&mut self, function: CodeFunctionId) -> Understood<()> {
        let open = self.contracts.open.get(&function).into_iter().flatten();
        self.closes = open.into_iter().any(|claim| matches!(claim, Claim::Makes(..) | Claim::Compares(..)));
        let element = self.any_link("element");
        self.note_pointer(element);
        for &index in self.active {
            let tuple = self.any_exact(index);
            self.exact[index].push(tuple);
        }
        let body = &self.unit.code.functions[function];
        let mut arguments = Vec::new();
        for parameter in &body.parameters {
            let is_element = self.unit.regions.is_element(function, *parameter, self.array);
            arguments.push(self.any_value("parameter", body.registers[*parameter], is_element));
        }
        let memory = Memory::unknown(&mut self.theory, self.unit, self.array);
        let guard = self.theory.terms.boolean(true);
        let ghosts = self.new_moment(guard, &memory);
        let before = (memory.clone(), ghosts.clone());
        let state = State { guard, registers: BTreeMap::new(), memory: memory.clone(), ghosts, observed: memory };
        let Some(exit) = self.run(function, &arguments, state, &mut Calls::Contracts)? else { return Ok(()) };
        let Exit { mut state, results } = exit;
        self.observe(&mut state);
        self.owe_orders(&state);
        let guard = state.guard;
        let own = Transition { guard, function, arguments, results, before, after: (state.memory, state.ghosts) };
        if self.unit.regions.returns_element(function, self.array) {
            self.note_pointer(own.results[0]);
            self.owe_link(guard, own.results[0]);
        }
        self.own_exact = self.exact_of(&own);
        for claim in self.contracts.open.get(&function).into_iter().flatten() {
            let keys = self.own_keys(claim);
            let claimed = self.claimed(claim, &own, &keys);
            self.owe(claim.clone(), guard, claimed);
        }
        self.ends = own.after.1.iter().flat_map(|ghost| self.theory.parts(ghost.holds)).collect();
        Ok(())
    }

    /// Any value, or any address of an element.
    fn any_value(&mut self, name: &str, width: Width, is_element: bool) -> TermId {
        if !is_element {
            return self.theory.fresh(name, width);
        }
        let link = self.any_link(name);
        self.note_pointer(link);
        link
    }

    /// Any element, with any values of the parameters of the claim's observer.
    pub(crate) fn own_keys(&self, claim: &Claim) -> Vec<TermId> {
        let exact = claim.observer().map(|index| self.exact[index][0].clone()).unwrap_or_default();
        std::iter::once(self.pointers[0]).chain(exact).collect()
    }

    fn any_exact(&mut self, index: usize) -> Vec<TermId> {
        let widths = self.parameter_widths(index);
        self.observers[index].exact.iter().map(|parameter| self.theory.fresh("any", widths[*parameter])).collect()
    }

    fn parameter_widths(&self, index: usize) -> Vec<Width> {
        let function = &self.unit.code.functions[self.observers[index].function];
        function.parameters.iter().map(|parameter| function.registers[*parameter]).collect()
    }

    pub(crate) fn owe(&mut self, claim: Claim, guard: TermId, claimed: TermId) {
        let owed = self.theory.terms.implies(guard, claimed);
        self.obligations.push((claim, owed));
    }

    fn owe_orders(&mut self, state: &State) {
        for &field in &self.contracts.orders {
            let element = self.pointers[0];
            let claimed = self.order(field, &state.memory, element);
            self.owe(Claim::Order(field), state.guard, claimed);
        }
    }

    pub(crate) fn note_pointer(&mut self, pointer: TermId) {
        if !self.silent && self.theory.terms.as_constant(pointer).is_none() && !self.pointers.contains(&pointer) {
            self.pointers.push(pointer);
        }
    }

    pub(crate) fn note_event(&mut self, event: Event, taken: TermId) {
        if !self.silent {
            self.events.push((event, taken));
        }
    }

    /// The values of parameters that observers are asked about because of a call.
    fn exact_of(&self, call: &Transition) -> Vec<Vec<Vec<TermId>>> {
        let mut exact = vec![Vec::new(); self.observers.len()];
        for &index in self.active.iter().filter(|index| self.observers[**index].exact.is_empty()) {
            exact[index].push(Vec::new());
        }
        for claim in self.contracts.claims(call.function) {
            if let Claim::Makes(index, parameters) = claim
                && self.active.contains(&index)
            {
                exact[index].push(parameters.iter().map(|parameter| call.arguments[*parameter]).collect());
            }
        }
        exact
    }

    fn note_exact(&mut self, call: &Transition) {
        for (index, tuples) in self.exact_of(call).into_iter().enumerate() {
            tuples.into_iter().for_each(|tuple| self.add_exact(index, tuple));
        }
    }

    fn add_exact(&mut self, index: usize, tuple: Vec<TermId>) {
        if !self.exact[index].contains(&tuple) {
            self.exact[index].push(tuple);
        }
    }

    /// Some address: only null and the order of elements are ever looked at ([`Regions`] sees to it), so that any will do.
    /// Elements of the array have small ones, because these have few bits.
    pub(crate) fn address_of(&mut self, global: GlobalId) -> TermId {
        let address = match global == self.array {
            true => u128::from(self.unit.regions.stride(global)),
            false => FIRST_ADDRESS + u128::from(global.0) * ADDRESSES_APART,
        };
        self.theory.terms.constant(address, 64)
    }

    pub(crate) fn is_inside(&mut self, object: GlobalId, element: TermId) -> TermId {
        let begin = self.address_of(object);
        let size = self.theory.terms.constant(u128::from(self.unit.code.globals[object].size), 64);
        let offset = self.theory.terms.sub(element, begin);
        self.theory.terms.unsigned_less(offset, size)
    }

    /// Null or the address of an element.
    pub(crate) fn is_link(&mut self, pointer: TermId) -> TermId {
        let zero = self.theory.terms.constant(0, 64);
        let (null, inside) = (self.theory.terms.equal(pointer, zero), self.is_inside(self.array, pointer));
        self.theory.terms.or(null, inside)
    }

    /// Any null pointer or address of an element.
    fn any_link(&mut self, name: &str) -> TermId {
        let (_, width) = narrowed(self.unit, self.array);
        let number = self.theory.fresh(name, width);
        let link = self.widened(number);
        let fact = self.is_link(link);
        self.assumptions.push(fact);
        link
    }

    /// The address that a narrow one stands for.
    pub(crate) fn widened(&mut self, narrow: TermId) -> TermId {
        let (low, _) = narrowed(self.unit, self.array);
        let wide = self.theory.terms.zero_extend(narrow, 64);
        let by = self.theory.terms.constant(u128::from(low), 64);
        self.theory.terms.binary(BinaryOp::Shl, wide, by)
    }

    pub(crate) fn narrow(&mut self, link: TermId) -> TermId {
        let (low, width) = narrowed(self.unit, self.array);
        self.theory.terms.extract(link, low, width)
    }

    /// Whether the field holds null and addresses of elements only, so that it is kept narrow.
    pub(crate) fn is_link_field(&self, field: Field) -> bool {
        field.object == self.array && self.unit.regions.leads_to_own_array(field)
    }

    /// A field was read: it is null or leads to an element.
    pub(crate) fn note_link(&mut self, guard: TermId, link: TermId) {
        self.note_pointer(link);
        if !self.silent {
            self.read.push(link);
        }
        let fact = self.is_link(link);
        self.assume(guard, fact);
    }

    pub(crate) fn owe_link(&mut self, guard: TermId, pointer: TermId) {
        if !self.silent {
            let claimed = self.is_link(pointer);
            self.owe(Claim::Links, guard, claimed);
        }
    }

    /// The first element that was not given out.
    pub(crate) fn mark(&mut self, mark: Mark, memory: &Memory) -> TermId {
        let begin = self.address_of(self.array);
        let stride = self.unit.regions.stride(self.array);
        let stride = self.theory.terms.constant(u128::from(stride), 64);
        let count = memory.cells[&mark.counter];
        let count = match self.unit.regions.width(mark.counter) {
            64 => count,
            _ => self.theory.terms.sign_extend(count, 64),
        };
        let offset = self.theory.terms.mul(count, stride);
        self.theory.terms.add(begin, offset)
    }

    pub(crate) fn below_mark(&mut self, mark: Option<Mark>, memory: &Memory, element: TermId) -> TermId {
        match mark {
            None => self.theory.terms.boolean(true),
            Some(mark) => {
                let mark = self.mark(mark, memory);
                self.theory.terms.unsigned_less(element, mark)
            }
        }
    }

    /// What an observer is given besides the element, in all calls that are spoken of.
    pub(crate) fn constants_of(&mut self, index: usize) -> Vec<TermId> {
        if let Some(known) = &self.constants[index] {
            return known.clone();
        }
        let widths = self.parameter_widths(index);
        let constants: Vec<TermId> = self.observers[index]
            .constant
            .iter()
            .map(|parameter| self.theory.fresh("constant", widths[*parameter]))
            .collect();
        self.constants[index] = Some(constants.clone());
        constants
    }

    fn new_moment(&mut self, guard: TermId, memory: &Memory) -> Vec<Ghost> {
        let observers = self.observers.iter().enumerate();
        let ghosts: Vec<Ghost> = observers
            .map(|(index, observer)| {
                let widths = self.parameter_widths(index);
                Ghost::unknown(&mut self.theory, observer, &widths)
            })
            .collect();
        self.moments.push(Moment { guard, memory: memory.clone(), ghosts: ghosts.clone() });
        ghosts
    }

    fn looked_at(&self) -> Vec<Field> {
        let active = self.active.iter().map(|index| &self.observers[*index]);
        active
            .flat_map(|observer| observer.cells.iter().copied().chain(observer.mark.map(|mark| mark.counter)))
            .collect()
    }

    /// Whether the observers find the same in both states, or have not looked since the states were one.
    pub(crate) fn sees_the_same(&self, first: &State, second: &State) -> bool {
        first.ghosts == second.ghosts && first.memory.looks_like(&second.memory, &self.looked_at())
    }

    /// The observers look at the memory as it is now.
    pub(crate) fn observe(&mut self, state: &mut State) {
        if self.silent || state.observed.looks_like(&state.memory, &self.looked_at()) {
            return;
        }
        let before = std::mem::take(&mut state.ghosts);
        let cells = self.looked_at();
        let known = self.moments.iter().find(|moment| moment.memory.looks_like(&state.memory, &cells));
        state.ghosts = match known {
            Some(moment) => moment.ghosts.clone(),
            None => self.new_moment(state.guard, &state.memory),
        };
        state.observed = state.memory.clone();
        let is_same = |step: &&mut Step| step.before == before && step.after.ghosts == state.ghosts;
        if let Some(step) = self.writes.iter_mut().find(is_same) {
            step.guard = self.theory.terms.or(step.guard, state.guard);
            return;
        }
        let after = Moment { guard: state.guard, memory: state.memory.clone(), ghosts: state.ghosts.clone() };
        let (pointers, calls) = (self.present(), self.transitions.len());
        self.writes.push(Step { guard: state.guard, before, after, pointers, calls });
    }

    /// A call does what its contract says, if it returns.
    pub(crate) fn by_contract(
        &mut self,
        callee: CodeFunctionId,
        arguments: &[TermId],
        mut state: State,
    ) -> Understood<Exit> {
        self.observe(&mut state);
        self.owe_orders(&state);
        for (parameter, argument) in self.unit.code.functions[callee].parameters.iter().zip(arguments) {
            if self.unit.regions.is_element(callee, *parameter, self.array) {
                self.owe_link(state.guard, *argument);
            }
        }
        let before = (state.memory.clone(), state.ghosts.clone());
        let returns = self.theory.fresh("returns", 1);
        state.guard = self.theory.terms.and(state.guard, returns);
        state.memory.forget(&mut self.theory, self.unit, self.array, self.unit.regions.changes(callee));
        let cells = self.looked_at();
        if !before.0.looks_like(&state.memory, &cells) {
            state.ghosts = self.new_moment(state.guard, &state.memory);
            self.before_calls.extend(std::mem::take(&mut self.read));
        }
        state.observed = state.memory.clone();
        let is_element = self.unit.regions.returns_element(callee, self.array);
        let widths = self.unit.code.functions[callee].results.iter().enumerate();
        let results: Vec<TermId> =
            widths.map(|(index, width)| self.any_value("result", *width, index == 0 && is_element)).collect();
        let call = Transition {
            guard: state.guard,
            function: callee,
            arguments: arguments.to_vec(),
            results: results.clone(),
            before,
            after: (state.memory.clone(), state.ghosts.clone()),
        };
        self.note_exact(&call);
        self.assume_observed(&call);
        self.transitions.push(call);
        Ok(Exit { state, results })
    }

    /// A call of an observer shows what its ghost says.
    fn assume_observed(&mut self, call: &Transition) {
        for index in self.active.iter().copied().filter(|index| self.observers[*index].function == call.function) {
            let observer = &self.observers[index];
            if self.constants[index].is_none() {
                let constants = observer.constant.iter().map(|parameter| call.arguments[*parameter]).collect();
                self.constants[index] = Some(constants);
            }
            let keys = self.keys(index, &call.arguments);
            self.note_pointer(keys[0]);
            self.add_exact(index, keys[1..].to_vec());
            let fits = self.fits(index, &call.arguments, &call.before.0);
            let content = self.is_content(index, &call.results, &call.after.0);
            let ghost = &call.before.1[index];
            let holds = self.theory.value(ghost.holds, &keys);
            let same = match observer.says_value() {
                true => {
                    let value = self.theory.value(ghost.value, &keys);
                    self.theory.terms.equal(call.results[0], value)
                }
                false => self.theory.terms.boolean(true),
            };
            let applies = self.theory.terms.and(call.guard, fits);
            if observer.mark.is_none() {
                let (shown, known) = (self.theory.terms.and(applies, content), self.theory.terms.and(holds, same));
                let fact = self.theory.terms.implies(shown, known);
                self.assumptions.push(fact);
            }
            if observer.any.is_empty() {
                let (shown, known) = (self.theory.terms.and(applies, holds), self.theory.terms.and(content, same));
                let fact = self.theory.terms.implies(shown, known);
                self.assumptions.push(fact);
            }
        }
    }
}
