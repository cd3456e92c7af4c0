//! The arguments of `main`: what the system that starts a program promises about them.

use branchwise_constraints::{CompareOp, TermId, Terms};
use branchwise_program::map::{Input, InputOrigin, Map};
use branchwise_program::types::TypeKind;
use branchwise_program::{FunctionId, TypeId};

use crate::executor::{Executor, Step};
use crate::inputs::{Cell, Content, InputKey, InputSpace, Shape, ShapeId};
use crate::path::{AlternativeKind, PathEnd};

/// How many arguments a test may give at most, the program's name among them, and how long they may be.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct ArgumentLimits {
    pub arguments: u64,
    pub characters: u64,
}

impl ArgumentLimits {
    /// From the number of elements that other pointers may point to.
    pub(crate) fn of(pointer_elements: u64) -> ArgumentLimits {
        ArgumentLimits { arguments: (pointer_elements / 2).max(4), characters: 2 * pointer_elements.max(8) - 1 }
    }
}

/// The types of one argument and of its characters, where the function is `int main(int, char **)` (with or without the
/// environment).
fn arguments_of_main(map: &Map, function: FunctionId) -> Option<(TypeId, TypeId)> {
    let function = &map.functions[function];
    let [count, vector, ..] = function.parameters.as_slice() else { return None };
    let is_int = map.types[count.type_id].as_integer() == Some((32, true));
    let target = |type_id: TypeId| match map.types[type_id].kind {
        TypeKind::Pointer { target, .. } => Some(target),
        _ => None,
    };
    let argument = target(vector.type_id)?;
    let character = target(argument)?;
    let is_text = matches!(map.types[character].kind, TypeKind::Integer { character: true, .. });
    (function.name == "main" && is_int && is_text).then_some((argument, character))
}

impl Executor<'_, '_> {
    /// The shape of an argument of `main`; `None` for every other input.
    pub(crate) fn argument_of_main(&mut self, key: InputKey, input: &Input) -> Step<Option<ShapeId>> {
        let program = self.session.program;
        let Some((argument, character)) = arguments_of_main(&program.map, key.function) else {
            return Ok(None);
        };
        let InputOrigin::Parameter(position) = input.origin else { return Ok(None) };
        let bound = self.session.pointer_elements;
        let limits = ArgumentLimits::of(bound);
        self.notes.caveats.arguments_of_main = Some(limits);
        let first = &program.map.functions[key.function].inputs[0];
        let first_key = InputKey { index: 0, ..key };
        let count = self.session.inputs.root_for(&mut self.session.terms, &program.map, first_key, first, bound);
        let Some(Cell { content: Content::Scalar { term: count, .. }, .. }) =
            self.session.inputs.shape(count).cells.as_ref().and_then(|cells| cells.first()).cloned()
        else {
            return Ok(None);
        };
        if position == 0 {
            self.assume_count(count, limits)?;
            return Ok(None);
        }
        let given = (position == 1).then_some(count);
        let vector = Vector { key, name: &input.name, argument, character, limits };
        Ok(Some(self.session.inputs.text_vector(&mut self.session.terms, &vector, given)))
    }

    /// The system gives at least the program's name.
    fn assume_count(&mut self, count: TermId, limits: ArgumentLimits) -> Step<()> {
        let terms = &mut self.session.terms;
        let (least, most) = (terms.constant(1, 32), terms.constant(u128::from(limits.arguments), 32));
        let (above, below) = (terms.compare(CompareOp::Sle, least, count), terms.compare(CompareOp::Sle, count, most));
        let holds = terms.and(above, below);
        match self.decide(holds, [AlternativeKind::Rejected, AlternativeKind::Continue])? {
            true => Ok(()),
            false => Err(Box::new(PathEnd::Rejected)),
        }
    }
}

/// `argv` or `envp`.
struct Vector<'a> {
    key: InputKey,
    name: &'a str,
    argument: TypeId,
    character: TypeId,
    limits: ArgumentLimits,
}

impl InputSpace {
    /// A pointer to pointers to text, which end with a null pointer. `count` (32 bits) says how many there are; without
    /// it that is an input of its own.
    fn text_vector(&mut self, terms: &mut Terms, vector: &Vector<'_>, count: Option<TermId>) -> ShapeId {
        if let Some(id) = self.root(vector.key) {
            return id;
        }
        let name = vector.name;
        let count = count.unwrap_or_else(|| {
            let variable = terms.variable(&format!("{name}.count"), 16);
            terms.zero_extend(variable, 32)
        });
        let mut cells = Vec::new();
        for number in 0..vector.limits.arguments {
            let last = terms.constant(u128::from(number), 32);
            let is_null = terms.compare(CompareOp::Sle, count, last);
            let text = self.text(terms, &format!("{name}[{number}]"), vector, is_null);
            cells.push(Cell { offset: 8 * number, content: Content::Pointer(text) });
        }
        let pointers = Shape::new(format!("(*{name})"), vector.argument, vector.limits.arguments + 1, 8);
        // The system's objects are nobody else's: no two of them are one, as with variables.
        let pointers = self.push(Shape { variable: true, cells: Some(cells), ..pointers });
        let root = Shape::new(name.to_string(), vector.argument, 1, 8);
        let pointer = Cell { offset: 0, content: Content::Pointer(pointers) };
        let root = self.push(Shape { variable: true, cells: Some(vec![pointer]), ..root });
        self.set_root(vector.key, root);
        root
    }

    /// Characters that end with a null character at the latest at the end of their object.
    fn text(&mut self, terms: &mut Terms, name: &str, vector: &Vector<'_>, is_null: TermId) -> ShapeId {
        let characters = vector.limits.characters;
        let mut cells = Vec::new();
        for at in 0..characters {
            let term = terms.variable(&format!("{name}[{at}]"), 8);
            cells.push(Cell { offset: at, content: Content::Scalar { bytes: 1, term } });
        }
        let term = terms.constant(0, 8);
        cells.push(Cell { offset: characters, content: Content::Scalar { bytes: 1, term } });
        let shape = Shape::new(format!("(*{name})"), vector.character, characters + 1, 1);
        self.push(Shape { variable: true, cells: Some(cells), is_null: Some(is_null), ..shape })
    }
}
