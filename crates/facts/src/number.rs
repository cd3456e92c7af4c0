//! Sets of integers of one width: bounds of both readings, a congruence, and the members themselves where they are few;
//! of floats the bounds in their order too.

use std::collections::BTreeSet;
use std::fmt;

use branchwise_constraints::FloatRange;
use branchwise_program::code::Width;

use crate::thresholds::Thresholds;

mod arithmetic;
mod compare;
mod float;
#[cfg(test)]
mod float_tests;
#[cfg(test)]
mod tests;

pub(crate) use float::look_like_floats;

/// Above this many members only bounds and congruence are kept.
const FEW: usize = 16;

/// Wider integers are not followed.
const WIDEST: Width = 64;

/// A set of bit patterns of one width that is not empty. In its normal form no part says less than the others imply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Number {
    width: Width,
    /// Bounds read without a sign.
    low: u64,
    high: u64,
    /// Bounds read with a sign.
    least: i64,
    most: i64,
    /// The members, read without a sign, are `remainder` modulo `modulus`; modulus 0: equal to `remainder`.
    modulus: u64,
    remainder: u64,
    /// All members in ascending order, if they are few.
    few: Option<Box<[u64]>>,
    /// Of what is known to be a float: bounds of what the bits mean, unless they are any.
    float: Option<FloatRange>,
}

impl Number {
    pub(crate) fn any(width: Width) -> Self {
        let known = width.min(WIDEST);
        let all = Number {
            width,
            low: 0,
            high: mask(known),
            least: signed(1 << (known - 1), known),
            most: (mask(known) >> 1) as i64,
            modulus: 1,
            remainder: 0,
            few: None,
            float: None,
        };
        // A bit is one of two values.
        if width == 1 { Number::one_of(1, [0, 1]).unwrap_or(all) } else { all }
    }

    pub(crate) fn constant(width: Width, bits: u128) -> Self {
        if width > WIDEST {
            return Number::any(width);
        }
        Number::one_of(width, [bits as u64]).unwrap_or_else(|| Number::any(width))
    }

    /// The set of these members; `None` if there are none.
    pub(crate) fn one_of(width: Width, members: impl IntoIterator<Item = u64>) -> Option<Self> {
        let members: BTreeSet<u64> = members.into_iter().map(|member| member & mask(width)).collect();
        let (&low, &high) = (members.first()?, members.last()?);
        let modulus = members.iter().fold(0, |modulus, member| gcd(modulus, member - low));
        let readings = members.iter().map(|&member| signed(member, width));
        let many_floats = members.len() > FEW && look_like_floats(members.iter().copied(), width);
        let floats = members.iter().filter(|_| many_floats).map(|&member| FloatRange::of_constant(member, width));
        Some(Number {
            width,
            low,
            high,
            least: readings.clone().min()?,
            most: readings.max()?,
            modulus,
            remainder: if modulus == 0 { low } else { low % modulus },
            float: floats.reduce(FloatRange::join),
            few: (members.len() <= FEW).then(|| members.into_iter().collect()),
        })
    }

    /// All from `low` to `high`, read without a sign.
    pub(crate) fn unsigned_range(width: Width, low: u64, high: u64) -> Option<Self> {
        Number { low, high, ..Number::any(width).without_members() }.normal()
    }

    /// All from `least` to `most`, read with a sign.
    pub(crate) fn signed_range(width: Width, least: i64, most: i64) -> Option<Self> {
        Number { least, most, ..Number::any(width).without_members() }.normal()
    }

    pub(crate) fn width(&self) -> Width {
        self.width
    }

    fn is_followed(&self) -> bool {
        self.width <= WIDEST
    }

    pub(crate) fn as_constant(&self) -> Option<u64> {
        match self.few.as_deref() {
            Some([single]) => Some(*single),
            _ => None,
        }
    }

    pub(crate) fn few(&self) -> Option<&[u64]> {
        self.few.as_deref()
    }

    /// Bounds of the reading without a sign; of no meaning for integers that are not followed.
    pub(crate) fn unsigned_bounds(&self) -> (u64, u64) {
        (self.low, self.high)
    }

    pub(crate) fn signed_bounds(&self) -> (i64, i64) {
        (self.least, self.most)
    }

    /// The members are `remainder` modulo `modulus`.
    pub(crate) fn congruence(&self) -> (u64, u64) {
        (self.modulus, self.remainder)
    }

    pub(crate) fn contains(&self, bits: u64) -> bool {
        let reading = signed(bits, self.width.min(WIDEST));
        !self.is_followed()
            || (self.few.as_deref().is_none_or(|few| few.binary_search(&bits).is_ok())
                && (self.low..=self.high).contains(&bits)
                && (self.least..=self.most).contains(&reading)
                && is_congruent(bits, self.modulus, self.remainder)
                && self.float.is_none_or(|float| float.has_pattern(bits)))
    }

    fn without_members(self) -> Self {
        let (modulus, remainder) = if self.modulus == 0 { (0, self.low) } else { (self.modulus, self.remainder) };
        Number { few: None, modulus, remainder, ..self }
    }

    /// Lets every part say what the others imply; `None` if nothing is left.
    fn normal(self) -> Option<Self> {
        let is_float = self.float.is_some();
        let normal = self.agreeing()?;
        Some(if is_float { normal.taken_for_float() } else { normal })
    }

    fn agreeing(mut self) -> Option<Self> {
        if !self.is_followed() {
            return Some(Number::any(self.width));
        }
        if let Some(few) = self.few.take() {
            let members: Vec<u64> = few.iter().copied().filter(|&member| self.contains(member)).collect();
            return Number::one_of(self.width, members);
        }
        if self.modulus == 0 {
            return self.contains(self.remainder).then(|| Number::one_of(self.width, [self.remainder]))?;
        }
        loop {
            let before = (self.low, self.high, self.least, self.most);
            self.exchange_float()?;
            self.exchange_bounds()?;
            self.round_to_congruence()?;
            if before == (self.low, self.high, self.least, self.most) {
                break;
            }
        }
        let count = u128::from((self.high - self.low) / self.modulus) + 1;
        let readings = (i128::from(self.most) - i128::from(self.least)) as u128 + 1;
        if count <= FEW as u128 {
            let members = (0..count as u64).map(|index| self.low + index * self.modulus);
            let members: Vec<u64> = members.filter(|&member| self.contains(member)).collect();
            return Number::one_of(self.width, members);
        }
        if readings <= FEW as u128 {
            let members = (0..readings as i64).map(|index| (self.least + index) as u64 & mask(self.width));
            let members: Vec<u64> = members.filter(|&member| self.contains(member)).collect();
            return Number::one_of(self.width, members);
        }
        Some(self)
    }

    fn exchange_bounds(&mut self) -> Option<()> {
        let half = mask(self.width) >> 1;
        let mask = mask(self.width);
        if self.low > self.high || self.least > self.most {
            return None;
        }
        if self.least >= 0 {
            (self.low, self.high) = (self.low.max(self.least as u64), self.high.min(self.most as u64));
        } else if self.most < 0 {
            let (least, most) = (self.least as u64 & mask, self.most as u64 & mask);
            (self.low, self.high) = (self.low.max(least), self.high.min(most));
        }
        if self.high <= half {
            (self.least, self.most) = (self.least.max(self.low as i64), self.most.min(self.high as i64));
        } else if self.low > half {
            let (low, high) = (signed(self.low, self.width), signed(self.high, self.width));
            (self.least, self.most) = (self.least.max(low), self.most.min(high));
        }
        (self.low <= self.high && self.least <= self.most).then_some(())
    }

    fn round_to_congruence(&mut self) -> Option<()> {
        let (modulus, remainder) = (u128::from(self.modulus), u128::from(self.remainder));
        if modulus > 1 {
            let up = (remainder + modulus - u128::from(self.low) % modulus) % modulus;
            let down = (u128::from(self.high) % modulus + modulus - remainder) % modulus;
            self.low = self.low.checked_add(up as u64).filter(|&low| low <= self.high)?;
            self.high = self.high.checked_sub(down as u64).filter(|&high| self.low <= high)?;
        }
        Some(())
    }

    pub(crate) fn join(&self, other: &Number) -> Number {
        if self == other || !self.is_followed() {
            return self.clone();
        }
        let float = self.joined_float(other);
        if let (Some(left), Some(right)) = (&self.few, &other.few)
            && let Some(both) = Number::one_of(self.width, left.iter().chain(right).copied())
        {
            return Number { float: float.or(both.float), ..both }.without_needless_float();
        }
        let apart = self.remainder.abs_diff(other.remainder);
        let modulus = gcd(gcd(self.modulus, other.modulus), apart);
        let joined = Number {
            width: self.width,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            modulus,
            remainder: if modulus == 0 { self.remainder } else { self.remainder % modulus },
            few: None,
            float,
        };
        joined.normal().unwrap_or_else(|| Number::any(self.width))
    }

    /// What is in both; `None` if nothing is.
    pub(crate) fn meet(&self, other: &Number) -> Option<Number> {
        if !self.is_followed() {
            return Some(self.clone());
        }
        let is_float = self.float.is_some() || other.float.is_some();
        if let Some(few) = &self.few {
            let common = Number::one_of(self.width, few.iter().copied().filter(|&member| other.contains(member)))?;
            return Some(if is_float { common.taken_for_float() } else { common });
        }
        if other.few.is_some() {
            return other.meet(self);
        }
        let common = gcd(self.modulus, other.modulus);
        if common != 0 && !self.remainder.abs_diff(other.remainder).is_multiple_of(common) {
            return None;
        }
        let finer = if self.modulus >= other.modulus { self } else { other };
        Number {
            width: self.width,
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            modulus: finer.modulus,
            remainder: finer.remainder,
            few: None,
            float: if is_float { Some(self.as_float().common(other.as_float())?) } else { None },
        }
        .normal()
    }

    /// An upper bound of both from which only finitely many steps lead up: a bound that moves goes on to the next of
    /// the thresholds (read with a sign and without), or to the end if there are none.
    pub(crate) fn widen(&self, next: &Number, thresholds: &Thresholds) -> Number {
        let joined = self.join(next);
        if joined == *self || !self.is_followed() {
            return joined;
        }
        if joined.float.is_some() || self.float.is_some() {
            return self.widened_float(&joined, &thresholds.floats);
        }
        let thresholds = &thresholds.integers;
        let is_threshold = |&member: &u64| {
            let reading = i128::from(signed(member, self.width));
            thresholds.binary_search(&reading).is_ok() || thresholds.binary_search(&i128::from(member)).is_ok()
        };
        if let Some(few) = &joined.few
            && few.iter().filter(|member| !self.contains(**member)).all(is_threshold)
        {
            return joined;
        }
        let any = Number::any(self.width);
        let below = |bound: i128| thresholds.iter().rev().copied().find(|&threshold| threshold <= bound);
        let above = |bound: i128| thresholds.iter().copied().find(|&threshold| threshold >= bound);
        let lower = |old: i128, new: i128, end: i128| match new < old {
            true => below(new).unwrap_or(end).max(end),
            false => new,
        };
        let upper = |old: i128, new: i128, end: i128| match new > old {
            true => above(new).unwrap_or(end).min(end),
            false => new,
        };
        Number {
            low: lower(self.low.into(), joined.low.into(), any.low.into()) as u64,
            high: upper(self.high.into(), joined.high.into(), any.high.into()) as u64,
            least: lower(self.least.into(), joined.least.into(), any.least.into()) as i64,
            most: upper(self.most.into(), joined.most.into(), any.most.into()) as i64,
            ..joined.without_members()
        }
        .normal()
        .unwrap_or(any)
    }
}

impl fmt::Display for Number {
    /// What is known of a value, as a phrase that follows "is".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(float) = self.float {
            return f.write_str(&float::describe(float, self.few()));
        }
        let any = Number::any(self.width);
        let readings: Vec<String> = match &self.few {
            Some(few) => {
                let mut readings: Vec<i64> = few.iter().map(|&member| signed(member, self.width)).collect();
                readings.sort_unstable();
                readings.iter().map(i64::to_string).collect()
            }
            None => Vec::new(),
        };
        if let Some((last, before)) = readings.split_last() {
            return match before {
                [] => write!(f, "{last}"),
                _ => write!(f, "{} or {last}", before.join(", ")),
            };
        }
        let mut parts = Vec::new();
        match (self.least, self.most) {
            (least, most) if (least, most) == (any.least, any.most) => {}
            (least, most) if most == any.most => parts.push(format!("at least {least}")),
            (least, most) if least == any.least => parts.push(format!("at most {most}")),
            (least, most) => parts.push(format!("from {least} to {most}")),
        }
        if parts.is_empty() && (self.low, self.high) != (any.low, any.high) {
            parts.push(format!("from {} to {} without a sign", self.low, self.high));
        }
        if self.modulus > 1 {
            parts.push(format!("{} modulo {}", self.remainder, self.modulus));
        }
        if parts.is_empty() { f.write_str("any number") } else { f.write_str(&parts.join(" and ")) }
    }
}

pub(crate) fn mask(width: Width) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The reading with a sign.
pub(crate) fn signed(bits: u64, width: Width) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

fn is_congruent(value: u64, modulus: u64, remainder: u64) -> bool {
    if modulus == 0 { value == remainder } else { value % modulus == remainder % modulus }
}

fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
