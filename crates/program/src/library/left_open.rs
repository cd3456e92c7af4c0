//! Results of the C library that the standard fixes in part: of a comparison its sign, of a question whether the answer is
//! zero. What a program does with the rest is what the library of this machine does.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::code::{BinaryOp, Call, Callee, CastOp, CompareOp, Function, Instruction, Operand, Terminator};
use crate::{CodeFunctionId, Program, RegisterId};

/// How much of a result the standard fixes, from least to most.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fixed {
    /// It leads to a table, or comes from one, whose bits are the library's own.
    Table,
    /// Whether it is zero.
    Truth,
    /// Which sign it has, or that it is zero.
    Sign,
}

const COMPARISONS: [&str; 6] = ["memcmp", "strcmp", "strncmp", "strcoll", "strcasecmp", "strncasecmp"];

const QUESTIONS: [&str; 16] = [
    "bcmp", "feof", "ferror", "isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower",
    "isprint", "ispunct", "isspace", "isupper", "isxdigit",
];

/// The table that the macros of `ctype.h` look into, and how they are named by the bit that they ask for.
const TABLE: &str = "__ctype_b_loc";
const BITS: [&str; 16] = [
    "isblank", "iscntrl", "ispunct", "isalnum", "", "", "", "", "isupper", "islower", "isalpha", "isdigit", "isxdigit",
    "isspace", "isprint", "isgraph",
];

/// How much the standard fixes of what a function of the library returns; `None`: all of it.
pub fn fixed(name: &str) -> Option<Fixed> {
    let name = name.trim_end_matches("_unlocked");
    match name {
        TABLE => Some(Fixed::Table),
        _ if COMPARISONS.contains(&name) => Some(Fixed::Sign),
        _ if QUESTIONS.contains(&name) => Some(Fixed::Truth),
        _ => None,
    }
}

/// A register of a function.
type Place = (CodeFunctionId, RegisterId);

/// Where a program looks at more of such results than the standard fixes.
#[derive(Debug, Clone, Default)]
pub struct LeftOpen {
    /// By the register that takes a call's result, the functions whose answers are looked at.
    looked_at: BTreeMap<Place, BTreeSet<String>>,
    /// Registers with what a macro asks of a table: only whether it is zero is fixed.
    answers: HashSet<Place>,
    /// The functions of the library whose calls these are.
    asked: BTreeSet<CodeFunctionId>,
}

impl LeftOpen {
    pub fn of(program: &Program) -> Self {
        // Drivers hand results out and look at none.
        let drivers: HashSet<&str> =
            program.map.functions.values().filter_map(|function| function.driver.as_deref().ok()).collect();
        let looks = |function: &Function| !function.library && !drivers.contains(function.name.as_str());
        let functions = program.code.functions.iter().filter(|(_, function)| looks(function));
        let functions: Vec<CodeFunctionId> = functions.map(|(id, _)| id).collect();
        let mut flow = Flow { program, open: BTreeMap::new(), grown: true, found: LeftOpen::default() };
        while std::mem::take(&mut flow.grown) {
            functions.iter().for_each(|&id| flow.visit(id));
        }
        flow.found
    }

    /// The functions of the library of whose answers too much is looked at, where a register takes what a call returns.
    pub fn looked_at(&self, function: CodeFunctionId, out: RegisterId) -> impl Iterator<Item = &str> {
        self.looked_at.get(&(function, out)).into_iter().flatten().map(String::as_str)
    }

    /// Tells whether a register has such an answer: it is zero, or anything but zero.
    pub fn is_answer(&self, function: CodeFunctionId, out: RegisterId) -> bool {
        self.answers.contains(&(function, out))
    }

    /// Tells whether too much is looked at of what some call of this function returns.
    pub fn is_asked(&self, callee: CodeFunctionId) -> bool {
        self.asked.contains(&callee)
    }
}

/// What a register holds of results.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Open {
    fixed: Fixed,
    /// The registers that took the results, and who is asked.
    from: BTreeSet<(CodeFunctionId, RegisterId, CodeFunctionId, String)>,
}

impl Open {
    fn join(&mut self, other: &Open) {
        self.fixed = self.fixed.min(other.fixed);
        self.from.extend(other.from.iter().cloned());
    }
}

/// The way of results through registers, from function to function.
struct Flow<'p> {
    program: &'p Program,
    open: BTreeMap<Place, Open>,
    grown: bool,
    found: LeftOpen,
}

impl Flow<'_> {
    fn visit(&mut self, id: CodeFunctionId) {
        let program = self.program;
        for block in program.code.functions[id].blocks.values() {
            block.instructions.iter().for_each(|instruction| self.instruction(id, instruction));
            self.terminator(id, &block.terminator);
        }
    }

    fn of(&self, function: CodeFunctionId, operand: &Operand) -> Option<Open> {
        let Operand::Register(register) = operand else { return None };
        self.open.get(&(function, *register)).cloned()
    }

    fn flows(&mut self, function: CodeFunctionId, to: RegisterId, open: &Open) {
        match self.open.get_mut(&(function, to)) {
            None => {
                self.open.insert((function, to), open.clone());
                self.grown = true;
            }
            Some(known) => {
                let before = known.clone();
                known.join(open);
                self.grown |= *known != before;
            }
        }
    }

    /// Somebody looks at more than what is fixed.
    fn look(&mut self, open: &Open) {
        for (function, out, callee, name) in &open.from {
            self.found.looked_at.entry((*function, *out)).or_default().insert(name.clone());
            self.found.asked.insert(*callee);
        }
    }

    fn look_at(&mut self, function: CodeFunctionId, operand: &Operand) {
        if let Some(open) = self.of(function, operand) {
            self.look(&open);
        }
    }

    fn instruction(&mut self, id: CodeFunctionId, instruction: &Instruction) {
        match instruction {
            Instruction::Call(call) => self.call(id, call),
            Instruction::Compare(compare) => match (&compare.left, &compare.right) {
                (Operand::Constant(bits), value) => self.compare(id, compare.op.turned(), value, *bits, compare.width),
                (value, Operand::Constant(bits)) => self.compare(id, compare.op, value, *bits, compare.width),
                (left, right) => [left, right].into_iter().for_each(|side| self.look_at(id, side)),
            },
            Instruction::Cast(cast) => {
                if let Some(open) = self.of(id, &cast.value) {
                    self.cast(id, cast.op, cast.out, open);
                }
            }
            Instruction::Load { out, address, .. } => {
                if let Some(open) = self.of(id, address) {
                    self.flows(id, *out, &open);
                }
            }
            Instruction::Address(address) => {
                if let Some(open) = self.of(id, &address.base) {
                    self.flows(id, address.out, &open);
                }
                address.scaled.iter().for_each(|scaled| self.look_at(id, &scaled.index));
            }
            Instruction::Binary(binary) => self.binary(id, binary.op, binary.out, [&binary.left, &binary.right]),
            Instruction::Select { out, then, otherwise, .. } => {
                for side in [then, otherwise] {
                    if let Some(open) = self.of(id, side) {
                        self.flows(id, *out, &open);
                    }
                }
            }
            // Markers of conditions ask whether the value is zero.
            Instruction::MarkCondition { .. } | Instruction::Assume { .. } => {}
            other => other.for_each_operand(&mut |operand| self.look_at(id, operand)),
        }
    }

    fn call(&mut self, id: CodeFunctionId, call: &Call) {
        call.arguments.iter().for_each(|argument| self.look_at(id, argument));
        let Some(&out) = call.outs.first() else { return };
        match &call.callee {
            Callee::Direct(callee) => {
                let callee = *callee;
                let function = &self.program.code.functions[callee];
                match fixed(&function.name).filter(|_| function.library || function.is_declaration()) {
                    Some(fixed) => {
                        let from = BTreeSet::from([(id, out, callee, function.name.clone())]);
                        self.flows(id, out, &Open { fixed, from });
                    }
                    None => self.results(id, out, callee),
                }
            }
            Callee::Indirect(_) => {
                let count = call.arguments.len();
                let fits = |function: &Function| !function.library && function.parameters.len() == count;
                let functions = self.program.code.functions.iter().filter(|(_, function)| fits(function));
                functions.map(|(callee, _)| callee).for_each(|callee| self.results(id, out, callee));
            }
        }
    }

    /// What a function of the program returns.
    fn results(&mut self, id: CodeFunctionId, out: RegisterId, callee: CodeFunctionId) {
        let program = self.program;
        for block in program.code.functions[callee].blocks.values() {
            if let Terminator::Return(values) = &block.terminator
                && let Some(open) = values.first().and_then(|value| self.of(callee, value))
            {
                self.flows(id, out, &open);
            }
        }
    }

    fn compare(&mut self, id: CodeFunctionId, op: CompareOp, value: &Operand, bits: u128, width: u32) {
        let Some(open) = self.of(id, value) else { return };
        if !is_fixed(open.fixed, op, bits, width) {
            self.look(&open);
        }
    }

    fn cast(&mut self, id: CodeFunctionId, op: CastOp, out: RegisterId, open: Open) {
        match op {
            CastOp::Truncate if open.fixed != Fixed::Table => self.look(&open),
            CastOp::ZeroExtend => self.flows(id, out, &Open { fixed: open.fixed.min(Fixed::Truth), ..open }),
            CastOp::Copy | CastOp::SignExtend | CastOp::Truncate => self.flows(id, out, &open),
        }
    }

    fn binary(&mut self, id: CodeFunctionId, op: BinaryOp, out: RegisterId, sides: [&Operand; 2]) {
        let [left, right] = sides.map(|side| self.of(id, side));
        match (op, left, right, sides) {
            (_, None, None, _) => {}
            (BinaryOp::And, Some(open), None, [_, Operand::Constant(mask)]) if open.fixed == Fixed::Table => {
                self.found.answers.insert((id, out));
                self.flows(id, out, &asked_by(open, *mask));
            }
            (BinaryOp::And, None, Some(open), [Operand::Constant(mask), _]) if open.fixed == Fixed::Table => {
                self.found.answers.insert((id, out));
                self.flows(id, out, &asked_by(open, *mask));
            }
            // The sign turns around.
            (BinaryOp::Sub, None, Some(open), [Operand::Constant(0), _]) => self.flows(id, out, &open),
            // Zero where both are.
            (BinaryOp::Or, Some(mut both), Some(other), _) if both.fixed.min(other.fixed) > Fixed::Table => {
                both.join(&other);
                self.flows(id, out, &Open { fixed: Fixed::Truth, ..both });
            }
            (_, left, right, _) => left.iter().chain(&right).for_each(|open| self.look(open)),
        }
    }

    fn terminator(&mut self, id: CodeFunctionId, terminator: &Terminator) {
        if let Terminator::Switch { value, .. } = terminator {
            self.look_at(id, value);
        }
        for (to, operand) in terminator.edges().into_iter().flat_map(|edge| &edge.copies) {
            if let Some(open) = self.of(id, operand) {
                self.flows(id, *to, &open);
            }
        }
    }
}

/// What a macro asks of a table with a mask.
fn asked_by(open: Open, mask: u128) -> Open {
    let bit = (mask.count_ones() == 1).then(|| mask.trailing_zeros() as usize);
    let name = bit.and_then(|bit| BITS.get(bit)).filter(|name| !name.is_empty()).unwrap_or(&TABLE);
    let from = open.from.into_iter().map(|(function, out, callee, _)| (function, out, callee, (*name).to_owned()));
    Open { fixed: Fixed::Truth, from: from.collect() }
}

/// Whether the standard fixes how such a result compares with a constant.
fn is_fixed(fixed: Fixed, op: CompareOp, bits: u128, width: u32) -> bool {
    let minus_one = u128::MAX >> (128 - width);
    match (fixed, op, bits) {
        (Fixed::Table, ..) => false,
        (_, CompareOp::Eq | CompareOp::Ne, 0) => true,
        (Fixed::Truth, ..) => false,
        (Fixed::Sign, CompareOp::Slt | CompareOp::Sge | CompareOp::Sgt | CompareOp::Sle, 0) => true,
        (Fixed::Sign, CompareOp::Slt | CompareOp::Sge, 1) => true,
        (Fixed::Sign, CompareOp::Sgt | CompareOp::Sle, bits) => bits == minus_one,
        (Fixed::Sign, ..) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::row;

    #[test]
    fn what_is_listed_has_a_row() {
        let names = COMPARISONS.iter().chain(&QUESTIONS).chain([&TABLE]);
        let without: Vec<&&str> = names.filter(|name| row(name).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
    }

    #[test]
    fn signs_and_truth_are_fixed_and_sizes_are_not() {
        let minus_one = u128::from(u32::MAX);
        assert!(is_fixed(Fixed::Sign, CompareOp::Slt, 0, 32) && is_fixed(Fixed::Sign, CompareOp::Sgt, minus_one, 32));
        assert!(is_fixed(Fixed::Sign, CompareOp::Sge, 1, 32) && !is_fixed(Fixed::Sign, CompareOp::Sgt, 1, 32));
        assert!(!is_fixed(Fixed::Sign, CompareOp::Eq, minus_one, 32) && !is_fixed(Fixed::Truth, CompareOp::Sgt, 0, 32));
        assert!(is_fixed(Fixed::Truth, CompareOp::Ne, 0, 32) && !is_fixed(Fixed::Table, CompareOp::Ne, 0, 64));
    }
}
