//! How values of LLVM types are laid out in registers and in memory.

use std::collections::HashMap;
use std::rc::Rc;

use branchwise_program::code::Width;

use super::Unsupported;
use super::llvm::{ModuleView, Type, TypeKind};
use super::wide::{is_wide, words};

/// One register of a flattened value.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Part {
    pub width: Width,
    /// Where it stands in memory.
    pub bit_offset: u64,
}

/// A value taken apart into registers. Scalars have one part, `void` has none.
pub type Shape = Rc<[Part]>;

/// First-class aggregates of C code are the pairs of its calling convention; a huge one would only come from elsewhere.
const MOST_PARTS: u64 = 1024;

/// Shapes by type, each computed once.
pub struct Shapes<'m> {
    module: ModuleView<'m>,
    known: HashMap<Type<'m>, Result<Shape, Unsupported>>,
}

impl<'m> Shapes<'m> {
    pub fn new(module: ModuleView<'m>) -> Self {
        Shapes { module, known: HashMap::new() }
    }

    pub fn of(&mut self, ty: Type<'m>) -> Result<Shape, Unsupported> {
        if let Some(shape) = self.known.get(&ty) {
            return shape.clone();
        }
        let mut parts = Vec::new();
        let shape = match ty.integer_width() {
            Some(width) if is_wide(ty) => Ok(words(width).collect()),
            _ => self.flatten(ty, 0, &mut parts).map(|()| Shape::from(parts)),
        };
        self.known.insert(ty, shape.clone());
        shape
    }

    fn flatten(&self, ty: Type<'m>, at: u64, parts: &mut Vec<Part>) -> Result<(), Unsupported> {
        match ty.kind() {
            TypeKind::LLVMVoidTypeKind | TypeKind::LLVMMetadataTypeKind => Ok(()),
            TypeKind::LLVMStructTypeKind => self.structure(ty, at, parts),
            TypeKind::LLVMArrayTypeKind | TypeKind::LLVMVectorTypeKind => self.elements(ty, at, parts),
            _ => self.scalar(ty, at, parts),
        }
    }

    fn structure(&self, ty: Type<'m>, at: u64, parts: &mut Vec<Part>) -> Result<(), Unsupported> {
        if !ty.is_sized() {
            return Err(unsupported_type(ty));
        }
        for (index, field) in ty.fields().into_iter().enumerate() {
            self.flatten(field, at + 8 * self.module.field_offset(ty, index as u32), parts)?;
        }
        Ok(())
    }

    fn elements(&self, ty: Type<'m>, at: u64, parts: &mut Vec<Part>) -> Result<(), Unsupported> {
        let Some((element, count)) = ty.elements() else { return Err(unsupported_type(ty)) };
        if count > MOST_PARTS || !element.is_sized() {
            return Err(unsupported_type(ty));
        }
        // Vectors are packed; the elements of an array are padded to their alignment.
        let packed = ty.kind() == TypeKind::LLVMVectorTypeKind;
        let stride = if packed { self.module.bits(element) } else { 8 * self.module.abi_size(element) };
        for index in 0..count {
            self.flatten(element, at + index * stride, parts)?;
            if parts.len() as u64 > MOST_PARTS {
                return Err(unsupported_type(ty));
            }
        }
        Ok(())
    }

    fn scalar(&self, ty: Type<'m>, at: u64, parts: &mut Vec<Part>) -> Result<(), Unsupported> {
        let pointer = || (ty.kind() == TypeKind::LLVMPointerTypeKind).then(|| self.module.bits(ty) as u32);
        let width = ty.integer_width().or_else(|| ty.float_width()).or_else(pointer);
        match width {
            Some(width @ 1..=128) => {
                parts.push(Part { width, bit_offset: at });
                Ok(())
            }
            _ => Err(unsupported_type(ty)),
        }
    }
}

fn unsupported_type(ty: Type<'_>) -> Unsupported {
    Unsupported(format!("values of type {}", ty.spelling()))
}
