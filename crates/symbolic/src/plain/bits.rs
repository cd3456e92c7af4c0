//! Arithmetic on plain bits of any width up to 64. `unused` is 64 less the width: shifted left by it, the sign of a number
//! is the machine's, and the machine's overflow is the number's. `None`: undefined in C, or rare.

use branchwise_program::code::CompareOp;

use super::operation::Step;

#[inline(always)]
fn high(bits: u64, unused: u32) -> i64 {
    (bits << unused) as i64
}

#[inline(always)]
fn low(number: i64, unused: u32) -> u64 {
    number as u64 >> unused
}

/// The number that the bits stand for. Nearly all have 32 or 64 bits, and shifts by a distance that is not known when the
/// executor is compiled cost more than the test.
#[inline(always)]
pub(super) fn signed(bits: u64, unused: u32) -> i64 {
    match unused {
        32 => i64::from(bits as i32),
        0 => bits as i64,
        _ => odd_signed(bits, unused),
    }
}

#[cold]
#[inline(never)]
fn odd_signed(bits: u64, unused: u32) -> i64 {
    high(bits, unused) >> unused
}

/// The bits of a number that may have more than there is room for.
#[inline(always)]
fn wrapped(number: u64, unused: u32) -> u64 {
    match unused {
        32 => u64::from(number as u32),
        0 => number,
        _ => odd_wrapped(number, unused),
    }
}

#[cold]
#[inline(never)]
fn odd_wrapped(number: u64, unused: u32) -> u64 {
    number << unused >> unused
}

#[inline(always)]
pub(super) fn add(left: u64, right: u64, unused: u32) -> Option<u64> {
    Some(wrapped(left.wrapping_add(right), unused))
}

#[inline(always)]
pub(super) fn sub(left: u64, right: u64, unused: u32) -> Option<u64> {
    Some(wrapped(left.wrapping_sub(right), unused))
}

#[inline(always)]
pub(super) fn mul(left: u64, right: u64, unused: u32) -> Option<u64> {
    Some(wrapped(left.wrapping_mul(right), unused))
}

#[inline(always)]
pub(super) fn add_signed(left: u64, right: u64, unused: u32) -> Option<u64> {
    match unused {
        32 => (left as i32).checked_add(right as i32).map(|sum| u64::from(sum as u32)),
        _ => high(left, unused).checked_add(high(right, unused)).map(|sum| low(sum, unused)),
    }
}

#[inline(always)]
pub(super) fn sub_signed(left: u64, right: u64, unused: u32) -> Option<u64> {
    match unused {
        32 => (left as i32).checked_sub(right as i32).map(|difference| u64::from(difference as u32)),
        _ => high(left, unused).checked_sub(high(right, unused)).map(|difference| low(difference, unused)),
    }
}

#[inline(always)]
pub(super) fn mul_signed(left: u64, right: u64, unused: u32) -> Option<u64> {
    match unused {
        32 => (left as i32).checked_mul(right as i32).map(|product| u64::from(product as u32)),
        _ => high(left, unused).checked_mul(signed(right, unused)).map(|product| low(product, unused)),
    }
}

#[inline(always)]
pub(super) fn divide_signed(left: u64, right: u64, unused: u32) -> Option<u64> {
    divide(left, right, unused, |left, right| left / right, |left, right| left / right)
}

#[inline(always)]
pub(super) fn remainder_signed(left: u64, right: u64, unused: u32) -> Option<u64> {
    divide(left, right, unused, |left, right| left % right, |left, right| left % right)
}

/// Division by -1, which may overflow, is rare. Machines divide 32 bits much faster than 64.
#[inline(always)]
fn divide(
    left: u64,
    right: u64,
    unused: u32,
    narrow: impl Fn(i32, i32) -> i32,
    wide: impl Fn(i64, i64) -> i64,
) -> Option<u64> {
    let (left, right) = (signed(left, unused), signed(right, unused));
    if right == 0 || right == -1 {
        return None;
    }
    let result = if unused >= 32 { i64::from(narrow(left as i32, right as i32)) } else { wide(left, right) };
    Some(wrapped(result as u64, unused))
}

#[inline(always)]
pub(super) fn shift_left(bits: u64, by: u64, unused: u32) -> Option<u64> {
    in_width(by, unused).then(|| wrapped(bits << by, unused))
}

#[inline(always)]
pub(super) fn shift_right(bits: u64, by: u64, unused: u32) -> Option<u64> {
    in_width(by, unused).then(|| bits >> by)
}

#[inline(always)]
pub(super) fn shift_right_signed(bits: u64, by: u64, unused: u32) -> Option<u64> {
    in_width(by, unused).then(|| wrapped((signed(bits, unused) >> by) as u64, unused))
}

#[inline(always)]
fn in_width(by: u64, unused: u32) -> bool {
    by < u64::from(64 - unused)
}

#[inline(always)]
pub(super) fn sign_extend(bits: u64, unused_from: u8, unused_to: u8) -> u64 {
    wrapped(signed(bits, u32::from(unused_from)) as u64, u32::from(unused_to))
}

pub(super) fn stepped(step: Step, left: u64, right: u64, unused: u32) -> Option<u64> {
    match step {
        Step::Add => add(left, right, unused),
        Step::Sub => sub(left, right, unused),
        Step::AddSigned => add_signed(left, right, unused),
        Step::SubSigned => sub_signed(left, right, unused),
        Step::And => Some(left & right),
        Step::Or => Some(left | right),
        Step::Xor => Some(left ^ right),
    }
}

/// `unused`: how many of the 64 bits the values do not have.
pub(crate) fn compare_bits(op: CompareOp, left: u64, right: u64, unused: u32) -> bool {
    let numbers = (signed(left, unused), signed(right, unused));
    match op {
        CompareOp::Eq => left == right,
        CompareOp::Ne => left != right,
        CompareOp::Ult => left < right,
        CompareOp::Ule => left <= right,
        CompareOp::Ugt => left > right,
        CompareOp::Uge => left >= right,
        CompareOp::Slt => numbers.0 < numbers.1,
        CompareOp::Sle => numbers.0 <= numbers.1,
        CompareOp::Sgt => numbers.0 > numbers.1,
        CompareOp::Sge => numbers.0 >= numbers.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Operation = fn(u64, u64, u32) -> Option<u64>;

    /// The same in numbers that are wide enough; `None` where it is not plain.
    fn exact(name: &str, left: i128, right: i128, width: u32) -> Option<i128> {
        let fits = |number: i128| (-(1 << (width - 1))..1 << (width - 1)).contains(&number);
        let mask = |number: i128| number & ((1 << width) - 1);
        let in_width = mask(right) < i128::from(width);
        match name {
            "add" => Some(left + right),
            "sub" => Some(left - right),
            "mul" => Some(left.wrapping_mul(right)),
            "add_signed" => Some(left + right).filter(|&sum| fits(sum)),
            "sub_signed" => Some(left - right).filter(|&difference| fits(difference)),
            "mul_signed" => Some(left * right).filter(|&product| fits(product)),
            "divide_signed" => (right != 0 && right != -1).then(|| left / right),
            "remainder_signed" => (right != 0 && right != -1).then(|| left % right),
            "shift_left" => in_width.then(|| left << mask(right)),
            "shift_right" => in_width.then(|| mask(left) >> mask(right)),
            "shift_right_signed" => in_width.then(|| left >> mask(right)),
            other => panic!("no operation {other}"),
        }
    }

    const OPERATIONS: [(&str, Operation); 11] = [
        ("add", add),
        ("sub", sub),
        ("mul", mul),
        ("add_signed", add_signed),
        ("sub_signed", sub_signed),
        ("mul_signed", mul_signed),
        ("divide_signed", divide_signed),
        ("remainder_signed", remainder_signed),
        ("shift_left", shift_left),
        ("shift_right", shift_right),
        ("shift_right_signed", shift_right_signed),
    ];

    #[test]
    fn comparisons_see_the_sign_where_they_should() {
        use CompareOp::*;
        for (op, expected) in
            [(Eq, 0), (Ne, 1), (Ult, 0), (Ule, 0), (Ugt, 1), (Uge, 1), (Slt, 1), (Sle, 1), (Sgt, 0), (Sge, 0)]
        {
            assert_eq!(u8::from(compare_bits(op, 0xff, 1, 56)), expected, "{op:?}: -1 and 1, 255 and 1");
            let equal = u8::from(matches!(op, Eq | Ule | Uge | Sle | Sge));
            assert_eq!(u8::from(compare_bits(op, 0xff, 0xff, 56)), equal, "{op:?} of the same");
        }
    }

    #[test]
    fn every_width_computes_what_wide_numbers_do() {
        for width in [1_u32, 7, 8, 16, 24, 31, 32, 33, 48, 63, 64] {
            let unused = 64 - width;
            let edge = 1_u64 << (width - 1);
            let samples =
                [0, 1, 2, 3, 5, 31, 32, edge - 1, edge, edge + 1, u64::MAX, u64::MAX - 1, 0x1234_5678_9abc_def0];
            let samples = samples.map(|bits| bits << unused >> unused);
            for (name, operation) in OPERATIONS {
                for left in samples {
                    for right in samples {
                        let numbers = (i128::from(signed(left, unused)), i128::from(signed(right, unused)));
                        let expected = exact(name, numbers.0, numbers.1, width);
                        let expected = expected.map(|number| (number as u64) << unused >> unused);
                        assert_eq!(operation(left, right, unused), expected, "{name} {width} {left:#x} {right:#x}");
                    }
                }
            }
        }
    }
}
