//! Exceptions as plain control flow.
//!
//! A call that throws returns with the variable `__bw_unwinding` set, and what called it looks: an `invoke` goes on at its
//! landing pad, a call leaves its function. So no part of the execution has to know exceptions, and what they do is
//! done by the models of the C++ runtime (`library/cpp`): throwing, matching types, catching.
//!
//! The driver of a unit has a handler for everything, or ends the program where one is missing. So there is always a
//! handler up the stack, and unwinding before one is found is no different from looking for it first.

use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTypeKind, LLVMValueKind};
use inkwell::module::Module;

use super::library::{functions, name_of};

const UNWINDING: &str = "__bw_unwinding";
const SELECT: &str = "__bw_select";
const RESUME: &str = "__bw_resume";
const THROWING: [&str; 2] = ["__cxa_throw", "__cxa_rethrow"];
const TYPE_NUMBER: &str = "llvm.eh.typeid.for";

/// Rewrites every call that may throw, of a module of which no view exists yet.
pub(super) fn lower(module: &Module<'_>) -> Result<(), String> {
    let module = module.as_mut_ptr();
    // SAFETY: the module is alive and nobody else looks at it; all values below belong to it.
    unsafe {
        let Some(rewriter) = Rewriter::new(module) else { return Ok(()) };
        let all: Vec<LLVMValueRef> = functions(LLVMGetFirstFunction(module)).collect();
        for function in all {
            if LLVMIsDeclaration(function) == 0 {
                rewriter.function(function);
            }
        }
        LLVMDisposeBuilder(rewriter.builder);
    }
    Ok(())
}

struct Rewriter {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    /// The variable that says whether an exception is on its way.
    unwinding: LLVMValueRef,
    select: LLVMValueRef,
    resume: LLVMValueRef,
    int: LLVMTypeRef,
    pointer: LLVMTypeRef,
}

impl Rewriter {
    /// `None` where the runtime of C++ is not in the module.
    ///
    /// SAFETY: the module is alive.
    unsafe fn new(module: LLVMModuleRef) -> Option<Rewriter> {
        unsafe {
            let context = LLVMGetModuleContext(module);
            let named = |name: &str| CString::new(name).ok();
            let unwinding = LLVMGetNamedGlobal(module, named(UNWINDING)?.as_ptr());
            let select = LLVMGetNamedFunction(module, named(SELECT)?.as_ptr());
            let resume = LLVMGetNamedFunction(module, named(RESUME)?.as_ptr());
            if unwinding.is_null() || select.is_null() || resume.is_null() {
                return None;
            }
            let builder = LLVMCreateBuilderInContext(context);
            let int = LLVMInt32TypeInContext(context);
            let pointer = LLVMPointerTypeInContext(context, 0);
            Some(Rewriter { module, context, builder, unwinding, select, resume, int, pointer })
        }
    }

    unsafe fn function(&self, function: LLVMValueRef) {
        unsafe {
            let mut calls = Vec::new();
            let mut others = Vec::new();
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    match LLVMGetInstructionOpcode(instruction) {
                        LLVMOpcode::LLVMInvoke => calls.push(instruction),
                        LLVMOpcode::LLVMCall if may_throw(instruction) => calls.push(instruction),
                        LLVMOpcode::LLVMCall if is_type_number(instruction) => others.push(instruction),
                        LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMResume => others.push(instruction),
                        _ => {}
                    }
                    instruction = LLVMGetNextInstruction(instruction);
                }
                block = LLVMGetNextBasicBlock(block);
            }
            for call in calls {
                match LLVMGetInstructionOpcode(call) {
                    LLVMOpcode::LLVMInvoke => self.invoke(call),
                    _ => self.call(function, call),
                }
            }
            for other in others {
                match LLVMGetInstructionOpcode(other) {
                    LLVMOpcode::LLVMLandingPad => self.landing_pad(other),
                    LLVMOpcode::LLVMResume => self.resume(function, other),
                    _ => self.type_number(other),
                }
            }
        }
    }

    /// The invoke becomes a call and a branch on whether it came back by itself.
    unsafe fn invoke(&self, invoke: LLVMValueRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, invoke);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(invoke));
            let count = LLVMGetNumArgOperands(invoke);
            let mut arguments: Vec<LLVMValueRef> = (0..count).map(|index| LLVMGetOperand(invoke, index)).collect();
            let (ty, callee) = (LLVMGetCalledFunctionType(invoke), LLVMGetCalledValue(invoke));
            let call = LLVMBuildCall2(self.builder, ty, callee, arguments.as_mut_ptr(), count, c"".as_ptr());
            copy_by_value(invoke, call, count);
            if LLVMGetTypeKind(LLVMTypeOf(invoke)) != LLVMTypeKind::LLVMVoidTypeKind {
                LLVMReplaceAllUsesWith(invoke, call);
            }
            let (normal, unwind) = (LLVMGetNormalDest(invoke), LLVMGetUnwindDest(invoke));
            LLVMBuildCondBr(self.builder, self.is_unwinding(), unwind, normal);
            LLVMInstructionEraseFromParent(invoke);
        }
    }

    /// Behind the call, the function is left where an exception is on its way.
    unsafe fn call(&self, function: LLVMValueRef, call: LLVMValueRef) {
        unsafe {
            let block = LLVMGetInstructionParent(call);
            let first = LLVMInsertBasicBlockInContext(self.context, block, c"".as_ptr());
            self.move_start(block, call, first);
            let leave = LLVMAppendBasicBlockInContext(self.context, function, c"".as_ptr());
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(call));
            LLVMBuildCondBr(self.builder, self.is_unwinding(), leave, block);
            LLVMPositionBuilderAtEnd(self.builder, leave);
            self.leave(function);
        }
    }

    /// The block up to the call becomes the block `first`, to which all jumps lead now. The rest stays where the phis
    /// behind it expect it.
    unsafe fn move_start(&self, block: LLVMBasicBlockRef, call: LLVMValueRef, first: LLVMBasicBlockRef) {
        unsafe {
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
            // Of a block with an end, the phis behind it would be led to `first` too.
            let end = LLVMGetBasicBlockTerminator(block);
            LLVMInstructionRemoveFromParent(end);
            LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(first));
            LLVMPositionBuilderAtEnd(self.builder, block);
            LLVMInsertIntoBuilder(self.builder, end);
            LLVMPositionBuilderAtEnd(self.builder, first);
            loop {
                let instruction = LLVMGetFirstInstruction(block);
                LLVMInstructionRemoveFromParent(instruction);
                LLVMInsertIntoBuilder(self.builder, instruction);
                if instruction == call {
                    return;
                }
            }
        }
    }

    unsafe fn is_unwinding(&self) -> LLVMValueRef {
        unsafe {
            let flag = LLVMBuildLoad2(self.builder, self.int, self.unwinding, c"".as_ptr());
            let zero = LLVMConstInt(self.int, 0, 0);
            LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntNE, flag, zero, c"".as_ptr())
        }
    }

    unsafe fn leave(&self, function: LLVMValueRef) {
        unsafe {
            let result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
            match LLVMGetTypeKind(result) {
                LLVMTypeKind::LLVMVoidTypeKind => LLVMBuildRetVoid(self.builder),
                _ => LLVMBuildRet(self.builder, LLVMGetUndef(result)),
            };
        }
    }

    /// `{exception, number}`: the number says which clause matches.
    unsafe fn landing_pad(&self, pad: LLVMValueRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, pad);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(pad));
            let clauses: Vec<LLVMValueRef> =
                (0..LLVMGetNumClauses(pad)).map(|index| LLVMGetClause(pad, index)).collect();
            let mut entries: Vec<LLVMValueRef> = clauses.iter().map(|&clause| self.clause(clause)).collect();
            let count = LLVMConstInt(self.int, entries.len() as u64, 0);
            let table = LLVMConstArray2(self.pointer, entries.as_mut_ptr(), entries.len() as u64);
            let global = LLVMAddGlobal(self.module, LLVMTypeOf(table), c"__bw_clauses".as_ptr());
            LLVMSetInitializer(global, table);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
            let mut numbers = self.numbers(&clauses);
            let numbers_table = LLVMConstArray2(self.int, numbers.as_mut_ptr(), numbers.len() as u64);
            let numbers = LLVMAddGlobal(self.module, LLVMTypeOf(numbers_table), c"__bw_numbers".as_ptr());
            LLVMSetInitializer(numbers, numbers_table);
            LLVMSetGlobalConstant(numbers, 1);
            LLVMSetLinkage(numbers, LLVMLinkage::LLVMPrivateLinkage);
            let ty = LLVMGlobalGetValueType(self.select);
            // The model writes the exception and the number to a place of its own.
            let mut arguments = [global, numbers, count];
            let selected = LLVMBuildCall2(self.builder, ty, self.select, arguments.as_mut_ptr(), 3, c"".as_ptr());
            let whole = LLVMGetUndef(LLVMTypeOf(pad));
            let exception = LLVMBuildExtractValue(self.builder, selected, 0, c"".as_ptr());
            let number = LLVMBuildExtractValue(self.builder, selected, 1, c"".as_ptr());
            let number = LLVMBuildTrunc(self.builder, number, self.int, c"".as_ptr());
            let whole = LLVMBuildInsertValue(self.builder, whole, exception, 0, c"".as_ptr());
            let whole = LLVMBuildInsertValue(self.builder, whole, number, 1, c"".as_ptr());
            LLVMReplaceAllUsesWith(pad, whole);
            LLVMInstructionEraseFromParent(pad);
        }
    }

    /// What a clause looks for; a filter is an array, which stands for itself.
    unsafe fn clause(&self, clause: LLVMValueRef) -> LLVMValueRef {
        unsafe {
            match LLVMGetTypeKind(LLVMTypeOf(clause)) {
                LLVMTypeKind::LLVMArrayTypeKind => LLVMConstNull(self.pointer),
                _ => clause,
            }
        }
    }

    /// By which number the code behind the pad knows a clause: of a type the one that `llvm.eh.typeid.for` gives, of
    /// "anything" any other, of a filter a negative one.
    unsafe fn numbers(&self, clauses: &[LLVMValueRef]) -> Vec<LLVMValueRef> {
        unsafe {
            let number = |&clause: &LLVMValueRef| match LLVMGetTypeKind(LLVMTypeOf(clause)) {
                LLVMTypeKind::LLVMArrayTypeKind => LLVMConstInt(self.int, u64::MAX, 1),
                _ => LLVMConstInt(self.int, self.number_of(clause), 0),
            };
            clauses.iter().map(number).collect()
        }
    }

    /// The place of a typeinfo among the module's variables, from 1 on.
    unsafe fn number_of(&self, typeinfo: LLVMValueRef) -> u64 {
        unsafe {
            let mut number = 1;
            let mut global = LLVMGetFirstGlobal(self.module);
            while !global.is_null() && global != typeinfo {
                number += 1;
                global = LLVMGetNextGlobal(global);
            }
            // "Anything" has a number of its own.
            if LLVMGetValueKind(typeinfo) == LLVMValueKind::LLVMConstantPointerNullValueKind { 1 << 30 } else { number }
        }
    }

    unsafe fn type_number(&self, call: LLVMValueRef) {
        unsafe {
            let number = LLVMConstInt(self.int, self.number_of(LLVMGetOperand(call, 0)), 0);
            LLVMReplaceAllUsesWith(call, number);
            LLVMInstructionEraseFromParent(call);
        }
    }

    unsafe fn resume(&self, function: LLVMValueRef, resume: LLVMValueRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, resume);
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(resume));
            let exception = LLVMBuildExtractValue(self.builder, LLVMGetOperand(resume, 0), 0, c"".as_ptr());
            let ty = LLVMGlobalGetValueType(self.resume);
            LLVMBuildCall2(self.builder, ty, self.resume, [exception].as_mut_ptr(), 1, c"".as_ptr());
            self.leave(function);
            LLVMInstructionEraseFromParent(resume);
        }
    }
}

/// Attributes that decide how an argument travels must not get lost.
unsafe fn copy_by_value(from: LLVMValueRef, to: LLVMValueRef, count: u32) {
    unsafe {
        for index in 1..=count {
            let attribute = LLVMGetCallSiteEnumAttribute(from, index, super::llvm::by_value_kind());
            if !attribute.is_null() {
                LLVMAddCallSiteAttribute(to, index, attribute);
            }
        }
    }
}

unsafe fn is_type_number(call: LLVMValueRef) -> bool {
    unsafe { callee_name(call).is_some_and(|name| name.starts_with(TYPE_NUMBER)) }
}

unsafe fn callee_name(call: LLVMValueRef) -> Option<String> {
    unsafe {
        let callee = LLVMGetCalledValue(call);
        (LLVMGetValueKind(callee) == LLVMValueKind::LLVMFunctionValueKind).then(|| name_of(callee))
    }
}

/// Neither the call nor what it calls promises the contrary.
unsafe fn may_throw(call: LLVMValueRef) -> bool {
    unsafe {
        // Their models return normally, so that the compiler takes them for functions that do not throw.
        if callee_name(call).is_some_and(|name| THROWING.contains(&name.as_str())) {
            return true;
        }
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        let nounwind = LLVMGetEnumAttributeKindForName(c"nounwind".as_ptr(), 8);
        if !LLVMGetCallSiteEnumAttribute(call, index, nounwind).is_null() {
            return false;
        }
        let callee = LLVMGetCalledValue(call);
        match LLVMGetValueKind(callee) {
            LLVMValueKind::LLVMFunctionValueKind => {
                LLVMGetIntrinsicID(callee) == 0 && LLVMGetEnumAttributeAtIndex(callee, index, nounwind).is_null()
            }
            LLVMValueKind::LLVMInlineAsmValueKind => false,
            _ => true,
        }
    }
}
