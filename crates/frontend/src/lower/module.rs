//! A whole module: numbers functions and globals, then lowers each.

use std::collections::{HashMap, HashSet};

use branchwise_program::code::{Code, Function, Global, Initializer, Operand};
use branchwise_program::padding::Padding;
use branchwise_program::{CodeFunctionId, GlobalId, Id, IdVec, RegisterId};

use super::calls::{TRAP, is_marker_call, is_trap};
use super::llvm::{Linkage, ModuleView, Value, ValueKind};
use super::padding::padding;
use super::shape::Shapes;
use super::{constants, function};

pub fn lower(view: ModuleView<'_>) -> Code {
    let mut module = ModuleLowering::new(view);
    let functions: Vec<_> = view.functions().filter(|&value| is_kept(value)).collect();
    let globals: Vec<_> = view.globals().filter(|&value| !is_list_for_the_linker(&value.name())).collect();
    module.number(&functions, &globals);
    let mut code = Code::default();
    for value in functions {
        code.functions.push(function::lower(&mut module, value));
    }
    if module.trap.is_some() {
        code.functions.push(trap_declaration());
    }
    for value in globals {
        code.globals.push(lower_global(&mut module, value));
    }
    for &function in &module.labels {
        code.globals.push(labels_of(function));
    }
    code.files = module.files.names;
    code
}

/// What all functions of a module share while they are lowered.
pub struct ModuleLowering<'m> {
    pub view: ModuleView<'m>,
    pub shapes: Shapes<'m>,
    pub files: Files,
    /// The declaration that all traps call, where the module has any.
    pub trap: Option<CodeFunctionId>,
    functions: HashMap<Value<'m>, CodeFunctionId>,
    globals: HashMap<Value<'m>, GlobalId>,
    /// Objects that stand for the labels of functions whose labels have addresses, numbered after the globals.
    labels: Vec<Value<'m>>,
    /// The words of assembly outside functions, which may read and write each variable that it names.
    in_assembly: HashSet<&'m str>,
    /// What stands behind names that the linker may give another meaning.
    behind_weak_aliases: HashSet<Value<'m>>,
}

impl<'m> ModuleLowering<'m> {
    fn new(view: ModuleView<'m>) -> Self {
        ModuleLowering {
            view,
            shapes: Shapes::new(view),
            files: Files::default(),
            trap: None,
            functions: HashMap::new(),
            globals: HashMap::new(),
            labels: Vec::new(),
            in_assembly: view.assembly().split(|letter| !is_part_of_symbol(letter)).collect(),
            behind_weak_aliases: view.aliases().filter(|&alias| is_weak(alias)).map(behind).collect(),
        }
    }

    /// Tells whether only the functions of the module know the name.
    fn is_internal(&self, value: Value<'m>) -> bool {
        let local = matches!(value.linkage(), Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage);
        local && !self.in_assembly.contains(value.name().as_str())
    }

    /// Whether somebody may replace a definition: the linker where it is weak, or has a weak alias, whose users may get
    /// something else; the loader where the module says so.
    pub fn is_replaceable(&self, value: Value<'m>) -> bool {
        is_weak(value)
            || self.behind_weak_aliases.contains(&value)
            || self.view.is_interposable() && value.is_seen_by_all()
    }

    fn number(&mut self, functions: &[Value<'m>], globals: &[Value<'m>]) {
        self.functions = functions.iter().enumerate().map(|(index, &value)| (value, Id::new(index))).collect();
        self.globals = globals.iter().enumerate().map(|(index, &value)| (value, Id::new(index))).collect();
        let traps = self.view.functions().any(|value| value.is_intrinsic() && is_trap(&value.name()));
        self.trap = traps.then(|| Id::new(functions.len()));
    }

    pub fn function(&self, value: Value<'m>) -> Option<CodeFunctionId> {
        self.functions.get(&value).copied()
    }

    /// The address of a function or a global.
    pub fn address_of(&self, value: Value<'m>) -> Option<Operand> {
        let function = self.function(value).map(Operand::Function);
        function.or_else(|| self.globals.get(&value).map(|&id| Operand::Global(id, 0)))
    }

    /// An object without contents, with one byte for each block of a function: their addresses are those of its blocks.
    pub fn labels(&mut self, function: Value<'m>) -> GlobalId {
        let known = self.labels.iter().position(|&other| other == function);
        let place = known.unwrap_or_else(|| {
            self.labels.push(function);
            self.labels.len() - 1
        });
        Id::new(self.globals.len() + place)
    }
}

/// What an alias stands for, through any number of aliases; other values stand for themselves.
pub fn behind(value: Value<'_>) -> Value<'_> {
    let mut current = value;
    while current.kind() == ValueKind::LLVMGlobalAliasValueKind {
        match current.aliasee() {
            Some(aliasee) => current = aliasee,
            None => break,
        }
    }
    current
}

fn is_part_of_symbol(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$')
}

/// Intrinsics and markers become instructions; all other functions keep an entry.
fn is_kept(value: Value<'_>) -> bool {
    !value.is_intrinsic() && !is_marker_call(&value.name())
}

/// Whether the linker may take another definition, or none. Inline functions of C++ are the same in all files.
pub fn is_weak(value: Value<'_>) -> bool {
    matches!(value.linkage(), Linkage::LLVMWeakAnyLinkage | Linkage::LLVMExternalWeakLinkage)
}

/// Lists of what must not be dropped; no code reads them.
fn is_list_for_the_linker(name: &str) -> bool {
    matches!(name, "llvm.used" | "llvm.compiler.used" | "llvm.global_ctors" | "llvm.global_dtors" | "__bw_variables")
}

fn trap_declaration() -> Function {
    Function {
        name: TRAP.to_owned(),
        parameters: Vec::new(),
        registers: IdVec::<RegisterId, _>::new(),
        results: Vec::new(),
        variadic: false,
        library: false,
        weak: false,
        padding: Default::default(),
        blocks: IdVec::new(),
    }
}

fn labels_of(function: Value<'_>) -> Global {
    let size = function.blocks().len();
    Global {
        name: format!("labels of {}", function.name()),
        size: size as u64,
        alignment: 1,
        constant: true,
        internal: true,
        elsewhere: false,
        weak: false,
        padding: Default::default(),
        outside: Default::default(),
        initializer: Some(Initializer { bytes: vec![0; size], addresses: Vec::new() }),
    }
}

fn lower_global<'m>(module: &mut ModuleLowering<'m>, value: Value<'m>) -> Global {
    let ty = value.value_type();
    let sized = ty.is_sized();
    let alignment = match value.alignment() {
        0 if sized => module.view.abi_alignment(ty),
        0 => 1,
        given => given,
    };
    Global {
        name: value.name(),
        size: if sized { module.view.abi_size(ty) } else { 0 },
        alignment,
        constant: value.is_constant_global(),
        internal: module.is_internal(value),
        elsewhere: false,
        weak: module.is_replaceable(value),
        padding: if sized { padding(module.view, ty) } else { Padding::default() },
        outside: Default::default(),
        initializer: value.initializer().map(|initializer| constants::initializer(module, initializer)),
    }
}

/// Source files by number. LLVM keeps each name once, so its address finds it without hashing the text.
#[derive(Default)]
pub struct Files {
    names: Vec<String>,
    by_address: HashMap<(*const u8, *const u8), u32>,
    by_name: HashMap<String, u32>,
}

impl Files {
    pub fn number(&mut self, directory: &[u8], file: &[u8]) -> u32 {
        let address = (directory.as_ptr(), file.as_ptr());
        if let Some(&number) = self.by_address.get(&address) {
            return number;
        }
        let name = full_name(&String::from_utf8_lossy(directory), &String::from_utf8_lossy(file));
        let number = *self.by_name.entry(name.clone()).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        });
        self.by_address.insert(address, number);
        number
    }
}

/// Clang splits even absolute names where they share a prefix with its working directory, so both halves are needed.
fn full_name(directory: &str, file: &str) -> String {
    if directory.is_empty() || file.starts_with('/') || file.starts_with('<') {
        return file.to_owned();
    }
    format!("{}/{file}", directory.trim_end_matches('/'))
}
