//! Random terms, built beside a naive interpretation that shares nothing with the crate: values are computed
//! from the textbook definitions, for several models at once.

#![allow(dead_code)]

use branchwise_constraints::{BinaryOp, CompareOp, Model, TermId, Terms};
use proptest::prelude::*;

pub const MODELS: usize = 4;

/// A term and what the naive interpreter says about it under each model.
#[derive(Clone)]
pub struct Pair {
    pub term: TermId,
    pub width: u32,
    pub values: [u128; MODELS],
}

/// One step of a random construction; operands are earlier steps, counted modulo.
#[derive(Clone, Debug)]
pub struct Step {
    pub opcode: u8,
    pub operands: [u8; 3],
    pub constant: u128,
}

pub fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    // Small and extreme constants meet the special cases of the rules far more often than uniform ones.
    let constant = prop_oneof![
        4 => 0u128..5,
        2 => (0u32..128).prop_map(|bit| 1u128 << bit),
        2 => (0u32..128).prop_map(|bit| (1u128 << bit) - 1),
        2 => (0u128..5).prop_map(|small| small.wrapping_neg()),
        2 => any::<u128>(),
    ];
    let step = (any::<u8>(), any::<[u8; 3]>(), constant);
    prop::collection::vec(step.prop_map(|(opcode, operands, constant)| Step { opcode, operands, constant }), 1..most)
}

pub fn mask(width: u32) -> u128 {
    if width == 128 { u128::MAX } else { (1 << width) - 1 }
}

/// A random construction in progress.
pub struct Construction {
    pub terms: Terms,
    pub pairs: Vec<Pair>,
    pub models: [Model; MODELS],
}

impl Construction {
    /// Starts from variables of these widths.
    pub fn new(widths: &[u32], values: &[[u128; MODELS]]) -> Self {
        let mut construction =
            Self { terms: Terms::new(), pairs: Vec::new(), models: std::array::from_fn(|_| Model::new()) };
        for (index, (&width, values)) in widths.iter().zip(values).enumerate() {
            let term = construction.terms.variable(&format!("v{index}"), width);
            let id = construction.terms.variable_id(term).expect("just made");
            let values = values.map(|value| value & mask(width));
            for (model, value) in construction.models.iter_mut().zip(values) {
                model.set(id, value);
            }
            construction.pairs.push(Pair { term, width, values });
        }
        construction
    }

    pub fn run(&mut self, steps: &[Step]) {
        for step in steps {
            let pair = self.step(step);
            assert_eq!(self.terms.width(pair.term), pair.width, "width after {step:?}");
            self.pairs.push(pair);
        }
    }

    fn step(&mut self, step: &Step) -> Pair {
        let a = self.operand(step.operands[0]);
        match step.opcode % 32 {
            opcode @ 0..13 => self.binary(BinaryOp::ALL[opcode as usize], &a, step),
            opcode @ 13..18 => self.compare(CompareOp::ALL[opcode as usize - 13], &a, step),
            18 => self.map(&a, a.width, Terms::not, |value, width| !value & mask(width)),
            19 => self.map(&a, a.width, Terms::neg, |value, width| (!value).wrapping_add(1) & mask(width)),
            20..=23 => self.if_then_else(&a, step),
            24..=26 => self.extract(&a, step),
            27 => self.concat(&a, step),
            28 => self.extend(&a, step, false),
            29 => self.extend(&a, step, true),
            _ => self.constant(a.width, step),
        }
    }

    fn operand(&self, number: u8) -> Pair {
        self.pairs[number as usize % self.pairs.len()].clone()
    }

    /// The second operand: an earlier step cut or stretched to the width, or a constant.
    fn second(&mut self, width: u32, step: &Step) -> Pair {
        if step.operands[2].is_multiple_of(3) {
            return self.constant(width, step);
        }
        let b = self.operand(step.operands[1]);
        self.fitted(&b, width, step.operands[2].is_multiple_of(2))
    }

    pub fn fitted(&mut self, pair: &Pair, width: u32, signed: bool) -> Pair {
        if pair.width >= width {
            return self.extracted(pair, 0, width);
        }
        self.extended(pair, width, signed)
    }

    fn constant(&mut self, width: u32, step: &Step) -> Pair {
        let value = step.constant & mask(width);
        Pair { term: self.terms.constant(step.constant, width), width, values: [value; MODELS] }
    }

    fn map(
        &mut self,
        a: &Pair,
        width: u32,
        build: fn(&mut Terms, TermId) -> TermId,
        naive: fn(u128, u32) -> u128,
    ) -> Pair {
        Pair { term: build(&mut self.terms, a.term), width, values: a.values.map(|value| naive(value, a.width)) }
    }

    fn binary(&mut self, op: BinaryOp, a: &Pair, step: &Step) -> Pair {
        let b = self.second(a.width, step);
        let (a, b) = if step.operands[2] & 64 == 0 { (a.clone(), b) } else { (b, a.clone()) };
        let values = std::array::from_fn(|i| naive_binary(op, a.values[i], b.values[i], a.width));
        Pair { term: self.terms.binary(op, a.term, b.term), width: a.width, values }
    }

    fn compare(&mut self, op: CompareOp, a: &Pair, step: &Step) -> Pair {
        let b = self.second(a.width, step);
        let (a, b) = if step.operands[2] & 64 == 0 { (a.clone(), b) } else { (b, a.clone()) };
        let values = std::array::from_fn(|i| u128::from(naive_compare(op, a.values[i], b.values[i], a.width)));
        Pair { term: self.terms.compare(op, a.term, b.term), width: 1, values }
    }

    fn if_then_else(&mut self, a: &Pair, step: &Step) -> Pair {
        let condition = self.operand(step.operands[2]);
        let condition = self.extracted(&condition, condition.width / 2, 1);
        let b = self.second(a.width, step);
        let values = std::array::from_fn(|i| if condition.values[i] == 1 { a.values[i] } else { b.values[i] });
        Pair { term: self.terms.if_then_else(condition.term, a.term, b.term), width: a.width, values }
    }

    fn extract(&mut self, a: &Pair, step: &Step) -> Pair {
        let low = u32::from(step.operands[1]) % a.width;
        let width = u32::from(step.operands[2]) % (a.width - low) + 1;
        self.extracted(a, low, width)
    }

    fn extracted(&mut self, a: &Pair, low: u32, width: u32) -> Pair {
        let values = a.values.map(|value| (value >> low) & mask(width));
        Pair { term: self.terms.extract(a.term, low, width), width, values }
    }

    fn concat(&mut self, a: &Pair, step: &Step) -> Pair {
        let b = self.operand(step.operands[1]);
        if a.width + b.width > 128 {
            return a.clone();
        }
        let values = std::array::from_fn(|i| (a.values[i] << b.width) | b.values[i]);
        Pair { term: self.terms.concat(a.term, b.term), width: a.width + b.width, values }
    }

    fn extend(&mut self, a: &Pair, step: &Step, signed: bool) -> Pair {
        let width = a.width + u32::from(step.operands[1]) % (129 - a.width).min(33);
        self.extended(a, width, signed)
    }

    fn extended(&mut self, a: &Pair, width: u32, signed: bool) -> Pair {
        let term = match signed {
            true => self.terms.sign_extend(a.term, width),
            false => self.terms.zero_extend(a.term, width),
        };
        let fill = mask(width) & !mask(a.width);
        let values = a.values.map(|value| if signed && is_negative(value, a.width) { value | fill } else { value });
        Pair { term, width, values }
    }
}

fn is_negative(value: u128, width: u32) -> bool {
    (value >> (width - 1)) & 1 == 1
}

fn negated(value: u128, width: u32) -> u128 {
    (mask(width) - value).wrapping_add(1) & mask(width)
}

fn magnitude(value: u128, width: u32) -> u128 {
    if is_negative(value, width) { negated(value, width) } else { value }
}

/// The definitions of SMT-LIB's QF_BV, taken literally.
pub fn naive_binary(op: BinaryOp, a: u128, b: u128, width: u32) -> u128 {
    let (negative_a, negative_b) = (is_negative(a, width), is_negative(b, width));
    match op {
        BinaryOp::Add => a.wrapping_add(b) & mask(width),
        BinaryOp::Sub => a.wrapping_add(negated(b, width)) & mask(width),
        BinaryOp::Mul => {
            (0..width).filter(|bit| (b >> bit) & 1 == 1).fold(0u128, |sum, bit| sum.wrapping_add(a << bit))
                & mask(width)
        }
        BinaryOp::UDiv if b == 0 => mask(width),
        BinaryOp::UDiv => a / b,
        BinaryOp::URem if b == 0 => a,
        BinaryOp::URem => a - (a / b) * b,
        BinaryOp::SDiv => {
            let quotient = naive_binary(BinaryOp::UDiv, magnitude(a, width), magnitude(b, width), width);
            if negative_a != negative_b { negated(quotient, width) } else { quotient }
        }
        BinaryOp::SRem => {
            let remainder = naive_binary(BinaryOp::URem, magnitude(a, width), magnitude(b, width), width);
            if negative_a { negated(remainder, width) } else { remainder }
        }
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => (a | b) & !(a & b),
        BinaryOp::Shl => repeated(b, width, a, |value| (value << 1) & mask(width)),
        BinaryOp::LShr => repeated(b, width, a, |value| value >> 1),
        BinaryOp::AShr => {
            let sign = if negative_a { 1 << (width - 1) } else { 0 };
            repeated(b, width, a, |value| (value >> 1) | sign)
        }
    }
}

fn repeated(times: u128, width: u32, start: u128, step: impl Fn(u128) -> u128) -> u128 {
    (0..times.min(u128::from(width))).fold(start, |value, _| step(value))
}

pub fn naive_compare(op: CompareOp, a: u128, b: u128, width: u32) -> bool {
    // Flipping the sign bit turns the signed order into the unsigned one.
    let flipped = |value: u128| value ^ (1 << (width - 1));
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ult => a < b,
        CompareOp::Ule => a <= b,
        CompareOp::Slt => flipped(a) < flipped(b),
        CompareOp::Sle => flipped(a) <= flipped(b),
    }
}
