//! Objects that a test makes in C++: what their drivers ask for while they do, and what limits conclusions then.

use crate::executor::{Executor, Step};
use crate::value::Value;

/// What the names of these questions begin with.
pub(crate) const OBJECTS: &str = "__bw_objects_";

impl Executor<'_, '_> {
    /// A question of a driver, by its name behind [`OBJECTS`].
    pub(crate) fn call_of_maker(&mut self, name: &str, arguments: &[Value]) -> Step<Option<Value>> {
        match (name, arguments) {
            ("begin", []) => self.set_making(true),
            ("end", []) => {
                self.set_making(false);
                if self.calls_to_come == 0 {
                    self.events_before_unit = self.events.len();
                }
            }
            ("called", [class]) => {
                let class = self.literal(class);
                self.notes.caveats.made_objects.insert(class);
            }
            ("constructed", [class]) => {
                let class = self.literal(class);
                self.notes.caveats.fixed_objects.insert(class);
            }
            ("left_out", [method]) => {
                let method = self.literal(method);
                self.notes.caveats.left_out_methods.insert(method);
            }
            ("more_calls", [Value::Bits(made)]) => {
                let more = *made < u64::from(self.session.object_calls);
                self.notes.caveats.cut_calls |= !more;
                return Ok(Some(Value::Bits(u64::from(more))));
            }
            ("more_elements", [Value::Bits(added)]) => {
                let more = *added < self.session.pointer_elements;
                self.notes.caveats.cut_containers |= !more;
                return Ok(Some(Value::Bits(u64::from(more))));
            }
            _ => return self.unsupported(format!("'{OBJECTS}{name}' with a number that is not known")),
        }
        Ok(None)
    }

    fn set_making(&mut self, makes_objects: bool) {
        if let Some(driver) = self.frames.last_mut() {
            driver.makes_objects = makes_objects;
        }
    }
}
