//! What C++ does before `main`: the function that drivers call first makes the objects that live as long as the program.

use std::ffi::CString;

use inkwell::llvm_sys::LLVMIntPredicate;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

const START: &str = "__bw_start";
const STARTED: &str = "__bw_own_started";
/// What says which exceptions are on their way: none, whatever calls were made before.
const EXCEPTIONS: [&str; 4] = ["__bw_unwinding", "__bw_thrown", "__bw_caught", "__bw_uncaught"];
const CONSTRUCTORS: &str = "llvm.global_ctors";

/// Defines it, where a driver calls it: all constructors in the order of their priority, once.
pub(super) fn define(module: &Module<'_>) {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive and nobody else looks at it; all values below belong to it.
    unsafe {
        let Some(start) = named(START, |name| LLVMGetNamedFunction(module, name)) else { return };
        let context = LLVMGetModuleContext(module);
        let builder = LLVMCreateBuilderInContext(context);
        let int = LLVMInt32TypeInContext(context);
        let (zero, one) = (LLVMConstInt(int, 0, 0), LLVMConstInt(int, 1, 0));
        let block = || LLVMAppendBasicBlockInContext(context, start, c"".as_ptr());
        let (entry, first, end) = (block(), block(), block());
        LLVMPositionBuilderAtEnd(builder, entry);
        for variable in EXCEPTIONS.iter().filter_map(|name| named(name, |name| LLVMGetNamedGlobal(module, name))) {
            LLVMBuildStore(builder, LLVMConstNull(LLVMGlobalGetValueType(variable)), variable);
        }
        let constructors = constructors(module);
        if constructors.is_empty() {
            LLVMBuildBr(builder, end);
        } else {
            let started = flag(module, int, zero);
            let known = LLVMBuildLoad2(builder, int, started, c"".as_ptr());
            let again = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntNE, known, zero, c"".as_ptr());
            LLVMBuildCondBr(builder, again, end, first);
            LLVMPositionBuilderAtEnd(builder, first);
            LLVMBuildStore(builder, one, started);
        }
        LLVMPositionBuilderAtEnd(builder, first);
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
        for constructor in constructors {
            LLVMBuildCall2(builder, ty, constructor, std::ptr::null_mut(), 0, c"".as_ptr());
        }
        LLVMBuildBr(builder, end);
        LLVMPositionBuilderAtEnd(builder, end);
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
    }
}

/// Whether a program has begun is no state of the user's.
unsafe fn flag(module: LLVMModuleRef, int: LLVMTypeRef, zero: LLVMValueRef) -> LLVMValueRef {
    let Ok(name) = CString::new(STARTED) else { return std::ptr::null_mut() };
    unsafe {
        let flag = LLVMAddGlobal(module, int, name.as_ptr());
        LLVMSetInitializer(flag, zero);
        LLVMSetLinkage(flag, LLVMLinkage::LLVMInternalLinkage);
        flag
    }
}

unsafe fn named(name: &str, find: impl Fn(*const std::ffi::c_char) -> LLVMValueRef) -> Option<LLVMValueRef> {
    let name = CString::new(name).ok()?;
    Some(find(name.as_ptr())).filter(|found| !found.is_null())
}

/// Lower numbers come first; equal ones stay in the order in which the compiler lists them.
unsafe fn constructors(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    unsafe {
        let list = named(CONSTRUCTORS, |name| LLVMGetNamedGlobal(module, name));
        let Some(list) = list.map(|list| LLVMGetInitializer(list)).filter(|list| !list.is_null()) else {
            return Vec::new();
        };
        let count = LLVMGetArrayLength2(LLVMTypeOf(list));
        let mut found = Vec::new();
        for index in 0..count {
            let entry = LLVMGetAggregateElement(list, index as u32);
            let priority = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(entry, 0));
            found.push((priority, LLVMGetAggregateElement(entry, 1)));
        }
        found.sort_by_key(|(priority, _)| *priority);
        found.into_iter().map(|(_, constructor)| constructor).collect()
    }
}
