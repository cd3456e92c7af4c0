//! Objects that a test makes in C++: what their drivers ask for while they do, and what limits conclusions then.

use branchwise_program::assumption::Assumption;
use branchwise_program::assumption::catalogue::{POINTERS_OWN_ALONE, STREAMS_ARE_FRESH};

use crate::executor::{Executor, Step};
use crate::session::global_object;
use crate::value::Value;

/// What varies where a shared pointer may have other owners.
const OWNERS: &str = "owners of";

/// What the names of these questions begin with.
pub(crate) const OBJECTS: &str = "__bw_objects_";

impl Executor<'_, '_> {
    /// A question of a driver, by its name behind [`OBJECTS`].
    pub(crate) fn call_of_maker(&mut self, name: &str, arguments: &[Value]) -> Step<Option<Value>> {
        match (name, arguments) {
            ("begin", []) => self.set_making(true),
            ("end", []) => {
                self.set_making(false);
                self.begin_unit();
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
                return Ok(Some(self.goes_on(more)));
            }
            ("more_elements", [Value::Bits(added)]) => {
                let more = *added < self.session.pointer_elements;
                self.notes.caveats.cut_containers |= !more;
                return Ok(Some(self.goes_on(more)));
            }
            ("share", [argument, other]) => {
                let pair = (self.literal(argument), self.literal(other));
                return Ok(Some(self.lets_share(pair)));
            }
            ("owners", [argument]) => {
                let argument = self.literal(argument);
                self.rest_on(POINTERS_OWN_ALONE.about(&argument));
                return Ok(Some(self.lets_vary((OWNERS.to_owned(), argument), None)));
            }
            ("lasting_owners", [argument]) => {
                let argument = self.literal(argument);
                self.session.inputs.owned.insert(argument.clone());
                return Ok(Some(self.lets_vary((OWNERS.to_owned(), argument), None)));
            }
            ("past", [stream]) => {
                let stream = self.literal(stream);
                let fresh =
                    STREAMS_ARE_FRESH.about(&format!("'{stream}' after an earlier use, or where writing fails"));
                return Ok(Some(self.lets_vary(("past of".to_owned(), stream), Some(fresh))));
            }
            _ => return self.unsupported(format!("'{OBJECTS}{name}' with a number that is not known")),
        }
        Ok(None)
    }

    /// A sequence goes on until a feed ends it. Where bounds end it, they do so by that feed: natively nobody knows the bounds,
    /// and the next value may belong to another object.
    fn goes_on(&mut self, within_bounds: bool) -> Value {
        self.ends_sequence = !within_bounds;
        Value::Bits(1)
    }

    /// What the constructors of variables have looked at, the call looks at for the first time.
    fn begin_unit(&mut self) {
        for &id in self.session.shared.computed_at_start.clone().iter() {
            self.memory.forget_touches(global_object(id));
        }
        self.begin_call();
    }

    /// Whether one argument may lead into another in this session.
    fn lets_share(&mut self, pair: (String, String)) -> Value {
        let shares = self.session.inputs.varied.contains(&pair);
        if !shares {
            self.notes.caveats.may_alias.insert(pair.clone());
            self.notes.caveats.could_vary.insert(pair);
        }
        Value::Bits(u64::from(shares))
    }

    /// An object is used that its last owner has destroyed. With more owners than the test made it would be there.
    pub(crate) fn note_missing_owners(&mut self) {
        let owned = self.session.inputs.owned.clone();
        owned.iter().for_each(|argument| self.rest_on(POINTERS_OWN_ALONE.about(argument)));
    }

    /// Whether a test may vary something in this session; if not, what that takes for granted.
    fn lets_vary(&mut self, what: (String, String), otherwise: Option<Assumption>) -> Value {
        let varies = self.session.inputs.varied.contains(&what);
        if !varies {
            self.notes.caveats.could_vary.insert(what);
            otherwise.into_iter().for_each(|assumption| self.rest_on(assumption));
        }
        Value::Bits(u64::from(varies))
    }

    fn set_making(&mut self, makes_objects: bool) {
        if let Some(driver) = self.frames.last_mut() {
            driver.makes_objects = makes_objects;
        }
    }
}
