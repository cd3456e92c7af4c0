//! Arithmetic, comparisons and casts: on plain bits at once, on terms otherwise, on pointers by object and offset.

use branchwise_constraints::{BinaryOp as TermOp, CompareOp as TermCompare, TermId};
use branchwise_program::code::{Binary, BinaryOp, Cast, CastOp, Compare, CompareOp};

use crate::executor::{Executor, Step};
use crate::path::{AlternativeKind, FaultKind};
use crate::plain::compare_bits;
use crate::possible::{TOO_FAR, overflow_message};
use crate::value::{Value, signed, truncate};

impl Executor<'_, '_> {
    pub(crate) fn binary(&mut self, binary: &Binary) -> Step<()> {
        let left = self.wide_value(&binary.left, binary.width);
        let right = self.wide_value(&binary.right, binary.width);
        let value = match (&left, &right) {
            (Value::Bits(left), Value::Bits(right)) => self.binary_bits(binary, *left, *right)?,
            (Value::Undefined, _) | (_, Value::Undefined) if !works_bit_by_bit(binary.op) => Value::Undefined,
            _ => match self.pointer_binary(binary, &left, &right)? {
                Some(value) => value,
                None => self.binary_terms(binary, &left, &right)?,
            },
        };
        self.set(binary.out, value);
        Ok(())
    }

    fn binary_bits(&mut self, binary: &Binary, left: u64, right: u64) -> Step<Value> {
        let width = binary.width;
        if binary.no_signed_wrap && overflows(binary.op, width, left, right) {
            self.note_undefined(FaultKind::SignedOverflow, overflow_message(binary.op))?;
        }
        let shift = || machine_distance(right, width);
        let result = match binary.op {
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Sub => left.wrapping_sub(right),
            BinaryOp::Mul => left.wrapping_mul(right),
            BinaryOp::And => left & right,
            BinaryOp::Or => left | right,
            BinaryOp::Xor => left ^ right,
            BinaryOp::Shl => left << shift(),
            BinaryOp::LShr => left >> shift(),
            BinaryOp::AShr => (signed(left, width) >> shift()) as u64,
            BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem => {
                self.divide_bits(binary, left, right)?
            }
        };
        if is_shift(binary.op) && right >= u64::from(width) {
            self.note_undefined(FaultKind::ShiftTooFar, TOO_FAR)?;
        }
        Ok(Value::Bits(truncate(result, width)))
    }

    fn divide_bits(&mut self, binary: &Binary, left: u64, right: u64) -> Step<u64> {
        let (l, r) = (signed(left, binary.width), signed(right, binary.width));
        if right == 0 {
            return self.fail(FaultKind::DivisionByZero, "division by zero");
        }
        if matches!(binary.op, BinaryOp::SDiv | BinaryOp::SRem)
            && r == -1
            && l == signed(1 << (binary.width - 1), binary.width)
        {
            return self.fail(FaultKind::DivisionOverflow, "the smallest integer divided by -1");
        }
        Ok(match binary.op {
            BinaryOp::UDiv => left / right,
            BinaryOp::URem => left % right,
            BinaryOp::SDiv => (l / r) as u64,
            _ => (l % r) as u64,
        })
    }

    fn binary_terms(&mut self, binary: &Binary, left: &Value, right: &Value) -> Step<Value> {
        let width = binary.width;
        let left = self.as_term(left, width);
        let mut right = self.as_term(right, width);
        self.check_division(binary, left, right)?;
        if is_shift(binary.op) {
            right = self.shift_distance(width, right)?;
        } else if binary.no_signed_wrap {
            self.note_overflow(binary, left, right)?;
        }
        let term = self.session.terms.binary(term_op(binary.op), left, right);
        Ok(self.term_value(term))
    }

    /// The machine takes the distance modulo the width; C leaves it undefined.
    fn shift_distance(&mut self, width: u32, distance: TermId) -> Step<TermId> {
        let too_far = self.evaluate(distance) >= u128::from(width);
        self.may_shift_too_far(distance, too_far)?;
        if !width.is_power_of_two() {
            return Ok(distance);
        }
        let mask = self.session.terms.constant(u128::from(width - 1), width);
        Ok(self.session.terms.binary(TermOp::And, distance, mask))
    }

    fn note_overflow(&mut self, binary: &Binary, left: TermId, right: TermId) -> Step<()> {
        if binary.width > 64 {
            return Ok(());
        }
        let (here, there) = (self.evaluate(left) as u64, self.evaluate(right) as u64);
        self.may_overflow((binary.op, left, right), overflows(binary.op, binary.width, here, there))
    }

    fn check_division(&mut self, binary: &Binary, left: TermId, right: TermId) -> Step<()> {
        if !matches!(binary.op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem) {
            return Ok(());
        }
        let width = binary.width;
        let zero = self.session.terms.constant(0, width);
        let by_zero = self.session.terms.compare(TermCompare::Eq, right, zero);
        if self.decide_fault(by_zero, FaultKind::DivisionByZero)? {
            return self.fail(FaultKind::DivisionByZero, "division by zero");
        }
        if matches!(binary.op, BinaryOp::SDiv | BinaryOp::SRem) {
            let minus_one = self.session.terms.constant(u128::MAX, width);
            let smallest = self.session.terms.constant(1 << (width - 1), width);
            let by_minus_one = self.session.terms.compare(TermCompare::Eq, right, minus_one);
            let of_smallest = self.session.terms.compare(TermCompare::Eq, left, smallest);
            let overflow = self.session.terms.and(by_minus_one, of_smallest);
            if self.decide_fault(overflow, FaultKind::DivisionOverflow)? {
                return self.fail(FaultKind::DivisionOverflow, "the smallest integer divided by -1");
            }
        }
        Ok(())
    }

    /// Decides a condition under which the path would end with a fault.
    pub(crate) fn decide_fault(&mut self, condition: TermId, kind: FaultKind) -> Step<bool> {
        let fault = match (self.in_precondition(), kind) {
            (false, _) => AlternativeKind::Fault(self.site(), kind),
            // A larger object might satisfy the precondition, so this way must be looked at.
            (true, FaultKind::OutOfBounds | FaultKind::BeforeStart) => AlternativeKind::Continue,
            (true, _) => AlternativeKind::Rejected,
        };
        self.decide(condition, [AlternativeKind::Continue, fault])
    }

    pub(crate) fn compare(&mut self, compare: &Compare) -> Step<()> {
        let left = self.wide_value(&compare.left, compare.width);
        let right = self.wide_value(&compare.right, compare.width);
        let value = match (&left, &right) {
            (Value::Bits(left), Value::Bits(right)) => {
                let unused = 64_u32.saturating_sub(compare.width);
                Value::Bits(u64::from(compare_bits(compare.op, *left, *right, unused)))
            }
            (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
            _ => match self.pointer_compare(compare.op, &left, &right) {
                Some(term) => self.term_value(term),
                None => {
                    let (left, right) = (self.as_term(&left, compare.width), self.as_term(&right, compare.width));
                    let term = self.compare_terms(compare.op, left, right);
                    self.term_value(term)
                }
            },
        };
        self.set(compare.out, value);
        Ok(())
    }

    pub(crate) fn compare_terms(&mut self, op: CompareOp, left: TermId, right: TermId) -> TermId {
        let terms = &mut self.session.terms;
        match op {
            CompareOp::Eq => terms.compare(TermCompare::Eq, left, right),
            CompareOp::Ne => {
                let equal = terms.compare(TermCompare::Eq, left, right);
                terms.not(equal)
            }
            CompareOp::Ult => terms.compare(TermCompare::Ult, left, right),
            CompareOp::Ule => terms.compare(TermCompare::Ule, left, right),
            CompareOp::Ugt => terms.compare(TermCompare::Ult, right, left),
            CompareOp::Uge => terms.compare(TermCompare::Ule, right, left),
            CompareOp::Slt => terms.compare(TermCompare::Slt, left, right),
            CompareOp::Sle => terms.compare(TermCompare::Sle, left, right),
            CompareOp::Sgt => terms.compare(TermCompare::Slt, right, left),
            CompareOp::Sge => terms.compare(TermCompare::Sle, right, left),
        }
    }

    pub(crate) fn cast(&mut self, cast: &Cast) -> Step<()> {
        let value = match self.wide_value(&cast.value, cast.from) {
            value if cast.op == CastOp::Copy => value,
            Value::Bits(bits) if cast.to <= 64 => Value::Bits(cast_bits(cast, bits)),
            Value::Undefined if cast.op == CastOp::Truncate => Value::Undefined,
            value if cast.op == CastOp::ZeroExtend && cast.from == cast.to => value,
            value => {
                let term = self.as_term(&value, cast.from);
                let terms = &mut self.session.terms;
                let term = match cast.op {
                    CastOp::Truncate => terms.extract(term, 0, cast.to),
                    CastOp::SignExtend => terms.sign_extend(term, cast.to),
                    CastOp::ZeroExtend | CastOp::Copy => terms.zero_extend(term, cast.to),
                };
                self.term_value(term)
            }
        };
        self.set(cast.out, value);
        Ok(())
    }
}

fn cast_bits(cast: &Cast, bits: u64) -> u64 {
    match cast.op {
        CastOp::Truncate => truncate(bits, cast.to),
        CastOp::SignExtend => truncate(signed(bits, cast.from) as u64, cast.to),
        CastOp::ZeroExtend | CastOp::Copy => bits,
    }
}

/// By how much the machine shifts: modulo the width, where that is a power of two.
fn machine_distance(distance: u64, width: u32) -> u32 {
    if width.is_power_of_two() { (distance & u64::from(width - 1)) as u32 } else { distance.min(63) as u32 }
}

/// Masks and shifts, with which bit-fields are written: some bits of the result may be known although others are not.
fn works_bit_by_bit(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) || is_shift(op)
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr)
}

fn overflows(op: BinaryOp, width: u32, left: u64, right: u64) -> bool {
    let (left, right) = (i128::from(signed(left, width)), i128::from(signed(right, width)));
    let exact = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        _ => return false,
    };
    let limit = 1_i128 << (width - 1);
    exact < -limit || exact >= limit
}

fn term_op(op: BinaryOp) -> TermOp {
    match op {
        BinaryOp::Add => TermOp::Add,
        BinaryOp::Sub => TermOp::Sub,
        BinaryOp::Mul => TermOp::Mul,
        BinaryOp::UDiv => TermOp::UDiv,
        BinaryOp::SDiv => TermOp::SDiv,
        BinaryOp::URem => TermOp::URem,
        BinaryOp::SRem => TermOp::SRem,
        BinaryOp::And => TermOp::And,
        BinaryOp::Or => TermOp::Or,
        BinaryOp::Xor => TermOp::Xor,
        BinaryOp::Shl => TermOp::Shl,
        BinaryOp::LShr => TermOp::LShr,
        BinaryOp::AShr => TermOp::AShr,
    }
}
