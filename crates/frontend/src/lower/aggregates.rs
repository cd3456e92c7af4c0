//! Aggregates and vectors as lists of registers: taking out, putting in, shuffling and bit casts.

use branchwise_program::code::{BinaryOp, Operand};

use super::Unsupported;
use super::function::FunctionLowering;
use super::instructions::{Parts, operand};
use super::llvm::{Type, Value};
use super::shape::Part;

impl<'m> FunctionLowering<'_, 'm> {
    pub fn extract_value(&mut self, value: Value<'m>) -> Parts {
        let aggregate = operand(value, 0)?;
        let range = self.member_range(aggregate.ty(), &value.aggregate_indices())?;
        let parts = self.parts(aggregate)?;
        parts.get(range).map(<[_]>::to_vec).ok_or_else(missing_member)
    }

    pub fn insert_value(&mut self, value: Value<'m>) -> Parts {
        let aggregate = operand(value, 0)?;
        let range = self.member_range(aggregate.ty(), &value.aggregate_indices())?;
        let mut parts = self.parts(aggregate)?;
        let member = self.parts(operand(value, 1)?)?;
        let place = parts.get_mut(range).filter(|place| place.len() == member.len()).ok_or_else(missing_member)?;
        place.copy_from_slice(&member);
        Ok(parts)
    }

    /// Which parts of the aggregate belong to the member that the indices lead to.
    fn member_range(&mut self, aggregate: Type<'m>, indices: &[u32]) -> Result<std::ops::Range<usize>, Unsupported> {
        let mut start = 0;
        let mut current = aggregate;
        for &index in indices {
            if let Some((element, _)) = current.elements() {
                start += index as usize * self.module.shapes.of(element)?.len();
                current = element;
            } else {
                let fields = current.fields();
                for &field in fields.iter().take(index as usize) {
                    start += self.module.shapes.of(field)?.len();
                }
                current = *fields.get(index as usize).ok_or_else(missing_member)?;
            }
        }
        Ok(start..start + self.module.shapes.of(current)?.len())
    }

    pub fn extract_element(&mut self, value: Value<'m>) -> Parts {
        let parts = self.parts(operand(value, 0)?)?;
        let index = constant_index(operand(value, 1)?)?;
        // An index beyond the end gives poison.
        Ok(vec![parts.get(index).copied().unwrap_or(Operand::Undefined)])
    }

    pub fn insert_element(&mut self, value: Value<'m>) -> Parts {
        let mut parts = self.parts(operand(value, 0)?)?;
        let element = self.scalar(operand(value, 1)?)?;
        let index = constant_index(operand(value, 2)?)?;
        match parts.get_mut(index) {
            Some(place) => *place = element,
            None => parts.fill(Operand::Undefined),
        }
        Ok(parts)
    }

    pub fn shuffle(&mut self, value: Value<'m>) -> Parts {
        let mut parts = self.parts(operand(value, 0)?)?;
        parts.extend(self.parts(operand(value, 1)?)?);
        let pick = |index: Option<usize>| index.and_then(|index| parts.get(index).copied());
        Ok(value.shuffle_mask().into_iter().map(|index| pick(index).unwrap_or(Operand::Undefined)).collect())
    }

    /// The same bits in other registers: each new part is put together from the old parts that it overlaps.
    pub fn bit_cast(&mut self, value: Value<'m>) -> Parts {
        let source = operand(value, 0)?;
        let (from, to) = (self.shape(source)?, self.shape(value)?);
        let values = self.parts(source)?;
        if from == to {
            return Ok(values);
        }
        Ok(to.iter().map(|target| self.gather(&from, &values, target)).collect())
    }

    /// What overlaps the target, put together; its other bits are zero.
    pub fn gather(&mut self, from: &[Part], values: &[Operand], target: &Part) -> Operand {
        let (start, end) = (target.bit_offset, target.bit_offset + u64::from(target.width));
        let mut whole = Operand::Constant(0);
        for (part, &value) in from.iter().zip(values) {
            if part.bit_offset >= end || part.bit_offset + u64::from(part.width) <= start {
                continue;
            }
            // Bits beyond the target fall off: at its top by truncation or shift, at its bottom by the shift right.
            let down = Operand::Constant(u128::from(start.saturating_sub(part.bit_offset)));
            let up = Operand::Constant(u128::from(part.bit_offset.saturating_sub(start)));
            let piece = self.emit.binary(BinaryOp::LShr, part.width, value, down);
            let piece = self.emit.resize(part.width, target.width, piece);
            let piece = self.emit.binary(BinaryOp::Shl, target.width, piece, up);
            whole = self.emit.binary(BinaryOp::Or, target.width, whole, piece);
        }
        whole
    }
}

fn constant_index(index: Value<'_>) -> Result<usize, Unsupported> {
    let index = index.integer().ok_or_else(|| Unsupported::new("a vector index that is not constant"))?;
    Ok(usize::try_from(index).unwrap_or(usize::MAX))
}

fn missing_member() -> Unsupported {
    Unsupported::new("a member of an aggregate that it does not have")
}
