//! Stack objects, loads, stores and addresses.

use branchwise_program::RegisterId;
use branchwise_program::code::{Changes, Instruction, Operand, Scaled};

use super::Unsupported;
use super::emit::{PendingAddress, signed};
use super::function::FunctionLowering;
use super::instructions::{Parts, operand};
use super::llvm::{Opcode, Type, TypeKind, Value};
use super::padding::padding;
use super::shape::Part;

impl<'m> FunctionLowering<'_, 'm> {
    pub fn stack_object(&mut self, value: Value<'m>) -> Parts {
        let ty = value.allocated_type();
        if !ty.is_sized() {
            return Err(Unsupported(format!("a local variable of type {}", ty.spelling())));
        }
        let count = operand(value, 0)?;
        let width = self.width(count)?;
        let count = self.scalar(count)?;
        let count = self.emit.resize(width, 64, count);
        let out = self.emit.register(64);
        let size = self.module.view.abi_size(ty);
        self.emit.push(Instruction::StackObject { out, size, count, alignment: value.alignment() });
        self.note_padding(out, ty);
        Ok(vec![Operand::Register(out)])
    }

    fn note_padding(&mut self, object: RegisterId, ty: Type<'m>) {
        let padding = padding(self.module.view, ty);
        if !padding.is_empty() {
            self.padding.insert(object, padding);
        }
    }

    /// A structure passed by value in memory is the callee's own: it works on a copy, as in the calling convention.
    pub fn copy_parameters_by_value(&mut self, function: Value<'m>) {
        self.emit.location = None;
        for (index, parameter) in function.parameters().into_iter().enumerate() {
            let Some(ty) = function.by_value_type(index as u32) else { continue };
            let Ok(from) = self.scalar(parameter) else { continue };
            let (size, alignment) = (self.module.view.abi_size(ty), self.module.view.abi_alignment(ty));
            let out = self.emit.register(64);
            self.emit.push(Instruction::StackObject { out, size, count: Operand::Constant(1), alignment });
            self.note_padding(out, ty);
            let to = Operand::Register(out);
            self.emit.push(Instruction::CopyMemory { to, from, size: Operand::Constant(u128::from(size)) });
            self.bind(parameter, vec![to]);
        }
    }

    pub fn load(&mut self, value: Value<'m>) -> Parts {
        let shape = self.shape(value)?;
        let address = self.scalar(operand(value, 0)?)?;
        let by = if value.is_atomic() { Changes::Threads } else { Changes::Hardware };
        let watched = value.is_volatile() || value.is_atomic();
        let read = |part: &Part| {
            let address = self.part_address(part, address)?;
            if watched {
                self.emit.volatile_read(address, by);
            }
            Ok(self.emit.load(part.width, address))
        };
        shape.iter().map(read).collect()
    }

    pub fn store(&mut self, value: Value<'m>) -> Parts {
        let source = operand(value, 0)?;
        let shape = self.shape(source)?;
        let values = self.parts(source)?;
        let address = self.scalar(operand(value, 1)?)?;
        let volatile = value.is_volatile();
        for (part, value) in shape.iter().zip(values) {
            let address = self.part_address(part, address)?;
            if volatile {
                self.emit.volatile_write(address);
            }
            self.emit.store(part.width, value, address);
        }
        Ok(Vec::new())
    }

    fn part_address(&mut self, part: &Part, base: Operand) -> Result<Operand, Unsupported> {
        if !part.bit_offset.is_multiple_of(8) {
            return Err(Unsupported::new("a vector of bits in memory"));
        }
        Ok(self.emit.address(PendingAddress { base, constant: (part.bit_offset / 8) as i64, scaled: Vec::new() }))
    }

    pub fn element_address(&mut self, value: Value<'m>) -> Parts {
        if value.ty().kind() != TypeKind::LLVMPointerTypeKind {
            return Err(Unsupported::new("a vector of pointers"));
        }
        let base = operand(value, 0)?;
        let mut address = match self.pending_addresses.remove(&base) {
            Some(address) => address,
            None => PendingAddress { base: self.scalar(base)?, constant: 0, scaled: Vec::new() },
        };
        self.add_indices(value, &mut address)?;
        if value.sole_user_in_block().is_some_and(|user| is_address_based_on(user, value)) {
            self.pending_addresses.insert(value, address);
            return Ok(Vec::new());
        }
        Ok(vec![self.emit.address(address)])
    }

    fn add_indices(&mut self, value: Value<'m>, address: &mut PendingAddress) -> Result<(), Unsupported> {
        let source = value.element_source_type();
        let mut within: Option<Type<'m>> = None;
        for &index in &value.operands()[1..] {
            let element = match within {
                None => source,
                Some(ty) if ty.kind() == TypeKind::LLVMStructTypeKind => {
                    within = Some(self.add_field(ty, index, address)?);
                    continue;
                }
                Some(ty) => ty.elements().ok_or_else(|| Unsupported::new("an index into a scalar"))?.0,
            };
            self.add_index(element, index, address)?;
            within = Some(element);
        }
        Ok(())
    }

    fn add_field(
        &mut self,
        structure: Type<'m>,
        index: Value<'m>,
        address: &mut PendingAddress,
    ) -> Result<Type<'m>, Unsupported> {
        let number = index.integer().and_then(|number| u32::try_from(number).ok());
        let field = number.and_then(|number| Some((number, *structure.fields().get(number as usize)?)));
        let (number, ty) = field.ok_or_else(|| Unsupported::new("a structure field that is not constant"))?;
        address.constant = address.constant.wrapping_add(self.module.view.field_offset(structure, number) as i64);
        Ok(ty)
    }

    fn add_index(
        &mut self,
        element: Type<'m>,
        index: Value<'m>,
        address: &mut PendingAddress,
    ) -> Result<(), Unsupported> {
        if !element.is_sized() {
            return Err(Unsupported(format!("an index over {}", element.spelling())));
        }
        let scale = self.module.view.abi_size(element) as i64;
        let (operand, width) = match self.pending_indices.remove(&index) {
            Some(pending) => (pending.index, pending.width),
            None => (self.scalar(index)?, self.width(index)?),
        };
        match operand {
            Operand::Constant(value) => {
                let offset = (signed(value, width) as i64).wrapping_mul(scale);
                address.constant = address.constant.wrapping_add(offset);
            }
            _ if scale == 0 => {}
            index => {
                // Address arithmetic has 64 bits; a wider index loses its upper ones.
                let narrow = width.min(64);
                let index = if width > narrow { self.emit.resize(width, narrow, index) } else { index };
                address.scaled.push(Scaled { index, width: narrow, scale });
            }
        }
        Ok(())
    }
}

fn is_address_based_on<'m>(user: Value<'m>, base: Value<'m>) -> bool {
    user.opcode() == Some(Opcode::LLVMGetElementPtr)
        && user.operand(0) == Some(base)
        && user.ty().kind() == TypeKind::LLVMPointerTypeKind
}
