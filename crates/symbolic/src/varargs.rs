//! Variable arguments in the calling convention of x86-64: a `va_list` holds how far the saved registers are used up, and
//! where the arguments on the stack and the saved registers are. The compiler's code for `va_arg` walks through both.

use branchwise_program::CodeFunctionId;
use branchwise_program::code::{Call, Operand, Passing};

use crate::address::Access;
use crate::executor::{Executor, Step};
use crate::memory::{Contents, Origin};
use crate::step::Range;
use crate::value::{ObjectId, Pointer, Value};

/// Six general registers of 8 bytes, then eight registers for floats of 16 bytes.
const GENERAL_END: u64 = 48;
const FLOAT_END: u64 = GENERAL_END + 8 * 16;
/// More floats than that are passed where the next pointer would be looked for.
const MOST_FLOATS: usize = 8;
/// Variable arguments that stubs look at.
const MOST_VARIABLE: usize = 8;

/// How a call passed its arguments.
#[derive(Debug, Clone, Default)]
pub(crate) struct VariableArguments {
    arguments: Vec<Argument>,
    /// How many of them are named parameters.
    named: usize,
}

#[derive(Debug, Clone)]
struct Argument {
    value: Value,
    width: u32,
    passing: Passing,
}

/// Where the next argument goes.
#[derive(Debug, Copy, Clone)]
struct Places {
    general: u64,
    float: u64,
    stack: u64,
}

#[derive(Debug, Copy, Clone)]
enum Place {
    Saved(u64),
    Stack(u64),
}

impl Places {
    fn take(&mut self, argument: &Argument) -> Place {
        match argument.passing {
            Passing::General => {
                let size = u64::from(argument.width.div_ceil(64)) * 8;
                if self.general + size <= GENERAL_END {
                    self.general += size;
                    return Place::Saved(self.general - size);
                }
                self.on_stack(size, size)
            }
            Passing::Float if self.float + 16 <= FLOAT_END => {
                self.float += 16;
                Place::Saved(self.float - 16)
            }
            Passing::Float => self.on_stack(8, u64::from(argument.width.div_ceil(64)) * 8),
            Passing::Stack { alignment } => self.on_stack(alignment, alignment),
            Passing::ByValue { size, alignment } => self.on_stack(alignment, size.next_multiple_of(8)),
        }
    }

    fn on_stack(&mut self, alignment: u64, size: u64) -> Place {
        let place = self.stack.next_multiple_of(alignment.max(8));
        self.stack = place + size;
        Place::Stack(place)
    }
}

impl Executor<'_, '_> {
    /// Remembers the arguments of the call that is about to enter a function with variable ones.
    pub(crate) fn keep_variable_arguments(&mut self, callee: CodeFunctionId, call: &Call, values: &[Value]) {
        let function = &self.code.functions[callee];
        if !function.variadic {
            return;
        }
        let ways = call.passing.iter().zip(&call.argument_widths).zip(values);
        let arguments = ways.map(|((&passing, &width), value)| Argument { value: *value, width, passing });
        let kept = VariableArguments { arguments: arguments.collect(), named: function.parameters.len() };
        self.variable_arguments.insert(self.frames.len(), kept);
    }

    /// How many pointers and integers the function that runs can take as variable arguments, behind so many others.
    pub(crate) fn variable_places(&self, named: usize) -> u64 {
        let Some(call) = self.frames.len().checked_sub(1).and_then(|depth| self.variable_arguments.get(&depth)) else {
            return 0;
        };
        let variable = || call.arguments.iter().skip(named);
        let simple = |argument: &&Argument| match argument.passing {
            Passing::General => argument.width <= 64,
            Passing::Float => true,
            Passing::Stack { .. } | Passing::ByValue { .. } => false,
        };
        let is_general = |argument: &&Argument| matches!(argument.passing, Passing::General);
        let floats = call.arguments.iter().filter(|argument| !is_general(argument)).count();
        match call.named == named && floats <= MOST_FLOATS {
            true => variable().take_while(simple).filter(is_general).count().min(MOST_VARIABLE) as u64,
            false => 0,
        }
    }

    pub(crate) fn variadic_start(&mut self, list: &Operand) -> Step<()> {
        let depth = self.frames.len() - 1;
        let Some(call) = self.variable_arguments.get(&depth).cloned() else {
            return self.unsupported("variable arguments of a function that was called without a prototype");
        };
        let mut places = Places { general: 0, float: GENERAL_END, stack: 0 };
        for argument in call.arguments.iter().take(call.named) {
            places.take(argument);
        }
        let first = places;
        let variable: Vec<(&Argument, Place)> =
            call.arguments.iter().skip(call.named).map(|argument| (argument, places.take(argument))).collect();
        let saved = self.argument_area(FLOAT_END);
        let stack = self.argument_area(places.stack.max(1));
        for (argument, place) in variable {
            let (object, offset) = match place {
                Place::Saved(offset) => (saved, offset),
                Place::Stack(offset) => (stack, offset),
            };
            self.put_argument(argument, object, offset)?;
        }
        self.fill_list(list, first, saved, stack)
    }

    fn argument_area(&mut self, size: u64) -> ObjectId {
        let object = self.memory.allocate(size, 16, Origin::Stack, Contents::Uninitialised);
        self.frame().stack_objects.push(object);
        object
    }

    fn put_argument(&mut self, argument: &Argument, object: ObjectId, offset: u64) -> Step<()> {
        if let Passing::ByValue { size, .. } = argument.passing {
            let Value::Pointer(from) = argument.value else {
                return self.unsupported("a structure among variable arguments at a symbolic address");
            };
            for (at, size, value) in self.memory.pieces(self.session, from.object, from.offset, size) {
                self.memory.write(self.session, object, offset + at, size, value);
            }
            return Ok(());
        }
        let size = u64::from(argument.width.div_ceil(8));
        self.memory.write(self.session, object, offset, size, argument.value);
        Ok(())
    }

    fn fill_list(&mut self, list: &Operand, first: Places, saved: ObjectId, stack: ObjectId) -> Step<()> {
        let Range::Within(to) = self.range(list, 24, Access::Write)? else {
            return self.unsupported("a list of arguments at a fixed address");
        };
        let pointer = |object, offset| Value::Pointer(Pointer { object, offset });
        let fields = [
            (0, 4, Value::Bits(first.general)),
            (4, 4, Value::Bits(first.float)),
            (8, 8, pointer(stack, first.stack)),
            (16, 8, pointer(saved, 0)),
        ];
        for (at, size, value) in fields {
            self.memory.write(self.session, to.object, to.offset + at, size, value);
        }
        Ok(())
    }
}
