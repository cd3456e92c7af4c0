//! Floating-point instructions and the functions of `math.h`: on plain bits at once, on terms otherwise.
//!
//! The library's functions set `errno`, which is not modelled: a path that reads it behind one ends by name
//! (`note_library`).

use std::collections::BTreeSet;

use branchwise_constraints::{FloatOp as TermOp, MathFunction, TermId, TermKind, bounds, float_value};
use branchwise_program::CodeFunctionId;
use branchwise_program::assumption::catalogue::MATH_AS_HERE;
use branchwise_program::code::{Float, FloatOp, FloatPredicate};

use crate::executor::{Executor, Step};
use crate::path::AlternativeKind;
use crate::session::Session;
use crate::value::Value;

impl Executor<'_, '_> {
    pub(crate) fn float(&mut self, float: &Float) -> Step<()> {
        let operands: Vec<Value> = float.operands.iter().map(|operand| self.wide_value(operand, float.from)).collect();
        let value = match float.op {
            _ if operands.iter().any(|operand| matches!(operand, Value::Undefined)) => Value::Undefined,
            FloatOp::Compare(predicate) => self.float_compare(predicate, float.from, &operands),
            FloatOp::ToSigned | FloatOp::ToUnsigned => self.float_to_integer(float, &operands)?,
            op => self.float_operation(plain(op), float.from, float.to, &operands),
        };
        self.set(float.out, value);
        Ok(())
    }

    fn float_operation(&mut self, op: TermOp, from: u32, to: u32, operands: &[Value]) -> Value {
        if let Some(bits) = all_bits(operands).filter(|_| to <= 64) {
            return Value::Bits(float_value(op, from, to, &bits) as u64);
        }
        let terms: Vec<TermId> = operands.iter().map(|operand| self.as_term(operand, from)).collect();
        let term = self.session.terms.float(op, to, &terms);
        self.term_value(term)
    }

    fn float_compare(&mut self, predicate: FloatPredicate, width: u32, operands: &[Value]) -> Value {
        let (op, swapped, negated) = comparison(predicate);
        let mut operands = operands.to_vec();
        if swapped {
            operands.reverse();
        }
        let unordered = matches!(predicate, FloatPredicate::Different | FloatPredicate::UnorderedOrEqual);
        let value = self.float_operation(op, width, 1, &operands);
        let value = match unordered {
            true => {
                let nan = self.float_operation(TermOp::Unordered, width, 1, &operands);
                self.either_of(&value, &nan)
            }
            false => value,
        };
        if negated { self.negated(&value) } else { value }
    }

    fn either_of(&mut self, a: &Value, b: &Value) -> Value {
        let (a, b) = (self.as_term(a, 1), self.as_term(b, 1));
        let term = self.session.terms.or(a, b);
        self.term_value(term)
    }

    fn negated(&mut self, value: &Value) -> Value {
        if let Value::Bits(bits) = value {
            return Value::Bits(bits ^ 1);
        }
        let term = self.as_term(value, 1);
        let term = self.session.terms.not(term);
        self.term_value(term)
    }

    /// Out of range C leaves the result undefined; the machine goes on.
    fn float_to_integer(&mut self, float: &Float, operands: &[Value]) -> Step<Value> {
        let (op, signed) = (plain(float.op), float.op == FloatOp::ToSigned);
        let outside = self.outside_of_integers(float.from, float.to, signed, &operands[0]);
        let outside_term = self.as_term(&outside, 1);
        if float.to > 64 {
            // The compiler calls its library, whose answer out of range is nobody's promise.
            if self.decide(outside_term, [AlternativeKind::Continue; 2])? {
                return self.unsupported("a float that does not fit an integer of 128 bits");
            }
        } else if self.session.terms.as_boolean(outside_term) != Some(false) {
            let is_here = self.evaluate(outside_term) == 1;
            self.may_not_fit(outside_term, is_here)?;
        }
        Ok(self.float_operation(op, float.from, float.to, operands))
    }

    /// Whether the truncated value does not fit the integers: `!(low < value && value < high)`, for a NaN too.
    fn outside_of_integers(&mut self, from: u32, to: u32, signed: bool, value: &Value) -> Value {
        let power = |exponent: u32| 2_f64.powi(exponent as i32);
        // One below the smallest integer; where the width of the float cannot tell, that integer is included.
        let (high, low, strict) = match signed {
            false => (power(to), -1.0, true),
            true if to - 1 < mantissa(from) => (power(to - 1), -power(to - 1) - 1.0, true),
            true => (power(to - 1), -power(to - 1), false),
        };
        let (high, low) = (float_constant(high, from), float_constant(low, from));
        let above = if strict { TermOp::Less } else { TermOp::LessOrEqual };
        let above = self.float_operation(above, from, 1, &[Value::Bits(low), *value]);
        let below = self.float_operation(TermOp::Less, from, 1, &[*value, Value::Bits(high)]);
        let (above, below) = (self.as_term(&above, 1), self.as_term(&below, 1));
        let inside = self.session.terms.and(above, below);
        let outside = self.session.terms.not(inside);
        self.term_value(outside)
    }

    /// The value of a call of a function of `math.h`, if it is one with its usual types.
    pub(crate) fn call_mathematics(&mut self, callee: CodeFunctionId, arguments: &[Value]) -> Step<Option<Value>> {
        let function = &self.code.functions[callee];
        let Some((op, width)) = TermOp::of_function(&function.name) else { return Ok(self.rounded(callee, arguments)) };
        let widths = function.parameters.iter().map(|&parameter| function.registers[parameter]);
        if function.results != [width] || !widths.eq(std::iter::repeat_n(width, op.arity())) {
            return Ok(None);
        }
        if arguments.iter().any(|argument| matches!(argument, Value::Undefined)) {
            return Ok(Some(Value::Undefined));
        }
        let value = self.float_operation(op, width, width, arguments);
        if let TermOp::Library(function) = op {
            self.note_mathematics(function, &value, arguments);
        }
        Ok(Some(value))
    }

    /// Another library may round the result in another way, but where all arguments are zero. A path rests on a number at once;
    /// what is refuted with a term rests on that ([`Session::mathematics`]). Of many ways at once nobody knows which do.
    fn note_mathematics(&mut self, function: MathFunction, value: &Value, arguments: &[Value]) {
        let is_zero = |argument: &Value| matches!(argument, Value::Bits(0));
        if function.is_determined() || arguments.iter().all(is_zero) || self.in_precondition() {
            return;
        }
        match value {
            Value::Term(_) if !self.unites() => self.session.asks_mathematics = true,
            _ => self.rest_on(MATH_AS_HERE.about(function.name())),
        }
    }

    /// A float rounded to a `long`, if that is what the function does.
    fn rounded(&mut self, callee: CodeFunctionId, arguments: &[Value]) -> Option<Value> {
        let function = &self.code.functions[callee];
        let (op, width) = rounding(&function.name)?;
        let parameters = function.parameters.iter().map(|&parameter| function.registers[parameter]);
        let [value] = arguments else { return None };
        if function.results != [64] || !parameters.eq([width]) {
            return None;
        }
        if matches!(value, Value::Undefined) {
            return Some(Value::Undefined);
        }
        let rounded = self.float_operation(op, width, width, arguments);
        Some(self.float_operation(TermOp::ToSigned, width, 64, &[rounded]))
    }
}

impl Session<'_> {
    /// The functions of `math.h` whose results other libraries round in another way, in conditions that were refuted. A condition
    /// that the range of a function decides holds with every library.
    pub fn mathematics(&mut self, conditions: &[TermId]) -> BTreeSet<MathFunction> {
        if !self.asks_mathematics {
            return BTreeSet::new();
        }
        let is_open = |condition: &&TermId| {
            let known = bounds(&self.terms, &[], **condition);
            known.is_none_or(|known| known.unsigned.0 != known.unsigned.1)
        };
        let open: Vec<TermId> = conditions.iter().filter(is_open).copied().collect();
        open.into_iter().flat_map(|condition| self.mathematics_in(condition)).collect()
    }

    fn mathematics_in(&mut self, term: TermId) -> BTreeSet<MathFunction> {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            if self.known_mathematics.contains_key(&next) {
                open.pop();
                continue;
            }
            let parts: Vec<TermId> = self.parts_with_floats(next);
            let unknown: Vec<TermId> =
                parts.iter().copied().filter(|part| !self.known_mathematics.contains_key(part)).collect();
            if unknown.is_empty() {
                let mut found: BTreeSet<MathFunction> =
                    parts.iter().flat_map(|part| &self.known_mathematics[part]).copied().collect();
                found.extend(rounded_function(self.terms.kind(next)));
                self.known_mathematics.insert(next, found);
            }
            open.extend(unknown);
        }
        self.known_mathematics.get(&term).cloned().unwrap_or_default()
    }

    fn parts_with_floats(&self, term: TermId) -> Vec<TermId> {
        self.terms.kind(term).operands().filter(|&part| self.terms.has_floats(part)).collect()
    }
}

/// The function that a term calls, where another library may round the result in another way.
fn rounded_function(kind: &TermKind) -> Option<MathFunction> {
    match kind {
        TermKind::Float(TermOp::Library(function), ..) if !function.is_determined() => Some(*function),
        _ => None,
    }
}

/// `lround` and its family: how they round, and the width of their floats.
fn rounding(name: &str) -> Option<(TermOp, u32)> {
    Some(match name {
        "lround" | "llround" => (TermOp::RoundAway, 64),
        "lroundf" | "llroundf" => (TermOp::RoundAway, 32),
        "lrint" | "llrint" => (TermOp::RoundEven, 64),
        "lrintf" | "llrintf" => (TermOp::RoundEven, 32),
        _ => return None,
    })
}

fn all_bits(values: &[Value]) -> Option<Vec<u128>> {
    let bits = |value: &Value| match value {
        Value::Bits(bits) => Some(u128::from(*bits)),
        _ => None,
    };
    values.iter().map(bits).collect()
}

fn float_constant(value: f64, width: u32) -> u64 {
    if width == 64 { value.to_bits() } else { u64::from((value as f32).to_bits()) }
}

/// Bits of the mantissa, with the one that is not stored.
fn mantissa(width: u32) -> u32 {
    if width == 64 { 53 } else { 24 }
}

/// A predicate as one of the four comparisons of terms: with the operands swapped, and negated. Different, and
/// unordered or equal, need a look at NaN beside.
fn comparison(predicate: FloatPredicate) -> (TermOp, bool, bool) {
    match predicate {
        FloatPredicate::Equal => (TermOp::Equal, false, false),
        FloatPredicate::Greater => (TermOp::Less, true, false),
        FloatPredicate::GreaterOrEqual => (TermOp::LessOrEqual, true, false),
        FloatPredicate::Less => (TermOp::Less, false, false),
        FloatPredicate::LessOrEqual => (TermOp::LessOrEqual, false, false),
        FloatPredicate::Different => (TermOp::Equal, false, true),
        FloatPredicate::Ordered => (TermOp::Unordered, false, true),
        FloatPredicate::Unordered => (TermOp::Unordered, false, false),
        FloatPredicate::UnorderedOrEqual => (TermOp::Equal, false, false),
        FloatPredicate::UnorderedOrGreater => (TermOp::LessOrEqual, false, true),
        FloatPredicate::UnorderedOrGreaterOrEqual => (TermOp::Less, false, true),
        FloatPredicate::UnorderedOrLess => (TermOp::LessOrEqual, true, true),
        FloatPredicate::UnorderedOrLessOrEqual => (TermOp::Less, true, true),
        FloatPredicate::UnorderedOrDifferent => (TermOp::Equal, false, true),
    }
}

fn plain(op: FloatOp) -> TermOp {
    match op {
        FloatOp::Add => TermOp::Add,
        FloatOp::Sub => TermOp::Sub,
        FloatOp::Mul => TermOp::Mul,
        FloatOp::Div => TermOp::Div,
        FloatOp::Rem => TermOp::Library(MathFunction::Fmod),
        FloatOp::Sqrt => TermOp::Sqrt,
        FloatOp::Floor => TermOp::Floor,
        FloatOp::Ceil => TermOp::Ceil,
        FloatOp::Trunc => TermOp::Trunc,
        FloatOp::RoundEven => TermOp::RoundEven,
        FloatOp::RoundAway => TermOp::RoundAway,
        FloatOp::FusedMultiplyAdd => TermOp::FusedMultiplyAdd,
        FloatOp::Compare(predicate) => comparison(predicate).0,
        FloatOp::ToSigned => TermOp::ToSigned,
        FloatOp::ToUnsigned => TermOp::ToUnsigned,
        FloatOp::FromSigned => TermOp::FromSigned,
        FloatOp::FromUnsigned => TermOp::FromUnsigned,
        FloatOp::Convert => TermOp::Convert,
    }
}
