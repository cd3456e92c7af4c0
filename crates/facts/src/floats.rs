//! Instructions on floats and the functions of `math.h`, and what their results say of their operands.

use branchwise_constraints::{FloatOp, FloatRange, MathFunction};
use branchwise_program::CodeFunctionId;
use branchwise_program::code::{Call, Float, FloatOp as CodeOp, FloatPredicate, Operand};

use crate::interpreter::Run;
use crate::number::Number;
use crate::state::State;
use crate::value::Value;

/// How far, relatively, the results of libraries lie apart: 16 units in the last place of the narrower floats.
const LARGEST_ERROR: f64 = 1.0 / (1 << 19) as f64;

impl Run<'_, '_> {
    pub(crate) fn float(&self, state: &mut State, float: &Float) {
        let operands = self.float_operands(state, float);
        let operands: Vec<&Number> = operands.iter().collect();
        let same = self.is_one_value(state, &float.operands);
        let number = match (operator(float.op), &operands[..]) {
            _ if !is_followed(float) => Number::any(float.to),
            (Operator::Compare(predicate), [left, right]) => Number::float_compare(predicate, left, right, same),
            (Operator::ToInteger(op), [value]) => value.float_to_integer(op, float.to),
            (Operator::Float(op), operands) => Number::float_result(op, operands, float.to, same),
            _ => Number::any(float.to),
        };
        state.set(float.out, Value::plain(number));
    }

    fn float_operands(&self, state: &State, float: &Float) -> Vec<Number> {
        float.operands.iter().map(|operand| self.value(state, operand, float.from).number).collect()
    }

    fn is_one_value(&self, state: &State, operands: &[Operand]) -> bool {
        matches!(operands, [left, right] if state.are_equal(self.function, left, right))
    }

    /// The result of a function of `math.h` with its usual types; `None` if it is none.
    pub(crate) fn mathematics(&self, callee: CodeFunctionId, call: &Call, arguments: &[Value]) -> Option<Number> {
        let function = &self.code.functions[callee];
        let (op, width) = FloatOp::of_function(&function.name)?;
        let has_width = |widths: &[u32], count| widths.len() == count && widths.iter().all(|&other| other == width);
        let parameters: Vec<u32> = function.parameters.iter().map(|&register| function.registers[register]).collect();
        let usual = has_width(&function.results, 1)
            && has_width(&parameters, op.arity())
            && has_width(&call.argument_widths, op.arity());
        let operands: Vec<&Number> = arguments.iter().map(|argument| &argument.number).collect();
        usual.then(|| near(op, &operands, width))
    }

    /// Only executions in which the result is one of these go on; `false` if there are none.
    pub(crate) fn before_float(&self, state: &mut State, float: &Float, number: &Number, chain: usize) -> bool {
        if !is_followed(float) {
            return true;
        }
        let operands = self.float_operands(state, float);
        let same = self.is_one_value(state, &float.operands);
        let before = match (operator(float.op), &operands[..]) {
            (Operator::Compare(predicate), [left, right]) => match number.as_constant() {
                Some(truth) => Number::float_restricted(predicate, truth == 1, [left, right], same).map(Vec::from),
                None => return true,
            },
            (Operator::ToInteger(op), [value]) => before_integer(op, value, number).map(|before| vec![before]),
            (Operator::Float(FloatOp::FromSigned | FloatOp::FromUnsigned | FloatOp::FusedMultiplyAdd), _) => {
                return true;
            }
            (Operator::Float(FloatOp::Convert), [value]) => {
                let before = value.as_float().before_conversion(number.as_float());
                before.map(|before| vec![Number::of_float(before)])
            }
            (Operator::Float(op), [first, ..]) => {
                let ranges = [first.as_float(), operands.last().unwrap_or(first).as_float()];
                let before = FloatRange::operands(op, number.as_float(), ranges, same);
                before.map(|before| before.map(Number::of_float).into_iter().take(operands.len()).collect())
            }
            _ => return true,
        };
        let Some(before) = before else { return false };
        float
            .operands
            .iter()
            .zip(&before)
            .all(|(operand, allowed)| self.restrict_within(state, operand, allowed, chain))
    }
}

/// What any good library may return: where an argument is zero the one right result, otherwise one that is near, and within
/// the range of the function.
fn near(op: FloatOp, operands: &[&Number], width: u32) -> Number {
    let here = Number::float_result(op, operands, width, false);
    let is_zero = |operand: &&Number| operand.as_constant() == Some(0);
    if !matches!(op, FloatOp::Library(function) if !function.is_determined()) || operands.iter().all(is_zero) {
        return here;
    }
    let [less, more] = [1.0 - LARGEST_ERROR, 1.0 + LARGEST_ERROR].map(|factor| match width {
        32 => FloatRange::of_constant(u64::from((factor as f32).to_bits()), 32),
        _ => FloatRange::of_constant(factor.to_bits(), 64),
    });
    let near = Number::float_result(FloatOp::Mul, &[&here, &Number::of_float(less.join(more))], width, false);
    let all = vec![FloatRange::any(width); operands.len()];
    near.meet(&Number::of_float(FloatRange::result(op, &all, false))).unwrap_or(near)
}

fn before_integer(op: FloatOp, value: &Number, number: &Number) -> Option<Number> {
    let (signed, unsigned) = (number.signed_bounds(), number.unsigned_bounds());
    let bounds = match op {
        FloatOp::ToSigned => (signed.0.into(), signed.1.into()),
        _ => (unsigned.0.into(), unsigned.1.into()),
    };
    match number.width() {
        1..=64 => value.as_float().before_integers(op, bounds, number.width()).map(Number::of_float),
        _ => Some(value.clone()),
    }
}

fn is_followed(float: &Float) -> bool {
    let is_float = |width| matches!(width, 32 | 64);
    match float.op {
        CodeOp::FromSigned | CodeOp::FromUnsigned => is_float(float.to),
        CodeOp::Compare(_) | CodeOp::ToSigned | CodeOp::ToUnsigned => is_float(float.from),
        _ => is_float(float.from) && is_float(float.to),
    }
}

enum Operator {
    /// With a float as its result.
    Float(FloatOp),
    ToInteger(FloatOp),
    Compare(FloatPredicate),
}

fn operator(op: CodeOp) -> Operator {
    Operator::Float(match op {
        CodeOp::Compare(predicate) => return Operator::Compare(predicate),
        CodeOp::ToSigned => return Operator::ToInteger(FloatOp::ToSigned),
        CodeOp::ToUnsigned => return Operator::ToInteger(FloatOp::ToUnsigned),
        CodeOp::Add => FloatOp::Add,
        CodeOp::Sub => FloatOp::Sub,
        CodeOp::Mul => FloatOp::Mul,
        CodeOp::Div => FloatOp::Div,
        CodeOp::Rem => FloatOp::Library(MathFunction::Fmod),
        CodeOp::Sqrt => FloatOp::Sqrt,
        CodeOp::Floor => FloatOp::Floor,
        CodeOp::Ceil => FloatOp::Ceil,
        CodeOp::Trunc => FloatOp::Trunc,
        CodeOp::RoundEven => FloatOp::RoundEven,
        CodeOp::RoundAway => FloatOp::RoundAway,
        CodeOp::FusedMultiplyAdd => FloatOp::FusedMultiplyAdd,
        CodeOp::FromSigned => FloatOp::FromSigned,
        CodeOp::FromUnsigned => FloatOp::FromUnsigned,
        CodeOp::Convert => FloatOp::Convert,
    })
}
