//! Functions as values: pointers to them among the inputs, and calls through such pointers.

use branchwise_constraints::{CompareOp, TermId};
use branchwise_program::{CallableId, CodeFunctionId};

use crate::executor::{Executor, Step};
use crate::memory::{Contents, Origin};
use crate::path::FaultKind;
use crate::value::{ObjectId, Pointer, Target, Value};

impl Executor<'_, '_> {
    /// A function pointer among the inputs: null, or one of the functions that fit.
    pub(crate) fn input_function(&mut self, choice: TermId, functions: &[CallableId]) -> Value {
        let zero = self.session.terms.constant(0, 64);
        let most = self.session.terms.constant(functions.len() as u128, 16);
        let domain = self.session.terms.compare(CompareOp::Ule, choice, most);
        self.domain.push(domain);
        let null = self.is_choice(choice, 0);
        let mut targets = vec![Target { guard: null, object: None, offset: zero }];
        for (index, &callable) in functions.iter().enumerate() {
            let symbol = &self.session.program.map.callables[callable].symbol;
            let Some(function) = self.code.function_named(symbol) else { continue };
            let (guard, object) = (self.is_choice(choice, index + 1), self.function_object(function));
            targets.push(Target { guard, object: Some(object), offset: zero });
        }
        self.pointer_of(targets)
    }

    fn is_choice(&mut self, choice: TermId, number: usize) -> TermId {
        let number = self.session.terms.constant(number as u128, 16);
        self.session.terms.compare(CompareOp::Eq, choice, number)
    }

    /// The object that stands for a function where it is one of several targets.
    pub(crate) fn function_object(&mut self, function: CodeFunctionId) -> ObjectId {
        if let Some(&object) = self.function_objects.get(&function) {
            return object;
        }
        let object = self.memory.allocate(0, 16, Origin::Function(function), Contents::Zero);
        self.function_objects.insert(function, object);
        object
    }

    pub(crate) fn pointer_or_function(&self, object: ObjectId, offset: u64) -> Value {
        match self.memory.get(object).map(|object| object.origin) {
            Some(Origin::Function(function)) if offset == 0 => Value::Function(function),
            _ => Value::Pointer(Pointer { object, offset }),
        }
    }

    /// The function that a call through a pointer calls.
    pub(crate) fn called_function(&mut self, pointer: &Value) -> Step<CodeFunctionId> {
        match pointer {
            Value::Function(function) => Ok(*function),
            Value::Bits(0) => self.fail(FaultKind::NullDereference, "call through a null pointer"),
            Value::Bits(address) => self.call_of_register(*address),
            Value::Undefined => {
                self.fail(FaultKind::UninitialisedRead, "call through a pointer that was never written")
            }
            Value::Choice(choice) => {
                let targets = self.memory.targets(*choice).to_vec();
                let target = self.choose_target(&targets)?;
                let offset = self.session.terms.as_constant(target.offset).unwrap_or(1) as u64;
                if target.object.is_none() {
                    return self.call_of_register(offset);
                }
                match target.object.map(|object| self.pointer_or_function(object, offset)) {
                    Some(Value::Function(function)) => Ok(function),
                    _ => self.fail(FaultKind::InvalidPointer, "call through a pointer to data"),
                }
            }
            Value::Pointer(_) => self.fail(FaultKind::InvalidPointer, "call through a pointer to data"),
            Value::Term(_) => self.unsupported("call through a pointer made from a symbolic integer"),
        }
    }
}
