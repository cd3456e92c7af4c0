//! The bytes of a type that belong to no member, from how the compiler lays it out.

use branchwise_program::padding::Padding;

use super::llvm::{ModuleView, Type, TypeKind};

/// Types with more members are taken for types without padding.
const MOST_MEMBERS: usize = 4096;

/// The padding of an object of this type; that of an array repeats for each element.
pub fn padding(module: ModuleView<'_>, ty: Type<'_>) -> Padding {
    let mut ty = ty;
    while let Some((element, _)) = ty.elements().filter(|_| ty.kind() == TypeKind::LLVMArrayTypeKind) {
        ty = element;
    }
    if ty.kind() != TypeKind::LLVMStructTypeKind || !ty.is_sized() {
        return Padding::default();
    }
    let mut members = Vec::new();
    match add_members(module, ty, 0, &mut members) {
        Some(()) => Padding::between(module.abi_size(ty), members),
        None => Padding::default(),
    }
}

/// `None` where there are too many.
fn add_members(module: ModuleView<'_>, ty: Type<'_>, at: u64, members: &mut Vec<(u64, u64)>) -> Option<()> {
    if let Some((element, count)) = ty.elements() {
        if !holds_structures(element) {
            members.push((at, module.abi_size(ty)));
            return Some(());
        }
        let step = module.abi_size(element);
        return (0..count).try_for_each(|index| add_members(module, element, at + index * step, members));
    }
    if ty.kind() != TypeKind::LLVMStructTypeKind {
        members.push((at, module.bits(ty).div_ceil(8)));
        return (members.len() <= MOST_MEMBERS).then_some(());
    }
    let mut fields = ty.fields().into_iter().enumerate();
    fields
        .try_for_each(|(index, field)| add_members(module, field, at + module.field_offset(ty, index as u32), members))
}

fn holds_structures(ty: Type<'_>) -> bool {
    match ty.elements() {
        Some((element, _)) => holds_structures(element),
        None => ty.kind() == TypeKind::LLVMStructTypeKind,
    }
}
