//! What an exception that the program's own code did not ask for may lead to: a failing `new` throws one anywhere.

use std::collections::BTreeSet;

use crate::code::{Call, Callee, Code, Function, Instruction, Terminator};
use crate::{BlockId, CodeFunctionId, Program};

/// Every landing pad begins with a call of this model.
const LANDS: &str = "__bw_select";
/// After a call of these, the exception is on its way again, or the program ends.
const GOES_ON: [&str; 4] = ["__bw_resume", "__cxa_rethrow", "__clang_call_terminate", "__bw_terminate"];

impl Program {
    /// Tells whether code that an exception leads to can take an outcome, or go on as if there had been no exception. Where
    /// neither is so, an exception takes no outcome: it ends the call.
    pub fn reacts_to_exceptions(&self) -> bool {
        let code = &self.code;
        if code.function_named(LANDS).is_none() {
            return false;
        }
        let marking = Marking::of(code);
        let functions = self.map.functions.values();
        let drivers: BTreeSet<&str> = functions.filter_map(|function| function.driver.as_deref().ok()).collect();
        let own: BTreeSet<&str> = self.map.functions.values().map(|function| function.symbol.as_str()).collect();
        let is_root = |name: &str| drivers.contains(name) || own.contains(name);
        let roots = code.functions.iter().filter(|(_, function)| is_root(&function.name)).map(|(id, _)| id);
        code.reachable(roots).into_iter().any(|id| {
            let function = &code.functions[id];
            let is_driver = drivers.contains(function.name.as_str());
            landing_pads(code, function).any(|pad| reacts(code, function, pad, is_driver, &marking))
        })
    }
}

fn landing_pads<'a>(code: &'a Code, function: &'a Function) -> impl Iterator<Item = BlockId> + 'a {
    let lands = |block: &BlockId| calls(function, *block).any(|call| callee_name(code, call) == Some(LANDS));
    function.blocks.ids().filter(lands)
}

/// Follows the code of a function from a landing pad on. The handler of a driver catches whatever the unit throws, and is
/// no code of the user's.
fn reacts(code: &Code, function: &Function, pad: BlockId, is_driver: bool, marking: &Marking) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![pad];
    while let Some(block) = open.pop() {
        if !seen.insert(block) {
            continue;
        }
        let instructions = &function.blocks[block].instructions;
        let takes_outcomes = |instruction: &Instruction| match instruction {
            Instruction::Call(call) => marking.may_follow(code, call),
            other => is_marker(other),
        };
        if instructions.iter().any(takes_outcomes) {
            return true;
        }
        let goes_on = |call: &Call| callee_name(code, call).is_some_and(|name| GOES_ON.contains(&name));
        if calls(function, block).any(goes_on) {
            continue;
        }
        let terminator = &function.blocks[block].terminator;
        if matches!(terminator, Terminator::Return(_)) && !is_driver {
            return true;
        }
        open.extend(terminator.edges().into_iter().map(|edge| edge.target));
    }
    false
}

/// The functions in which, or in whose callees, an outcome can be taken.
struct Marking {
    functions: BTreeSet<CodeFunctionId>,
    /// Those that a pointer may lead to.
    address_taken: BTreeSet<CodeFunctionId>,
}

impl Marking {
    fn of(code: &Code) -> Self {
        let has_markers =
            |function: &Function| function.blocks.values().flat_map(|block| &block.instructions).any(is_marker);
        let own = code.functions.iter().filter(|(_, function)| has_markers(function)).map(|(id, _)| id);
        let mut marking = Marking { functions: own.collect(), address_taken: code.address_taken() };
        loop {
            let calls_one = |function: &Function| function.calls().any(|call| marking.may_follow(code, call));
            let functions = code.functions.iter();
            let more = functions.filter(|(id, function)| !marking.functions.contains(id) && calls_one(function));
            let more: Vec<CodeFunctionId> = more.map(|(id, _)| id).collect();
            if more.is_empty() {
                return marking;
            }
            marking.functions.extend(more);
        }
    }

    /// Tells whether a call may lead to an outcome.
    fn may_follow(&self, code: &Code, call: &Call) -> bool {
        match &call.callee {
            Callee::Direct(function) => self.functions.contains(function),
            Callee::Indirect(_) => {
                let fits = |id: &&CodeFunctionId| code.functions[**id].parameters.len() == call.arguments.len();
                self.functions.intersection(&self.address_taken).any(|id| fits(&id))
            }
        }
    }
}

fn is_marker(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::MarkCondition { .. } | Instruction::MarkSwitch { .. })
}

fn calls(function: &Function, block: BlockId) -> impl Iterator<Item = &Call> {
    function.blocks[block].instructions.iter().filter_map(|instruction| match instruction {
        Instruction::Call(call) => Some(call),
        _ => None,
    })
}

fn callee_name<'a>(code: &'a Code, call: &Call) -> Option<&'a str> {
    call.callee.function().map(|id| code.functions[id].name.as_str())
}
