//! A thin, safe view of LLVM's values, types and blocks.
//!
//! Inkwell gives every kind of value a type of its own, which makes a uniform walk over operands, constants and
//! instructions long-winded, and it lacks constant expressions and type attributes. So the lowering walks through
//! these copyable handles, and this file alone calls the C interface.
//!
//! Soundness: a handle carries the lifetime of its module, the module is only altered before the first handle is
//! made, and every function below that LLVM restricts to one kind of value says so and is called after that kind
//! was matched.

use std::ffi::CStr;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
pub use inkwell::llvm_sys::{
    LLVMAtomicRMWBinOp as RmwOp, LLVMIntPredicate as IntPredicate, LLVMLinkage as Linkage, LLVMOpcode as Opcode,
    LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind, LLVMValueKind as ValueKind,
};

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub struct Value<'m>(pub(super) LLVMValueRef, pub(super) PhantomData<&'m ()>);

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub struct Type<'m>(LLVMTypeRef, PhantomData<&'m ()>);

#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash)]
pub struct BasicBlock<'m>(LLVMBasicBlockRef, PhantomData<&'m ()>);

/// The module and its data layout.
#[derive(Copy, Clone)]
pub struct ModuleView<'m> {
    module: LLVMModuleRef,
    layout: LLVMTargetDataRef,
    lifetime: PhantomData<&'m ()>,
}

fn values<'m>(
    first: LLVMValueRef,
    next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef,
) -> impl Iterator<Item = Value<'m>> {
    let mut current = first;
    std::iter::from_fn(move || {
        let value = Value::some(current)?;
        // SAFETY: `current` is a live member of the list that `next` walks.
        current = unsafe { next(current) };
        Some(value)
    })
}

/// SAFETY: `start` must point to `length` bytes that live as long as the module.
unsafe fn text<'m>(start: *const std::ffi::c_char, length: usize) -> &'m [u8] {
    if start.is_null() || length == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) }
}

impl<'m> ModuleView<'m> {
    pub fn new(module: &'m inkwell::module::Module<'_>) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: the module is alive for 'm and owns its layout.
        ModuleView { module, layout: unsafe { LLVMGetModuleDataLayout(module) }, lifetime: PhantomData }
    }
    /// Assembly outside functions.
    pub fn assembly(self) -> &'m str {
        let mut length = 0;
        // SAFETY: the module is alive and owns the text.
        let bytes = unsafe { text(LLVMGetModuleInlineAsm(self.module, &mut length), length) };
        str::from_utf8(bytes).unwrap_or_default()
    }
    pub fn functions(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the module is alive.
        values(unsafe { LLVMGetFirstFunction(self.module) }, LLVMGetNextFunction)
    }
    pub fn globals(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the module is alive.
        values(unsafe { LLVMGetFirstGlobal(self.module) }, LLVMGetNextGlobal)
    }
    pub fn aliases(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the module is alive.
        values(unsafe { LLVMGetFirstGlobalAlias(self.module) }, LLVMGetNextGlobalAlias)
    }
    /// Whether other libraries may replace what this module defines for all.
    pub fn is_interposable(self) -> bool {
        const FLAG: &CStr = c"SemanticInterposition";
        // SAFETY: the module and the name are alive.
        unsafe { !LLVMGetModuleFlag(self.module, FLAG.as_ptr(), FLAG.count_bytes()).is_null() }
    }
    /// Only for types with a size.
    pub fn abi_size(self, ty: Type<'m>) -> u64 {
        // SAFETY: layout and type are alive.
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }
    /// Only for types with a size.
    pub fn abi_alignment(self, ty: Type<'m>) -> u64 {
        // SAFETY: layout and type are alive.
        u64::from(unsafe { LLVMABIAlignmentOfType(self.layout, ty.0) })
    }
    /// Only for types with a size.
    pub fn bits(self, ty: Type<'m>) -> u64 {
        // SAFETY: layout and type are alive.
        unsafe { LLVMSizeOfTypeInBits(self.layout, ty.0) }
    }
    /// Byte offset of a structure's field.
    pub fn field_offset(self, structure: Type<'m>, field: u32) -> u64 {
        // SAFETY: layout and type are alive; callers take the field from a valid structure access.
        unsafe { LLVMOffsetOfElement(self.layout, structure.0, field) }
    }
}

impl<'m> Type<'m> {
    pub fn kind(self) -> TypeKind {
        // SAFETY: types live as long as their context.
        unsafe { LLVMGetTypeKind(self.0) }
    }
    pub fn is_sized(self) -> bool {
        // SAFETY: as above.
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }
    pub fn is_void(self) -> bool {
        self.kind() == TypeKind::LLVMVoidTypeKind
    }
    /// The widths of floating-point types; `None` for all others.
    pub fn float_width(self) -> Option<u32> {
        match self.kind() {
            TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => Some(16),
            TypeKind::LLVMFloatTypeKind => Some(32),
            TypeKind::LLVMDoubleTypeKind => Some(64),
            TypeKind::LLVMX86_FP80TypeKind => Some(80),
            TypeKind::LLVMFP128TypeKind | TypeKind::LLVMPPC_FP128TypeKind => Some(128),
            _ => None,
        }
    }
    pub fn integer_width(self) -> Option<u32> {
        // SAFETY: guarded by the kind.
        (self.kind() == TypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
    }
    /// Fields of a structure, in order.
    pub fn fields(self) -> Vec<Type<'m>> {
        if self.kind() != TypeKind::LLVMStructTypeKind {
            return Vec::new();
        }
        // SAFETY: guarded by the kind; indices below the count exist.
        let count = unsafe { LLVMCountStructElementTypes(self.0) };
        (0..count).map(|index| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, index) }, PhantomData)).collect()
    }
    /// Element type and count of an array or a fixed vector.
    pub fn elements(self) -> Option<(Type<'m>, u64)> {
        // SAFETY: guarded by the kind.
        let count = match self.kind() {
            TypeKind::LLVMArrayTypeKind => unsafe { LLVMGetArrayLength2(self.0) },
            TypeKind::LLVMVectorTypeKind => u64::from(unsafe { LLVMGetVectorSize(self.0) }),
            _ => return None,
        };
        // SAFETY: arrays and vectors have an element type.
        Some((Type(unsafe { LLVMGetElementType(self.0) }, PhantomData), count))
    }
    /// Only for function types.
    pub fn result(self) -> Type<'m> {
        // SAFETY: callers hold a function type.
        Type(unsafe { LLVMGetReturnType(self.0) }, PhantomData)
    }
    /// Only for function types.
    pub fn is_variadic(self) -> bool {
        // SAFETY: callers hold a function type.
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }
    pub fn spelling(self) -> String {
        // SAFETY: the message is a C string that we own and free.
        unsafe { owned_message(LLVMPrintTypeToString(self.0)) }
    }
}

/// `words * factor + addend`, without what does not fit.
fn multiply_and_add(words: &mut [u64], factor: u64, addend: u64) {
    let mut carry = u128::from(addend);
    for word in words {
        let product = u128::from(*word) * u128::from(factor) + carry;
        *word = product as u64;
        carry = product >> 64;
    }
}

/// SAFETY: `message` must be a string that LLVM allocated for its caller.
pub unsafe fn owned_message(message: *mut std::ffi::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    unsafe { LLVMDisposeMessage(message) };
    text
}

/// The number of the attribute of what is passed as a copy in memory.
pub(super) fn by_value_kind() -> u32 {
    const NAME: &str = "byval";
    // SAFETY: the name is a text of the given length.
    unsafe { LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len()) }
}

impl<'m> BasicBlock<'m> {
    pub fn instructions(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the block is alive.
        values(unsafe { LLVMGetFirstInstruction(self.0) }, LLVMGetNextInstruction)
    }
    pub fn terminator(self) -> Option<Value<'m>> {
        // SAFETY: the block is alive.
        Value::some(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }
}

impl<'m> Value<'m> {
    pub fn some(value: LLVMValueRef) -> Option<Self> {
        (!value.is_null()).then_some(Value(value, PhantomData))
    }
    pub fn kind(self) -> ValueKind {
        // SAFETY: values live as long as their module.
        unsafe { LLVMGetValueKind(self.0) }
    }
    pub fn ty(self) -> Type<'m> {
        // SAFETY: as above.
        Type(unsafe { LLVMTypeOf(self.0) }, PhantomData)
    }
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the name lives as long as the value and is copied at once.
        let bytes = unsafe { text(LLVMGetValueName2(self.0, &mut length), length) };
        String::from_utf8_lossy(bytes).into_owned()
    }
    pub fn operand_count(self) -> u32 {
        match self.kind() {
            // SAFETY: these are LLVM users.
            ValueKind::LLVMInstructionValueKind | ValueKind::LLVMConstantExprValueKind => unsafe {
                LLVMGetNumOperands(self.0) as u32
            },
            _ => 0,
        }
    }
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        if index >= self.operand_count() {
            return None;
        }
        // SAFETY: the index is in range.
        Value::some(unsafe { LLVMGetOperand(self.0, index) })
    }
    pub fn operands(self) -> Vec<Value<'m>> {
        (0..self.operand_count()).filter_map(|index| self.operand(index)).collect()
    }
    /// Of an instruction or a constant expression; `None` for other values.
    pub fn opcode(self) -> Option<Opcode> {
        match self.kind() {
            // SAFETY: guarded by the kind.
            ValueKind::LLVMInstructionValueKind => Some(unsafe { LLVMGetInstructionOpcode(self.0) }),
            ValueKind::LLVMConstantExprValueKind => Some(unsafe { LLVMGetConstOpcode(self.0) }),
            _ => None,
        }
    }
    fn is_instruction(self) -> bool {
        self.kind() == ValueKind::LLVMInstructionValueKind
    }
    /// `nsw` of an arithmetic instruction.
    pub fn no_signed_wrap(self) -> bool {
        // SAFETY: callers hold arithmetic; constant expressions are excluded here.
        self.is_instruction() && unsafe { LLVMGetNSW(self.0) != 0 }
    }
    /// Only for `icmp`.
    pub fn predicate(self) -> IntPredicate {
        // SAFETY: callers hold an `icmp`.
        unsafe { LLVMGetICmpPredicate(self.0) }
    }
    /// Only for `fcmp`.
    pub fn real_predicate(self) -> RealPredicate {
        // SAFETY: callers hold an `fcmp`.
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }
    /// Only for `atomicrmw`.
    pub fn rmw_op(self) -> RmwOp {
        // SAFETY: callers hold an `atomicrmw`.
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }
    /// Only for loads and stores.
    pub fn is_volatile(self) -> bool {
        // SAFETY: callers hold one of these.
        unsafe { LLVMGetVolatile(self.0) != 0 }
    }
    /// Whether a function or variable can be seen by all other libraries.
    pub fn is_seen_by_all(self) -> bool {
        // SAFETY: callers hold a global value.
        let visibility = unsafe { LLVMGetVisibility(self.0) };
        let seen = visibility == inkwell::llvm_sys::LLVMVisibility::LLVMDefaultVisibility;
        seen && self.linkage() == Linkage::LLVMExternalLinkage
    }
    /// Whether a compare-and-exchange may fail for no reason.
    pub fn is_weak_exchange(self) -> bool {
        // SAFETY: callers hold such an instruction.
        unsafe { LLVMGetWeak(self.0) != 0 }
    }
    /// Whether a load is atomic.
    pub fn is_atomic(self) -> bool {
        // SAFETY: callers hold a load.
        unsafe { LLVMGetOrdering(self.0) != inkwell::llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
    }
    /// Only for `alloca`.
    pub fn allocated_type(self) -> Type<'m> {
        // SAFETY: callers hold an `alloca`.
        Type(unsafe { LLVMGetAllocatedType(self.0) }, PhantomData)
    }
    /// Only for `alloca`, globals, loads and stores.
    pub fn alignment(self) -> u64 {
        // SAFETY: callers hold one of these.
        u64::from(unsafe { LLVMGetAlignment(self.0) })
    }
    /// Only for `getelementptr`, as instruction or constant.
    pub fn element_source_type(self) -> Type<'m> {
        // SAFETY: callers hold a `getelementptr`.
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) }, PhantomData)
    }
    /// The constant indices of `extractvalue` and `insertvalue` only.
    pub fn aggregate_indices(self) -> Vec<u32> {
        // SAFETY: callers hold one of these; LLVM keeps the indices in the instruction.
        unsafe {
            let count = LLVMGetNumIndices(self.0) as usize;
            if count == 0 {
                return Vec::new();
            }
            std::slice::from_raw_parts(LLVMGetIndices(self.0), count).to_vec()
        }
    }
    /// The mask of a `shufflevector`; `None` marks an undefined element.
    pub fn shuffle_mask(self) -> Vec<Option<usize>> {
        // SAFETY: callers hold a `shufflevector`; indices below the count exist.
        unsafe {
            let count = LLVMGetNumMaskElements(self.0);
            (0..count).map(|index| usize::try_from(LLVMGetMaskValue(self.0, index)).ok()).collect()
        }
    }

    // Constants.

    /// The value of an integer constant of at most 128 bits, zero-extended.
    pub fn integer(self) -> Option<u128> {
        if self.kind() != ValueKind::LLVMConstantIntValueKind {
            return None;
        }
        let width = self.ty().integer_width()?;
        if width <= 64 {
            // SAFETY: an integer constant of at most 64 bits.
            return Some(u128::from(unsafe { LLVMConstIntGetZExtValue(self.0) }));
        }
        // The C interface reads 64 bits only, so wider constants are read from their text, `i128 -5`.
        // SAFETY: the message is ours to free.
        let text = unsafe { owned_message(LLVMPrintValueToString(self.0)) };
        let digits = text.split_whitespace().last()?;
        let value = digits.parse::<i128>().map(|value| value as u128).or_else(|_| digits.parse::<u128>()).ok()?;
        (width <= 128).then(|| if width == 128 { value } else { value & ((1 << width) - 1) })
    }
    /// The value of an integer constant of any width in words of 64 bits, the lowest first.
    pub fn integer_words(self) -> Option<Vec<u64>> {
        let width = self.ty().integer_width().filter(|_| self.kind() == ValueKind::LLVMConstantIntValueKind)?;
        // SAFETY: the message is ours to free.
        let text = unsafe { owned_message(LLVMPrintValueToString(self.0)) };
        let number = text.split_whitespace().last()?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        let mut words = vec![0u64; width.div_ceil(64) as usize];
        for digit in digits.chars() {
            multiply_and_add(&mut words, 10, u64::from(digit.to_digit(10)?));
        }
        if digits.len() < number.len() {
            words.iter_mut().for_each(|word| *word = !*word);
            multiply_and_add(&mut words, 1, 1);
        }
        if !width.is_multiple_of(64) {
            *words.last_mut()? &= (1 << (width % 64)) - 1;
        }
        Some(words)
    }
    /// The bit pattern of a floating-point constant.
    pub fn float_bits(self) -> Option<u128> {
        if self.kind() != ValueKind::LLVMConstantFPValueKind {
            return None;
        }
        let width = self.ty().float_width()?;
        // SAFETY: a constant bit cast between types of the same width folds to an integer constant.
        let integer = unsafe { LLVMConstBitCast(self.0, LLVMIntTypeInContext(LLVMGetTypeContext(self.ty().0), width)) };
        Value::some(integer)?.integer()
    }
    /// An element of a constant aggregate.
    pub fn aggregate_element(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: any constant may be asked; the answer is null where there is none.
        Value::some(unsafe { LLVMGetAggregateElement(self.0, index) })
    }
    /// The bytes of an `[n x i8]` data constant.
    pub fn string_bytes(self) -> Option<&'m [u8]> {
        // SAFETY: guarded by the kind; the bytes live as long as the context.
        unsafe {
            if self.kind() != ValueKind::LLVMConstantDataArrayValueKind || LLVMIsConstantString(self.0) == 0 {
                return None;
            }
            let mut length = 0;
            Some(text(LLVMGetAsString(self.0, &mut length), length))
        }
    }
    pub fn is_null(self) -> bool {
        // SAFETY: any value may be asked.
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    // Globals and functions.

    /// Only for globals and functions.
    pub fn linkage(self) -> Linkage {
        // SAFETY: callers hold a global value.
        unsafe { LLVMGetLinkage(self.0) }
    }
    /// Only for globals and functions: the type of what they name.
    pub fn value_type(self) -> Type<'m> {
        // SAFETY: callers hold a global value.
        Type(unsafe { LLVMGlobalGetValueType(self.0) }, PhantomData)
    }
    /// Only for global variables.
    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: callers hold a global variable.
        Value::some(unsafe { LLVMGetInitializer(self.0) })
    }
    /// Only for global variables.
    pub fn is_constant_global(self) -> bool {
        // SAFETY: callers hold a global variable.
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }
    /// Only for aliases.
    pub fn aliasee(self) -> Option<Value<'m>> {
        // SAFETY: callers hold an alias.
        Value::some(unsafe { LLVMAliasGetAliasee(self.0) })
    }
    /// Only for functions.
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: callers hold a function.
        unsafe { LLVMGetIntrinsicID(self.0) != 0 }
    }
    /// Only for functions.
    pub fn parameters(self) -> Vec<Value<'m>> {
        // SAFETY: callers hold a function; indices below the count exist.
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count).filter_map(|index| Value::some(unsafe { LLVMGetParam(self.0, index) })).collect()
    }
    /// Only for functions: the type behind a parameter that the callee receives as a copy in memory.
    pub fn by_value_type(self, parameter: u32) -> Option<Type<'m>> {
        // SAFETY: callers hold a function; the attribute, where present, is a type attribute.
        unsafe {
            let attribute = LLVMGetEnumAttributeAtIndex(self.0, parameter + 1, by_value_kind());
            (!attribute.is_null()).then(|| Type(LLVMGetTypeAttributeValue(attribute), PhantomData))
        }
    }
    /// Only for calls: the type behind an argument that the callee receives as a copy in memory.
    pub fn by_value_argument(self, argument: u32) -> Option<Type<'m>> {
        // SAFETY: callers hold a call; the attribute, where present, is a type attribute.
        unsafe {
            let attribute = LLVMGetCallSiteEnumAttribute(self.0, argument + 1, by_value_kind());
            (!attribute.is_null()).then(|| Type(LLVMGetTypeAttributeValue(attribute), PhantomData))
        }
    }
    /// Only for calls: the type of the function as the call sees it.
    pub fn called_type(self) -> Type<'m> {
        // SAFETY: callers hold a call.
        Type(unsafe { LLVMGetCalledFunctionType(self.0) }, PhantomData)
    }
    /// The block whose address a constant is; `None` for all others.
    pub fn label(self) -> Option<(Value<'m>, BasicBlock<'m>)> {
        if self.kind() != ValueKind::LLVMBlockAddressValueKind {
            return None;
        }
        // SAFETY: guarded by the kind.
        unsafe {
            let function = Value::some(LLVMGetBlockAddressFunction(self.0))?;
            Some((function, BasicBlock(LLVMGetBlockAddressBasicBlock(self.0), PhantomData)))
        }
    }
    /// Only for functions: what of the machine the compiler was allowed to use, as `+sse,-avx`.
    pub fn target_features(self) -> String {
        const NAME: &str = "target-features";
        // SAFETY: callers hold a function; the text of the attribute lives as long as the context.
        unsafe {
            let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
            let attribute = LLVMGetStringAttributeAtIndex(self.0, index, NAME.as_ptr().cast(), NAME.len() as u32);
            if attribute.is_null() {
                return String::new();
            }
            let mut length = 0;
            let start = LLVMGetStringAttributeValue(attribute, &mut length);
            String::from_utf8_lossy(text(start, length as usize)).into_owned()
        }
    }
    /// Only for functions.
    pub fn blocks(self) -> Vec<BasicBlock<'m>> {
        let mut blocks = Vec::new();
        // SAFETY: callers hold a function; the list ends with null.
        unsafe {
            let mut current = LLVMGetFirstBasicBlock(self.0);
            while !current.is_null() {
                blocks.push(BasicBlock(current, PhantomData));
                current = LLVMGetNextBasicBlock(current);
            }
        }
        blocks
    }

    // Calls, phis and terminators.

    /// Only for calls.
    pub fn called_value(self) -> Option<Value<'m>> {
        // SAFETY: callers hold a call.
        Value::some(unsafe { LLVMGetCalledValue(self.0) })
    }
    /// Only for calls.
    pub fn arguments(self) -> Vec<Value<'m>> {
        // SAFETY: callers hold a call; its arguments are its first operands.
        let count = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..count).filter_map(|index| self.operand(index)).collect()
    }
    /// Text and constraints of an inline assembly value; `None` for all others.
    pub fn inline_assembly(self) -> Option<(String, String)> {
        // SAFETY: guarded by the kind; the strings live as long as the context and are copied at once.
        unsafe {
            if self.kind() != ValueKind::LLVMInlineAsmValueKind {
                return None;
            }
            let mut length = 0;
            let code = text(LLVMGetInlineAsmAsmString(self.0, &mut length), length);
            let mut length = 0;
            let constraints = text(LLVMGetInlineAsmConstraintString(self.0, &mut length), length);
            Some((String::from_utf8_lossy(code).into_owned(), String::from_utf8_lossy(constraints).into_owned()))
        }
    }
    /// Only for phis.
    pub fn incoming(self) -> impl Iterator<Item = (BasicBlock<'m>, Value<'m>)> {
        // SAFETY: callers hold a phi; indices below the count exist.
        let count = unsafe { LLVMCountIncoming(self.0) };
        (0..count).map(move |index| unsafe {
            let block = BasicBlock(LLVMGetIncomingBlock(self.0, index), PhantomData);
            (block, Value(LLVMGetIncomingValue(self.0, index), PhantomData))
        })
    }
    /// Only for terminators.
    pub fn successors(self) -> Vec<BasicBlock<'m>> {
        // SAFETY: callers hold a terminator; indices below the count exist.
        let count = unsafe { LLVMGetNumSuccessors(self.0) };
        (0..count).map(|index| BasicBlock(unsafe { LLVMGetSuccessor(self.0, index) }, PhantomData)).collect()
    }
    pub fn users(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: values keep the list of their uses; it ends with null.
        let mut current = unsafe { LLVMGetFirstUse(self.0) };
        std::iter::from_fn(move || {
            if current.is_null() {
                return None;
            }
            let user = Value::some(unsafe { LLVMGetUser(current) });
            current = unsafe { LLVMGetNextUse(current) };
            user
        })
    }

    /// The only use of this instruction, if that is one, in the same block.
    pub fn sole_user_in_block(self) -> Option<Value<'m>> {
        let mut users = self.users();
        let user = users.next()?;
        if users.next().is_some() || !self.is_instruction() || !user.is_instruction() {
            return None;
        }
        // SAFETY: both are instructions.
        unsafe { LLVMGetInstructionParent(self.0) == LLVMGetInstructionParent(user.0) }.then_some(user)
    }

    // Debug locations.

    /// Directory, file, line and column of an instruction. The strings live in the context, each once.
    pub fn debug_location(self) -> Option<(&'m [u8], &'m [u8], u32, u32)> {
        if !self.is_instruction() {
            return None;
        }
        // SAFETY: an instruction; the strings live as long as the context.
        unsafe {
            let line = LLVMGetDebugLocLine(self.0);
            if line == 0 {
                return None;
            }
            let mut length = 0;
            let start = LLVMGetDebugLocFilename(self.0, &mut length);
            let file = text(start, length as usize);
            let mut length = 0;
            let start = LLVMGetDebugLocDirectory(self.0, &mut length);
            let directory = text(start, length as usize);
            Some((directory, file, line, LLVMGetDebugLocColumn(self.0)))
        }
    }
}
