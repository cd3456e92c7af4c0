//! What runs: compact register code, lowered once from LLVM IR.
//!
//! Every register holds an integer of 1 to 128 bits, a float as its bit pattern, or a pointer (64 bits). Aggregates
//! and vectors are flattened into several registers. Address computations are folded to base + Σ index·scale +
//! constant, and phis are copies on edges. Arithmetic wraps; the `no_signed_wrap` flag remembers where C forbids it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::padding::Padding;
use crate::{BlockId, CodeFunctionId, FeedId, GlobalId, IdVec, MarkerId, ProbeId, RegisterId};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Code {
    pub functions: IdVec<CodeFunctionId, Function>,
    pub globals: IdVec<GlobalId, Global>,
    /// Source files that locations refer to, as the compiler spells them, with its directory before relative names.
    pub files: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Function {
    /// Symbol name.
    pub name: String,
    pub parameters: Vec<RegisterId>,
    /// Width in bits of every register.
    pub registers: IdVec<RegisterId, Width>,
    /// Widths of the flattened result; empty for `void`.
    pub results: Vec<Width>,
    pub variadic: bool,
    /// A model of a function of the C library, not the user's code.
    pub library: bool,
    /// The linker may take another definition, or none where only a declaration stands.
    pub weak: bool,
    /// Of its stack objects, where they have any.
    pub padding: BTreeMap<RegisterId, Padding>,
    /// Empty for a declaration; otherwise block 0 is the entry.
    pub blocks: IdVec<BlockId, Block>,
}

impl Function {
    pub fn is_declaration(&self) -> bool {
        self.blocks.is_empty()
    }

    /// All calls of its instructions.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let instructions = self.blocks.values().flat_map(|block| &block.instructions);
        instructions.filter_map(|instruction| match instruction {
            Instruction::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// Who may change an object between two reads of it.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Changes {
    /// The hardware: the access is volatile.
    Hardware,
    /// Other threads: the access is atomic.
    Threads,
    /// The same, and the operation may fail for no reason.
    ThreadsOrChance,
}

/// Bits.
pub type Width = u32;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Block {
    pub instructions: Vec<Instruction>,
    /// One for each instruction, then one for the terminator.
    pub locations: Vec<Option<Location>>,
    pub terminator: Terminator,
}

/// A source location as the compiler knows it, through line markers.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Index into [`Code::files`].
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operand {
    Register(RegisterId),
    /// Zero-extended to 128 bits; also the null pointer.
    Constant(u128),
    /// Address of a global plus a byte offset.
    Global(GlobalId, i64),
    /// Address of a function.
    Function(CodeFunctionId),
    /// LLVM's undef and poison: an uninitialised value.
    Undefined,
}

impl Operand {
    /// The function whose address it is.
    pub fn function(&self) -> Option<CodeFunctionId> {
        match self {
            Operand::Function(id) => Some(*id),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Instruction {
    Binary(Binary),
    Compare(Compare),
    Cast(Cast),
    Float(Float),
    Select {
        out: RegisterId,
        width: Width,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    },
    /// A stack object of `count` times `size` bytes that lives until the function returns.
    StackObject {
        out: RegisterId,
        size: u64,
        count: Operand,
        alignment: u64,
    },
    /// Reads `width / 8` bytes; the width is a multiple of 8, odd ones are read wider and truncated.
    Load {
        out: RegisterId,
        width: Width,
        address: Operand,
    },
    /// Writes `width / 8` bytes; the width is a multiple of 8, odd ones are zero-extended before.
    Store {
        width: Width,
        value: Operand,
        address: Operand,
    },
    Address(Address),
    Call(Call),
    /// Copies `size` bytes; the ranges may overlap (`memcpy` and `memmove` alike).
    CopyMemory {
        to: Operand,
        from: Operand,
        size: Operand,
    },
    SetMemory {
        to: Operand,
        byte: Operand,
        size: Operand,
    },
    /// The marker of a leaf condition: an event; `out` (32 bits) is 1 if `value` (32 bits) is not zero, else 0.
    MarkCondition {
        out: RegisterId,
        marker: MarkerId,
        value: Operand,
    },
    /// The marker of a switch: an event; `value` (64 bits, extended by its own sign) decides which label is taken.
    MarkSwitch {
        marker: MarkerId,
        value: Operand,
    },
    /// A probe: `value` (32 bits) is its answer.
    Probe {
        probe: ProbeId,
        value: Operand,
    },
    /// The driver asks for an input and wants its bytes at `address`.
    Input {
        index: u32,
        address: Operand,
    },
    /// A stub asks for the next value of a feed and wants its `size` bytes at `address`.
    Feed {
        feed: FeedId,
        address: Operand,
        size: u64,
    },
    /// Inputs for which `condition` (32 bits) is zero are not allowed.
    Assume {
        condition: Operand,
    },
    /// The driver hands out an observed value: `size` bytes at `address`; index 0 is the result.
    Output {
        index: u32,
        address: Operand,
        size: u64,
    },
    /// Makes the `va_list` at this address walk through the variable arguments of the function's call.
    VariadicStart {
        list: Operand,
    },
    /// The next load reads a volatile object at this address: outside the program's own data it may change by itself.
    VolatileRead {
        address: Operand,
        by: Changes,
    },
    /// The next store writes a volatile object at this address.
    VolatileWrite {
        address: Operand,
    },
    /// `out` is the address of a symbol, or null where the program is linked without one that a weak declaration asks for.
    WeakReference {
        out: RegisterId,
        symbol: Operand,
    },
    /// What this executor cannot run; ends its path by name.
    Unsupported {
        what: String,
    },
}

impl Instruction {
    /// The registers that it writes.
    pub fn outs(&self) -> Vec<RegisterId> {
        match self {
            Instruction::Binary(binary) => vec![binary.out],
            Instruction::Compare(compare) => vec![compare.out],
            Instruction::Cast(cast) => vec![cast.out],
            Instruction::Float(float) => vec![float.out],
            Instruction::Address(address) => vec![address.out],
            Instruction::Call(call) => call.outs.clone(),
            Instruction::Select { out, .. }
            | Instruction::StackObject { out, .. }
            | Instruction::Load { out, .. }
            | Instruction::WeakReference { out, .. }
            | Instruction::MarkCondition { out, .. } => vec![*out],
            Instruction::Store { .. }
            | Instruction::CopyMemory { .. }
            | Instruction::SetMemory { .. }
            | Instruction::MarkSwitch { .. }
            | Instruction::Probe { .. }
            | Instruction::Input { .. }
            | Instruction::Feed { .. }
            | Instruction::Assume { .. }
            | Instruction::Output { .. }
            | Instruction::VolatileRead { .. }
            | Instruction::VolatileWrite { .. }
            | Instruction::VariadicStart { .. }
            | Instruction::Unsupported { .. } => Vec::new(),
        }
    }

    /// Everything that it reads; the function of a direct call counts as one.
    pub fn for_each_operand(&self, visit: &mut impl FnMut(&Operand)) {
        match self {
            Instruction::Binary(Binary { left, right, .. }) | Instruction::Compare(Compare { left, right, .. }) => {
                [left, right].into_iter().for_each(visit)
            }
            Instruction::Cast(cast) => visit(&cast.value),
            Instruction::Float(float) => float.operands.iter().for_each(visit),
            Instruction::Select { condition, then, otherwise, .. } => {
                [condition, then, otherwise].into_iter().for_each(visit)
            }
            Instruction::StackObject { count, .. } => visit(count),
            Instruction::Load { address, .. }
            | Instruction::Input { address, .. }
            | Instruction::Output { address, .. }
            | Instruction::Feed { address, .. }
            | Instruction::VariadicStart { list: address }
            | Instruction::WeakReference { symbol: address, .. }
            | Instruction::VolatileRead { address, .. }
            | Instruction::VolatileWrite { address } => visit(address),
            Instruction::Store { value, address, .. } => [value, address].into_iter().for_each(visit),
            Instruction::Address(address) => {
                visit(&address.base);
                address.scaled.iter().for_each(|scaled| visit(&scaled.index));
            }
            Instruction::Call(call) => {
                match &call.callee {
                    Callee::Direct(function) => visit(&Operand::Function(*function)),
                    Callee::Indirect(operand) => visit(operand),
                }
                call.arguments.iter().for_each(visit);
            }
            Instruction::CopyMemory { to, from, size } => [to, from, size].into_iter().for_each(visit),
            Instruction::SetMemory { to, byte, size } => [to, byte, size].into_iter().for_each(visit),
            Instruction::MarkCondition { value, .. }
            | Instruction::MarkSwitch { value, .. }
            | Instruction::Probe { value, .. } => visit(value),
            Instruction::Assume { condition } => visit(condition),
            Instruction::Unsupported { .. } => {}
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binary {
    pub op: BinaryOp,
    pub width: Width,
    pub out: RegisterId,
    pub left: Operand,
    pub right: Operand,
    /// Overflow of the signed operation is undefined in C here.
    pub no_signed_wrap: bool,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    pub op: CompareOp,
    /// Of the operands; the result has 1 bit.
    pub width: Width,
    pub out: RegisterId,
    pub left: Operand,
    pub right: Operand,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CompareOp {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

impl CompareOp {
    /// The comparison that holds exactly where this one does not.
    pub fn negated(self) -> Self {
        match self {
            CompareOp::Eq => CompareOp::Ne,
            CompareOp::Ne => CompareOp::Eq,
            CompareOp::Ult => CompareOp::Uge,
            CompareOp::Ule => CompareOp::Ugt,
            CompareOp::Ugt => CompareOp::Ule,
            CompareOp::Uge => CompareOp::Ult,
            CompareOp::Slt => CompareOp::Sge,
            CompareOp::Sle => CompareOp::Sgt,
            CompareOp::Sgt => CompareOp::Sle,
            CompareOp::Sge => CompareOp::Slt,
        }
    }

    /// The same comparison with its operands exchanged.
    pub fn turned(self) -> Self {
        match self {
            CompareOp::Eq | CompareOp::Ne => self,
            CompareOp::Ult => CompareOp::Ugt,
            CompareOp::Ule => CompareOp::Uge,
            CompareOp::Ugt => CompareOp::Ult,
            CompareOp::Uge => CompareOp::Ule,
            CompareOp::Slt => CompareOp::Sgt,
            CompareOp::Sle => CompareOp::Sge,
            CompareOp::Sgt => CompareOp::Slt,
            CompareOp::Sge => CompareOp::Sle,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cast {
    pub op: CastOp,
    pub from: Width,
    pub to: Width,
    pub out: RegisterId,
    pub value: Operand,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CastOp {
    /// Also pointer ↔ integer of 64 bits and bit casts: the bits stay.
    Copy,
    Truncate,
    ZeroExtend,
    SignExtend,
}

/// An operation on IEEE 754 bit patterns of 32 or 64 bits, rounded to nearest, ties to even.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Float {
    pub op: FloatOp,
    /// Of the operands.
    pub from: Width,
    /// Of the result.
    pub to: Width,
    pub out: RegisterId,
    /// As many as [`FloatOp::arity`] says.
    pub operands: Vec<Operand>,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatOp {
    Add,
    Sub,
    Mul,
    Div,
    /// C's `fmod`.
    Rem,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest integer, ties to even.
    RoundEven,
    /// To the nearest integer, ties away from zero.
    RoundAway,
    /// `a * b + c`, rounded once.
    FusedMultiplyAdd,
    /// The result has 1 bit.
    Compare(FloatPredicate),
    /// Integer results, rounded towards zero; out of range as the machine does it.
    ToSigned,
    ToUnsigned,
    /// From integers.
    FromSigned,
    FromUnsigned,
    /// Between widths.
    Convert,
}

impl FloatOp {
    pub fn arity(self) -> usize {
        use FloatOp::*;
        match self {
            Add | Sub | Mul | Div | Rem | Compare(_) => 2,
            FusedMultiplyAdd => 3,
            Sqrt | Floor | Ceil | Trunc | RoundEven | RoundAway => 1,
            ToSigned | ToUnsigned | FromSigned | FromUnsigned | Convert => 1,
        }
    }
}

/// When a comparison holds. It is false for a NaN, unless its name says otherwise.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FloatPredicate {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// Less or greater.
    Different,
    /// Neither is a NaN.
    Ordered,
    /// One is a NaN.
    Unordered,
    UnorderedOrEqual,
    UnorderedOrGreater,
    UnorderedOrGreaterOrEqual,
    UnorderedOrLess,
    UnorderedOrLessOrEqual,
    UnorderedOrDifferent,
}

/// `out = base + constant + Σ index·scale`, indices sign-extended to 64 bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Address {
    pub out: RegisterId,
    pub base: Operand,
    pub constant: i64,
    pub scaled: Vec<Scaled>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaled {
    pub index: Operand,
    pub width: Width,
    pub scale: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Empty also where nobody uses the result.
    pub outs: Vec<RegisterId>,
    pub callee: Callee,
    pub arguments: Vec<Operand>,
    pub argument_widths: Vec<Width>,
    /// How each argument travels, for a call with variable arguments; empty otherwise.
    pub passing: Vec<Passing>,
}

/// Where an argument of a call with variable arguments stands for the callee that walks through them.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Passing {
    /// In a general register while there are any (in two if it has 128 bits), then on the stack.
    General,
    /// In a register for floats while there are any, then on the stack.
    Float,
    /// On the stack.
    Stack { alignment: u64 },
    /// The argument is an address; this many bytes behind it stand on the stack.
    ByValue { size: u64, alignment: u64 },
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    Direct(CodeFunctionId),
    /// Through a function pointer.
    Indirect(Operand),
}

impl Callee {
    /// The function that is called by its name.
    pub fn function(&self) -> Option<CodeFunctionId> {
        match self {
            Callee::Direct(id) => Some(*id),
            Callee::Indirect(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Terminator {
    Jump(Edge),
    Branch { condition: Operand, then: Edge, otherwise: Edge },
    Switch { value: Operand, width: Width, cases: Vec<(u128, Edge)>, default: Edge },
    Return(Vec<Operand>),
    Unreachable,
}

impl Terminator {
    /// Everything that it and the copies of its edges read.
    pub fn for_each_operand(&self, visit: &mut impl FnMut(&Operand)) {
        match self {
            Terminator::Jump(_) | Terminator::Unreachable => {}
            Terminator::Branch { condition, .. } => visit(condition),
            Terminator::Switch { value, .. } => visit(value),
            Terminator::Return(values) => values.iter().for_each(&mut *visit),
        }
        for edge in self.edges() {
            edge.copies.iter().for_each(|(_, operand)| visit(operand));
        }
    }

    /// The edges that leave the block, in order.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Terminator::Jump(edge) => vec![edge],
            Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
            Terminator::Switch { cases, default, .. } => cases.iter().map(|(_, edge)| edge).chain([default]).collect(),
            Terminator::Return(_) | Terminator::Unreachable => Vec::new(),
        }
    }
}

/// A jump with the phi copies of its target, done all at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    pub target: BlockId,
    pub copies: Vec<(RegisterId, Operand)>,
    /// The target dominates the block that jumps: a new iteration of a loop begins.
    pub back: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Global {
    pub name: String,
    /// Bytes.
    pub size: u64,
    pub alignment: u64,
    /// `const` data: writing is a finding.
    pub constant: bool,
    /// Internal linkage.
    pub internal: bool,
    /// Defined in another file that is linked with the one under test, whose inputs know nothing of it.
    pub elsewhere: bool,
    /// The linker may take another definition.
    pub weak: bool,
    pub padding: Padding,
    /// What the file that defines it may make of it, where none of the given ones does.
    pub outside: Outside,
    /// `None` for a declaration whose value comes from elsewhere.
    pub initializer: Option<Initializer>,
}

/// What is not known of a variable that no file defines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// It ends with a flexible array, of which the definition may have elements.
    pub goes_on: bool,
    /// Variables of which it may be another name.
    pub may_be: Vec<GlobalId>,
}

/// Bytes with the addresses that stand in them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Initializer {
    pub bytes: Vec<u8>,
    /// 8-byte addresses at these offsets; [`Operand::Undefined`] stands for one that the executor has no name for,
    /// such as a label of a computed goto.
    pub addresses: Vec<(u64, Operand)>,
}

impl Code {
    pub fn function_named(&self, name: &str) -> Option<CodeFunctionId> {
        self.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }

    /// The functions whose addresses the program stores or hands on, and all that they may call: somebody may call them later.
    pub fn reachable_through_addresses(&self) -> BTreeSet<CodeFunctionId> {
        let mut open: Vec<CodeFunctionId> = self.address_taken().into_iter().collect();
        let mut reached = BTreeSet::new();
        while let Some(function) = open.pop() {
            if reached.insert(function) {
                open.extend(self.functions[function].calls().filter_map(|call| call.callee.function()));
            }
        }
        reached
    }

    /// All functions that are called or mentioned from some functions on, also in tables.
    pub fn reachable(&self, roots: impl IntoIterator<Item = CodeFunctionId>) -> BTreeSet<CodeFunctionId> {
        let mut reached = BTreeSet::new();
        let mut tables = BTreeSet::new();
        let mut open: Vec<CodeFunctionId> = roots.into_iter().collect();
        while let Some(function) = open.pop() {
            if !reached.insert(function) {
                continue;
            }
            let mut mentioned = self.operands(function);
            while let Some(operand) = mentioned.pop() {
                match operand {
                    Operand::Function(id) => open.push(id),
                    Operand::Global(id, _) if tables.insert(id) => {
                        let initializer = self.globals[id].initializer.as_ref();
                        mentioned.extend(initializer.into_iter().flat_map(|all| &all.addresses).map(|(_, to)| *to));
                    }
                    _ => {}
                }
            }
        }
        reached
    }

    /// Everything that a function mentions.
    pub fn operands(&self, function: CodeFunctionId) -> Vec<Operand> {
        let mut all = Vec::new();
        for block in self.functions[function].blocks.values() {
            let mut add = |operand: &Operand| all.push(*operand);
            block.instructions.iter().for_each(|instruction| instruction.for_each_operand(&mut add));
            block.terminator.for_each_operand(&mut add);
        }
        all
    }

    /// The functions whose addresses stand in tables, or are used other than to call them.
    pub fn address_taken(&self) -> BTreeSet<CodeFunctionId> {
        let initial = self.globals.values().filter_map(|global| global.initializer.as_ref());
        let initial =
            initial.flat_map(|initializer| &initializer.addresses).filter_map(|(_, operand)| operand.function());
        self.functions.ids().flat_map(|id| self.addresses_in(id)).chain(initial).collect()
    }

    /// The functions whose addresses a function uses other than to call them.
    fn addresses_in(&self, id: CodeFunctionId) -> Vec<CodeFunctionId> {
        let function = &self.functions[id];
        let mut taken = Vec::new();
        let mut take = |operand: &Operand| taken.extend(operand.function());
        for block in function.blocks.values() {
            for instruction in &block.instructions {
                match instruction {
                    Instruction::Call(call) => call.arguments.iter().for_each(&mut take),
                    other => other.for_each_operand(&mut take),
                }
            }
            block.terminator.for_each_operand(&mut take);
        }
        taken
    }
}
