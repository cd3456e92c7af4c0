//! Numbers that are floats: bounds in the order of floats beside those of the bits, from the operators of `constraints`.

use branchwise_constraints::{FloatOp, FloatRange, FloatRelation, float_value};
use branchwise_program::code::{BinaryOp, FloatPredicate, Width};

use super::arithmetic::MOST_PAIRS;
use super::{FEW, Number, mask};

/// Binary exponents of what is taken for a float where only bits are seen. No fact rests on that, only what is kept of it.
const USUAL_EXPONENTS: std::ops::Range<i64> = -64..64;

impl Number {
    pub(crate) fn of_float(range: FloatRange) -> Number {
        let any = Number::any(range.width());
        if let Some(few) = range.few_patterns(FEW)
            && let Some(members) = Number::one_of(range.width(), few)
        {
            return Number { float: Some(range), ..members };
        }
        Number { float: Some(range), ..any.clone() }.normal().unwrap_or(any)
    }

    /// The members as floats; the width is 32 or 64.
    pub(crate) fn as_float(&self) -> FloatRange {
        let any = FloatRange::any(self.width);
        if let Some(few) = &self.few {
            let members = few.iter().map(|&member| FloatRange::of_constant(member, self.width));
            return members.reduce(FloatRange::join).unwrap_or(any);
        }
        self.float.or_else(|| FloatRange::of_patterns(self.low, self.high, self.width)).unwrap_or(any)
    }

    pub(crate) fn is_float(&self) -> bool {
        self.float.is_some()
    }

    /// The same members, known to be floats.
    pub(crate) fn taken_for_float(self) -> Number {
        match self.width {
            32 | 64 => Number { float: Some(self.as_float()), ..self }.without_needless_float(),
            _ => self,
        }
    }

    pub(super) fn without_needless_float(self) -> Number {
        Number { float: self.float.filter(|&float| float != FloatRange::any(self.width)), ..self }
    }

    /// Lets the bounds of the bits and those of the floats say what the others imply; `None` if nothing is left.
    pub(super) fn exchange_float(&mut self) -> Option<()> {
        let Some(float) = self.float else { return Some(()) };
        let (low, high) = float.patterns()?;
        (self.low, self.high) = (self.low.max(low), self.high.min(high));
        if self.low > self.high {
            return None;
        }
        self.float = Some(float.common(FloatRange::of_patterns(self.low, self.high, self.width)?)?);
        Some(())
    }

    /// The bounds of both as floats, if one of them is known to be one.
    pub(super) fn joined_float(&self, other: &Number) -> Option<FloatRange> {
        let is_float = self.float.is_some() || other.float.is_some();
        is_float.then(|| self.as_float().join(other.as_float()))
    }

    /// As [`Number::widen`], of floats.
    pub(super) fn widened_float(&self, joined: &Number, thresholds: &[f64]) -> Number {
        let (width, known) = (self.width, self.as_float());
        let is_threshold = |bits: u64| {
            FloatRange::of_constant(bits, width).ends().is_some_and(|(value, _)| thresholds.contains(&value))
        };
        let new_members = |few: &[u64]| few.iter().all(|&member| self.contains(member) || is_threshold(member));
        if joined.few.as_deref().is_some_and(new_members) {
            return joined.clone();
        }
        Number::of_float(known.widened(joined.as_float(), thresholds))
    }

    /// A result that is a float of this width. `same`: the two operands are one value.
    pub(crate) fn float_result(op: FloatOp, operands: &[&Number], to: Width, same: bool) -> Number {
        if let Some(exact) = Number::evaluated(op, operands, to, same) {
            return exact;
        }
        let from = operands.first().map_or(to, |operand| operand.width);
        let range = match (op, operands) {
            (FloatOp::FromSigned, [value]) if from <= 64 => {
                let (least, most) = value.signed_bounds();
                FloatRange::of_integers(op, (least.into(), most.into()), from, to)
            }
            (FloatOp::FromUnsigned, [value]) if from <= 64 => {
                let (low, high) = value.unsigned_bounds();
                FloatRange::of_integers(op, (low.into(), high.into()), from, to)
            }
            (FloatOp::FromSigned | FloatOp::FromUnsigned, _) => FloatRange::any(to),
            (FloatOp::Convert, [value]) => value.as_float().converted(to),
            _ => {
                let ranges: Vec<FloatRange> = operands.iter().map(|operand| operand.as_float()).collect();
                FloatRange::result(op, &ranges, same)
            }
        };
        Number::of_float(range)
    }

    /// Of few members all results, unless one is a NaN: which one that is, is not followed.
    fn evaluated(op: FloatOp, operands: &[&Number], to: Width, same: bool) -> Option<Number> {
        let from = operands.first()?.width;
        let value = |bits: &[u128]| {
            let result = float_value(op, from, to, bits) as u64;
            let is_nan = FloatRange::of_constant(result, to).has_nan();
            (!is_nan).then_some(result)
        };
        let results: Option<Vec<u64>> = match operands {
            [one] => one.few()?.iter().map(|&a| value(&[a.into()])).collect(),
            [one, _] if same => one.few()?.iter().map(|&a| value(&[a.into(), a.into()])).collect(),
            [left, right] => {
                let (left, right) = (left.few()?, right.few()?);
                let pairs = left.iter().flat_map(|&a| right.iter().map(move |&b| (a, b)));
                let few = left.len() * right.len() <= MOST_PAIRS;
                few.then(|| pairs.map(|(a, b)| value(&[a.into(), b.into()])).collect())?
            }
            _ => None,
        };
        let results = results?;
        let floats = results.iter().map(|&result| FloatRange::of_constant(result, to));
        let float = floats.reduce(FloatRange::join);
        Number { float, ..Number::one_of(to, results)? }.normal()
    }

    /// A float made an integer: out of range it may be anything.
    pub(crate) fn float_to_integer(&self, op: FloatOp, to: Width) -> Number {
        let any = Number::any(to);
        if to > 64 {
            return any;
        }
        if let Some(few) = &self.few {
            let results = few.iter().map(|&member| float_value(op, self.width, to, &[member.into()]) as u64);
            return Number::one_of(to, results).unwrap_or(any);
        }
        let made = self.as_float().integers(op, to).and_then(|(low, high)| match op {
            FloatOp::ToSigned => Number::signed_range(to, low as i64, high as i64),
            _ => Number::unsigned_range(to, low as u64, high as u64),
        });
        made.unwrap_or(any)
    }

    /// The outcomes that a comparison of floats may have, as a number of one bit.
    pub(crate) fn float_compare(predicate: FloatPredicate, left: &Number, right: &Number, same: bool) -> Number {
        let outcomes = [1, 0]
            .into_iter()
            .filter(|&truth| Number::float_restricted(predicate, truth == 1, [left, right], same).is_some());
        Number::one_of(1, outcomes).unwrap_or_else(|| Number::any(1))
    }

    /// The operands where a comparison of floats is true, or false; `None` if it never is.
    pub(crate) fn float_restricted(
        predicate: FloatPredicate,
        truth: bool,
        [left, right]: [&Number; 2],
        same: bool,
    ) -> Option<[Number; 2]> {
        let (a, b) = (left.as_float(), right.as_float());
        let wanted = FloatRelation::ALL.into_iter().filter(|&relation| holds(predicate, relation) == truth);
        let pairs = wanted.filter_map(|relation| FloatRange::related(relation, a, b, same));
        let [a, b] = pairs.reduce(|[a, b], [c, d]| [a.join(c), b.join(d)])?;
        let (new_left, new_right) = (left.meet(&Number::of_float(a))?, right.meet(&Number::of_float(b))?);
        let (Some(lefts), Some(rights)) = (new_left.few(), new_right.few()) else { return Some([new_left, new_right]) };
        let is_so = |a: u64, b: u64| holds(predicate, relation(a, b, left.width)) == truth;
        let possible = lefts.iter().any(|&a| match same {
            true => is_so(a, a),
            false => rights.iter().any(|&b| is_so(a, b)),
        });
        possible.then_some([new_left, new_right])
    }

    /// The floats whose absolute values are one of these, at least; `None` if there are none.
    pub(crate) fn before_absolute(&self, result: &Number) -> Option<Number> {
        self.as_float().before_absolute(result.as_float()).map(Number::of_float)
    }

    /// Changes of the sign, which are made on the bits: of a float the bounds, if the operation is one.
    pub(super) fn with_sign(op: BinaryOp, left: &Number, right: &Number) -> Option<Number> {
        let float = left.float?;
        let sign = 1 << (left.width - 1);
        match (op, right.as_constant()) {
            (BinaryOp::Xor, Some(bits)) if bits == sign => Some(Number::of_float(float.opposite())),
            (BinaryOp::And, Some(bits)) if bits == sign - 1 => Some(Number::of_float(float.absolute())),
            (BinaryOp::Or, _) if left.high < sign && right.few()?.iter().all(|&bits| bits == 0 || bits == sign) => {
                Some(Number::of_float(float.join(float.opposite())))
            }
            _ => None,
        }
    }
}

/// What is known of a float, as a phrase that follows "is".
pub(super) fn describe(float: FloatRange, few: Option<&[u64]>) -> String {
    let text = |value: f64| match float.width() {
        32 => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    };
    let numbers = match (few, float.ends()) {
        (Some(few), Some(_)) => {
            let numbers = few.iter().filter_map(|&bits| FloatRange::of_constant(bits, float.width()).ends());
            let mut numbers: Vec<f64> = numbers.map(|(value, _)| value).collect();
            numbers.sort_by(f64::total_cmp);
            Some(numbers.into_iter().map(text).collect::<Vec<_>>().join(" or "))
        }
        (None, Some((low, high))) => Some(match (low == f64::NEG_INFINITY, high == f64::INFINITY) {
            (true, true) => "any number".to_string(),
            (true, false) => format!("at most {}", text(high)),
            (false, true) => format!("at least {}", text(low)),
            (false, false) => format!("from {} to {}", text(low), text(high)),
        }),
        (_, None) => None,
    };
    match (numbers, float.has_nan()) {
        (Some(numbers), false) => numbers,
        (Some(numbers), true) => format!("{numbers} or a NaN"),
        (None, _) => "a NaN".to_string(),
    }
}

/// Whether all of these are floats of a usual size or zero.
pub(crate) fn look_like_floats(members: impl IntoIterator<Item = u64>, width: Width) -> bool {
    let (fraction, bias) = match width {
        32 => (23, 127),
        64 => (52, 1023),
        _ => return false,
    };
    members.into_iter().all(|member| {
        let magnitude = member & (mask(width) >> 1);
        magnitude == 0 || USUAL_EXPONENTS.contains(&((magnitude >> fraction) as i64 - bias))
    })
}

fn relation(left: u64, right: u64, width: Width) -> FloatRelation {
    let [left, right] = [left, right].map(|bits| FloatRange::of_constant(bits, width).ends().map(|(value, _)| value));
    match left.zip(right) {
        Some((left, right)) if left < right => FloatRelation::Less,
        Some((left, right)) if left > right => FloatRelation::Greater,
        Some(_) => FloatRelation::Equal,
        None => FloatRelation::Unordered,
    }
}

fn holds(predicate: FloatPredicate, relation: FloatRelation) -> bool {
    use FloatPredicate::*;
    match relation {
        FloatRelation::Less => matches!(
            predicate,
            Less | LessOrEqual | Different | Ordered | UnorderedOrLess | UnorderedOrLessOrEqual | UnorderedOrDifferent
        ),
        FloatRelation::Greater => matches!(
            predicate,
            Greater
                | GreaterOrEqual
                | Different
                | Ordered
                | UnorderedOrGreater
                | UnorderedOrGreaterOrEqual
                | UnorderedOrDifferent
        ),
        FloatRelation::Equal => matches!(
            predicate,
            Equal
                | GreaterOrEqual
                | LessOrEqual
                | Ordered
                | UnorderedOrEqual
                | UnorderedOrGreaterOrEqual
                | UnorderedOrLessOrEqual
        ),
        FloatRelation::Unordered => matches!(
            predicate,
            Unordered
                | UnorderedOrEqual
                | UnorderedOrGreater
                | UnorderedOrGreaterOrEqual
                | UnorderedOrLess
                | UnorderedOrLessOrEqual
                | UnorderedOrDifferent
        ),
    }
}
