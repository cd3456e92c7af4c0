//! Other files of the user's, linked into the module of the one under test: what it calls there is executed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use serde::{Deserialize, Serialize};

use super::library::{functions, name_of, variables};
use super::passes;

/// What a file defines and what it asks others for, as the linker sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbols {
    /// With external linkage.
    pub defined: BTreeSet<String>,
    /// `static`
    pub internal: BTreeSet<String>,
    pub undefined: BTreeSet<String>,
}

/// A file to link: its bitcode, and the names that must not be what they are.
#[derive(Debug, Copy, Clone)]
pub struct LinkedBitcode<'a> {
    pub path: &'a Path,
    pub renamed: &'a BTreeMap<String, String>,
}

/// The symbols of a bitcode file.
pub fn symbols(path: &Path) -> Result<Symbols, String> {
    let context = Context::create();
    let module = Module::parse_bitcode_from_path(path, &context).map_err(|error| error.to_string())?;
    let mut symbols = Symbols::default();
    // SAFETY: the values are those of a module that is alive and stays as it is.
    for value in unsafe { values(module.as_mut_ptr()) } {
        let (name, linkage) = unsafe { (name_of(value), LLVMGetLinkage(value)) };
        let declared = unsafe { LLVMIsDeclaration(value) != 0 };
        match linkage {
            _ if name.starts_with("llvm.") => {}
            _ if declared => drop(symbols.undefined.insert(name)),
            LLVMLinkage::LLVMExternalLinkage | LLVMLinkage::LLVMCommonLinkage => drop(symbols.defined.insert(name)),
            LLVMLinkage::LLVMInternalLinkage => drop(symbols.internal.insert(name)),
            _ => {}
        }
    }
    Ok(symbols)
}

/// Links the files, each once and as a whole, for two halves would not share their static variables; then drops what the
/// module does not reach. Returns the names of the variables with external linkage that came along.
pub(super) fn link<'c>(
    module: &Module<'c>,
    context: &'c Context,
    others: &[LinkedBitcode<'_>],
) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for other in others {
        let linked = Module::parse_bitcode_from_path(other.path, context).map_err(|error| error.to_string())?;
        // SAFETY: the module is alive and nobody else looks at it; a new name does not move a value.
        unsafe {
            for value in values(linked.as_mut_ptr()).collect::<Vec<_>>() {
                if let Some(name) = other.renamed.get(&name_of(value)) {
                    LLVMSetValueName2(value, name.as_ptr().cast(), name.len());
                }
                if LLVMIsDeclaration(value) == 0 && is_external(LLVMGetLinkage(value)) {
                    names.insert(name_of(value));
                }
            }
        }
        module.link_in_module(linked).map_err(|error| format!("{}: {error}", other.path.display()))?;
    }
    let mut variables = BTreeSet::new();
    // SAFETY: as above; what nobody refers to may now be dropped.
    unsafe {
        for value in values(module.as_mut_ptr()).filter(|&value| names.contains(&name_of(value))) {
            LLVMSetLinkage(value, LLVMLinkage::LLVMLinkOnceAnyLinkage);
            if !LLVMIsAGlobalVariable(value).is_null() {
                variables.insert(name_of(value));
            }
        }
    }
    passes::drop_unreachable(module)?;
    Ok(variables)
}

fn is_external(linkage: LLVMLinkage) -> bool {
    matches!(linkage, LLVMLinkage::LLVMExternalLinkage | LLVMLinkage::LLVMCommonLinkage)
}

/// All functions and variables.
///
/// SAFETY: the module is alive, and nothing is added to it meanwhile.
unsafe fn values(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    let functions = unsafe { functions(LLVMGetFirstFunction(module)) };
    functions.chain(unsafe { variables(module) })
}
