//! Constants: as operands of instructions and as initial bytes of globals.

use branchwise_program::code::{Initializer, Operand};

use super::Unsupported;
use super::function::FunctionLowering;
use super::llvm::{Type, TypeKind, Value, ValueKind};
use super::module::{ModuleLowering, behind, is_weak};
use super::wide::is_wide;

impl<'m> FunctionLowering<'_, 'm> {
    /// The operands of a constant. Constant expressions that do not fold emit instructions here.
    pub fn constant(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        match value.kind() {
            ValueKind::LLVMConstantIntValueKind if is_wide(value.ty()) => words(value),
            ValueKind::LLVMConstantIntValueKind => known(value, value.integer()),
            ValueKind::LLVMConstantFPValueKind => known(value, value.float_bits()),
            ValueKind::LLVMConstantPointerNullValueKind | ValueKind::LLVMConstantAggregateZeroValueKind => {
                self.repeated(value, Operand::Constant(0))
            }
            ValueKind::LLVMUndefValueValueKind | ValueKind::LLVMPoisonValueKind => {
                self.repeated(value, Operand::Undefined)
            }
            ValueKind::LLVMConstantStructValueKind
            | ValueKind::LLVMConstantArrayValueKind
            | ValueKind::LLVMConstantVectorValueKind
            | ValueKind::LLVMConstantDataArrayValueKind
            | ValueKind::LLVMConstantDataVectorValueKind => self.constant_elements(value),
            ValueKind::LLVMFunctionValueKind | ValueKind::LLVMGlobalVariableValueKind => self.named_address(value),
            ValueKind::LLVMGlobalAliasValueKind => self.alias(value),
            ValueKind::LLVMConstantExprValueKind => self.instruction(value),
            ValueKind::LLVMBlockAddressValueKind => self.label(value),
            ValueKind::LLVMGlobalIFuncValueKind => Err(Unsupported::new("an indirect function (ifunc)")),
            _ => Err(Unsupported(format!("a constant of type {}", value.ty().spelling()))),
        }
    }

    fn repeated(&mut self, value: Value<'m>, operand: Operand) -> Result<Vec<Operand>, Unsupported> {
        Ok(vec![operand; self.shape(value)?.len()])
    }

    fn constant_elements(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        // The shape bounds the number of elements.
        self.shape(value)?;
        let mut parts = Vec::new();
        for index in 0..element_count(value.ty()) {
            let element = value.aggregate_element(index).ok_or_else(|| Unsupported::new("a constant aggregate"))?;
            parts.extend(self.constant(element)?);
        }
        Ok(parts)
    }

    fn named_address(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        let operand = self.module.address_of(value);
        let operand = operand.ok_or_else(|| Unsupported(format!("the address of {}", value.name())))?;
        Ok(vec![if is_weak(value) { self.emit.weak_reference(operand) } else { operand }])
    }

    fn label(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        let (function, block) = value.label().ok_or_else(|| Unsupported::new("the address of a label"))?;
        let labels = self.module.labels(function);
        let number = function.blocks().iter().position(|&other| other == block);
        let number = number.ok_or_else(|| Unsupported::new("the address of a label elsewhere"))?;
        Ok(vec![Operand::Global(labels, number as i64)])
    }

    fn alias(&mut self, value: Value<'m>) -> Result<Vec<Operand>, Unsupported> {
        let aliasee = behind(value);
        if aliasee == value {
            return Err(Unsupported(format!("the alias {}", value.name())));
        }
        self.constant(aliasee)
    }
}

fn known(value: Value<'_>, bits: Option<u128>) -> Result<Vec<Operand>, Unsupported> {
    let bits = bits.ok_or_else(|| Unsupported(format!("a constant of type {}", value.ty().spelling())))?;
    Ok(vec![Operand::Constant(bits)])
}

fn words(value: Value<'_>) -> Result<Vec<Operand>, Unsupported> {
    let words =
        value.integer_words().ok_or_else(|| Unsupported(format!("a constant of type {}", value.ty().spelling())))?;
    Ok(words.into_iter().map(|word| Operand::Constant(u128::from(word))).collect())
}

fn element_count(ty: Type<'_>) -> u32 {
    match ty.elements() {
        Some((_, count)) => u32::try_from(count).unwrap_or(u32::MAX),
        None => ty.fields().len() as u32,
    }
}

/// The initial bytes of a global, with the addresses in it. Undefined bytes, padding among them, are zero, as the
/// compiler writes them. An address that is no function, no global and no number is [`Operand::Undefined`].
pub fn initializer<'m>(module: &mut ModuleLowering<'m>, value: Value<'m>) -> Initializer {
    let size = if value.ty().is_sized() { module.view.abi_size(value.ty()) } else { 0 };
    let mut writer =
        InitializerWriter { module, out: Initializer { bytes: vec![0; size as usize], addresses: Vec::new() } };
    writer.write(value, 0);
    writer.out
}

struct InitializerWriter<'a, 'm> {
    module: &'a mut ModuleLowering<'m>,
    out: Initializer,
}

impl<'m> InitializerWriter<'_, 'm> {
    fn write(&mut self, value: Value<'m>, at: u64) {
        if value.is_null()
            || matches!(value.kind(), ValueKind::LLVMUndefValueValueKind | ValueKind::LLVMPoisonValueKind)
        {
            return;
        }
        match value.ty().kind() {
            TypeKind::LLVMStructTypeKind => self.write_fields(value, at),
            TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => self.write_elements(value, at),
            _ => self.write_scalar(value, at),
        }
    }

    fn write_fields(&mut self, value: Value<'m>, at: u64) {
        for index in 0..element_count(value.ty()) {
            if let Some(field) = value.aggregate_element(index) {
                self.write(field, at + self.module.view.field_offset(value.ty(), index));
            }
        }
    }

    fn write_elements(&mut self, value: Value<'m>, at: u64) {
        if let Some(bytes) = value.string_bytes() {
            return self.write_bytes(bytes, at);
        }
        let Some((element, _)) = value.ty().elements() else { return };
        let size = self.module.view.abi_size(element);
        for index in 0..element_count(value.ty()) {
            if let Some(item) = value.aggregate_element(index) {
                self.write(item, at + u64::from(index) * size);
            }
        }
    }

    fn write_scalar(&mut self, value: Value<'m>, at: u64) {
        let size = self.module.view.abi_size(value.ty());
        if let Some(bits) = value.integer().or_else(|| value.float_bits()) {
            return self.write_number(bits, at, size);
        }
        if let Some(words) = value.integer_words() {
            let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
            return self.write_bytes(&bytes[..bytes.len().min(size as usize)], at);
        }
        match self.address(value) {
            Operand::Constant(bits) => self.write_number(bits, at, size),
            address if size == 8 => self.out.addresses.push((at, address)),
            _ => {}
        }
    }

    fn write_number(&mut self, bits: u128, at: u64, size: u64) {
        let bytes = bits.to_le_bytes();
        self.write_bytes(&bytes[..bytes.len().min(size as usize)], at);
    }

    fn write_bytes(&mut self, bytes: &[u8], at: u64) {
        if let Some(place) = self.out.bytes.get_mut(at as usize..at as usize + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// A constant that stands for an address: one operand that needs no instruction.
    fn address(&mut self, value: Value<'m>) -> Operand {
        let mut scratch = FunctionLowering::new(self.module, value);
        match scratch.scalar(value) {
            Ok(operand) if scratch.emit.instructions.is_empty() => operand,
            _ => Operand::Undefined,
        }
    }
}
