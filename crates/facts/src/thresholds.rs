//! Where widening stops.

use std::collections::BTreeSet;

use branchwise_program::code::{Function, Operand, Terminator};

use crate::number::{look_like_floats, signed};

/// More constants than this are no help.
const MOST_THRESHOLDS: usize = 96;

/// Bounds that a filter or a sum of floats may keep to without the program naming them: powers of two, and the greatest
/// numbers of both widths.
const EXPONENTS: [i32; 25] =
    [-20, -10, -6, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 53, 64, 100];

/// Integers and floats, each in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Thresholds {
    pub integers: Vec<i128>,
    pub floats: Vec<f64>,
}

impl Thresholds {
    /// The constants of a function: of the integers the neighbours too, of the floats the opposites.
    pub(crate) fn of(function: &Function) -> Self {
        let (mut integers, mut floats) = (BTreeSet::from([0]), Vec::new());
        let mut add = |operand: &Operand| {
            if let Operand::Constant(bits) = operand
                && let Ok(bits) = u64::try_from(*bits)
            {
                // The width of an operand is not told: a small number, or one that is small with a sign of 32 or 64 bits.
                integers.insert(i128::from(bits));
                integers.extend([signed(bits, 64), signed(bits, 32)].map(i128::from));
                floats.extend(as_float(bits));
            }
        };
        for block in function.blocks.values() {
            block.instructions.iter().for_each(|instruction| instruction.for_each_operand(&mut add));
            block.terminator.for_each_operand(&mut add);
            if let Terminator::Switch { cases, .. } = &block.terminator {
                cases.iter().for_each(|(case, _)| add(&Operand::Constant(*case)));
            }
        }
        let integers = integers.iter().flat_map(|constant| [constant - 1, *constant, constant + 1]).collect();
        let steps = EXPONENTS.iter().map(|&exponent| 2_f64.powi(exponent));
        floats.extend(steps.chain([f64::from(f32::MAX), f64::MAX]));
        let opposites: Vec<f64> = floats.iter().map(|value| -value).collect();
        floats.extend(opposites.into_iter().chain([0.0]));
        Thresholds { integers, floats }.ordered()
    }

    /// Those of all functions.
    pub(crate) fn add(&mut self, other: &Thresholds) {
        self.integers.extend(&other.integers);
        self.floats.extend(&other.floats);
        *self = std::mem::take(self).sorted();
    }

    fn ordered(mut self) -> Self {
        self.integers.sort_unstable();
        self.integers.dedup();
        // The small ones bound loops.
        self.integers.sort_by_key(|threshold| threshold.unsigned_abs());
        self.integers.truncate(MOST_THRESHOLDS);
        self.sorted()
    }

    fn sorted(mut self) -> Self {
        self.integers.sort_unstable();
        self.integers.dedup();
        self.floats.sort_by(f64::total_cmp);
        self.floats.dedup();
        self
    }
}

/// The float that a constant is, if it looks like one.
fn as_float(bits: u64) -> Option<f64> {
    match u32::try_from(bits) {
        Ok(single) => (bits != 0 && look_like_floats([bits], 32)).then(|| f64::from(f32::from_bits(single))),
        Err(_) => look_like_floats([bits], 64).then(|| f64::from_bits(bits)),
    }
}
