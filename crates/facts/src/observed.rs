//! What was seen of the markers.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::MarkerId;
use branchwise_program::map::Event;

use crate::number::Number;

/// The outcomes that markers may have, and what their conditions compare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    pub events: BTreeSet<Event>,
    pub compared: BTreeMap<MarkerId, Compared>,
}

/// What the sides of a condition are wherever it is evaluated; of a switch or a single value the left side only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compared {
    pub left: Number,
    pub right: Option<Number>,
}

impl Observed {
    pub(crate) fn add(&mut self, other: &Observed) {
        self.events.extend(&other.events);
        for (marker, compared) in &other.compared {
            self.note_compared(*marker, compared.clone());
        }
    }

    pub(crate) fn note_compared(&mut self, marker: MarkerId, compared: Compared) {
        let joined = match self.compared.get(&marker) {
            None => compared,
            Some(old) => old.join(&compared),
        };
        self.compared.insert(marker, joined);
    }
}

impl Compared {
    fn join(&self, other: &Compared) -> Compared {
        let same = self.left.width() == other.left.width();
        let left = if same { self.left.join(&other.left) } else { Number::any(self.left.width()) };
        let right = match (&self.right, &other.right) {
            (Some(left), Some(right)) if left.width() == right.width() => Some(left.join(right)),
            _ => None,
        };
        Compared { left, right }
    }
}
