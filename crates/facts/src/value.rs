//! What a register or a piece of memory may hold.

use std::collections::BTreeMap;

use branchwise_program::code::{Code, Width};
use branchwise_program::{CodeFunctionId, GlobalId, RegisterId};

use crate::number::Number;
use crate::thresholds::Thresholds;

/// A thing that pointers point to. No function is on the stack of calls twice, so that a stack object is known by the
/// register that gets its address.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectId {
    Global(GlobalId),
    Stack(CodeFunctionId, RegisterId),
    Function(CodeFunctionId),
}

/// What a value may point to, if it is used as an address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Targets {
    /// Objects, each with the offsets in bytes (64 bits).
    pub known: BTreeMap<ObjectId, Number>,
    /// Anything whose address went to places that are not followed, and memory that is not followed.
    pub unknown: bool,
}

/// The bits, whatever they mean, and what they may point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub number: Number,
    pub targets: Targets,
}

impl Targets {
    pub(crate) fn unknown() -> Self {
        Targets { known: BTreeMap::new(), unknown: true }
    }

    pub(crate) fn add(&mut self, other: &Targets) {
        self.merge(other, Number::join);
    }

    fn merge(&mut self, other: &Targets, merge: impl Fn(&Number, &Number) -> Number) {
        self.unknown |= other.unknown;
        for (object, offset) in &other.known {
            let merged = self.known.get(object).map_or_else(|| offset.clone(), |old| merge(old, offset));
            self.known.insert(*object, merged);
        }
    }

    /// The same objects at any offset: what a computation may have made of the address.
    pub(crate) fn anywhere(&self) -> Targets {
        let known = self.known.keys().map(|&object| (object, Number::any(64))).collect();
        Targets { known, unknown: self.unknown }
    }
}

impl Value {
    pub(crate) fn any(width: Width) -> Self {
        Value { number: Number::any(width), targets: Targets::unknown() }
    }

    pub(crate) fn plain(number: Number) -> Self {
        Value { number, targets: Targets::default() }
    }

    /// The address of an object, moved by so many bytes.
    pub(crate) fn address(code: &Code, object: ObjectId, offset: i64) -> Self {
        let inside = match object {
            ObjectId::Global(id) => u64::try_from(offset).is_ok_and(|offset| offset <= code.globals[id].size),
            ObjectId::Stack(..) | ObjectId::Function(_) => offset == 0,
        };
        let number = if inside { not_null() } else { Number::any(64) };
        let offset = Number::constant(64, u128::from(offset as u64));
        Value { number, targets: Targets { known: BTreeMap::from([(object, offset)]), unknown: false } }
    }

    pub(crate) fn join(&self, other: &Value) -> Value {
        let mut targets = self.targets.clone();
        targets.add(&other.targets);
        Value { number: self.number.join(&other.number), targets }
    }

    pub(crate) fn widen(&self, next: &Value, thresholds: &Thresholds) -> Value {
        let mut targets = self.targets.clone();
        targets.merge(&next.targets, |old, new| old.widen(new, thresholds));
        Value { number: self.number.widen(&next.number, thresholds), targets }
    }

    /// The only object that it points to, if it points to nothing else.
    pub(crate) fn single_target(&self) -> Option<(ObjectId, &Number)> {
        let mut known = self.targets.known.iter();
        match (known.next(), known.next()) {
            (Some((object, offset)), None) if !self.targets.unknown => Some((*object, offset)),
            _ => None,
        }
    }
}

/// The number of an address inside an object.
pub(crate) fn not_null() -> Number {
    Number::unsigned_range(64, 1, u64::MAX).unwrap_or_else(|| Number::any(64))
}
