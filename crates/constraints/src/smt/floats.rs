//! Floats for the SMT solver. Comparisons are formulas on the bit patterns. The result of arithmetic is taken for any
//! value: a refutation is one for all floats then, and a model is a guess that the evaluation confirms or not.

use z3::ast::{BV, Bool};

use super::translate::Translated;
use crate::floats::FloatOp;

/// An unconstrained value for the node at this place. Names of variables are numbers, so that this is none of theirs.
pub(super) fn any_value(place: usize, width: u32) -> Translated {
    let name = format!("float {place}");
    match width {
        1 => Translated::Boolean(Bool::new_const(name)),
        _ => Translated::Vector(BV::new_const(name, width)),
    }
}

pub(super) fn compare(op: FloatOp, a: &BV, b: &BV, width: u32) -> Bool {
    let (left, right) = (Parts::of(a, width), Parts::of(b, width));
    let unordered = Bool::or(&[left.nan.clone(), right.nan.clone()]);
    let numbers = unordered.not();
    let zeros = Bool::and(&[left.zero.clone(), right.zero.clone()]);
    match op {
        FloatOp::Unordered => unordered,
        FloatOp::Equal => Bool::and(&[numbers, Bool::or(&[zeros, a.eq(b)])]),
        FloatOp::Less => Bool::and(&[numbers, zeros.not(), left.is_below(&right)]),
        _ => Bool::and(&[numbers, Bool::or(&[zeros, a.eq(b), left.is_below(&right)])]),
    }
}

struct Parts {
    negative: Bool,
    magnitude: BV,
    nan: Bool,
    zero: Bool,
}

impl Parts {
    fn of(value: &BV, width: u32) -> Self {
        let infinity = if width == 64 { f64::INFINITY.to_bits() } else { u64::from(f32::INFINITY.to_bits()) };
        let magnitude = value.extract(width - 2, 0);
        Self {
            negative: value.extract(width - 1, width - 1).eq(BV::from_u64(1, 1)),
            nan: magnitude.bvugt(BV::from_u64(infinity, width - 1)),
            zero: magnitude.eq(BV::from_u64(0, width - 1)),
            magnitude,
        }
    }

    /// In the order of the bit patterns, where the negative zero is below the other.
    fn is_below(&self, other: &Self) -> Bool {
        let positive = Bool::and(&[self.negative.not(), other.negative.not(), self.magnitude.bvult(&other.magnitude)]);
        let negative =
            Bool::and(&[self.negative.clone(), other.negative.clone(), other.magnitude.bvult(&self.magnitude)]);
        let across = Bool::and(&[self.negative.clone(), other.negative.not()]);
        Bool::or(&[positive, negative, across])
    }
}
