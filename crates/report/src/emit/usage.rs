//! How a test of C++ makes its objects: the steps that its driver took, one after the other, as a person writes them.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_program::FeedId;
use branchwise_program::usage::{
    Blank, Calls, Construction, Container, FIRST_CHARACTER, Object, Reached, Step, Usage, Variation, filled,
};
use branchwise_replay::Blob;

use super::body::Writer;
use super::declare::{constant_declaration, declaration};
use super::literal;
use super::needs::Need;
use super::stubs::{EMITTED, GENERATED, emitted_name};
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
    /// How many lists of elements are being written: strings in them need no names.
    listing: usize,
    /// Feeds whose values functions of the test return.
    answering: BTreeSet<FeedId>,
    /// Objects that an argument could have led to, by name.
    passed_over: Vec<String>,
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
                Step::Container(container) => self.container(container, arguments),
                Step::Answers { feed, name } => self.answers(*feed, name),
                Step::Variation(variation) => self.variation(variation, arguments),
            }
        }
    }

    fn filled(&self, text: &str, arguments: &[String]) -> String {
        filled(text, |blank| match blank {
            Blank::Input(index) => arguments.get(index).cloned().unwrap_or_default(),
            Blank::Fed(feed) => self.made.fed.get(&feed).cloned().unwrap_or_default(),
            Blank::Object(number) => self.made.objects.get(&number).cloned().flatten().unwrap_or_default(),
            Blank::Pointer(number) => self.pointer(number),
            Blank::Result => self.result.clone(),
            Blank::Capture(feed) => if self.made.answering.contains(&feed) { "&" } else { "" }.to_owned(),
        })
    }

    /// What a function of the test returns: values one after the other, zeros after the last. Copies of it share them.
    fn answers(&mut self, feed: FeedId, name: &str) {
        let type_id = self.map.feeds[feed].type_id;
        let values = self.case.feeds.get(feed.0 as usize).cloned().unwrap_or_default();
        let decoder = Decoder { types: &self.map.types };
        let mut texts = Vec::new();
        for blob in &values {
            texts.push(self.initializer(type_id, &decoder.value(type_id, blob, 0), ""));
        }
        if texts.is_empty() {
            self.made.answering.remove(&feed);
            self.made.fed.insert(feed, "{}".to_owned());
            return;
        }
        let (results, next) = (self.names.fresh(&format!("{name}_results")), self.names.fresh(&format!("{name}_next")));
        let declared = constant_declaration(&self.map.types, type_id, &format!("{results}[]"));
        self.body.lines.push(format!("{declared} = {{{}}};", texts.join(", ")));
        self.body.lines.push(format!("unsigned {next} = 0;"));
        let zero = self.initializer(type_id, &decoder.value(type_id, &self.zeros(feed), 0), "");
        let text = format!("{next} < {} ? {results}[{next}++] : {zero}", texts.len());
        self.made.answering.insert(feed);
        self.made.fed.insert(feed, text);
    }

    fn zeros(&self, feed: FeedId) -> Blob {
        let size = self.map.types[self.map.feeds[feed].type_id].size;
        Blob::of_bytes(vec![0; size as usize])
    }

    /// An expression that shows something after the call.
    pub fn observed_expression(&self, text: &str) -> String {
        self.filled(text, &[])
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
        value.unwrap_or_else(|| self.zeros(feed))
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
        let (class, initializer) = (emitted_name(&way.class), self.filled(&way.initializer, arguments));
        let initializer = initializer.replace(GENERATED, EMITTED);
        if class.ends_with("stringstream") {
            self.body.needs.insert(Need::StringStreams);
        }
        self.body.needs.extend(Need::of_class(&class));
        let (line, expression) = match self.made.destroyed == Some(object.number) {
            _ if way.borrowed => (format!("{class} &{name} = {};", pointed_to(&initializer)), name),
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

    /// `std::vector<int> values{1, 2};`, `std::string text{"a,b"};`
    fn container(&mut self, container: &Container, arguments: &[String]) {
        if container.listed.is_empty() {
            return self.grown_container(container, arguments);
        }
        let mut listed = Vec::new();
        let mut characters = Vec::new();
        while self.chosen(container.more) != 0 {
            match container.element.as_slice() {
                [Step::Value { feed, .. }] if container.class == TEXT => {
                    let bytes = self.take(*feed).bytes.into_iter();
                    characters.extend(bytes.map(|byte| byte.wrapping_add(FIRST_CHARACTER)));
                }
                element => {
                    self.made.listing += 1;
                    self.steps(element, arguments);
                    self.made.listing -= 1;
                    listed.push(self.filled(&container.listed, arguments));
                }
            }
        }
        let class = &container.class;
        let list = if class == TEXT { text(&characters) } else { listed.join(", ") };
        let expression = if self.made.listing > 0 && class == TEXT {
            format!("{class}{{{list}}}")
        } else {
            let name = self.names.fresh(&container.name);
            let list = if list.is_empty() { list } else { format!("{{{list}}}") };
            self.body.lines.push(format!("{class} {name}{list};"));
            name
        };
        self.made.objects.insert(container.number, Some(expression));
    }
}

impl Writer<'_> {
    /// `int &total_shared = sums.first;`, or what the argument is where it is an object of its own.
    fn variation(&mut self, Variation { choice, object, ways, .. }: &Variation, arguments: &[String]) {
        let chosen = self.chosen(*choice).min(ways.len() - 1);
        let Some(way) = ways.get(chosen) else { return };
        self.steps(&way.steps, arguments);
        self.steps(&way.then, arguments);
        let Some(Reached { number, name, class }) = object else { return };
        let pointer = self.filled(&way.pointer, arguments);
        let expression = if chosen == 0 {
            match pointer.strip_prefix('&') {
                Some(own) => own.to_owned(),
                None => format!("(*{pointer})"),
            }
        } else {
            let own = self.filled(&ways[0].pointer, arguments);
            self.made.passed_over.push(own.trim_start_matches('&').to_owned());
            let name = self.names.fresh(name);
            self.body.lines.push(format!("{class} &{name} = {};", pointed_to(&pointer)));
            name
        };
        self.made.objects.insert(*number, Some(expression));
    }

    /// Leaves out what was declared for arguments that lead elsewhere, and that nothing else mentions.
    pub fn drop_passed_over(&mut self) {
        for name in std::mem::take(&mut self.made.passed_over) {
            let lines = self.body.lines.iter().enumerate();
            let mentions: Vec<usize> = lines.filter(|(_, line)| has_word(line, &name)).map(|(at, _)| at).collect();
            if let [only] = *mentions.as_slice() {
                self.body.lines.remove(only);
            }
        }
    }
}

impl Writer<'_> {
    /// `std::vector<std::unique_ptr<Shape>> shapes; shapes.push_back(…);`
    fn grown_container(&mut self, container: &Container, arguments: &[String]) {
        let name = self.names.fresh(&container.name);
        self.body.lines.push(format!("{} {name};", container.class));
        self.made.objects.insert(container.number, Some(name.clone()));
        while self.chosen(container.more) != 0 {
            self.steps(&container.element, arguments);
            self.made.objects.insert(container.number, Some(name.clone()));
            let line = self.filled(&container.add, arguments);
            self.body.lines.push(line);
        }
    }
}

/// Whether a line has a name as a whole word that names no member.
fn has_word(line: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&line[..at], &line[at + name.len()..]);
        let of_object = before.ends_with('.') || before.ends_with("->");
        !of_object && !before.ends_with(is_part) && !behind.starts_with(is_part)
    })
}

/// What a pointer points to.
fn pointed_to(pointer: &str) -> String {
    match (pointer.strip_prefix('&'), pointer.strip_suffix(".get()")) {
        (Some(object), _) => object.to_owned(),
        (None, Some(holder)) => format!("*{holder}"),
        (None, None) => format!("*{pointer}"),
    }
}

const TEXT: &str = "std::string";

/// What a string is made of.
fn text(characters: &[u8]) -> String {
    match characters {
        [] => String::new(),
        _ if characters.contains(&0) => format!("{}, {}", literal::bytes(characters), characters.len()),
        _ => literal::bytes(characters),
    }
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn members_and_longer_names_are_other_words() {
        assert!(has_word("int k = 0;", "k"));
        assert!(has_word("assert(k == 2);", "k"));
        assert!(!has_word("int &k_2 = box->k + box.k;", "k"));
    }
}
