//! Short forms in which values are stored that come by the million.

use crate::MarkerId;
use crate::map::Event;

impl From<(MarkerId, u32)> for Event {
    fn from((marker, outcome): (MarkerId, u32)) -> Self {
        Event { marker, outcome }
    }
}

impl From<Event> for (MarkerId, u32) {
    fn from(event: Event) -> Self {
        (event.marker, event.outcome)
    }
}
