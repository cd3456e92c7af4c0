//! Inputs that nobody solved for: every variable of a function's inputs drawn at random, within what inputs can be.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;

use branchwise_constraints::{Model, TermId, VariableId, evaluate, holds};
use branchwise_program::code::{Operand, Terminator};
use branchwise_program::{FunctionId, Program};
use branchwise_symbolic::{Path, PathEnd, RunLimits, Session};

/// A path shows new inputs (what a pointer points to, the next value of a feed), which are drawn for the next run.
const RUNS: usize = 12;

/// How often a condition on the inputs is tried with smaller values.
const REDRAWS: u32 = 8;

/// More constants than this are no help.
const MOST_CONSTANTS: usize = 512;

/// A generator of numbers that the same seed repeats.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below the limit, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % limit
    }

    /// Returns one of several values.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Draws the inputs of one function after the other.
#[derive(Debug, Clone)]
pub struct Drawing {
    random: Random,
    /// Numbers that the program names.
    constants: Vec<u128>,
}

impl Drawing {
    pub fn new(seed: u64, constants: Vec<u128>) -> Self {
        Drawing { random: Random::new(seed), constants }
    }

    /// Draws an input, and executes it. Values of variables that `like` names are mostly these. `None` if the values that were
    /// drawn are not within what inputs can be, or break a precondition: then they are no test.
    pub fn input(&mut self, session: &mut Session<'_>, like: &HashMap<&str, u128>) -> Option<(Model, Path)> {
        let interrupt = AtomicBool::new(false);
        let limits = RunLimits {
            instructions: 200_000,
            loop_iterations: 1 << 8,
            call_depth: 1 << 8,
            terms: 1 << 18,
            standard_input: 64,
            interrupt: &interrupt,
        };
        let mut model = Model::new();
        let mut drawn = 0;
        for _ in 0..RUNS {
            let known = session.terms.variable_count();
            for variable in (drawn..known).map(VariableId::from_index) {
                model.set(variable, self.value(session, variable, like));
            }
            drawn = known;
            let path = session.run(&model, &limits);
            let domain = domain(&path);
            if session.terms.variable_count() == drawn && holds(&session.terms, &model, &domain) {
                let is_test = path.end != PathEnd::Rejected && !path.notes.ended_in_precondition;
                return is_test.then_some((model, path));
            }
            self.satisfy(session, &mut model, &domain);
        }
        None
    }

    /// Draws smaller and smaller values for what breaks a condition.
    fn satisfy(&mut self, session: &Session<'_>, model: &mut Model, domain: &[TermId]) {
        for &condition in domain {
            for redraw in 1..=REDRAWS {
                if evaluate(&session.terms, model, condition) == 1 {
                    break;
                }
                for &variable in session.terms.variables(condition).iter() {
                    model.set(variable, u128::from(self.random.below(1 << (REDRAWS - redraw))));
                }
            }
        }
    }

    fn value(&mut self, session: &Session<'_>, variable: VariableId, like: &HashMap<&str, u128>) -> u128 {
        let width = session.terms.variable_width(variable);
        let value = match like.get(session.terms.variable_name(variable)) {
            Some(&earlier) => self.mutated(earlier, width),
            None => self.any(width),
        };
        if width < 128 { value & ((1 << width) - 1) } else { value }
    }

    /// The value itself three times of four.
    fn mutated(&mut self, value: u128, width: u32) -> u128 {
        match self.random.below(16) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 => value ^ 1u128 << self.random.below(u64::from(width)),
            3 => self.any(width),
            _ => value,
        }
    }

    /// Small numbers of both signs, bytes of texts, numbers near powers of two, numbers that the program names, and any.
    fn any(&mut self, width: u32) -> u128 {
        let small = u128::from(self.random.below(9));
        match self.random.below(8) {
            0 => small,
            1 => small.wrapping_neg(),
            2 => u128::from(b' ') + u128::from(self.random.below(95)),
            3 => (1u128 << self.random.below(u64::from(width))).wrapping_add(small).wrapping_sub(4),
            4 => u128::from(self.random.below(256)),
            5 | 6 if !self.constants.is_empty() => {
                let near = u128::from(self.random.below(3));
                self.random.pick(&self.constants).wrapping_add(near).wrapping_sub(1)
            }
            _ => u128::from(self.random.below(1 << 40)) << 24 ^ u128::from(self.random.below(1 << 40)),
        }
    }
}

/// What inputs can be, as far as the path looked at them.
fn domain(path: &Path) -> Vec<TermId> {
    let before = path.decisions.iter().flat_map(|decision| &decision.domain);
    before.chain(&path.domain).copied().collect()
}

/// Returns the numbers that these functions name, in ascending order.
pub(crate) fn constants(program: &Program, functions: &[FunctionId]) -> Vec<u128> {
    let mut found = BTreeSet::new();
    let mut add = |operand: &Operand| {
        if let Operand::Constant(number) = operand {
            found.insert(*number);
        }
    };
    let symbols = functions.iter().map(|&function| &program.map.functions[function].symbol);
    let own = symbols.filter_map(|symbol| program.code.function_named(symbol));
    for block in own.flat_map(|id| program.code.functions[id].blocks.values()) {
        block.instructions.iter().for_each(|instruction| instruction.for_each_operand(&mut add));
        block.terminator.for_each_operand(&mut add);
        if let Terminator::Switch { cases, .. } = &block.terminator {
            cases.iter().for_each(|(case, _)| add(&Operand::Constant(*case)));
        }
    }
    found.into_iter().take(MOST_CONSTANTS).collect()
}
