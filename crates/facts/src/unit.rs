//! Facts about one unit under test, and what holds between calls.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use branchwise_program::code::{Code, Operand};
use branchwise_program::map::Event;
use branchwise_program::{CodeFunctionId, FunctionId, GlobalId, MarkerId, Program};

use crate::contents::Contents;
use crate::interpreter::{Arguments, Found, Interpreter, Outcome, Stop, Subject};
use crate::memory::Memory;
use crate::observed::{Compared, Observed};
use crate::thresholds::Thresholds;
use crate::value::{ObjectId, Targets};

/// Steps for one unit; for one function that may be called before it, each time that is interpreted; and for all of those.
const MOST_WORK: u64 = 2_000_000;
const MOST_WORK_BEFORE: u64 = 500_000;
const MOST_WORK_OF_ALL_BEFORE: u64 = 4_000_000;

/// States that are kept apart at one block, and where that is too much work.
const MANY_STATES: usize = 32;
const FEW_STATES: usize = 8;

/// So often all functions are interpreted until the state that they leave is stable, and from when on it is widened.
const MOST_ROUNDS: usize = 16;
const WIDENED_FROM: usize = 3;

/// Variables of library models; other code of the library may have set them.
const MODEL_PREFIX: &str = "__bw_";

/// What no execution of a unit does, whatever its inputs and the number of iterations.
#[derive(Debug)]
pub struct UnitFacts<'p> {
    program: &'p Program,
    observed: Observed,
}

impl UnitFacts<'_> {
    /// Whether no execution takes this outcome.
    pub fn excludes(&self, event: Event) -> bool {
        !self.observed.events.contains(&event)
    }

    /// What excludes outcomes of this marker, as a sentence.
    pub fn reason(&self, marker: MarkerId) -> String {
        let text = &self.program.map.markers[marker].text;
        match self.observed.compared.get(&marker) {
            None => format!("no execution evaluates `{text}`"),
            Some(Compared { left, right: None }) => format!("wherever `{text}` is evaluated, it is {left}"),
            Some(Compared { left, right: Some(right) }) => {
                format!("wherever `{text}` is evaluated, its left side is {left} and its right side is {right}")
            }
        }
    }
}

/// Interprets the units of one program. What it finds out about calls before the unit is kept.
pub struct Facts<'p> {
    program: &'p Program,
    subject: Subject<'p>,
    drivers: HashMap<&'p str, CodeFunctionId>,
    /// Once it was looked for; nothing where that was too much work.
    between: Option<Option<Rc<Between>>>,
}

/// What holds before any call of the unit.
struct Between {
    memory: Memory,
    /// What calls of other functions before that of the unit may do.
    before: Observed,
}

impl<'p> Facts<'p> {
    pub fn new(program: &'p Program) -> Self {
        let drivers = program.code.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        Facts { program, subject: Subject::new(program), drivers, between: None }
    }

    /// Finds out what all units have in common.
    pub fn prepare(&mut self, interrupt: &AtomicBool) {
        self.prepared(interrupt);
    }

    fn prepared(&mut self, interrupt: &AtomicBool) -> Option<Rc<Between>> {
        let known = self.between.take().unwrap_or_else(|| self.between(interrupt).ok().map(Rc::new));
        self.between.insert(known).clone()
    }

    /// `None` if nothing is known: too much work, something whose effect nobody knows, or the flag was raised.
    pub fn of_unit(&mut self, function: FunctionId, interrupt: &AtomicBool) -> Option<UnitFacts<'p>> {
        let driver = self.driver_of(function)?;
        let between = self.prepared(interrupt)?;
        let mut observed = match self.interpreted(driver, &between.memory, MANY_STATES, interrupt) {
            Err(Stop::TooMuchWork) => self.interpreted(driver, &between.memory, FEW_STATES, interrupt),
            found => found,
        }
        .ok()?;
        observed.add(&between.before);
        Some(UnitFacts { program: self.program, observed })
    }

    /// What the unit may do, with up to so many states kept apart at one block.
    fn interpreted(
        &self,
        driver: CodeFunctionId,
        memory: &Memory,
        states: usize,
        interrupt: &AtomicBool,
    ) -> Found<Observed> {
        let mut interpreter = Interpreter::new(&self.subject, memory.clone(), states, MOST_WORK, interrupt);
        let outcome = interpreter.call(driver, Arguments::default(), memory.clone())?;
        let mut observed = outcome.observed.clone();
        observed.add(&interpreter.in_general);
        Ok(observed)
    }

    fn driver_of(&self, function: FunctionId) -> Option<CodeFunctionId> {
        let driver = self.program.map.functions[function].driver.as_ref().ok()?;
        self.drivers.get(driver.as_str()).copied()
    }

    /// What the functions of the file leave in the variables that nobody else can set.
    fn between(&self, interrupt: &AtomicBool) -> Found<Between> {
        let (first, roots) = (initial_memory(&self.program.code), self.roots());
        if roots.is_empty() {
            return Ok(Between { memory: first, before: Observed::default() });
        }
        let mut callers =
            Callers { facts: self, interrupt, first, roots, states: MANY_STATES, stopped: BTreeSet::new(), work: 0 };
        let (mut memory, mut before) = callers.kept()?;
        if !callers.stopped.is_empty() {
            callers = Callers { states: FEW_STATES, stopped: BTreeSet::new(), work: 0, ..callers };
            (memory, before) = callers.kept()?;
        }
        Ok(Between { memory, before })
    }

    /// The functions that can change the state: those that lead to a mention of it.
    fn roots(&self) -> Vec<CodeFunctionId> {
        let code = &self.program.code;
        let functions = self.program.map.functions.iter();
        // Callers keep the pointers and references that a function returns; its driver looks at what they lead to only.
        let hands_out = |id: &CodeFunctionId| code.functions[*id].results.contains(&64);
        let roots = functions.flat_map(|(id, function)| {
            let own = self.drivers.get(function.symbol.as_str()).copied();
            match self.driver_of(id) {
                Some(driver) => [Some(driver), own.filter(hands_out)],
                None => [own, None],
            }
        });
        let roots = roots.flatten();
        let leads_to_state =
            |root: &CodeFunctionId| code.reachable([*root]).into_iter().any(|function| mentions_state(code, function));
        roots.filter(leads_to_state).collect()
    }
}

/// All functions that may be called before the unit.
struct Callers<'a, 'p> {
    facts: &'a Facts<'p>,
    interrupt: &'a AtomicBool,
    first: Memory,
    roots: Vec<CodeFunctionId>,
    states: usize,
    /// Those of which nothing is known.
    stopped: BTreeSet<CodeFunctionId>,
    work: u64,
}

impl Callers<'_, '_> {
    /// The state, and what they may do.
    fn kept(&mut self) -> Found<(Memory, Observed)> {
        let memory = self.stable()?;
        let observed = self.observed(&memory)?;
        Ok((memory, observed))
    }

    /// The state that all of them keep, from the initial one on.
    fn stable(&mut self) -> Found<Memory> {
        let code = &self.facts.program.code;
        let mut memory = self.first.clone();
        let mut thresholds: Option<Thresholds> = None;
        for round in 0..MOST_ROUNDS {
            let left = self.left_behind(&memory)?;
            if !self.stopped.is_empty() {
                return Ok(crate::interpreter::anything(code));
            }
            let next = match round {
                0..WIDENED_FROM => memory.join(code, &left),
                _ => memory.widen(code, &left, thresholds.get_or_insert_with(|| self.thresholds())),
            };
            if next == memory {
                // It may be less than widening made of it.
                return Ok(left);
            }
            memory = next;
        }
        Ok(crate::interpreter::anything(code))
    }

    fn thresholds(&self) -> Thresholds {
        let functions = self.facts.program.code.functions.values();
        let mut all = Thresholds::default();
        for function in functions.filter(|function| !function.is_declaration() && !function.library) {
            all.add(&Thresholds::of(function));
        }
        all
    }

    /// The initial state, and the state after any one call.
    fn left_behind(&mut self, memory: &Memory) -> Found<Memory> {
        let code = &self.facts.program.code;
        let mut left = self.first.clone();
        let (outcomes, interrupted) = self.outcomes(memory)?;
        if let Some(interrupted) = interrupted {
            left = left.join(code, &interrupted);
        }
        for exit in outcomes.iter().flat_map(|outcome| &outcome.exits) {
            let mut memory = exit.memory.clone();
            exit.results.iter().for_each(|result| memory.escape(code, &result.targets));
            left = left.join(code, &memory.kept(code));
        }
        Ok(left)
    }

    /// What each function may do from a state on, and the states in which others may call the unit meanwhile.
    fn outcomes(&mut self, memory: &Memory) -> Found<(Vec<Rc<Outcome>>, Option<Memory>)> {
        let program = self.facts.program;
        let mut outcomes = Vec::new();
        let mut general = Observed::default();
        let (subject, interrupt) = (&self.facts.subject, self.interrupt);
        let fresh = || Interpreter::new(subject, memory.clone(), self.states, MOST_WORK_BEFORE, interrupt);
        let mut interpreter = fresh();
        for &root in &self.roots {
            let left = MOST_WORK_OF_ALL_BEFORE.saturating_sub(self.work);
            let before = interpreter.work();
            let function = &program.code.functions[root];
            interpreter.allow(left.min(MOST_WORK_BEFORE));
            let outcome = interpreter.call(root, Arguments::any(function), memory.clone());
            self.work += interpreter.work() - before;
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                Err(Stop::Interrupted) => return Err(Stop::Interrupted),
                Err(Stop::TooMuchWork | Stop::Unsupported) => {
                    self.stopped.insert(root);
                    general.add(&interpreter.in_general);
                    // What it has remembered may rest on what it did not finish.
                    interpreter = fresh();
                }
            }
        }
        general.add(&interpreter.in_general);
        outcomes.push(Rc::new(Outcome { exits: Vec::new(), observed: general }));
        Ok((outcomes, interpreter.interrupted))
    }

    fn observed(&mut self, memory: &Memory) -> Found<Observed> {
        let program = self.facts.program;
        let mut observed = Observed::default();
        for outcome in self.outcomes(memory)?.0 {
            observed.add(&outcome.observed);
        }
        for &root in &self.stopped {
            observed.add(&everything(program, root));
        }
        Ok(observed)
    }
}

/// All outcomes in all functions that a root may lead to.
fn everything(program: &Program, root: CodeFunctionId) -> Observed {
    let reached = program.code.reachable([root]);
    let symbols: BTreeSet<&str> = reached.iter().map(|&id| program.code.functions[id].name.as_str()).collect();
    let mut observed = Observed::default();
    for function in program.map.functions.values().filter(|function| symbols.contains(function.symbol.as_str())) {
        for &marker in &function.markers {
            let outcomes = 0..program.map.markers[marker].outcomes();
            observed.events.extend(outcomes.map(|outcome| Event { marker, outcome }));
        }
    }
    observed
}

/// A variable whose value depends on the calls before and on nothing else.
fn is_state(code: &Code, id: GlobalId) -> bool {
    let global = &code.globals[id];
    !global.constant && (global.internal || global.elsewhere)
}

/// The variables with internal linkage as the program's image has them; anybody may have set all others.
fn initial_memory(code: &Code) -> Memory {
    let mut memory = Memory::default();
    let mut others = Targets::default();
    for (id, global) in code.globals.iter().filter(|(_, global)| !global.constant) {
        let object = ObjectId::Global(id);
        let known = global.internal && !global.elsewhere && global.initializer.is_some();
        // What has no model, such as the functions of streams, sets the variables of models too: `errno`.
        if known && !global.name.starts_with(MODEL_PREFIX) {
            memory.put(object, Contents::image(global.size, id));
        } else {
            memory.put(object, Contents::unknown(global.size));
            others.known.insert(object, crate::number::Number::any(64));
        }
    }
    // Whoever sees a variable or a table with external linkage sees what it points to.
    for (id, _) in code.globals.iter().filter(|(_, global)| !global.internal || global.elsewhere) {
        let image = Contents::image(code.globals[id].size, id);
        others.add(&image.targets(code));
    }
    memory.escape(code, &others);
    memory.havoc(code);
    memory
}

fn mentions_state(code: &Code, function: CodeFunctionId) -> bool {
    code.operands(function).into_iter().any(|operand| matches!(operand, Operand::Global(id, _) if is_state(code, id)))
}
