//! Inputs that might share an object. A pointer input has an object of its own unless the session lets it share an
//! earlier one. Where sharing that the session does not allow could have made a difference, what follows from the paths
//! is limited; this says where.

use branchwise_constraints::{TermId, bounds};
use branchwise_program::assumption::catalogue::{CONSTANTS_ARE_SEPARATE, OBJECTS_NOT_ADJACENT};

use crate::executor::{Executor, InUnion, Touchable, Touched};
use crate::inputs::{ShapeId, SharedPair};
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

    /// Places of two objects are compared for equality: one may be the end of its object, where the other begins, and literals
    /// may share bytes.
    pub(crate) fn note_neighbours(&mut self, left: (ObjectId, TermId), right: (ObjectId, TermId)) {
        let names = || format!("{} and {}", self.name_of(left.0), self.name_of(right.0));
        if let (Some(here), Some(there)) = (self.rest_of_literal(left), self.rest_of_literal(right)) {
            if here == there {
                self.rest_on(CONSTANTS_ARE_SEPARATE.about(&names()));
            }
            return;
        }
        let meet = |ended, begun| self.may_be_end(ended) && self.may_be_start(begun);
        if (meet(left, right) || meet(right, left)) && !self.is_tried(left.0, right.0) {
            self.rest_on(OBJECTS_NOT_ADJACENT.about(&names()));
        }
    }

    /// Whether tests can let one pointer point behind the object of the other.
    fn is_tried(&self, left: ObjectId, right: ObjectId) -> bool {
        let (Some(Touchable::Input(left)), Some(Touchable::Input(right))) =
            (self.touchable(left), self.touchable(right))
        else {
            return false;
        };
        let map = &self.session.program.map;
        self.session.inputs.shared_offsets(map, left.min(right), left.max(right)).is_some()
    }

    /// What follows a place in a string literal.
    fn rest_of_literal(&self, (object, offset): (ObjectId, TermId)) -> Option<&[u8]> {
        let Origin::Global { id, .. } = self.memory.get(object)?.origin else { return None };
        let global = &self.code.globals[id];
        let at = usize::try_from(self.session.terms.as_constant(offset)?).ok()?;
        let literal = global.constant && global.internal && global.name.starts_with(".str");
        global.initializer.as_ref().filter(|_| literal)?.bytes.get(at..)
    }

    fn may_be_end(&self, (object, offset): (ObjectId, TermId)) -> bool {
        let Some(object) = self.memory.get(object).filter(|object| !matches!(object.origin, Origin::Function(_)))
        else {
            return false;
        };
        match object.symbolic_size {
            Some(_) => self.session.terms.as_constant(offset) != Some(0),
            None => self.may_equal(offset, object.size),
        }
    }

    fn may_be_start(&self, (object, offset): (ObjectId, TermId)) -> bool {
        let origin = self.memory.get(object).map(|object| object.origin);
        !matches!(origin, Some(Origin::Function(_))) && self.may_equal(offset, 0)
    }

    fn may_equal(&self, term: TermId, number: u64) -> bool {
        let terms = &self.session.terms;
        if let Some(constant) = terms.as_constant(term) {
            return constant == u128::from(number);
        }
        let known = bounds(terms, &self.held(), term);
        known.is_none_or(|known| (known.unsigned.0..=known.unsigned.1).contains(&u128::from(number)))
    }

    fn name_of(&self, object: ObjectId) -> String {
        match self.memory.get(object).map(|object| object.origin) {
            Some(Origin::Input(shape)) => format!("'{}'", self.session.inputs.shape(shape).name),
            Some(Origin::Global { id, .. }) => format!("'{}'", self.code.globals[id].name),
            Some(Origin::Heap) => "an allocated object".to_owned(),
            _ => "a local object".to_owned(),
        }
    }

    /// Both of a pair were used and one was written. Of many ways, one notes it for all.
    pub(crate) fn note_aliases(&mut self) {
        let touched: Vec<(Touchable, Touched)> = self.touched.iter().map(|(&what, &touched)| (what, touched)).collect();
        for (index, &(left, left_use)) in touched.iter().enumerate() {
            for &(right, right_use) in &touched[index + 1..] {
                let beyond = left_use.beyond || right_use.beyond;
                let known = |union: &InUnion| union.noted.contains(&(left, right, beyond));
                if !(left_use.written || right_use.written) || self.union.as_ref().is_some_and(known) {
                    continue;
                }
                if self.might_share(left, right) {
                    self.note_alias(left, right, false);
                }
                if let Some(union) = &mut self.union {
                    union.noted.insert((left, right, beyond));
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

    /// A global's type is not known here: it might fit any pointer. Two variables are never one object. One is written: what is
    /// behind a `restrict` pointer is then undefined to share.
    fn might_share(&self, left: Touchable, right: Touchable) -> bool {
        if self.is_restricted(left) || self.is_restricted(right) {
            return false;
        }
        match (left, right) {
            (Touchable::Input(left), Touchable::Input(right)) => {
                let map = &self.session.program.map;
                let (left, right) = (self.session.inputs.shape(left), self.session.inputs.shape(right));
                !(left.variable && right.variable) && map.aliasing.may_share(&map.types, left.element, right.element)
            }
            (Touchable::Input(input), Touchable::Global(_)) | (Touchable::Global(_), Touchable::Input(input)) => {
                !self.session.inputs.shape(input).variable && !self.is_stream_shape(input)
            }
            (Touchable::Global(_), Touchable::Global(_)) => false,
        }
    }

    /// Whether it is what a `restrict` parameter of the tested function points to.
    fn is_restricted(&self, what: Touchable) -> bool {
        let Touchable::Input(shape) = what else { return false };
        let names = self.session.program.map.restricted.get(&self.session.function);
        let shape = self.session.inputs.shape(shape);
        names.is_some_and(|names| names.iter().any(|name| shape.name == format!("(*{name})")))
    }

    fn note_alias(&mut self, left: Touchable, right: Touchable, walks: bool) {
        let pair = (self.touchable_name(left), self.touchable_name(right));
        if let (Touchable::Input(left), Touchable::Input(right)) = (left, right)
            && self.shares_or_could(left.min(right), left.max(right), &pair, walks)
        {
            return;
        }
        self.notes.caveats.may_alias.insert(pair);
    }

    /// Tells whether the session lets both be one object, in all ways in which they may be. If not, notes what another could
    /// do.
    fn shares_or_could(&mut self, earlier: ShapeId, later: ShapeId, pair: &SharedPair, walks: bool) -> bool {
        let (inputs, map) = (&self.session.inputs, &self.session.program.map);
        let could = &mut self.notes.caveats.could;
        let offsets = inputs.shared_offsets(map, earlier, later);
        if offsets.is_none() {
            let input = inputs.input_of(later);
            if inputs.sharing.first.contains(&input) || inputs.shared_offsets(map, later, earlier).is_none() {
                return false;
            }
            could.first.insert(input);
        }
        if inputs.is_shared(&pair.0, &pair.1) && (!walks || inputs.is_compared(&pair.0, &pair.1)) {
            let beyond = self.touched.get(&Touchable::Input(later)).is_some_and(|touched| touched.beyond);
            let begins_earlier = beyond && inputs.may_begin_inside(map, earlier, later);
            let first = inputs.shape(earlier);
            could.before.extend((begins_earlier && first.may_begin_earlier()).then(|| first.name.clone()));
            return !begins_earlier && offsets.is_some_and(|offsets| offsets.is_complete());
        }
        could.shared.insert(pair.clone());
        could.compared.extend(walks.then(|| pair.clone()));
        false
    }

    fn touchable_name(&self, what: Touchable) -> String {
        match what {
            Touchable::Input(shape) => self.session.inputs.shape(shape).name.clone(),
            Touchable::Global(global) => self.code.globals[global].name.clone(),
        }
    }
}
