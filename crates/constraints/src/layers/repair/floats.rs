//! Wanted values pushed down through float operators. An inverse is computed with floats too and may miss by a
//! rounding, so that its neighbours are wished for as well; what does not fit costs an evaluation.

use super::moves::Wishes;
use crate::floats::{FloatOp, float_value};
use crate::library::MathFunction;
use crate::semantics;
use crate::terms::TermId;

impl Wishes<'_> {
    pub(super) fn invert_float(&mut self, op: FloatOp, operands: [Option<TermId>; 3], width: u32, wanted: u128) {
        let [Some(a), b, c] = operands else { return };
        let (from, b) = (self.terms.width(a), b.unwrap_or(a));
        match op {
            _ if op.is_comparison() => self.invert_float_comparison(op, a, b, wanted == 1),
            FloatOp::ToSigned => self.wish_near(a, float_value(FloatOp::FromSigned, width, from, &[wanted])),
            FloatOp::ToUnsigned => self.wish_near(a, float_value(FloatOp::FromUnsigned, width, from, &[wanted])),
            FloatOp::FromSigned => self.wish_near(a, float_value(FloatOp::ToSigned, width, from, &[wanted])),
            FloatOp::FromUnsigned => self.wish_near(a, float_value(FloatOp::ToUnsigned, width, from, &[wanted])),
            FloatOp::Convert => self.wish_near(a, float_value(FloatOp::Convert, width, from, &[wanted])),
            FloatOp::FusedMultiplyAdd => self.invert_multiply_add(a, b, c.unwrap_or(a), wanted),
            FloatOp::Library(function) => self.invert_library(function, a, b, wanted),
            _ => self.invert_float_arithmetic(op, a, b, wanted),
        }
    }

    /// A value and its neighbours, of a float as of an integer.
    fn wish_near(&mut self, term: TermId, value: u128) {
        let mask = semantics::mask(self.terms.width(term));
        for step in [value, value.wrapping_add(1), value.wrapping_sub(1)] {
            self.wish(term, step & mask);
        }
    }

    fn float(&mut self, term: TermId) -> f64 {
        let value = self.value(term);
        as_number(value, self.terms.width(term))
    }

    fn wish_number(&mut self, term: TermId, value: f64) {
        if !value.is_nan() {
            self.wish_near(term, encoded(value, self.terms.width(term)));
        }
    }

    fn invert_float_arithmetic(&mut self, op: FloatOp, a: TermId, b: TermId, wanted: u128) {
        let target = as_number(wanted, self.terms.width(a));
        let (x, y) = (self.float(a), self.float(b));
        match op {
            FloatOp::Add if a == b => self.wish_number(a, target / 2.0),
            FloatOp::Mul if a == b => [target.sqrt(), -target.sqrt()].into_iter().for_each(|v| self.wish_number(a, v)),
            FloatOp::Add => self.wish_numbers([(a, target - y), (b, target - x)]),
            FloatOp::Sub => self.wish_numbers([(a, target + y), (b, x - target)]),
            FloatOp::Mul => self.wish_numbers([(a, target / y), (b, target / x)]),
            FloatOp::Div => self.wish_numbers([(a, target * y), (b, x / target)]),
            FloatOp::Sqrt => self.wish_number(a, target * target),
            _ => self.wish_number(a, target),
        }
    }

    fn wish_numbers(&mut self, wishes: [(TermId, f64); 2]) {
        wishes.into_iter().for_each(|(term, value)| self.wish_number(term, value));
    }

    fn invert_multiply_add(&mut self, a: TermId, b: TermId, c: TermId, wanted: u128) {
        let target = as_number(wanted, self.terms.width(a));
        let (x, y, z) = (self.float(a), self.float(b), self.float(c));
        self.wish_numbers([(a, (target - z) / y), (b, (target - z) / x)]);
        self.wish_number(c, target - x * y);
    }

    fn invert_library(&mut self, function: MathFunction, a: TermId, b: TermId, wanted: u128) {
        let target = as_number(wanted, self.terms.width(a));
        let (x, y) = (self.float(a), self.float(b));
        match function {
            MathFunction::Pow => self.wish_numbers([(a, target.powf(1.0 / y)), (b, target.ln() / x.ln())]),
            MathFunction::Atan2 => self.wish_numbers([(a, target.tan() * y), (b, x / target.tan())]),
            MathFunction::Fmod | MathFunction::Remainder => self.wish_numbers([(a, target), (a, x - x % y + target)]),
            MathFunction::Hypot => {
                let other = |known: f64| (target * target - known * known).sqrt();
                self.wish_numbers([(a, other(y)), (b, other(x))]);
            }
            MathFunction::Fdim => self.wish_numbers([(a, target + y), (b, x - target)]),
            MathFunction::Nextafter => self.wish_number(a, target),
            _ => self.wish_number(a, inverse(function, target)),
        }
    }

    fn invert_float_comparison(&mut self, op: FloatOp, a: TermId, b: TermId, wanted: bool) {
        match (op, wanted) {
            (FloatOp::Equal, true) => self.make_floats_equal(a, b),
            (FloatOp::Equal, false) => self.make_floats_ordered(a, b),
            (FloatOp::Less | FloatOp::LessOrEqual, true) => self.make_floats_ordered(a, b),
            (FloatOp::Less | FloatOp::LessOrEqual, false) => {
                self.make_floats_ordered(b, a);
                self.make_floats_equal(a, b);
                self.wish_nan(a);
                self.wish_nan(b);
            }
            (_, true) => self.wish_nan(a),
            (_, false) => [0.0, 1.0].into_iter().for_each(|value| self.wish_number(a, value)),
        }
    }

    fn wish_nan(&mut self, term: TermId) {
        self.wish(term, encoded(f64::NAN, self.terms.width(term)));
    }

    fn make_floats_equal(&mut self, a: TermId, b: TermId) {
        let (x, y) = (self.value(a), self.value(b));
        self.wish(a, y);
        self.wish(b, x);
        self.wish_near(a, y);
        self.wish_near(b, x);
    }

    /// `below < above`: a round distance away first, then half and double the bound, then the nearest number, then far.
    fn make_floats_ordered(&mut self, below: TermId, above: TermId) {
        let (least, most) = (self.float(below), self.float(above));
        let width = self.terms.width(below);
        let lower = [most.ceil() - 1.0, most / 2.0, most * 2.0, most * 1.5, next(most, -1, width), -1e6, f64::MIN];
        let upper = [least.floor() + 1.0, least / 2.0, least * 2.0, least * 1.5, next(least, 1, width), 1e6, f64::MAX];
        for (low, high) in lower.into_iter().zip(upper) {
            if low < most {
                self.wish(below, encoded(low, width));
            }
            if high > least {
                self.wish(above, encoded(high, width));
            }
        }
    }
}

/// A value that a function of the library takes to about this one.
fn inverse(function: MathFunction, target: f64) -> f64 {
    match function {
        MathFunction::Sin => target.asin(),
        MathFunction::Cos => target.acos(),
        MathFunction::Tan => target.atan(),
        MathFunction::Asin => target.sin(),
        MathFunction::Acos => target.cos(),
        MathFunction::Atan => target.tan(),
        MathFunction::Sinh => target.asinh(),
        MathFunction::Cosh => target.acosh(),
        MathFunction::Tanh => target.atanh(),
        MathFunction::Asinh => target.sinh(),
        MathFunction::Acosh => target.cosh(),
        MathFunction::Atanh => target.tanh(),
        MathFunction::Exp => target.ln(),
        MathFunction::Exp2 => target.log2(),
        MathFunction::Expm1 => target.ln_1p(),
        MathFunction::Log => target.exp(),
        MathFunction::Log2 => target.exp2(),
        MathFunction::Log10 => 10_f64.powf(target),
        MathFunction::Log1p => target.exp_m1(),
        MathFunction::Cbrt => target.powi(3),
        MathFunction::Logb => target.exp2(),
        _ => target,
    }
}

fn as_number(bits: u128, width: u32) -> f64 {
    if width == 64 { f64::from_bits(bits as u64) } else { f64::from(f32::from_bits(bits as u32)) }
}

fn encoded(value: f64, width: u32) -> u128 {
    if width == 64 { u128::from(value.to_bits()) } else { u128::from((value as f32).to_bits()) }
}

/// The neighbouring number of the width.
fn next(value: f64, step: i32, width: u32) -> f64 {
    match (width, step > 0) {
        (64, true) => value.next_up(),
        (64, false) => value.next_down(),
        (_, true) => f64::from((value as f32).next_up()),
        (_, false) => f64::from((value as f32).next_down()),
    }
}
