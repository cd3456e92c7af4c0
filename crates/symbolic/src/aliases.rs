//! Inputs that might share an object. A pointer input has an object of its own unless the session lets it share an
//! earlier one. Where sharing that the session does not allow could have made a difference, what follows from the paths
//! is limited; this says where.

use branchwise_program::TypeId;
use branchwise_program::types::{TypeKind, TypeTable};

use crate::executor::{Executor, InUnion, Touchable};
use crate::memory::Origin;
use crate::value::ObjectId;

impl Executor<'_, '_> {
    /// Pointers to two objects were compared: as inputs they might have been one. `walks`: one is on its way through its
    /// object, and the other could be the end.
    pub(crate) fn note_compared(&mut self, left: ObjectId, right: ObjectId, walks: bool) {
        self.note_compared_streams(left, right);
        let (Some(left), Some(right)) = (self.touchable(left), self.touchable(right)) else { return };
        if matches!((left, right), (Touchable::Global(_), Touchable::Global(_))) {
            return;
        }
        self.note_alias(left, right, walks);
    }

    /// Both of a pair were used and one was written. Of many ways, one notes it for all.
    pub(crate) fn note_aliases(&mut self) {
        let touched: Vec<(Touchable, bool)> =
            self.touched.iter().map(|(&what, touched)| (what, touched.written)).collect();
        for (index, &(left, left_written)) in touched.iter().enumerate() {
            for &(right, right_written) in &touched[index + 1..] {
                let known = |union: &InUnion| union.noted.contains(&(left, right));
                if !(left_written || right_written) || self.union.as_ref().is_some_and(known) {
                    continue;
                }
                if self.might_share(left, right) {
                    self.note_alias(left, right, false);
                }
                if let Some(union) = &mut self.union {
                    union.noted.insert((left, right));
                }
            }
        }
    }

    fn touchable(&self, object: ObjectId) -> Option<Touchable> {
        match self.memory.get(object)?.origin {
            Origin::Input(shape) => Some(Touchable::Input(shape)),
            Origin::Global { id, .. } => Some(Touchable::Global(id)),
            Origin::Stack | Origin::Heap | Origin::Function(_) => None,
        }
    }

    /// A global's type is not known here: it might fit any pointer. Two variables are never one object.
    fn might_share(&self, left: Touchable, right: Touchable) -> bool {
        match (left, right) {
            (Touchable::Input(left), Touchable::Input(right)) => {
                let (left, right) = (self.session.inputs.shape(left), self.session.inputs.shape(right));
                !(left.variable && right.variable) && fits(&self.session.program.map.types, left.element, right.element)
            }
            (Touchable::Input(input), Touchable::Global(_)) | (Touchable::Global(_), Touchable::Input(input)) => {
                !self.session.inputs.shape(input).variable && !self.is_stream_shape(input)
            }
            (Touchable::Global(_), Touchable::Global(_)) => false,
        }
    }

    fn note_alias(&mut self, left: Touchable, right: Touchable, walks: bool) {
        let pair = (self.touchable_name(left), self.touchable_name(right));
        let Some(can_share) = self.can_share(left, right) else {
            self.notes.caveats.may_alias.insert(pair);
            return;
        };
        let inputs = &self.session.inputs;
        let known = !walks || inputs.is_compared(&pair.0, &pair.1);
        if can_share && known && inputs.is_shared(&pair.0, &pair.1) {
            return;
        }
        if can_share {
            self.notes.caveats.could_share.insert(pair.clone());
            self.notes.caveats.compared.extend(walks.then(|| pair.clone()));
        }
        self.notes.caveats.may_alias.insert(pair);
    }

    /// Whether a session can let both be one object; `None` for what is no object of an input.
    fn can_share(&self, left: Touchable, right: Touchable) -> Option<bool> {
        let (Touchable::Input(left), Touchable::Input(right)) = (left, right) else { return None };
        let types = &self.session.program.map.types;
        Some(self.session.inputs.can_share(types, left.min(right), left.max(right)))
    }

    fn touchable_name(&self, what: Touchable) -> String {
        match what {
            Touchable::Input(shape) => self.session.inputs.shape(shape).name.clone(),
            Touchable::Global(global) => self.code.globals[global].name.clone(),
        }
    }
}

/// An object of one type may hold one of the other: the same type, a member, an element, or bytes.
fn fits(types: &TypeTable, left: TypeId, right: TypeId) -> bool {
    // A stream is an object of the C library, of which no other pointer knows.
    if types[left].kind == TypeKind::Stream || types[right].kind == TypeKind::Stream {
        return left == right;
    }
    types[left].size == 1 || types[right].size == 1 || contains(types, left, right) || contains(types, right, left)
}

fn contains(types: &TypeTable, outer: TypeId, inner: TypeId) -> bool {
    if outer == inner {
        return true;
    }
    match &types[outer].kind {
        TypeKind::Array { element, .. } => contains(types, *element, inner),
        TypeKind::Record { fields: Some(fields), .. } => {
            fields.iter().any(|field| contains(types, field.type_id, inner))
        }
        _ => false,
    }
}
