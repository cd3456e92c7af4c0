//! The verifier.

use std::collections::HashSet;
use std::fmt;

use crate::code::{Block, Call, Callee, Code, Edge, Function, Global, Instruction, Operand, Terminator, Width};
use crate::map::{EdgeLabel, Map};
use crate::{BlockId, CodeFunctionId, FeedId, FunctionId, Id, IdVec, MarkerId, Program, RegisterId};

/// A property that a [`Program`] must have and does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyError {
    pub what: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for VerifyError {}

type Verified = Result<(), VerifyError>;

/// Checks a program once; the answer is the first property that does not hold.
///
/// Of the map:
/// - files, types, functions, nodes and markers that it mentions exist, and a marker's node is one of its function;
/// - an edge's outcome is one that its marker has;
/// - a driver that is there is a function with a body in the code.
///
/// Of the code:
/// - no two functions have the same name;
/// - a global's bytes are as many as its size, its addresses lie inside and its alignment is a power of two;
/// - registers have 1 to 128 bits; parameters are distinct;
/// - every register, block, function, global and file that is mentioned exists;
/// - a register is either a parameter, the result of exactly one instruction, or written by edges only; and what is
///   read is written somewhere;
/// - operands have the width at which they are used: registers exactly, constants fit, addresses have 64 bits;
/// - loads and stores move whole bytes; casts change the width in the direction of their name;
/// - a block has one location for each instruction and one for its terminator;
/// - no edge leads to the entry; the copies of an edge have distinct targets, and all edges to a block write the same
///   registers;
/// - the cases of a switch are distinct; a return gives what the function's signature says;
/// - a direct call passes at least the parameters of its callee and takes all its results;
/// - markers are known to the map, with the right kind; an input that a driver asks for is one of its function, a feed
///   that a stub asks for is known to the map.
pub fn verify(program: &Program) -> Result<(), VerifyError> {
    verify_map(program)?;
    verify_names(&program.code)?;
    for global in program.code.globals.values() {
        verify_global(&program.code, global).map_err(|error| error.within(format!("global @{}", global.name)))?;
    }
    for function in program.code.functions.values() {
        let verifier = FunctionVerifier::new(program, function);
        verifier.function().map_err(|error| error.within(format!("function @{}", function.name)))?;
    }
    Ok(())
}

impl VerifyError {
    fn within(self, place: impl fmt::Display) -> Self {
        VerifyError { what: format!("{place}: {}", self.what) }
    }
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Verified {
    if holds { Ok(()) } else { Err(VerifyError { what: what() }) }
}

fn known<I: Id + fmt::Display, T>(items: &IdVec<I, T>, id: I) -> Result<&T, VerifyError> {
    items.get(id).ok_or_else(|| VerifyError { what: format!("{id} does not exist") })
}

fn verify_map(program: &Program) -> Verified {
    let map = &program.map;
    for (id, marker) in map.markers.iter() {
        verify_marker(map, marker).map_err(|error| error.within(format!("marker {id}")))?;
    }
    for (id, probe) in map.probes.iter() {
        verify_probe(map, probe).map_err(|error| error.within(id.to_string()))?;
    }
    for (&function, accesses) in &map.accesses {
        verify_accesses(map, function, accesses)?;
    }
    for function in map.functions.values() {
        let place = format!("function {} of the map", function.name);
        verify_map_function(program, function).map_err(|error| error.within(place))?;
    }
    Ok(())
}

fn verify_marker(map: &Map, marker: &crate::map::Marker) -> Verified {
    let function = known(&map.functions, marker.function)?;
    known(&function.cfg.nodes, marker.node)?;
    known(&map.files, marker.place.file)?;
    known(&map.files, marker.spelled.file).map(|_| ())
}

fn verify_probe(map: &Map, probe: &crate::map::Probe) -> Verified {
    let function = known(&map.functions, probe.function)?;
    known(&function.cfg.nodes, probe.node)?;
    known(&map.files, probe.place.file).map(|_| ())
}

fn verify_accesses(map: &Map, function: FunctionId, accesses: &crate::map::Accesses) -> Verified {
    let function = known(&map.functions, function)?;
    for access in &accesses.all {
        known(&function.cfg.nodes, access.node)?;
        let exists = (access.variable as usize) < accesses.variables.len();
        ensure(exists, || format!("variable {} of {} does not exist", access.variable, function.name))?;
    }
    Ok(())
}

fn verify_map_function(program: &Program, function: &crate::map::Function) -> Verified {
    let map = &program.map;
    known(&map.files, function.place.file)?;
    known(&map.types, function.result)?;
    for id in function.parameters.iter().map(|parameter| parameter.type_id) {
        known(&map.types, id)?;
    }
    for id in function.inputs.iter().map(|input| input.type_id) {
        known(&map.types, id)?;
    }
    for &marker in &function.markers {
        known(&map.markers, marker)?;
    }
    known(&function.cfg.nodes, function.cfg.entry)?;
    known(&function.cfg.nodes, function.cfg.exit)?;
    for edge in function.cfg.edges.values() {
        verify_map_edge(map, function, edge)?;
    }
    verify_driver(&program.code, function)
}

fn verify_map_edge(map: &Map, function: &crate::map::Function, edge: &crate::map::Edge) -> Verified {
    known(&function.cfg.nodes, edge.from)?;
    known(&function.cfg.nodes, edge.to)?;
    let EdgeLabel::Outcome(event) = edge.label else { return Ok(()) };
    let outcomes = known(&map.markers, event.marker)?.outcomes();
    ensure(event.outcome < outcomes, || format!("an edge with outcome {} of {}", event.outcome, event.marker))
}

fn verify_driver(code: &Code, function: &crate::map::Function) -> Verified {
    let Ok(driver) = &function.driver else { return Ok(()) };
    let found = code.function_named(driver).map(|id| &code.functions[id]);
    ensure(found.is_some_and(|driver| !driver.is_declaration()), || format!("its driver {driver} is not in the code"))
}

fn verify_names(code: &Code) -> Verified {
    let mut names = HashSet::new();
    for function in code.functions.values() {
        ensure(names.insert(&function.name), || format!("two functions named @{}", function.name))?;
    }
    Ok(())
}

fn verify_global(code: &Code, global: &Global) -> Verified {
    ensure(global.alignment.is_power_of_two(), || format!("alignment {}", global.alignment))?;
    let Some(initializer) = &global.initializer else { return Ok(()) };
    let length = initializer.bytes.len() as u64;
    ensure(length == global.size, || format!("{length} initial bytes, but its size is {}", global.size))?;
    for (offset, address) in &initializer.addresses {
        let inside = offset.checked_add(8).is_some_and(|end| end <= global.size);
        ensure(inside, || format!("an address at {offset} of {} bytes", global.size))?;
        match *address {
            Operand::Global(id, _) => known(&code.globals, id).map(|_| ())?,
            Operand::Function(id) => known(&code.functions, id).map(|_| ())?,
            Operand::Undefined => {}
            Operand::Register(_) | Operand::Constant(_) => ensure(false, || format!("no address at {offset}"))?,
        }
    }
    Ok(())
}

/// How a register gets its value.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Definition {
    Nowhere,
    Once,
    ByEdges,
}

struct FunctionVerifier<'a> {
    program: &'a Program,
    function: &'a Function,
    definitions: IdVec<RegisterId, Definition>,
    /// What the edges to each block write; `None` before the first.
    copied: IdVec<BlockId, Option<Vec<RegisterId>>>,
}

impl<'a> FunctionVerifier<'a> {
    fn new(program: &'a Program, function: &'a Function) -> Self {
        let definitions = function.registers.values().map(|_| Definition::Nowhere).collect();
        let copied = function.blocks.values().map(|_| None).collect();
        FunctionVerifier { program, function, definitions, copied }
    }

    fn function(mut self) -> Verified {
        for (register, &width) in self.function.registers.iter() {
            ensure((1..=128).contains(&width), || format!("{register} has {width} bits"))?;
        }
        for &parameter in &self.function.parameters {
            self.define(parameter)?;
        }
        for (id, block) in self.function.blocks.iter() {
            self.definitions_of(block).map_err(|error| error.within(id))?;
        }
        for (id, block) in self.function.blocks.iter() {
            self.block(block).map_err(|error| error.within(id))?;
        }
        Ok(())
    }

    fn define(&mut self, register: RegisterId) -> Verified {
        known(&self.function.registers, register)?;
        ensure(self.definitions[register] == Definition::Nowhere, || format!("{register} is written twice"))?;
        self.definitions[register] = Definition::Once;
        Ok(())
    }

    fn definitions_of(&mut self, block: &Block) -> Verified {
        for out in block.instructions.iter().flat_map(Instruction::outs) {
            self.define(out)?;
        }
        for edge in block.terminator.edges() {
            self.edge_definitions(edge)?;
        }
        Ok(())
    }

    fn edge_definitions(&mut self, edge: &Edge) -> Verified {
        known(&self.function.blocks, edge.target)?;
        ensure(edge.target != BlockId(0), || "an edge to the entry".to_owned())?;
        let mut written: Vec<RegisterId> = edge.copies.iter().map(|&(out, _)| out).collect();
        written.sort();
        for &out in &written {
            known(&self.function.registers, out)?;
            ensure(self.definitions[out] != Definition::Once, || format!("{out} is written by an edge too"))?;
            self.definitions[out] = Definition::ByEdges;
        }
        ensure(written.windows(2).all(|pair| pair[0] != pair[1]), || {
            format!("an edge to {} writes twice", edge.target)
        })?;
        let first = self.copied[edge.target].get_or_insert_with(|| written.clone());
        ensure(*first == written, || format!("edges to {} write different registers", edge.target))
    }

    fn block(&self, block: &Block) -> Verified {
        let (have, want) = (block.locations.len(), block.instructions.len() + 1);
        ensure(have == want, || format!("{have} locations, but {want} places"))?;
        for location in block.locations.iter().flatten() {
            let exists = (location.file as usize) < self.program.code.files.len();
            ensure(exists, || format!("a location in file {}, which does not exist", location.file))?;
        }
        for (index, instruction) in block.instructions.iter().enumerate() {
            self.instruction(instruction).map_err(|error| error.within(format!("instruction {index}")))?;
        }
        self.terminator(&block.terminator).map_err(|error| error.within("terminator"))
    }

    fn operand(&self, operand: &Operand, width: Width) -> Verified {
        match *operand {
            Operand::Register(register) => self.read(register, width),
            Operand::Constant(value) => {
                let fits = width >= 128 || value >> width == 0;
                ensure(fits, || format!("the constant {value} does not fit {width} bits"))
            }
            Operand::Global(id, _) => {
                known(&self.program.code.globals, id)?;
                ensure(width == 64, || format!("an address as {width} bits"))
            }
            Operand::Function(id) => {
                known(&self.program.code.functions, id)?;
                ensure(width == 64, || format!("an address as {width} bits"))
            }
            Operand::Undefined => Ok(()),
        }
    }

    fn read(&self, register: RegisterId, width: Width) -> Verified {
        self.has_width(register, width)?;
        let defined = self.definitions[register] != Definition::Nowhere;
        ensure(defined, || format!("{register} is read but nowhere written"))
    }

    fn has_width(&self, register: RegisterId, width: Width) -> Verified {
        let own = *known(&self.function.registers, register)?;
        ensure(own == width, || format!("{register} has {own} bits, used as {width}"))
    }

    fn operands(&self, operands: &[(&Operand, Width)]) -> Verified {
        operands.iter().try_for_each(|(operand, width)| self.operand(operand, *width))
    }

    fn instruction(&self, instruction: &Instruction) -> Verified {
        match instruction {
            Instruction::Binary(binary) => self.binary(binary),
            Instruction::Compare(compare) => self.compare(compare),
            Instruction::Cast(cast) => self.cast(cast),
            Instruction::Float(float) => self.float(float),
            Instruction::Select { out, width, condition, then, otherwise } => {
                self.has_width(*out, *width)?;
                self.operands(&[(condition, 1), (then, *width), (otherwise, *width)])
            }
            Instruction::StackObject { out, count, alignment, .. } => {
                ensure(alignment.is_power_of_two(), || format!("alignment {alignment}"))?;
                self.has_width(*out, 64)?;
                self.operand(count, 64)
            }
            Instruction::Load { out, width, address } => {
                whole_bytes(*width)?;
                self.has_width(*out, *width)?;
                self.operand(address, 64)
            }
            Instruction::Store { width, value, address } => {
                whole_bytes(*width)?;
                self.operands(&[(value, *width), (address, 64)])
            }
            Instruction::Address(address) => self.address(address),
            Instruction::Call(call) => self.call(call),
            Instruction::CopyMemory { to, from, size } => self.operands(&[(to, 64), (from, 64), (size, 64)]),
            Instruction::SetMemory { to, byte, size } => self.operands(&[(to, 64), (byte, 8), (size, 64)]),
            Instruction::MarkCondition { out, marker, value } => {
                self.has_width(*out, 32)?;
                self.marker(*marker, false)?;
                self.operand(value, 32)
            }
            Instruction::MarkSwitch { marker, value } => {
                self.marker(*marker, true)?;
                self.operand(value, 64)
            }
            Instruction::Probe { probe, value } => {
                known(&self.program.map.probes, *probe)?;
                self.operand(value, 32)
            }
            Instruction::Input { index, address } => {
                self.input(*index)?;
                self.operand(address, 64)
            }
            Instruction::Feed { feed, address, .. } => {
                self.feed(*feed)?;
                self.operand(address, 64)
            }
            Instruction::Assume { condition } => self.operand(condition, 32),
            Instruction::Output { address, .. }
            | Instruction::VolatileRead { address, .. }
            | Instruction::VolatileWrite { address } => self.operand(address, 64),
            Instruction::WeakReference { symbol, .. } => self.operand(symbol, 64),
            Instruction::VariadicStart { list } => self.operand(list, 64),
            Instruction::Unsupported { .. } => Ok(()),
        }
    }

    fn binary(&self, binary: &crate::code::Binary) -> Verified {
        self.has_width(binary.out, binary.width)?;
        self.operands(&[(&binary.left, binary.width), (&binary.right, binary.width)])
    }

    fn compare(&self, compare: &crate::code::Compare) -> Verified {
        self.has_width(compare.out, 1)?;
        self.operands(&[(&compare.left, compare.width), (&compare.right, compare.width)])
    }

    fn cast(&self, cast: &crate::code::Cast) -> Verified {
        use crate::code::CastOp;
        let (from, to) = (cast.from, cast.to);
        let direction = match cast.op {
            CastOp::Copy => from == to,
            CastOp::Truncate => from > to,
            CastOp::ZeroExtend | CastOp::SignExtend => from < to,
        };
        ensure(direction, || format!("{} from {from} to {to} bits", cast.op))?;
        self.has_width(cast.out, to)?;
        self.operand(&cast.value, from)
    }

    fn float(&self, float: &crate::code::Float) -> Verified {
        use crate::code::FloatOp;
        let (from, to) = (float.from, float.to);
        let is_float = |width| matches!(width, 32 | 64);
        let fits = match float.op {
            FloatOp::Compare(_) => is_float(from) && to == 1,
            FloatOp::ToSigned | FloatOp::ToUnsigned => is_float(from),
            FloatOp::FromSigned | FloatOp::FromUnsigned => is_float(to),
            FloatOp::Convert => is_float(from) && is_float(to) && from != to,
            _ => is_float(from) && from == to,
        };
        ensure(fits, || format!("float {} from {from} to {to} bits", float.op))?;
        let (have, want) = (float.operands.len(), float.op.arity());
        ensure(have == want, || format!("float {} with {have} operands", float.op))?;
        self.has_width(float.out, to)?;
        float.operands.iter().try_for_each(|operand| self.operand(operand, from))
    }

    fn address(&self, address: &crate::code::Address) -> Verified {
        self.has_width(address.out, 64)?;
        self.operand(&address.base, 64)?;
        address.scaled.iter().try_for_each(|term| self.operand(&term.index, term.width))
    }

    fn call(&self, call: &Call) -> Verified {
        let (arguments, widths) = (call.arguments.len(), call.argument_widths.len());
        ensure(arguments == widths, || format!("{arguments} arguments, but {widths} widths"))?;
        let passing = call.passing.len();
        ensure(passing == 0 || passing == arguments, || format!("{arguments} arguments, but {passing} ways to pass"))?;
        for (argument, &width) in call.arguments.iter().zip(&call.argument_widths) {
            self.operand(argument, width)?;
        }
        match &call.callee {
            Callee::Direct(id) => self.direct_call(call, *id),
            Callee::Indirect(pointer) => self.operand(pointer, 64),
        }
    }

    fn direct_call(&self, call: &Call, id: CodeFunctionId) -> Verified {
        let callee = known(&self.program.code.functions, id)?;
        let parameters = callee.parameters.iter().map(|&parameter| callee.registers.get(parameter).copied());
        let given = call.argument_widths.iter().copied().map(Some).take(callee.parameters.len());
        ensure(parameters.eq(given), || format!("a call of @{} with other arguments", callee.name))?;
        let as_many = call.outs.is_empty() || call.outs.len() == callee.results.len();
        ensure(as_many, || format!("a call of @{} with other results", callee.name))?;
        call.outs.iter().zip(&callee.results).try_for_each(|(&out, &width)| self.has_width(out, width))
    }

    fn marker(&self, id: MarkerId, switch: bool) -> Verified {
        let marker = known(&self.program.map.markers, id)?;
        let fits = marker.kind.labels().is_some() == switch;
        ensure(fits, || format!("{id} is {} in the map", if switch { "no switch" } else { "a switch" }))
    }

    fn input(&self, index: u32) -> Verified {
        let drives = |function: &&crate::map::Function| function.driver.as_ref() == Ok(&self.function.name);
        let Some(function) = self.program.map.functions.values().find(drives) else { return Ok(()) };
        ensure((index as usize) < function.inputs.len(), || format!("input {index} is none of {}", function.name))
    }

    fn feed(&self, feed: FeedId) -> Verified {
        ensure(self.program.map.feeds.get(feed).is_some(), || format!("{feed} is not in the map"))
    }

    fn terminator(&self, terminator: &Terminator) -> Verified {
        for edge in terminator.edges() {
            for (out, value) in &edge.copies {
                self.operand(value, self.function.registers[*out])?;
            }
        }
        match terminator {
            Terminator::Branch { condition, .. } => self.operand(condition, 1),
            Terminator::Switch { value, width, cases, .. } => self.switch(value, *width, cases),
            Terminator::Return(values) => self.results(values),
            Terminator::Jump(_) | Terminator::Unreachable => Ok(()),
        }
    }

    fn switch(&self, value: &Operand, width: Width, cases: &[(u128, Edge)]) -> Verified {
        self.operand(value, width)?;
        let mut labels = HashSet::new();
        for (label, _) in cases {
            self.operand(&Operand::Constant(*label), width)?;
            ensure(labels.insert(label), || format!("two cases {label}"))?;
        }
        Ok(())
    }

    fn results(&self, values: &[Operand]) -> Verified {
        let (have, want) = (values.len(), self.function.results.len());
        ensure(have == want, || format!("{have} results, but the signature has {want}"))?;
        values.iter().zip(&self.function.results).try_for_each(|(value, &width)| self.operand(value, width))
    }
}

fn whole_bytes(width: Width) -> Verified {
    ensure(width.is_multiple_of(8), || format!("{width} bits in memory"))
}
