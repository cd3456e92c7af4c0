//! The passes that run before the lowering.

use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses,
};
use inkwell::module::Module;

use super::llvm::{ModuleView, Opcode, TypeKind, Value};

/// Scalars to registers, and nothing else.
///
/// Every other candidate uses undefined behaviour to delete what the executor has to see. Tried on one function with
/// `a[5] = 1` on an `int a[3]`, an unused `*p` and a store through a null pointer (clang 19):
/// - `sroa` deletes the out-of-bounds store and makes out-of-bounds loads undefined;
/// - `simplifycfg` turns the whole function, with the null store in it, into `unreachable`;
/// - `instcombine` makes the value of the null store poison and rewrites comparisons by `nsw`;
/// - `early-cse` and `dce` delete the unused load, and with it a null dereference.
///
/// What that costs, in instructions with terminators over nine C files of 233 to 4,097 lines: 18,927 as clang wrote
/// them, 12,573 after `mem2reg` (`sroa` the same, with `dce` 12,508, with `early-cse` 11,320), 11,280 when lowered, as
/// address computations and index extensions fold into one instruction each.
const PIPELINE: &str = "function(mem2reg)";

/// Runs the passes on a module of which no view exists yet.
pub fn run(module: &Module<'_>) -> Result<(), String> {
    mark_uninitialised(module);
    run_passes(module, PIPELINE)
}

/// Drops functions and variables that nothing refers to and nobody outside can ask for.
pub fn drop_unreachable(module: &Module<'_>) -> Result<(), String> {
    run_passes(module, "globaldce")
}

fn run_passes(module: &Module<'_>, pipeline: &str) -> Result<(), String> {
    let passes = CString::new(pipeline).map_err(|error| error.to_string())?;
    // SAFETY: module and options are alive; no target machine is needed for these passes; the error is consumed.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.as_mut_ptr(), passes.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// Gives every scalar local a visible uninitialised value at its birth.
///
/// Without it `mem2reg` makes `int x; if (c) x = 5; return x;` return 5 on both ways, as reading an uninitialised
/// variable is undefined. The value is `freeze undef`, which `mem2reg` does not look into; it lowers to
/// [`branchwise_program::code::Operand::Undefined`].
fn mark_uninitialised(module: &Module<'_>) {
    let promotable: Vec<LLVMValueRef> = {
        let view = ModuleView::new(module);
        let entries = view.functions().filter_map(|function| function.blocks().first().copied());
        entries
            .flat_map(|entry| entry.instructions())
            .filter(|&value| is_promotable(value))
            .map(|value| value.0)
            .collect()
    };
    // SAFETY: all values are live allocas; the builder inserts directly behind each.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr()));
        for alloca in promotable {
            let next = LLVMGetNextInstruction(alloca);
            if next.is_null() {
                continue;
            }
            LLVMPositionBuilderBefore(builder, next);
            let undefined = LLVMGetUndef(LLVMGetAllocatedType(alloca));
            let value = LLVMBuildFreeze(builder, undefined, c"".as_ptr());
            LLVMBuildStore(builder, value, alloca);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// A scalar local that is only loaded and stored as a whole, which is what `mem2reg` promotes.
fn is_promotable(value: Value<'_>) -> bool {
    if value.opcode() != Some(Opcode::LLVMAlloca) || value.operand(0).and_then(Value::integer) != Some(1) {
        return false;
    }
    let ty = value.allocated_type();
    let scalar = ty.float_width().is_some()
        || matches!(ty.kind(), TypeKind::LLVMIntegerTypeKind | TypeKind::LLVMPointerTypeKind);
    let whole_access = |user: Value<'_>| match (user.opcode(), user.operand(0)) {
        (Some(Opcode::LLVMLoad), _) => user.ty() == ty && !user.is_volatile(),
        (Some(Opcode::LLVMStore), Some(stored)) => stored != value && stored.ty() == ty && !user.is_volatile(),
        _ => false,
    };
    scalar && value.users().all(whole_access)
}
