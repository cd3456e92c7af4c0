//! One proof: the body of a function, what its calls do by their contracts, and what follows.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_constraints::{Answer, BinaryOp, TermId, TermKind, evaluate};
use branchwise_program::code::{Code, Width};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, GlobalId};

use crate::body::{Calls, Exit, State, Understood};
use crate::claims::{Claim, Contracts, Transition};
use crate::memory::Memory;
use crate::observers::{Ghost, Mark, Observer, Part, Parts};
use crate::regions::{Field, Regions};
use crate::solving::Solving;
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
struct Moment {
    guard: TermId,
    memory: Memory,
    ghosts: Vec<Ghost>,
}

/// Writes between two moments.
#[derive(Debug, Clone)]
struct Step {
    guard: TermId,
    before: Vec<Ghost>,
    after: Moment,
    /// The elements that play a part there.
    pointers: Vec<TermId>,
    /// How many calls there were before.
    calls: usize,
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
    closes: bool,
    pub steps: usize,
    constants: Vec<Option<Vec<TermId>>>,
    moments: Vec<Moment>,
    writes: Vec<Step>,
    transitions: Vec<Transition>,
    pointers: Vec<TermId>,
    /// Those that were read before a call that changed the array: where they lead to afterwards says nothing of the end.
    before_calls: BTreeSet<TermId>,
    read: Vec<TermId>,
    /// Where it is known what observers say of null.
    nulls: BTreeSet<(Map, Vec<TermId>)>,
    /// What the observers say where the function ends.
    ends: BTreeSet<Map>,
    /// Of each observer, the values of the parameters that its ghost depends on.
    exact: Vec<Vec<Vec<TermId>>>,
    /// Of these, what the function's own contract speaks of.
    own_exact: Vec<Vec<Vec<TermId>>>,
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
    fn own_keys(&self, claim: &Claim) -> Vec<TermId> {
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

    fn owe(&mut self, claim: Claim, guard: TermId, claimed: TermId) {
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

    /// Lists of an element and values for the parameters of an observer.
    fn instances(&self, index: usize, pointers: &[TermId]) -> Vec<Vec<TermId>> {
        let with = |pointer: TermId| {
            self.exact[index].iter().map(move |exact| std::iter::once(pointer).chain(exact.iter().copied()).collect())
        };
        pointers.iter().copied().flat_map(with).collect()
    }

    /// What writes must not change: where an observer was content, its body is too, with what it said of the parts, all of which
    /// come later in the array, so that this is an induction over the elements from the last one on.
    fn owe_write(&mut self, step: &Step, index: usize) -> Understood<()> {
        let claim = Claim::Preserves(index);
        let keys = self.own_keys(&claim);
        let good = self.is_good(index, &step.before, &keys);
        let ghost = step.before[index].clone();
        let unfolded = self.unfold(index, &keys, &step.after.memory, &ghost, Parts::Content)?;
        let mut owed = vec![unfolded.content];
        if self.observers[index].says_value() {
            let value = self.theory.value(ghost.value, &keys);
            owed.push(self.theory.terms.equal(value, unfolded.value));
        }
        for part in unfolded.parts {
            let good = self.is_good(index, &step.before, &part.keys);
            let later = self.is_later(keys[0], part.keys[0]);
            let fine = self.theory.terms.conjunction(&[part.fits, good, later]);
            owed.push(self.theory.terms.implies(part.guard, fine));
        }
        let owed = self.theory.terms.conjunction(&owed);
        let owed = self.theory.terms.implies(good, owed);
        self.owe(claim, step.guard, owed);
        Ok(())
    }

    /// What these writes preserve, if that is claimed of the function.
    fn assume_writes(&mut self, function: CodeFunctionId, steps: &[Step], pointers: &[TermId]) {
        for step in steps {
            for &index in self.active {
                let claim = Claim::Preserves(index);
                if !self.contracts.has(function, &claim) {
                    continue;
                }
                for keys in self.instances(index, pointers) {
                    let good = self.is_good(index, &step.before, &keys);
                    let still = self.says_the_same(index, &step.before[index], &keys, &step.after.ghosts[index], &keys);
                    let fact = self.theory.terms.implies(good, still);
                    self.assume(step.guard, fact);
                }
            }
        }
    }

    fn assume(&mut self, guard: TermId, fact: TermId) {
        let fact = self.theory.terms.implies(guard, fact);
        self.assumptions.push(fact);
    }

    /// The bodies of the observers in those moments that one of the maps is of, for these elements.
    fn assume_unfolded(&mut self, index: usize, moments: &BTreeSet<Map>, pointers: &[TermId]) -> Understood<()> {
        let instances = self.instances(index, pointers);
        for moment in self.moments.clone() {
            if moments.contains(&moment.ghosts[index].holds) {
                instances.iter().try_for_each(|keys| self.assume_unfolded_at(&moment, index, keys))?;
            }
        }
        Ok(())
    }

    /// The elements that play a part now: not those that were read before a call that changed the array, and none that is one
    /// of several.
    fn present(&self) -> Vec<TermId> {
        let is_choice = |pointer: TermId| matches!(self.theory.terms.kind(pointer), TermKind::IfThenElse { .. });
        let pointers = self.pointers.iter().copied();
        pointers.filter(|pointer| !self.before_calls.contains(pointer) && !is_choice(*pointer)).collect()
    }

    /// What the observer says of null, as a part of something.
    fn assume_unfolded_at_null(&mut self, moment: &Moment, index: usize, parts: &[Part]) -> Understood<()> {
        let null = self.theory.terms.constant(0, 64);
        for part in parts {
            let keys: Vec<TermId> = std::iter::once(null).chain(part.keys[1..].iter().copied()).collect();
            if !self.nulls.insert((moment.ghosts[index].holds, keys.clone())) {
                continue;
            }
            let unfolded = self.unfold(index, &keys, &moment.memory, &moment.ghosts[index], Parts::AsTheyAre)?;
            let holds = self.theory.value(moment.ghosts[index].holds, &keys);
            let fact = self.theory.terms.implies(holds, unfolded.content);
            self.assumptions.push(fact);
        }
        Ok(())
    }

    fn assume_unfolded_at(&mut self, moment: &Moment, index: usize, keys: &[TermId]) -> Understood<()> {
        let ghost = &moment.ghosts[index];
        let observer = &self.observers[index];
        let holds = self.theory.value(ghost.holds, keys);
        let says_value = observer.says_value();
        let unfolded = self.unfold(index, keys, &moment.memory, ghost, Parts::AsTheyAre)?;
        let mut known = unfolded.content;
        if says_value {
            let value = self.theory.value(ghost.value, keys);
            let same = self.theory.terms.equal(value, unfolded.value);
            known = self.theory.terms.and(known, same);
        }
        let fact = self.theory.terms.implies(holds, known);
        self.assumptions.push(fact);
        self.assume_unfolded_at_null(moment, index, &unfolded.parts)?;
        if !observer.any.is_empty() || !self.closes {
            return Ok(());
        }
        let unfolded = self.unfold(index, keys, &moment.memory, ghost, Parts::Content)?;
        let mut shown = vec![unfolded.content];
        for part in unfolded.parts {
            let holds = self.theory.value(ghost.holds, &part.keys);
            let fine = self.theory.terms.and(part.fits, holds);
            shown.push(self.theory.terms.implies(part.guard, fine));
        }
        let shown = self.theory.terms.conjunction(&shown);
        let mut known = holds;
        if says_value {
            let value = self.theory.value(ghost.value, keys);
            let same = self.theory.terms.equal(value, unfolded.value);
            known = self.theory.terms.and(known, same);
        }
        let fact = self.theory.terms.implies(shown, known);
        self.assumptions.push(fact);
        Ok(())
    }

    /// The order holds when the function is called, and whenever it has called another.
    fn assume_order(&mut self, calls: &[Transition], pointers: &[TermId]) {
        let begins = self.moments.first().map(|moment| (moment.guard, moment.memory.clone()));
        let calls = calls.iter().map(|call| (call.guard, call.after.0.clone()));
        for (guard, memory) in begins.into_iter().chain(calls) {
            for &field in &self.contracts.orders {
                for &pointer in pointers {
                    let ordered = self.order(field, &memory, pointer);
                    self.assume(guard, ordered);
                }
            }
        }
    }

    fn assume_contracts(&mut self, calls: &[Transition], pointers: &[TermId]) {
        for call in calls {
            for claim in self.contracts.claims(call.function) {
                if claim.observer().is_some_and(|index| !self.active.contains(&index)) {
                    continue;
                }
                let instances = match claim.observer() {
                    _ if !claim.is_about_all() => vec![Vec::new()],
                    Some(index) => self.instances(index, pointers),
                    None => pointers.iter().map(|pointer| vec![*pointer]).collect(),
                };
                for keys in instances {
                    let fact = self.claimed(&claim, call, &keys);
                    self.assume(call.guard, fact);
                }
            }
        }
    }

    /// What is known of the calls and writes of the function, for all elements that play a part.
    pub(crate) fn assume_all(&mut self, function: CodeFunctionId) {
        self.assume_known(function, &self.pointers.clone());
    }

    fn assume_known(&mut self, function: CodeFunctionId, pointers: &[TermId]) {
        let (calls, writes) = (self.transitions.clone(), self.writes.clone());
        self.assume_order(&calls, pointers);
        self.assume_contracts(&calls, pointers);
        self.assume_writes(function, &writes, pointers);
    }

    /// What of all that is owed does not follow, or nobody knows whether it does.
    pub(crate) fn refuted(&self, function: CodeFunctionId, solver: &Solving<'_>) -> Understood<BTreeSet<Claim>> {
        let mut wrong = BTreeSet::new();
        let is_open = |index: &usize| {
            self.contracts.open.get(&function).is_some_and(|open| open.contains(&Claim::Preserves(*index)))
        };
        for (number, step) in self.writes.iter().enumerate() {
            for index in self.active.iter().copied().filter(is_open) {
                wrong.extend(self.preserving(function, number, step, index)?.not_following(solver));
            }
        }
        for group in self.groups() {
            let mut end = self.clone();
            end.obligations = group;
            let of_ends = end.obligations.iter().any(|(claim, _)| claim.observer().is_some() && !claim.is_about_all());
            let pointers = if of_ends || self.active.is_empty() { &self.pointers[..] } else { &self.pointers[..1] };
            end.assume_known(function, pointers);
            if of_ends {
                end.exact.clone_from(&self.own_exact);
                for &index in self.active {
                    end.assume_unfolded(index, &self.ends, &self.present()[1..])?;
                }
            }
            wrong.extend(end.not_following(solver));
        }
        Ok(wrong)
    }

    /// What is owed at the end and in calls, as it is asked for together.
    fn groups(&self) -> Vec<Vec<(Claim, TermId)>> {
        let chained = |claim: &Claim| claim.observer().is_some() && claim.is_about_all();
        let (all, single): (Vec<_>, Vec<_>) = self.obligations.iter().cloned().partition(|(claim, _)| chained(claim));
        [all, single].into_iter().filter(|group| !group.is_empty()).collect()
    }

    /// That writes do not change what an observer says, with what is known before them.
    fn preserving(&self, function: CodeFunctionId, number: usize, step: &Step, index: usize) -> Understood<Self> {
        let mut part = self.clone();
        part.obligations.clear();
        part.assume_order(&self.transitions[..step.calls], &step.pointers);
        part.assume_contracts(&self.transitions[..step.calls], &step.pointers);
        part.assume_writes(function, &self.writes[..number], &step.pointers);
        for &index in self.active {
            let before = self.theory.parts(step.before[index].holds);
            part.assume_unfolded(index, &before, &step.pointers)?;
        }
        part.owe_write(step, index)?;
        Ok(part)
    }

    /// What a model of the assumptions makes wrong of what is owed; nothing if there is none, and everything if nobody knows.
    fn not_following(mut self, solver: &Solving<'_>) -> BTreeSet<Claim> {
        let failures: Vec<TermId> = self.obligations.iter().map(|(_, owed)| *owed).collect();
        let failures: Vec<TermId> = failures.into_iter().map(|owed| self.theory.terms.not(owed)).collect();
        let failure = self.theory.terms.disjunction(&failures);
        let query = self.query(failure);
        let answer = solver.check(&self.theory.terms, &query);
        match answer {
            Answer::Unsat(_) => BTreeSet::new(),
            Answer::Unknown(_) => self.obligations.iter().map(|(claim, _)| claim.clone()).collect(),
            Answer::Sat(model) => {
                let wrong = |owed: TermId| evaluate(&self.theory.terms, &model, owed) == 0;
                let obligations = self.obligations.iter().filter(|(_, owed)| wrong(*owed));
                obligations.map(|(claim, _)| claim.clone()).collect()
            }
        }
    }

    /// The condition together with all that is known.
    pub(crate) fn query(&mut self, condition: TermId) -> Vec<TermId> {
        let congruences = self.theory.congruences();
        self.assumptions.iter().copied().chain(congruences).chain([condition]).collect()
    }
}
