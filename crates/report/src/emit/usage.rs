//! How a test of C++ makes its objects: the steps that its driver took, one after the other, as a person writes them.

use std::collections::BTreeMap;

use branchwise_program::FeedId;
use branchwise_program::usage::{Blank, Calls, Construction, Object, Step, Usage, filled};
use branchwise_replay::Blob;

use super::body::Writer;
use super::declare::declaration;
use crate::values::{Decoder, Value};

/// What the steps of a test have made so far.
#[derive(Debug, Default)]
pub struct Made {
    /// How many values of each feed are taken.
    taken: BTreeMap<FeedId, usize>,
    /// What each feed gave last.
    fed: BTreeMap<FeedId, String>,
    /// Objects of the present call, as expressions; `None` where there is none but a null pointer.
    objects: BTreeMap<usize, Option<String>>,
    /// The one that the call ends.
    destroyed: Option<usize>,
}

impl Writer<'_> {
    /// Makes what a call needs; returns the call.
    pub fn prepare(&mut self, usage: &Usage, arguments: &[String]) -> String {
        self.made.objects.clear();
        self.made.destroyed = usage.destroys;
        self.steps(&usage.steps, arguments);
        match usage.destroys {
            Some(number) => format!("delete {}", self.pointer(number)),
            None => self.filled(&usage.call, arguments),
        }
    }

    fn steps(&mut self, steps: &[Step], arguments: &[String]) {
        for step in steps {
            match step {
                Step::Value { feed, .. } => self.fed_value(*feed),
                Step::Statement(text) => {
                    let line = self.filled(text, arguments);
                    self.body.lines.push(line);
                }
                Step::Object(object) => self.object(object, arguments),
                Step::Calls(calls) => self.calls_on_object(calls, arguments),
                Step::Container(_) => {}
            }
        }
    }

    fn filled(&self, text: &str, arguments: &[String]) -> String {
        filled(text, |blank| match blank {
            Blank::Input(index) => arguments.get(index).cloned().unwrap_or_default(),
            Blank::Fed(feed) => self.made.fed.get(&feed).cloned().unwrap_or_default(),
            Blank::Object(number) => self.made.objects.get(&number).cloned().flatten().unwrap_or_default(),
            Blank::Pointer(number) => self.pointer(number),
        })
    }

    fn pointer(&self, number: usize) -> String {
        match self.made.objects.get(&number).and_then(Option::as_ref) {
            Some(object) => match object.strip_prefix("(*").and_then(|rest| rest.strip_suffix(')')) {
                Some(pointer) => pointer.to_owned(),
                None => format!("&{object}"),
            },
            None => "nullptr".to_owned(),
        }
    }

    /// The next value of a feed: zeros after the last.
    fn take(&mut self, feed: FeedId) -> Blob {
        let taken = self.made.taken.entry(feed).or_default();
        let values = self.case.feeds.get(feed.0 as usize);
        let value = values.and_then(|values| values.get(*taken)).cloned();
        *taken += 1;
        let size = self.map.types[self.map.feeds[feed].type_id].size;
        value.unwrap_or_else(|| Blob::of_bytes(vec![0; size as usize]))
    }

    fn chosen(&mut self, feed: FeedId) -> usize {
        self.take(feed).bytes.first().copied().unwrap_or(0).into()
    }

    /// A value as an expression; a structure needs a name.
    fn fed_value(&mut self, feed: FeedId) {
        let type_id = self.map.feeds[feed].type_id;
        let blob = self.take(feed);
        let value = Decoder { types: &self.map.types }.value(type_id, &blob, 0);
        let text = match value {
            Value::Record { .. } | Value::Array(_) | Value::Opaque => {
                let name = self.names.fresh(&self.map.feeds[feed].name);
                let text = self.initializer(type_id, &value, &name);
                self.body.lines.push(format!("{} = {text};", declaration(&self.map.types, type_id, &name)));
                self.write_later();
                name
            }
            value => self.initializer(type_id, &value, ""),
        };
        self.made.fed.insert(feed, text);
    }

    fn object(&mut self, object: &Object, arguments: &[String]) {
        let chosen = object.choice.map_or(0, |choice| self.chosen(choice));
        let way = match object.ways.get(chosen) {
            None if object.may_be_null => {
                self.made.objects.insert(object.number, None);
                return;
            }
            None => object.ways.last(),
            way => way,
        };
        if let Some(way) = way {
            self.construct(object, way, arguments);
        }
    }

    fn construct(&mut self, object: &Object, way: &Construction, arguments: &[String]) {
        self.steps(&way.before, arguments);
        let name = self.names.fresh(&object.name);
        let (class, initializer) = (&way.class, self.filled(&way.initializer, arguments));
        let (line, expression) = match self.made.destroyed == Some(object.number) {
            true => (format!("auto *{name} = new {class}{initializer};"), format!("(*{name})")),
            false => (format!("{class} {name}{initializer};"), name),
        };
        self.body.lines.push(line);
        self.made.objects.insert(object.number, Some(expression));
        self.steps(&way.after, arguments);
    }

    fn calls_on_object(&mut self, Calls { choice, ways }: &Calls, arguments: &[String]) {
        loop {
            let chosen = self.chosen(*choice);
            let Some(index) = chosen.checked_sub(1) else { return };
            let Some(way) = ways.get(index).or(ways.last()) else { return };
            self.steps(way, arguments);
        }
    }
}
