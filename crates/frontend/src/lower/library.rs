//! The models of library functions: C code (`library/*.c`) that is linked into the user's module where it calls them.
//!
//! They are embedded as bitcode. Of that only the table of names is read, and then the bodies of what the user's module
//! reaches, so a program that calls no library function pays nothing.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use branchwise_program::library::{self, Model};
use inkwell::llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use inkwell::module::Module;

use super::llvm::Value;

const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/models.bc"));
/// The runtime of C++ and functions of its library, for units that are C++.
const CPP_BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/models_cpp.bc"));
/// What the headers of C++ leave to the shared library.
const STD_BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/models_std.bc"));
/// What only drivers of C++ call.
const CPP_SIGN: &CStr = c"__bw_start";
/// What only the models of streams of C++ call.
const OPEN_FILE: &str = "__bw_open_file";
/// The attribute by which a model is recognised after linking.
const MODEL: &str = "branchwise-model";

/// Whether there is a model of this library function.
pub fn is_modelled(name: &str) -> bool {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    NAMES.get_or_init(names).contains(name)
}

/// Whether a call of this function, which the unit does not define, may lead back into the unit.
pub fn may_call_back(name: &str) -> bool {
    match library::row(name) {
        Some(row) if matches!(row.model, Model::Code | Model::Executor | Model::Nothing) => row.calls_back(),
        _ => !is_modelled(name),
    }
}

/// Whether a function of a linked module is a model, or a helper of one.
pub(super) fn is_model(function: Value<'_>) -> bool {
    // SAFETY: callers hold a function; the name is not kept.
    let found = unsafe {
        LLVMGetStringAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, MODEL.as_ptr().cast(), MODEL.len() as u32)
    };
    !found.is_null()
}

/// Adds the models that the module's declarations ask for, and what they use, to a module of which no view exists yet.
///
/// What the module defines itself wins. A model that another model calls is then kept beside it under another name, as
/// the C library goes on calling its own functions too.
pub(super) fn link(module: &Module<'_>) -> Result<(), String> {
    let user = module.as_mut_ptr();
    // SAFETY: the module is alive.
    if unsafe { !LLVMGetNamedFunction(user, CPP_SIGN.as_ptr()).is_null() } {
        link_models(user, STD_BITCODE)?;
        link_models(user, CPP_BITCODE)?;
    }
    // SAFETY: the module is alive; the names are those of its own functions.
    let asked = unsafe {
        functions(LLVMGetFirstFunction(user))
            .filter(|&function| LLVMIsDeclaration(function) != 0)
            .map(|function| name_of(function))
            .any(|name| is_modelled(&name) || name == OPEN_FILE)
    };
    if asked { link_models(user, BITCODE) } else { Ok(()) }
}

fn link_models(user: LLVMModuleRef, bitcode: &'static [u8]) -> Result<(), String> {
    // SAFETY: both modules belong to the same context; linking consumes the models, and nothing holds on to them.
    unsafe {
        let models = read_models(LLVMGetModuleContext(user), bitcode)?;
        // A layout of another machine would give the models other types than they were compiled for.
        if c_text(LLVMGetDataLayoutStr(user)) != c_text(LLVMGetDataLayoutStr(models)) {
            LLVMDisposeModule(models);
            return Ok(());
        }
        LLVMSetTarget(models, LLVMGetTarget(user));
        prepare(models, user);
        prepare_variables(models);
        match LLVMLinkModules2(user, models) {
            0 => Ok(()),
            _ => Err("the models of library functions do not link".to_owned()),
        }
    }
}

/// Marks every model, lets the linker leave out what is not asked for, and makes way for what the user defines.
///
/// SAFETY: both modules are alive, in one context.
unsafe fn prepare(models: LLVMModuleRef, user: LLVMModuleRef) {
    unsafe {
        let context = LLVMGetModuleContext(models);
        let key = MODEL.as_ptr().cast();
        let mark = LLVMCreateStringAttribute(context, key, MODEL.len() as u32, c"".as_ptr(), 0);
        for function in functions(LLVMGetFirstFunction(models)) {
            if LLVMIsDeclaration(function) != 0 {
                continue;
            }
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, mark);
            let name = name_of(function);
            // What the lowering asks for by name is needed although nothing refers to it yet.
            let asked_for = name.starts_with("__bw_") && name != OPEN_FILE;
            if LLVMGetLinkage(function) != LLVMLinkage::LLVMInternalLinkage && !asked_for {
                LLVMSetLinkage(function, LLVMLinkage::LLVMLinkOnceAnyLinkage);
            }
            if is_taken(user, &name) {
                let other = format!("__bw_model_{name}");
                LLVMSetValueName2(function, other.as_ptr().cast(), other.len());
            }
        }
    }
}

/// The same for variables: type information and streams of C++.
///
/// SAFETY: the module is alive.
unsafe fn prepare_variables(models: LLVMModuleRef) {
    unsafe {
        for global in variables(models) {
            let own = matches!(LLVMGetLinkage(global), LLVMLinkage::LLVMExternalLinkage);
            if own && LLVMIsDeclaration(global) == 0 && !name_of(global).starts_with("__bw_") {
                LLVMSetLinkage(global, LLVMLinkage::LLVMLinkOnceAnyLinkage);
            }
        }
    }
}

/// Whether the user's module has something else of this name than the declaration of a function.
///
/// SAFETY: the module is alive.
unsafe fn is_taken(user: LLVMModuleRef, name: &str) -> bool {
    let Ok(name_text) = CString::new(name) else { return false };
    unsafe {
        let function = LLVMGetNamedFunction(user, name_text.as_ptr());
        !function.is_null() && LLVMIsDeclaration(function) == 0
            || !LLVMGetNamedGlobal(user, name_text.as_ptr()).is_null()
            || !LLVMGetNamedGlobalAlias(user, name_text.as_ptr(), name.len()).is_null()
    }
}

/// The names that the models define, and those that they leave to the executor, such as `abort`.
fn names() -> BTreeSet<String> {
    // SAFETY: context and module are alive until they are disposed of here; the names are copies.
    unsafe {
        let context = LLVMContextCreate();
        let mut names = BTreeSet::new();
        for bitcode in [BITCODE, CPP_BITCODE, STD_BITCODE] {
            let Ok(models) = read_models(context, bitcode) else { continue };
            let visible = functions(LLVMGetFirstFunction(models))
                .filter(|&function| LLVMGetLinkage(function) != LLVMLinkage::LLVMInternalLinkage)
                .map(|function| name_of(function));
            names.extend(visible.filter(|name| !name.starts_with("__bw_") && !name.starts_with("llvm.")));
            LLVMDisposeModule(models);
        }
        LLVMContextDispose(context);
        names
    }
}

/// The module of all models; bodies are read when they are asked for.
///
/// SAFETY: the context is alive.
unsafe fn read_models(context: LLVMContextRef, bitcode: &'static [u8]) -> Result<LLVMModuleRef, String> {
    let mut module = std::ptr::null_mut();
    // SAFETY: the bytes live for ever; the module takes the buffer over, even where it cannot be read.
    let failed = unsafe {
        let buffer =
            LLVMCreateMemoryBufferWithMemoryRange(bitcode.as_ptr().cast(), bitcode.len(), c"models".as_ptr(), 0);
        LLVMGetBitcodeModuleInContext2(context, buffer, &mut module)
    };
    if failed == 0 { Ok(module) } else { Err("cannot read the models of library functions".to_owned()) }
}

/// SAFETY: `first` is null or a function of a module that stays as it is.
pub(super) unsafe fn functions(first: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    std::iter::successors((!first.is_null()).then_some(first), |&function| {
        // SAFETY: `function` is a member of the module's list.
        let next = unsafe { LLVMGetNextFunction(function) };
        (!next.is_null()).then_some(next)
    })
}

/// SAFETY: the module is alive, and nothing is added to it meanwhile.
pub(super) unsafe fn variables(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    let first = unsafe { LLVMGetFirstGlobal(module) };
    std::iter::successors((!first.is_null()).then_some(first), |&variable| {
        // SAFETY: `variable` is a member of the module's list.
        let next = unsafe { LLVMGetNextGlobal(variable) };
        (!next.is_null()).then_some(next)
    })
}

/// SAFETY: the value is alive.
pub(super) unsafe fn name_of(value: LLVMValueRef) -> String {
    let mut length = 0;
    // SAFETY: the name has this length and is copied.
    unsafe {
        let start = LLVMGetValueName2(value, &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), length)).into_owned()
    }
}

/// SAFETY: `text` is a C string that outlives the use of the result.
unsafe fn c_text<'t>(text: *const std::ffi::c_char) -> &'t std::ffi::CStr {
    unsafe { std::ffi::CStr::from_ptr(text) }
}
