//! What a program does before `main`: the function that drivers call first makes the objects that live as long as the program,
//! and calls the constructor functions. Drivers of C++ call it by themselves; those of C get a call where there is something to do.

use std::ffi::CStr;

use inkwell::llvm_sys::LLVMIntPredicate;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;

use super::library::{functions, name_of, variables};
use crate::drivers::DRIVER;

const START: &CStr = c"__bw_start";
/// Between these, the executor knows that the function under test is still to come.
const BEGIN: &CStr = c"__bw_objects_begin";
const END: &CStr = c"__bw_objects_end";
const STARTED: &CStr = c"__bw_own_started";
const UNSUPPORTED: &CStr = c"__bw_unsupported";
const WITH_ARGUMENTS: &CStr = c"a constructor function with the arguments of the program";
/// What says which exceptions are on their way: none, whatever calls were made before.
const EXCEPTIONS: [&CStr; 4] = [c"__bw_unwinding", c"__bw_thrown", c"__bw_caught", c"__bw_uncaught"];
/// The priority of those that have none.
const LAST: u64 = 65_535;
const CONSTRUCTORS: &CStr = c"llvm.global_ctors";

/// Defines it, where a driver calls it or there are constructors: all constructors in the order of their priority, once.
pub(super) fn define(module: &Module<'_>) {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive and nobody else looks at it; all values below belong to it.
    unsafe {
        let constructors = constructors(module);
        let start = LLVMGetNamedFunction(module, START.as_ptr());
        match (start.is_null(), constructors.is_empty()) {
            (true, true) => {}
            (true, false) => define_as(call_from_drivers(module), module, constructors),
            (false, _) => define_as(start, module, constructors),
        }
    }
}

unsafe fn define_as(start: LLVMValueRef, module: LLVMModuleRef, constructors: Vec<LLVMValueRef>) {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let builder = LLVMCreateBuilderInContext(context);
        let int = LLVMInt32TypeInContext(context);
        let (zero, one) = (LLVMConstInt(int, 0, 0), LLVMConstInt(int, 1, 0));
        let block = || LLVMAppendBasicBlockInContext(context, start, c"".as_ptr());
        let (entry, first, end) = (block(), block(), block());
        LLVMPositionBuilderAtEnd(builder, entry);
        let variables = EXCEPTIONS.iter().map(|name| LLVMGetNamedGlobal(module, name.as_ptr()));
        for variable in variables.filter(|variable| !variable.is_null()) {
            LLVMBuildStore(builder, LLVMConstNull(LLVMGlobalGetValueType(variable)), variable);
        }
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
        for constructor in constructors {
            call(module, builder, constructor);
        }
        LLVMBuildBr(builder, end);
        LLVMPositionBuilderAtEnd(builder, end);
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
    }
}

/// Declares the function, and calls it first in every driver.
unsafe fn call_from_drivers(module: LLVMModuleRef) -> LLVMValueRef {
    unsafe {
        let context = LLVMGetModuleContext(module);
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
        let start = declared(module, START, ty);
        let calls = [declared(module, BEGIN, ty), start, declared(module, END, ty)];
        let builder = LLVMCreateBuilderInContext(context);
        for driver in functions(LLVMGetFirstFunction(module)) {
            if LLVMIsDeclaration(driver) != 0 || !name_of(driver).starts_with(DRIVER) {
                continue;
            }
            LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(driver)));
            for callee in calls {
                LLVMBuildCall2(builder, ty, callee, std::ptr::null_mut(), 0, c"".as_ptr());
            }
        }
        LLVMDisposeBuilder(builder);
        start
    }
}

/// Calls a constructor. One that looks at the arguments of the program, which the C library hands on to it, is not supported.
unsafe fn call(module: LLVMModuleRef, builder: LLVMBuilderRef, constructor: LLVMValueRef) {
    unsafe {
        let ty = LLVMGlobalGetValueType(constructor);
        if LLVMCountParamTypes(ty) == 0 {
            LLVMBuildCall2(builder, ty, constructor, std::ptr::null_mut(), 0, c"".as_ptr());
            return;
        }
        let context = LLVMGetModuleContext(module);
        let mut parameter = LLVMPointerTypeInContext(context, 0);
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), &mut parameter, 1, 0);
        let unsupported = declared(module, UNSUPPORTED, ty);
        let mut what = LLVMBuildGlobalStringPtr(builder, WITH_ARGUMENTS.as_ptr(), c"".as_ptr());
        LLVMBuildCall2(builder, ty, unsupported, &mut what, 1, c"".as_ptr());
    }
}

unsafe fn declared(module: LLVMModuleRef, name: &CStr, ty: LLVMTypeRef) -> LLVMValueRef {
    unsafe {
        match LLVMGetNamedFunction(module, name.as_ptr()) {
            known if known.is_null() => LLVMAddFunction(module, name.as_ptr(), ty),
            known => known,
        }
    }
}

/// Whether a program has begun is no state of the user's.
unsafe fn flag(module: LLVMModuleRef, int: LLVMTypeRef, zero: LLVMValueRef) -> LLVMValueRef {
    unsafe {
        let flag = LLVMAddGlobal(module, int, STARTED.as_ptr());
        LLVMSetInitializer(flag, zero);
        LLVMSetLinkage(flag, LLVMLinkage::LLVMInternalLinkage);
        flag
    }
}

/// Lower numbers come first; equal ones stay in the order in which the compiler lists them, behind what the user's own code
/// puts there.
unsafe fn constructors(module: LLVMModuleRef) -> Vec<LLVMValueRef> {
    unsafe {
        let mut found: Vec<(u64, LLVMValueRef)> = variables(module).filter_map(|variable| listed(variable)).collect();
        let list = LLVMGetNamedGlobal(module, CONSTRUCTORS.as_ptr());
        let list = if list.is_null() { list } else { LLVMGetInitializer(list) };
        let count = if list.is_null() { 0 } else { LLVMGetArrayLength2(LLVMTypeOf(list)) };
        for index in 0..count {
            let entry = LLVMGetAggregateElement(list, index as u32);
            let priority = LLVMConstIntGetZExtValue(LLVMGetAggregateElement(entry, 0));
            found.push((priority, LLVMGetAggregateElement(entry, 1)));
        }
        found.sort_by_key(|(priority, _)| *priority);
        found.into_iter().map(|(_, constructor)| constructor).filter(|it| !LLVMIsAFunction(*it).is_null()).collect()
    }
}

/// What a variable in the section of constructors points to, and its priority.
unsafe fn listed(variable: LLVMValueRef) -> Option<(u64, LLVMValueRef)> {
    unsafe {
        let (section, value) = (LLVMGetSection(variable), LLVMGetInitializer(variable));
        if section.is_null() || value.is_null() {
            return None;
        }
        let rest = CStr::from_ptr(section).to_str().ok()?.strip_prefix(".init_array")?;
        let priority = if rest.is_empty() { LAST } else { rest.strip_prefix('.')?.parse().ok()? };
        Some((priority, value))
    }
}
