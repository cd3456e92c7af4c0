//! What operations make of sets of integers. Arithmetic wraps around, as in the code.

use branchwise_program::code::{BinaryOp, CastOp, Width};

use super::{Number, gcd, mask, signed};

/// So many pairs of members are worth an evaluation each.
pub(super) const MOST_PAIRS: usize = 256;

/// A congruence of integers without a width: `remainder` modulo `modulus`, or equal to it if the modulus is 0.
#[derive(Debug, Copy, Clone)]
struct Congruence {
    modulus: u128,
    remainder: u128,
}

impl Number {
    /// `None` if no pair of members has a result: a division by zero ends the path.
    pub(crate) fn binary(op: BinaryOp, left: &Number, right: &Number) -> Option<Number> {
        let made = Number::binary_of_bits(op, left, right)?;
        match Number::with_sign(op, left, right) {
            Some(float) => made.meet(&float),
            None => Some(made),
        }
    }

    fn binary_of_bits(op: BinaryOp, left: &Number, right: &Number) -> Option<Number> {
        let width = left.width;
        if !left.is_followed() {
            return Some(Number::any(width));
        }
        if is_shift(op) && !width.is_power_of_two() && right.high >= u64::from(width) {
            return Some(Number::any(width));
        }
        if let (Some(lefts), Some(rights)) = (&left.few, &right.few)
            && lefts.len() * rights.len() <= MOST_PAIRS
        {
            let pairs = lefts.iter().flat_map(|&left| rights.iter().map(move |&right| (left, right)));
            return Number::one_of(width, pairs.filter_map(|(left, right)| evaluate(op, width, left, right)));
        }
        match op {
            BinaryOp::Add => add(left, right),
            BinaryOp::Sub => subtract(left, right),
            BinaryOp::Mul => multiply(left, right),
            BinaryOp::UDiv => divide_unsigned(left, right),
            BinaryOp::SDiv => divide_signed(left, right),
            BinaryOp::URem => remainder_unsigned(left, right),
            BinaryOp::SRem => remainder_signed(left, right),
            BinaryOp::And => and(left, right),
            BinaryOp::Or | BinaryOp::Xor => or(op, left, right),
            BinaryOp::Shl => shift_left(left, right),
            BinaryOp::LShr => shift_right(left, right),
            BinaryOp::AShr => shift_right_signed(left, right),
        }
    }

    pub(crate) fn cast(&self, op: CastOp, to: Width) -> Number {
        if op == CastOp::Copy && self.width == to {
            return self.clone();
        }
        let any = Number::any(to);
        if !self.is_followed() || !any.is_followed() {
            return any;
        }
        let cast = |bits: u64| match op {
            CastOp::SignExtend => signed(bits, self.width) as u64,
            CastOp::Copy | CastOp::Truncate | CastOp::ZeroExtend => bits,
        };
        if let Some(few) = &self.few {
            return Number::one_of(to, few.iter().map(|&member| cast(member))).unwrap_or(any);
        }
        let made = match op {
            CastOp::Copy => return self.clone(),
            CastOp::ZeroExtend => Number {
                low: self.low,
                high: self.high,
                modulus: self.modulus,
                remainder: self.remainder,
                ..any.clone().without_members()
            },
            CastOp::SignExtend => {
                let same = self.least >= 0;
                let (modulus, remainder) = if same { self.congruence() } else { self.wrapped(self.width) };
                Number { least: self.least, most: self.most, modulus, remainder, ..any.clone().without_members() }
            }
            CastOp::Truncate => self.truncated(to),
        };
        made.normal().unwrap_or(any)
    }

    /// The congruence that is left where values differ by multiples of 2^width.
    fn wrapped(&self, width: Width) -> (u64, u64) {
        let modulus = gcd_wide(u128::from(self.modulus), 1 << width);
        if modulus > u128::from(u64::MAX) {
            return (1, 0);
        }
        let modulus = modulus as u64;
        (modulus, self.remainder % modulus)
    }

    fn truncated(&self, to: Width) -> Number {
        let any = Number::any(to).without_members();
        let (modulus, remainder) = self.wrapped(to);
        let cut = Number { modulus, remainder, ..any.clone() };
        if self.high <= mask(to) {
            return Number { low: self.low, high: self.high, modulus: self.modulus, remainder: self.remainder, ..any };
        }
        if self.least >= any.least && self.most <= any.most {
            return Number { least: self.least, most: self.most, ..cut };
        }
        cut
    }

    fn exact_congruence(&self) -> Congruence {
        Congruence { modulus: self.modulus.into(), remainder: self.remainder.into() }
    }
}

/// The operation on two bit patterns; `None` where it ends the path.
pub(crate) fn evaluate(op: BinaryOp, width: Width, left: u64, right: u64) -> Option<u64> {
    let (l, r) = (signed(left, width), signed(right, width));
    let distance = (right % u64::from(width)) as u32;
    let overflows = r == -1 && left == 1 << (width - 1);
    let result = match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::UDiv => left.checked_div(right)?,
        BinaryOp::URem => left.checked_rem(right)?,
        BinaryOp::SDiv | BinaryOp::SRem if overflows => return None,
        BinaryOp::SDiv => l.checked_div(r)? as u64,
        BinaryOp::SRem => l.checked_rem(r)? as u64,
        BinaryOp::And => left & right,
        BinaryOp::Or => left | right,
        BinaryOp::Xor => left ^ right,
        BinaryOp::Shl => left << distance,
        BinaryOp::LShr => left >> distance,
        BinaryOp::AShr => (l >> distance) as u64,
    };
    Some(result & mask(width))
}

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Shl | BinaryOp::LShr | BinaryOp::AShr)
}

/// A set from the bounds of exact results: in each reading the bounds are kept if all results wrap around equally often.
fn wrapped(
    width: Width,
    unsigned: Option<(i128, i128)>,
    signed_bounds: Option<(i128, i128)>,
    congruence: Congruence,
) -> Option<Number> {
    let mut made = Number::any(width).without_members();
    let size = 1_i128 << width;
    let turns = |bounds: (i128, i128), first: i128| {
        let (low, high) = ((bounds.0 - first).div_euclid(size), (bounds.1 - first).div_euclid(size));
        (low == high).then_some((bounds.0 - low * size, bounds.1 - low * size, low))
    };
    let mut exact = false;
    if let Some((low, high, count)) = unsigned.and_then(|bounds| turns(bounds, 0)) {
        (made.low, made.high) = (low as u64, high as u64);
        exact = count == 0;
    }
    if let Some((least, most, _)) = signed_bounds.and_then(|bounds| turns(bounds, -(size / 2))) {
        (made.least, made.most) = (least as i64, most as i64);
    }
    let modulus = if exact { congruence.modulus } else { gcd_wide(congruence.modulus, size as u128) };
    if (1..=u128::from(u64::MAX)).contains(&modulus) {
        (made.modulus, made.remainder) = (modulus as u64, (congruence.remainder % modulus) as u64);
    }
    made.normal()
}

fn wide(number: &Number) -> [(i128, i128); 2] {
    [(number.low.into(), number.high.into()), (number.least.into(), number.most.into())]
}

fn add(left: &Number, right: &Number) -> Option<Number> {
    let ([lu, ls], [ru, rs]) = (wide(left), wide(right));
    let (l, r) = (left.exact_congruence(), right.exact_congruence());
    let congruence =
        Congruence { modulus: gcd_wide(l.modulus, r.modulus), remainder: l.remainder.wrapping_add(r.remainder) };
    wrapped(left.width, Some((lu.0 + ru.0, lu.1 + ru.1)), Some((ls.0 + rs.0, ls.1 + rs.1)), congruence)
}

fn subtract(left: &Number, right: &Number) -> Option<Number> {
    let ([lu, ls], [ru, rs]) = (wide(left), wide(right));
    let (l, r) = (left.exact_congruence(), right.exact_congruence());
    let modulus = gcd_wide(l.modulus, r.modulus);
    // A multiple of the modulus keeps the difference from being negative.
    let lift = if modulus == 0 { 0 } else { modulus * (r.remainder / modulus + 1) };
    let congruence = match l.remainder + lift {
        sum if sum >= r.remainder => Congruence { modulus, remainder: sum - r.remainder },
        _ => Congruence { modulus: 1, remainder: 0 },
    };
    wrapped(left.width, Some((lu.0 - ru.1, lu.1 - ru.0)), Some((ls.0 - rs.1, ls.1 - rs.0)), congruence)
}

fn multiply(left: &Number, right: &Number) -> Option<Number> {
    let ([lu, ls], [ru, rs]) = (wide(left), wide(right));
    let unsigned = lu.0.checked_mul(ru.0).zip(lu.1.checked_mul(ru.1));
    let corners = [(ls.0, rs.0), (ls.0, rs.1), (ls.1, rs.0), (ls.1, rs.1)];
    let corners: Option<Vec<i128>> = corners.iter().map(|(left, right)| left.checked_mul(*right)).collect();
    let signed_bounds = corners.and_then(|corners| Some((*corners.iter().min()?, *corners.iter().max()?)));
    wrapped(left.width, unsigned, signed_bounds, product(left.exact_congruence(), right.exact_congruence()))
}

/// Of (m·x + r)·(n·y + s).
fn product(left: Congruence, right: Congruence) -> Congruence {
    let parts = [
        left.modulus.checked_mul(right.modulus),
        left.modulus.checked_mul(right.remainder),
        right.modulus.checked_mul(left.remainder),
    ];
    let remainder = left.remainder.checked_mul(right.remainder);
    match (parts, remainder) {
        ([Some(a), Some(b), Some(c)], Some(remainder)) => {
            Congruence { modulus: gcd_wide(gcd_wide(a, b), c), remainder }
        }
        _ => Congruence { modulus: 1, remainder: 0 },
    }
}

fn divide_unsigned(left: &Number, right: &Number) -> Option<Number> {
    if right.high == 0 {
        return None;
    }
    Number::unsigned_range(left.width, left.low / right.high, left.high / right.low.max(1))
}

fn divide_signed(left: &Number, right: &Number) -> Option<Number> {
    let (least, most) = (i128::from(right.least), i128::from(right.most));
    let divisors: Vec<i128> =
        [least, -1, 1, most].into_iter().filter(|&by| by != 0 && (least..=most).contains(&by)).collect();
    let quotients = divisors.iter().flat_map(|by| [i128::from(left.least) / by, i128::from(left.most) / by]);
    let any = Number::any(left.width);
    // What does not fit ended the path.
    let (low, high) = (quotients.clone().min()?, quotients.max()?);
    Number::signed_range(left.width, low.max(any.least.into()) as i64, high.min(any.most.into()) as i64)
}

fn remainder_unsigned(left: &Number, right: &Number) -> Option<Number> {
    if right.high == 0 {
        return None;
    }
    if left.high < right.low {
        return Some(left.clone());
    }
    let mut made = Number::unsigned_range(left.width, 0, left.high.min(right.high - 1))?.without_members();
    if let Some(by) = right.as_constant() {
        let modulus = gcd(left.modulus, by);
        if modulus > 0 {
            (made.modulus, made.remainder) = (modulus, left.remainder % modulus);
        }
    }
    made.normal()
}

fn remainder_signed(left: &Number, right: &Number) -> Option<Number> {
    let largest = i128::from(right.least).abs().max(i128::from(right.most).abs()) - 1;
    if largest < 0 {
        return None;
    }
    let least = i128::from(left.least).max(-largest).min(0);
    let most = i128::from(left.most).min(largest).max(0);
    let mut made = Number::signed_range(left.width, least as i64, most as i64)?.without_members();
    // Where nothing is negative, both readings divide alike.
    if left.least >= 0
        && let Some(by) = right.as_constant().filter(|_| right.least > 0)
    {
        if left.high < by {
            return Some(left.clone());
        }
        let modulus = gcd(left.modulus, by);
        if modulus > 0 {
            (made.modulus, made.remainder) = (modulus, left.remainder % modulus);
        }
    }
    made.normal()
}

/// A power of two that divides every member.
fn power_within(number: &Number) -> u64 {
    let common = gcd(number.modulus, number.remainder);
    if common == 0 { 0 } else { common & common.wrapping_neg() }
}

fn and(left: &Number, right: &Number) -> Option<Number> {
    let mut made = Number::unsigned_range(left.width, 0, left.high.min(right.high))?.without_members();
    let power = power_within(left).max(power_within(right));
    if power > 0 {
        (made.modulus, made.remainder) = (power, 0);
    }
    for (value, other) in [(left, right), (right, left)] {
        // A mask of low bits is a remainder.
        if let Some(mask) = other.as_constant()
            && mask.wrapping_add(1).is_power_of_two()
        {
            let by = mask + 1;
            let modulus = gcd(value.modulus, by);
            if modulus > made.modulus {
                (made.modulus, made.remainder) = (modulus, value.remainder % modulus);
            }
            if value.high <= mask {
                return Some(value.clone());
            }
        }
    }
    made.normal()
}

fn or(op: BinaryOp, left: &Number, right: &Number) -> Option<Number> {
    let high = left.high.max(right.high);
    let high = if high == 0 { 0 } else { u64::MAX >> high.leading_zeros() };
    let low = if op == BinaryOp::Or { left.low.max(right.low) } else { 0 };
    let mut made = Number::unsigned_range(left.width, low, high)?.without_members();
    let power = match (power_within(left), power_within(right)) {
        (0, power) | (power, 0) => power,
        (left, right) => left.min(right),
    };
    if power > 0 {
        (made.modulus, made.remainder) = (power, 0);
    }
    made.normal()
}

/// The distance, if there is only one. The machine takes it modulo the width.
fn distance(left: &Number, right: &Number) -> Option<u32> {
    right.as_constant().map(|distance| (distance % u64::from(left.width)) as u32)
}

fn shift_left(left: &Number, right: &Number) -> Option<Number> {
    let Some(distance) = distance(left, right) else { return Some(Number::any(left.width)) };
    if distance + 1 >= left.width {
        return Some(Number::any(left.width));
    }
    multiply(left, &Number::constant(left.width, 1 << distance))
}

fn shift_right(left: &Number, right: &Number) -> Option<Number> {
    match distance(left, right) {
        Some(distance) => Number::unsigned_range(left.width, left.low >> distance, left.high >> distance),
        None => Number::unsigned_range(left.width, 0, left.high),
    }
}

fn shift_right_signed(left: &Number, right: &Number) -> Option<Number> {
    match distance(left, right) {
        Some(distance) => Number::signed_range(left.width, left.least >> distance, left.most >> distance),
        None => Number::signed_range(left.width, left.least.min(0), left.most.max(0)),
    }
}

fn gcd_wide(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
