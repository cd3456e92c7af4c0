//! The outcomes that no call of a unit has.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_constraints::{Layer, SolverSettings, TermId};
use branchwise_program::code::{Code, Instruction, Operand};
use branchwise_program::library::{is_stream_function, jumps};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, FunctionId, GlobalId, Program};

use crate::body::NotUnderstood;
use crate::calls::{called, recursive};
use crate::candidates;
use crate::claims::{Claim, Contracts};
use crate::observers::{Mark, Observer};
use crate::proof::{Proof, Unit};
use crate::regions::{Field, Regions};
use crate::solving::Solving;

/// More functions that lead to themselves are not looked at.
const MOST_RECURSIVE: usize = 12;

/// What was found out about a unit.
#[derive(Debug, Default)]
pub struct Excluded {
    /// Outcomes that no execution of the unit has, whatever was called before it, each with the reason.
    pub outcomes: BTreeMap<Event, String>,
    /// Queries by the layer that answered them.
    pub solver_calls: BTreeMap<Layer, u64>,
}

/// What is asked about a unit.
#[derive(Debug, Clone)]
pub struct Question {
    pub function: FunctionId,
    /// Does no execution have these?
    pub outcomes: BTreeSet<Event>,
    /// An execution has this one: a proof that excludes it is none.
    pub witness: Option<Event>,
}

/// Which of the outcomes no execution of the unit has.
pub fn excluded(program: &Program, question: &Question, solver: &SolverSettings) -> Excluded {
    let solving = Solving::new(solver);
    let outcomes = outcomes_of(program, question, &solving);
    Excluded { outcomes, solver_calls: solving.calls() }
}

/// Whether there is something that could be proved of a unit: recursive functions observe a structure in a static array.
pub fn applies(program: &Program, function: FunctionId) -> bool {
    let Some((roots, regions)) = regions_of(program, function) else { return false };
    let arrays: Vec<GlobalId> = regions[roots.own].arrays().collect();
    arrays.into_iter().any(|array| {
        let world = World::of(&program.code, roots.all[roots.own], &regions[roots.own], array);
        !world.observers().is_empty()
    })
}

fn regions_of(program: &Program, function: FunctionId) -> Option<(Roots, Vec<Regions>)> {
    let roots = Roots::of(program, function)?;
    let is_known = |name: &str| {
        let own = name.starts_with("__bw_");
        !jumps(name) && (own || is_stream_function(name) || program.map.closed_functions.contains(name))
    };
    if roots.all.iter().any(|root| may_interfere(program, *root)) {
        return None;
    }
    let regions = Regions::of(&program.code, &roots.all, &is_known)?;
    Some((roots, regions))
}

/// Tells whether a function leads to one that nobody defines, which may call the unit again meanwhile.
fn may_interfere(program: &Program, root: CodeFunctionId) -> bool {
    let code = &program.code;
    called(code, root).into_iter().any(|id| program.interfering_stub(id).is_some() || program.is_replaceable(id))
}

fn outcomes_of(program: &Program, question: &Question, solver: &Solving<'_>) -> BTreeMap<Event, String> {
    let Some((roots, regions)) = regions_of(program, question.function) else { return BTreeMap::new() };
    let arrays: Vec<GlobalId> = regions[roots.own].arrays().collect();
    let own = &program.map.functions[question.function].markers;
    let mut found = BTreeMap::new();
    for array in arrays {
        let is_open = |event: &Event| own.contains(&event.marker) && !found.contains_key(event);
        let open = question.outcomes.iter().copied().filter(is_open).collect();
        let question = Question { outcomes: open, ..question.clone() };
        let worlds = roots.all.iter().zip(&regions);
        let worlds = worlds.map(|(root, regions)| World::of(&program.code, *root, regions, array)).collect();
        found.extend(Induction { worlds, own: roots.own, solver }.excluded(&question));
    }
    found
}

/// The functions that tests call, through their drivers.
struct Roots {
    all: Vec<CodeFunctionId>,
    /// The place of the unit's.
    own: usize,
}

impl Roots {
    /// `None` if somebody else calls the unit too, so that its outcomes are not only its own.
    fn of(program: &Program, function: FunctionId) -> Option<Self> {
        let code = &program.code;
        let by_name: BTreeMap<&str, CodeFunctionId> =
            code.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        let root_of = |id: FunctionId| {
            let function = &program.map.functions[id];
            let driver = function.driver.as_ref().ok().and_then(|driver| by_name.get(driver.as_str()));
            driver.or_else(|| by_name.get(function.symbol.as_str())).copied()
        };
        let unit = *by_name.get(program.map.functions[function].symbol.as_str())?;
        let driver = *by_name.get(program.map.functions[function].driver.as_ref().ok()?.as_str())?;
        let reached = called(code, driver);
        if recursive(code, &reached).is_empty() {
            return None;
        }
        let mentions_unit = |id: &CodeFunctionId| *id != driver && mentioned(code, *id).functions.contains(&unit);
        if code.functions.ids().any(|id| mentions_unit(&id)) {
            return None;
        }
        let roots: BTreeSet<CodeFunctionId> = program.map.functions.ids().filter_map(root_of).collect();
        let all: Vec<CodeFunctionId> =
            roots.into_iter().filter(|root| *root == driver || mentions_state(code, *root)).collect();
        let own = all.iter().position(|root| *root == driver)?;
        Some(Roots { all, own })
    }
}

#[derive(Default)]
struct Mentioned {
    functions: BTreeSet<CodeFunctionId>,
    globals: BTreeSet<GlobalId>,
}

impl Mentioned {
    fn note(&mut self, operand: &Operand) {
        match operand {
            Operand::Function(id) => {
                self.functions.insert(*id);
            }
            Operand::Global(id, _) => {
                self.globals.insert(*id);
            }
            _ => {}
        }
    }
}

/// What a function calls or takes the address of.
fn mentioned(code: &Code, function: CodeFunctionId) -> Mentioned {
    let mut found = Mentioned::default();
    for block in code.functions[function].blocks.values() {
        let instructions = &block.instructions;
        instructions
            .iter()
            .for_each(|instruction: &Instruction| instruction.for_each_operand(&mut |operand| found.note(operand)));
        block.terminator.for_each_operand(&mut |operand| found.note(operand));
    }
    found
}

/// Whether a root leads, also through tables and pointers to functions, to static data that can change.
fn mentions_state(code: &Code, root: CodeFunctionId) -> bool {
    let (mut functions, mut globals) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![root];
    while let Some(function) = open.pop() {
        if !functions.insert(function) {
            continue;
        }
        let mut found = mentioned(code, function);
        while let Some(global) = found.globals.pop_first() {
            if globals.insert(global) {
                let addresses = code.globals[global].initializer.iter().flat_map(|image| &image.addresses);
                addresses.for_each(|(_, operand)| found.note(operand));
            }
        }
        open.extend(found.functions);
    }
    globals.into_iter().any(|id| code.globals[id].internal && !code.globals[id].constant)
}

/// What is proved of functions.
type Known = BTreeMap<CodeFunctionId, BTreeSet<Claim>>;

/// One root and what it leads to.
struct World<'a> {
    code: &'a Code,
    root: CodeFunctionId,
    regions: &'a Regions,
    array: GlobalId,
    recursive: BTreeSet<CodeFunctionId>,
    marks: Vec<Mark>,
    initial: BTreeMap<Field, u128>,
    contracts: Contracts,
}

impl<'a> World<'a> {
    fn of(code: &'a Code, root: CodeFunctionId, regions: &'a Regions, array: GlobalId) -> Self {
        let recursive = recursive(code, regions.functions());
        let (marks, initial, contracts) = Default::default();
        let mut world = World { code, root, regions, array, recursive, marks, initial, contracts };
        world.initial = candidates::initial_cells(world.unit());
        world.marks = candidates::marks(world.unit(), array);
        world
    }

    /// None where there are no links to follow, or too many functions that follow them.
    fn observers(&self) -> Vec<Observer> {
        if candidates::links(self.unit(), self.array).is_empty() || self.recursive.len() > MOST_RECURSIVE {
            return Vec::new();
        }
        candidates::observers(self.unit(), self.array, &self.marks, &self.initial)
    }

    fn unit(&self) -> Unit<'_> {
        Unit { code: self.code, regions: self.regions, recursive: &self.recursive }
    }

    fn changes_array(&self) -> bool {
        self.regions.changes(self.root).fields.iter().any(|field| field.object == self.array)
    }

    /// Contracts that say nothing of observers, with an order that all of them keep.
    fn settle_structure(&mut self, orders: &BTreeSet<Field>, known: Known, solver: &Solving<'_>) {
        let claims = |id: &CodeFunctionId| {
            (*id, candidates::structural(self.unit(), self.array, &self.marks, &self.initial, *id))
        };
        let open = self.recursive.iter().filter(|id| !known.contains_key(id)).map(claims).collect();
        self.contracts = Contracts { orders: orders.clone(), proved: known, open, broken: false };
        self.settle(&[], &[], solver);
    }

    /// What is proved here of functions that do the same in another world.
    fn known_in(&self, other: &World<'_>) -> Known {
        let is_same = |id: &CodeFunctionId| self.regions.agree_on(other.regions, &called(self.code, *id));
        let same = self.recursive.intersection(&other.recursive).filter(|id| is_same(id));
        same.filter_map(|id| Some((*id, self.contracts.proved.get(id)?.clone()))).collect()
    }

    fn settle_observer(&mut self, observers: &[Observer], index: usize, solver: &Solving<'_>) {
        let claims = |id: &CodeFunctionId| {
            (*id, candidates::observed(self.unit(), self.array, &self.marks, (index, &observers[index]), *id))
        };
        self.contracts.open = self.recursive.iter().map(claims).filter(|(_, claims)| !claims.is_empty()).collect();
        let active: Vec<usize> = observers[index].conditions.iter().copied().chain([index]).collect();
        self.settle(observers, &active, solver);
    }

    /// Drops what does not follow until all that is left does.
    fn settle(&mut self, observers: &[Observer], active: &[usize], solver: &Solving<'_>) {
        let is_known = |id: &CodeFunctionId| active.is_empty() && self.contracts.proved.contains_key(id);
        let recursive = self.recursive.iter().copied().filter(|id| !is_known(id));
        let functions: Vec<CodeFunctionId> = recursive.chain([self.root]).collect();
        let mut checked: BTreeMap<CodeFunctionId, Contracts> = BTreeMap::new();
        let mut open = functions.clone();
        while let Some(function) = open.pop() {
            if self.contracts.broken || solver.is_interrupted() {
                self.contracts = Contracts { broken: true, ..Contracts::default() };
                return;
            }
            while !self.contracts.broken && self.owes(function, active) {
                let wrong = self.refuted(function, observers, active, solver);
                if wrong.is_empty() {
                    break;
                }
                self.drop(function, &wrong);
            }
            checked.insert(function, self.contracts.of(&called(self.code, function)));
            let is_stale = |other: &CodeFunctionId| checked[other] != self.contracts.of(&called(self.code, *other));
            let stale = checked.keys().copied().filter(|other| !open.contains(other)).filter(is_stale);
            let stale: Vec<CodeFunctionId> = stale.collect();
            open.extend(stale);
        }
        self.contracts.conclude();
    }

    /// Whether there is anything to prove of a function: of the order only where no observer is asked, once.
    fn owes(&self, function: CodeFunctionId, active: &[usize]) -> bool {
        active.is_empty() || self.contracts.open.get(&function).is_some_and(|open| !open.is_empty())
    }

    fn refuted(
        &self,
        function: CodeFunctionId,
        observers: &[Observer],
        active: &[usize],
        solver: &Solving<'_>,
    ) -> BTreeSet<Claim> {
        let mut proof = Proof::new(self.unit(), self.array, (observers, active), &self.contracts, &self.initial);
        let wrong = proof.execute(function).and_then(|()| {
            if !active.is_empty() {
                proof.obligations.retain(|(claim, _)| claim.observer().is_some());
            }
            proof.refuted(function, solver)
        });
        wrong.unwrap_or_else(|NotUnderstood| match active {
            [] => BTreeSet::from([Claim::Links]),
            _ => self.contracts.open.get(&function).cloned().unwrap_or_default(),
        })
    }

    fn drop(&mut self, function: CodeFunctionId, wrong: &BTreeSet<Claim>) {
        for claim in wrong {
            self.contracts.broken |= *claim == Claim::Links;
            if let Claim::Order(field) = claim {
                self.contracts.orders.remove(field);
            }
            if let Some(open) = self.contracts.open.get_mut(&function) {
                open.remove(claim);
            }
        }
    }
}

struct Induction<'a> {
    worlds: Vec<World<'a>>,
    own: usize,
    solver: &'a Solving<'a>,
}

impl Induction<'_> {
    fn excluded(&mut self, question: &Question) -> BTreeMap<Event, String> {
        let observers = self.worlds[self.own].observers();
        if observers.is_empty() {
            return BTreeMap::new();
        }
        self.settle_orders();
        if self.worlds.iter().any(|world| world.contracts.broken) {
            return BTreeMap::new();
        }
        let world = &mut self.worlds[self.own];
        for index in 0..observers.len() {
            world.settle_observer(&observers, index, self.solver);
            if world.contracts.broken {
                return BTreeMap::new();
            }
        }
        world.outcomes_excluded(&observers, question, self.solver)
    }

    /// The order that every root keeps, whatever was called before.
    fn settle_orders(&mut self) {
        let world = &self.worlds[self.own];
        let links = candidates::links(world.unit(), world.array);
        if !links.iter().all(|field| candidates::starts_linked(world.unit(), *field)) {
            self.worlds[self.own].contracts.broken = true;
            return;
        }
        let in_order = |field: &Field| candidates::starts_in_order(world.unit(), *field);
        let mut orders: BTreeSet<Field> = links.into_iter().filter(in_order).collect();
        loop {
            let before = orders.clone();
            let others = (0..self.worlds.len()).filter(|index| *index != self.own);
            for index in std::iter::once(self.own).chain(others) {
                if index == self.own || self.worlds[index].changes_array() {
                    let known = match index == self.own {
                        true => Known::default(),
                        false => self.worlds[self.own].known_in(&self.worlds[index]),
                    };
                    let world = &mut self.worlds[index];
                    world.settle_structure(&orders, known, self.solver);
                    orders = world.contracts.orders.clone();
                }
            }
            if orders == before || self.worlds.iter().any(|world| world.contracts.broken) {
                break;
            }
        }
    }
}

impl World<'_> {
    fn outcomes_excluded(
        &self,
        observers: &[Observer],
        question: &Question,
        solver: &Solving<'_>,
    ) -> BTreeMap<Event, String> {
        let active: Vec<usize> = (0..observers.len()).collect();
        let mut proof = Proof::new(self.unit(), self.array, (observers, &active), &self.contracts, &self.initial);
        let understood = proof.execute(self.root);
        proof.closes = true;
        if understood.and_then(|()| proof.assume_unfolded_nulls()).is_err() {
            return BTreeMap::new();
        }
        proof.assume_all(self.root);
        if question.witness.is_some_and(|witness| is_refuted(&mut proof, witness, solver)) {
            return BTreeMap::new();
        }
        let refuted = question.outcomes.iter().copied().filter(|event| is_refuted(&mut proof, *event, solver));
        refuted.map(|event| (event, self.reason())).collect()
    }

    fn reason(&self) -> String {
        let name = |id: &CodeFunctionId| format!("'{}'", self.code.functions[*id].name);
        let functions: Vec<String> = self.recursive.iter().map(name).collect();
        let array = &self.code.globals[self.array].name;
        format!("induction over the calls of {} on the elements of '{array}' excludes it", functions.join(", "))
    }
}

/// Whether no execution has this outcome of a condition that it comes to.
fn is_refuted(proof: &mut Proof<'_>, event: Event, solver: &Solving<'_>) -> bool {
    let met = proof.events.iter().filter(|(met, _)| *met == event);
    let met: Vec<TermId> = met.map(|(_, taken)| *taken).collect();
    let taken = proof.theory.terms.disjunction(&met);
    let query = proof.query(taken);
    !met.is_empty() && solver.check(&proof.theory.terms, &query).is_unsat()
}
