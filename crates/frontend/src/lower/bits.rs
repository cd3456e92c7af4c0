//! Exact expansions of LLVM's integer intrinsics into plain arithmetic.

#[cfg(test)]
mod tests;

use branchwise_program::code::{BinaryOp, CastOp, CompareOp, Operand, Width};

use super::emit::{Emitter, mask};

/// A constant whose every `2 * run` bits have the lower `run` bits set.
fn stripes(run: Width) -> u128 {
    (0..128).filter(|bit| (bit / run).is_multiple_of(2)).fold(0, |bits, bit| bits | 1 << bit)
}

/// The overflow-checked operations.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Checked {
    SignedAdd,
    SignedSub,
    SignedMul,
    UnsignedAdd,
    UnsignedSub,
    UnsignedMul,
}

impl Emitter {
    fn constant_op(&mut self, op: BinaryOp, width: Width, left: Operand, right: u128) -> Operand {
        self.binary(op, width, left, Operand::Constant(right & mask(width)))
    }

    fn not(&mut self, width: Width, value: Operand) -> Operand {
        self.constant_op(BinaryOp::Xor, width, value, mask(width))
    }

    /// `left` where the comparison holds, else `right`: minimum and maximum.
    pub fn extreme(&mut self, op: CompareOp, width: Width, left: Operand, right: Operand) -> Operand {
        let condition = self.compare(op, width, left, right);
        self.select(width, condition, left, right)
    }

    /// The sign of the negation of the smallest number is undefined in C only where `no_signed_wrap` says so.
    pub fn absolute(&mut self, width: Width, value: Operand, no_signed_wrap: bool) -> Operand {
        let negative = self.compare(CompareOp::Slt, width, value, Operand::Constant(0));
        let negated = self.arithmetic(BinaryOp::Sub, width, Operand::Constant(0), value, no_signed_wrap);
        self.select(width, negative, negated, value)
    }

    pub fn population_count(&mut self, width: Width, value: Operand) -> Operand {
        let wide = width.next_power_of_two().max(8);
        let x = self.resize(width, wide, value);
        let half = self.constant_op(BinaryOp::LShr, wide, x, 1);
        let half = self.constant_op(BinaryOp::And, wide, half, stripes(1));
        let x = self.binary(BinaryOp::Sub, wide, x, half);
        let low = self.constant_op(BinaryOp::And, wide, x, stripes(2));
        let high = self.constant_op(BinaryOp::LShr, wide, x, 2);
        let high = self.constant_op(BinaryOp::And, wide, high, stripes(2));
        let x = self.binary(BinaryOp::Add, wide, low, high);
        let high = self.constant_op(BinaryOp::LShr, wide, x, 4);
        let x = self.binary(BinaryOp::Add, wide, x, high);
        let mut x = self.constant_op(BinaryOp::And, wide, x, stripes(4));
        if wide > 8 {
            // The top byte of the product is the sum of all bytes; at most 128, so it fits.
            let ones = u128::MAX / 0xff;
            x = self.constant_op(BinaryOp::Mul, wide, x, ones);
            x = self.constant_op(BinaryOp::LShr, wide, x, u128::from(wide - 8));
        }
        self.resize(wide, width, x)
    }

    /// Zero has `width` leading zeros.
    pub fn leading_zeros(&mut self, width: Width, value: Operand) -> Operand {
        let mut x = value;
        let mut distance = 1;
        while distance < width {
            let shifted = self.constant_op(BinaryOp::LShr, width, x, u128::from(distance));
            x = self.binary(BinaryOp::Or, width, x, shifted);
            distance *= 2;
        }
        let zeros = self.not(width, x);
        self.population_count(width, zeros)
    }

    /// Zero has `width` trailing zeros.
    pub fn trailing_zeros(&mut self, width: Width, value: Operand) -> Operand {
        let below = self.constant_op(BinaryOp::Sub, width, value, 1);
        let clear = self.not(width, value);
        let zeros = self.binary(BinaryOp::And, width, clear, below);
        self.population_count(width, zeros)
    }

    pub fn byte_swap(&mut self, width: Width, value: Operand) -> Operand {
        let mut whole = Operand::Constant(0);
        for byte in 0..width / 8 {
            let piece = self.constant_op(BinaryOp::LShr, width, value, u128::from(8 * byte));
            let piece = self.constant_op(BinaryOp::And, width, piece, 0xff);
            let piece = self.constant_op(BinaryOp::Shl, width, piece, u128::from(width - 8 - 8 * byte));
            whole = self.binary(BinaryOp::Or, width, whole, piece);
        }
        whole
    }

    pub fn bit_reverse(&mut self, width: Width, value: Operand) -> Operand {
        let wide = width.next_power_of_two().max(8);
        let mut x = self.resize(width, wide, value);
        for run in [1, 2, 4] {
            let low = self.constant_op(BinaryOp::And, wide, x, stripes(run));
            let low = self.constant_op(BinaryOp::Shl, wide, low, u128::from(run));
            let high = self.constant_op(BinaryOp::LShr, wide, x, u128::from(run));
            let high = self.constant_op(BinaryOp::And, wide, high, stripes(run));
            x = self.binary(BinaryOp::Or, wide, low, high);
        }
        let swapped = self.byte_swap(wide, x);
        let shifted = self.constant_op(BinaryOp::LShr, wide, swapped, u128::from(wide - width));
        self.resize(wide, width, shifted)
    }

    /// The upper (`left`) or lower half of `high:low` shifted by a number that counts modulo the width.
    pub fn funnel_shift(&mut self, width: Width, [high, low, distance]: [Operand; 3], left: bool) -> Operand {
        if width == 1 {
            return if left { high } else { low };
        }
        let distance = match width.is_power_of_two() {
            true => self.constant_op(BinaryOp::And, width, distance, u128::from(width - 1)),
            false => self.constant_op(BinaryOp::URem, width, distance, u128::from(width)),
        };
        // Two shifts for the other half, by 1 and by width - 1 - distance, as a shift by the width is undefined.
        let rest = self.binary(BinaryOp::Sub, width, Operand::Constant(u128::from(width - 1)), distance);
        let (upper, lower) = if left {
            let lower = self.constant_op(BinaryOp::LShr, width, low, 1);
            (self.binary(BinaryOp::Shl, width, high, distance), self.binary(BinaryOp::LShr, width, lower, rest))
        } else {
            let upper = self.constant_op(BinaryOp::Shl, width, high, 1);
            (self.binary(BinaryOp::Shl, width, upper, rest), self.binary(BinaryOp::LShr, width, low, distance))
        };
        self.binary(BinaryOp::Or, width, upper, lower)
    }

    /// The wrapped result and whether it is wrong.
    pub fn checked(&mut self, op: Checked, width: Width, left: Operand, right: Operand) -> (Operand, Operand) {
        match op {
            Checked::UnsignedAdd => {
                let sum = self.binary(BinaryOp::Add, width, left, right);
                (sum, self.compare(CompareOp::Ult, width, sum, left))
            }
            Checked::UnsignedSub => {
                let difference = self.binary(BinaryOp::Sub, width, left, right);
                (difference, self.compare(CompareOp::Ult, width, left, right))
            }
            Checked::SignedAdd => {
                let sum = self.binary(BinaryOp::Add, width, left, right);
                (sum, self.signs_differ(width, (left, sum), (right, sum)))
            }
            Checked::SignedSub => {
                let difference = self.binary(BinaryOp::Sub, width, left, right);
                (difference, self.signs_differ(width, (left, right), (left, difference)))
            }
            Checked::UnsignedMul | Checked::SignedMul if width <= 64 => self.checked_product(op, width, left, right),
            Checked::UnsignedMul => self.checked_wide_unsigned_product(width, left, right),
            Checked::SignedMul => self.checked_wide_signed_product(width, left, right),
        }
    }

    /// Both pairs differ in sign.
    fn signs_differ(&mut self, width: Width, one: (Operand, Operand), other: (Operand, Operand)) -> Operand {
        let one = self.binary(BinaryOp::Xor, width, one.0, one.1);
        let other = self.binary(BinaryOp::Xor, width, other.0, other.1);
        let both = self.binary(BinaryOp::And, width, one, other);
        self.compare(CompareOp::Slt, width, both, Operand::Constant(0))
    }

    /// In twice the width no product overflows.
    fn checked_product(&mut self, op: Checked, width: Width, left: Operand, right: Operand) -> (Operand, Operand) {
        let extend = if op == Checked::SignedMul { CastOp::SignExtend } else { CastOp::ZeroExtend };
        let wide = 2 * width;
        let left = self.cast(extend, width, wide, left);
        let right = self.cast(extend, width, wide, right);
        let exact = self.binary(BinaryOp::Mul, wide, left, right);
        let product = self.cast(CastOp::Truncate, wide, width, exact);
        let again = self.cast(extend, width, wide, product);
        (product, self.compare(CompareOp::Ne, wide, again, exact))
    }

    /// Above 64 bits there is no wider register: the product is right if dividing it gives the factor back.
    fn checked_wide_unsigned_product(&mut self, width: Width, left: Operand, right: Operand) -> (Operand, Operand) {
        let product = self.binary(BinaryOp::Mul, width, left, right);
        let zero = self.compare(CompareOp::Eq, width, left, Operand::Constant(0));
        let divisor = self.select(width, zero, Operand::Constant(1), left);
        let quotient = self.binary(BinaryOp::UDiv, width, product, divisor);
        let differs = self.compare(CompareOp::Ne, width, quotient, right);
        (product, self.select(1, zero, Operand::Constant(0), differs))
    }

    /// As above; -1 is apart, as dividing the smallest number by it overflows.
    fn checked_wide_signed_product(&mut self, width: Width, left: Operand, right: Operand) -> (Operand, Operand) {
        let smallest = Operand::Constant(1 << (width - 1));
        let product = self.binary(BinaryOp::Mul, width, left, right);
        let zero = self.compare(CompareOp::Eq, width, left, Operand::Constant(0));
        let minus_one = self.compare(CompareOp::Eq, width, left, Operand::Constant(mask(width)));
        let special = self.binary(BinaryOp::Or, 1, zero, minus_one);
        let divisor = self.select(width, special, Operand::Constant(1), left);
        let quotient = self.binary(BinaryOp::SDiv, width, product, divisor);
        let differs = self.compare(CompareOp::Ne, width, quotient, right);
        let right_smallest = self.compare(CompareOp::Eq, width, right, smallest);
        let negated = self.binary(BinaryOp::And, 1, minus_one, right_smallest);
        (product, self.select(1, special, negated, differs))
    }

    /// The nearest representable value instead of the wrapped one.
    pub fn saturated(&mut self, op: Checked, width: Width, left: Operand, right: Operand) -> Operand {
        let (result, overflow) = self.checked(op, width, left, right);
        let bound = match op {
            Checked::UnsignedSub => Operand::Constant(0),
            Checked::UnsignedAdd | Checked::UnsignedMul => Operand::Constant(mask(width)),
            Checked::SignedAdd | Checked::SignedSub | Checked::SignedMul => {
                let negative = self.compare(CompareOp::Slt, width, left, Operand::Constant(0));
                let (low, high) = (1 << (width - 1), mask(width) >> 1);
                self.select(width, negative, Operand::Constant(low), Operand::Constant(high))
            }
        };
        self.select(width, overflow, bound, result)
    }
}
