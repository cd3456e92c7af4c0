//! Which functions lead to which by direct calls.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::CodeFunctionId;
use branchwise_program::code::{Call, Callee, Code, Instruction};

/// The functions that a function calls by name.
pub(crate) fn direct_callees(code: &Code, function: CodeFunctionId) -> impl Iterator<Item = CodeFunctionId> {
    let instructions = code.functions[function].blocks.values().flat_map(|block| &block.instructions);
    instructions.filter_map(|instruction| match instruction {
        Instruction::Call(Call { callee: Callee::Direct(callee), .. }) => Some(*callee),
        _ => None,
    })
}

/// The functions that a function leads to, itself included.
pub(crate) fn called(code: &Code, root: CodeFunctionId) -> BTreeSet<CodeFunctionId> {
    let mut reached = BTreeSet::new();
    let mut open = vec![root];
    while let Some(function) = open.pop() {
        if reached.insert(function) {
            open.extend(direct_callees(code, function));
        }
    }
    reached
}

/// How many instructions the functions have.
pub(crate) fn size(code: &Code, functions: &BTreeSet<CodeFunctionId>) -> usize {
    let blocks = functions.iter().flat_map(|id| code.functions[*id].blocks.values());
    blocks.map(|block| block.instructions.len()).sum()
}

/// Those that lead to themselves, of functions that lead to no others than these.
pub(crate) fn recursive(code: &Code, functions: &BTreeSet<CodeFunctionId>) -> BTreeSet<CodeFunctionId> {
    let mut callees: BTreeMap<CodeFunctionId, BTreeSet<CodeFunctionId>> =
        functions.iter().map(|id| (*id, direct_callees(code, *id).collect())).collect();
    // Whoever calls none of the others, is on no cycle; that is nearly everybody.
    loop {
        let ends = callees.iter().filter(|(_, called)| called.iter().all(|callee| !callees.contains_key(callee)));
        let ends: Vec<CodeFunctionId> = ends.map(|(id, _)| *id).collect();
        if ends.is_empty() {
            break;
        }
        ends.iter().for_each(|id| drop(callees.remove(id)));
    }
    callees.keys().copied().filter(|id| leads_back(&callees, *id)).collect()
}

fn leads_back(callees: &BTreeMap<CodeFunctionId, BTreeSet<CodeFunctionId>>, function: CodeFunctionId) -> bool {
    let mut reached = BTreeSet::new();
    let mut open = vec![function];
    while let Some(next) = open.pop() {
        for &callee in callees.get(&next).into_iter().flatten() {
            if callee == function {
                return true;
            }
            if reached.insert(callee) {
                open.push(callee);
            }
        }
    }
    false
}
