//! Which globals the program may write: what they hold depends on the calls before.

use std::collections::{BTreeSet, HashMap};

use branchwise_program::code::{Call, Callee, CastOp, Code, Function, Instruction, Operand, Terminator};
use branchwise_program::{CodeFunctionId, FunctionId, GlobalId, IdVec, Program, RegisterId};

/// True for each global that some instruction may write, directly or because its address goes somewhere unknown.
pub(super) fn written_globals(code: &Code) -> IdVec<GlobalId, bool> {
    let mut written: IdVec<GlobalId, bool> = code.globals.ids().map(|_| false).collect();
    for function in code.functions.values() {
        written_by(function).into_iter().for_each(|global| written[global] = true);
    }
    for global in code.globals.values() {
        for (_, operand) in global.initializer.iter().flat_map(|initializer| &initializer.addresses) {
            if let Operand::Global(id, _) = operand {
                written[*id] = true;
            }
        }
    }
    written
}

/// True for each global whose address goes somewhere, so that functions that nobody defines may know it. Models of the
/// library keep no addresses.
pub(super) fn escaping_globals(code: &Code) -> IdVec<GlobalId, bool> {
    let mut escaping: IdVec<GlobalId, bool> = code.globals.ids().map(|_| false).collect();
    for function in code.functions.values().filter(|function| !function.library) {
        let mut scan = Scan { models: Some(code), ..Scan::default() };
        scan.function(function);
        scan.leaving.into_iter().for_each(|global| escaping[global] = true);
    }
    for global in code.globals.values() {
        for (_, operand) in global.initializer.iter().flat_map(|initializer| &initializer.addresses) {
            if let Operand::Global(id, _) = operand {
                escaping[*id] = true;
            }
        }
    }
    escaping
}

/// How the functions begin that compute the initial values of variables.
const INITIALISERS: &str = "__cxx_global_var_init";

/// The variables that such functions write themselves. What has a constructor does not exist before it.
pub(super) fn computed_at_start(code: &Code) -> BTreeSet<GlobalId> {
    let functions = code.functions.values().filter(|function| function.name.starts_with(INITIALISERS));
    let instructions = functions.flat_map(|function| function.blocks.values()).flat_map(|block| &block.instructions);
    let written = |instruction: &Instruction| match instruction {
        Instruction::Store { address: Operand::Global(id, _), .. } => Some(*id),
        _ => None,
    };
    let is_users = |id: &GlobalId| !code.globals[*id].name.starts_with('_') || code.globals[*id].name.starts_with("_Z");
    instructions.filter_map(written).filter(is_users).filter(|id| !is_guard(&code.globals[*id].name)).collect()
}

/// A variable that says whether another one has its initial value.
fn is_guard(name: &str) -> bool {
    name.starts_with("_ZGV")
}

fn written_by(function: &Function) -> BTreeSet<GlobalId> {
    let mut scan = Scan::default();
    scan.function(function);
    scan.written
}

/// Who calls whom, and which globals each function writes and mentions.
pub(super) struct CallGraph {
    callees: IdVec<CodeFunctionId, BTreeSet<CodeFunctionId>>,
    callers: IdVec<CodeFunctionId, BTreeSet<CodeFunctionId>>,
    written: IdVec<CodeFunctionId, BTreeSet<GlobalId>>,
    mentioned: IdVec<CodeFunctionId, BTreeSet<GlobalId>>,
}

impl CallGraph {
    pub(super) fn of(code: &Code) -> Self {
        let mut graph = CallGraph {
            callees: code.functions.ids().map(|_| BTreeSet::new()).collect(),
            callers: code.functions.ids().map(|_| BTreeSet::new()).collect(),
            written: code.functions.values().map(written_by).collect(),
            mentioned: code.functions.ids().map(|_| BTreeSet::new()).collect(),
        };
        for (id, function) in code.functions.iter() {
            let mut mention = |operand: &Operand| match *operand {
                // A function whose address is taken may be called.
                Operand::Function(callee) => {
                    graph.callees[id].insert(callee);
                    graph.callers[callee].insert(id);
                }
                Operand::Global(global, _) => drop(graph.mentioned[id].insert(global)),
                Operand::Register(_) | Operand::Constant(_) | Operand::Undefined => {}
            };
            for block in function.blocks.values() {
                block.instructions.iter().for_each(|instruction| instruction.for_each_operand(&mut mention));
                block.terminator.for_each_operand(&mut mention);
            }
        }
        graph
    }

    /// The functions that write state which the unit may look at, or state on which such writes depend; those that write
    /// what it looks at come first, and of these the unit itself. Calling them before the unit can make a difference.
    /// Drivers are no part of it: what they write are inputs.
    pub(super) fn writers_of_state(
        &self,
        program: &Program,
        unit: FunctionId,
        map_functions: &IdVec<CodeFunctionId, Option<FunctionId>>,
    ) -> Vec<FunctionId> {
        let mentioned_from = |roots: BTreeSet<CodeFunctionId>| -> BTreeSet<GlobalId> {
            let reached = closure(&self.callees, roots);
            reached.iter().flat_map(|&function| &self.mentioned[function]).copied().collect()
        };
        // Nobody calls `main` a second time.
        let callable = |function: &FunctionId| {
            let function = &program.map.functions[*function];
            function.driver.is_ok() && function.name != "main"
        };
        let own = program.code.function_named(&program.map.functions[unit].symbol);
        let mut state = mentioned_from(own.into_iter().collect());
        let mut candidates: Vec<FunctionId> = Vec::new();
        loop {
            let writes = |function: &CodeFunctionId| !self.written[*function].is_disjoint(&state);
            let writers = closure(&self.callers, program.code.functions.ids().filter(writes));
            let functions = writers.iter().filter_map(|&function| map_functions[function]).filter(callable);
            let mut more: Vec<FunctionId> = functions.filter(|function| !candidates.contains(function)).collect();
            if more.is_empty() {
                return candidates;
            }
            more.sort_by_key(|&function| (function != unit, function));
            candidates.extend(more);
            state.extend(mentioned_from(writers));
        }
    }
}

fn closure(
    edges: &IdVec<CodeFunctionId, BTreeSet<CodeFunctionId>>,
    from: impl IntoIterator<Item = CodeFunctionId>,
) -> BTreeSet<CodeFunctionId> {
    let mut open: Vec<CodeFunctionId> = from.into_iter().collect();
    let mut reached = BTreeSet::new();
    while let Some(function) = open.pop() {
        if reached.insert(function) {
            open.extend(&edges[function]);
        }
    }
    reached
}

/// Registers that point into a global, and the globals that may be written.
#[derive(Default)]
struct Scan<'c> {
    derived: HashMap<RegisterId, GlobalId>,
    written: BTreeSet<GlobalId>,
    /// Those whose address is stored, handed over or returned.
    leaving: BTreeSet<GlobalId>,
    /// Calls of models in this code keep no address.
    models: Option<&'c Code>,
}

impl Scan<'_> {
    fn function(&mut self, function: &Function) {
        // Blocks are in no particular order: an address may be used in an earlier block than the one that makes it.
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                self.derive(instruction);
            }
        }
        for block in function.blocks.values() {
            block.instructions.iter().for_each(|instruction| self.instruction(instruction));
            self.terminator(&block.terminator);
        }
    }

    fn derive(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Address(address) => self.derived_from(address.out, &address.base),
            Instruction::Cast(cast) if cast.op == CastOp::Copy => self.derived_from(cast.out, &cast.value),
            _ => {}
        }
    }

    fn derived_from(&mut self, out: RegisterId, base: &Operand) {
        if let Some(global) = self.global(base) {
            self.derived.insert(out, global);
        }
    }

    fn global(&self, operand: &Operand) -> Option<GlobalId> {
        match operand {
            Operand::Global(id, _) => Some(*id),
            Operand::Register(register) => self.derived.get(register).copied(),
            _ => None,
        }
    }

    fn is_written(&mut self, operand: &Operand) {
        if let Some(global) = self.global(operand) {
            self.written.insert(global);
        }
    }

    fn escapes(&mut self, operand: &Operand) {
        if let Some(global) = self.global(operand) {
            self.written.insert(global);
            self.leaving.insert(global);
        }
    }

    fn is_model(&self, call: &Call) -> bool {
        let callee = call.callee.function();
        callee.zip(self.models).is_some_and(|(callee, code)| code.functions[callee].library)
    }

    /// Loads, copies from, comparisons and further address computations only look.
    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Store { value, address, .. } => {
                self.escapes(value);
                self.is_written(address);
            }
            Instruction::CopyMemory { to, .. } | Instruction::SetMemory { to, .. } => self.is_written(to),
            Instruction::VariadicStart { list } => self.is_written(list),
            Instruction::Call(call) if self.is_model(call) => {
                call.arguments.iter().for_each(|argument| self.is_written(argument));
            }
            Instruction::Call(call) => {
                call.arguments.iter().for_each(|argument| self.escapes(argument));
                if let Callee::Indirect(operand) = &call.callee {
                    self.escapes(operand);
                }
            }
            Instruction::Select { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|operand| self.escapes(operand))
            }
            Instruction::Binary(binary) => {
                [&binary.left, &binary.right].into_iter().for_each(|operand| self.escapes(operand))
            }
            Instruction::Cast(cast) if cast.op != CastOp::Copy => self.escapes(&cast.value),
            _ => {}
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        for edge in terminator.edges() {
            edge.copies.iter().for_each(|(_, operand)| self.escapes(operand));
        }
        if let Terminator::Return(values) = terminator {
            values.iter().for_each(|value| self.escapes(value));
        }
    }
}
