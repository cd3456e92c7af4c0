//! How a test makes objects of the standard library.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use branchwise_program::FeedId;
use branchwise_program::map::{Feed, FeedOrigin};
use branchwise_program::usage::{Construction, Container, FIRST_CHARACTER, Object, Question, Step, Variation, Way};
use clang_sys::*;

use super::{Maker, is_number};
use crate::clang::ClangType;
use crate::containers::{Standard, is_copied, spelled, standard};
use crate::functions::qualified;
use crate::objects::Known;

impl<'u> Maker<'_, 'u> {
    /// What the standard library defines, element by element.
    pub(super) fn of_library(
        &mut self,
        of: ClangType<'u>,
        kind: &Standard<'u>,
        name: &str,
        depth: usize,
    ) -> Result<usize, String> {
        let depth = depth.checked_sub(1).ok_or("its objects are nested too deeply")?;
        let number = self.next_object();
        let class = spelled(of);
        match kind.clone() {
            Standard::Text => self.text((number, name, class), of.template_arguments()[0])?,
            Standard::Sequence { element, adds } => {
                self.container((number, name, class), |maker| maker.one(element, number, adds, depth))?;
            }
            Standard::Adaptor { element, adds } => self.container((number, name, class), |maker| {
                let (_, add) = maker.one(element, number, adds, depth)?;
                Ok((String::new(), add))
            })?,
            Standard::Set { element } => {
                self.container((number, name, class), |maker| maker.one(element, number, "insert", depth))?;
            }
            Standard::Map { key, value } => self.container((number, name, class), |maker| {
                let key = maker.argument("key", key, depth)?;
                let value = maker.argument("value", value, depth)?;
                Ok((format!("{{{key}, {value}}}"), format!("{{@{number}}}.emplace({key}, {value});")))
            })?,
            Standard::Optional { value } => {
                let choice = self.choice(format!("whether there is a {name}"));
                let (before, value) = self.apart(true, |maker| maker.argument(name, value, depth))?;
                let ways = vec![
                    Construction::of(&class, Vec::new(), "{}"),
                    Construction::of(&class, before, &format!("({value})")),
                ];
                self.library_object((number, name, class), Some(choice), ways);
            }
            Standard::Pair { first, second } => {
                let (first, second) = (self.argument("first", first, depth)?, self.argument("second", second, depth)?);
                self.whole((number, name, class), format!("({first}, {second})"));
            }
            Standard::Tuple { parts } | Standard::Numbers { parts } => {
                let part = |(index, part)| self.argument(&format!("{name}_{index}"), part, depth);
                let parts: Vec<String> = parts.into_iter().enumerate().map(part).collect::<Result<_, _>>()?;
                self.whole((number, name, class), format!("({})", parts.join(", ")));
            }
            Standard::Variant { alternatives } => self.variant((number, name, class), &alternatives, depth)?,
            Standard::Stream { character, reads, writes, .. } => {
                let text = if reads { self.text_of_stream(name, character)? } else { "{}".to_owned() };
                self.whole((number, name, class), text.clone());
                if self.optional == 0 {
                    self.past_of_stream((number, name), (reads.then_some(text), writes));
                }
            }
            Standard::Array { element, count } => {
                let element = |index| self.argument(&format!("{name}_{index}"), element, depth);
                let elements: Vec<String> = (0..count).map(element).collect::<Result<_, _>>()?;
                self.whole((number, name, class), format!("{{{{{}}}}}", elements.join(", ")));
            }
            Standard::SmartPointer { target, .. } => return self.smart_pointer((number, name, class), target, depth),
            Standard::Function { signature } => self.function((number, name, class), signature)?,
        }
        Ok(number)
    }

    /// Characters, one after the other.
    fn text(&mut self, (number, name, class): (usize, &str, String), character: ClangType<'u>) -> Result<(), String> {
        self.container((number, name, class), |maker| {
            let listed = maker.value("character", character)?;
            let add = format!("{{@{number}}}.push_back(static_cast<char>({listed} + {FIRST_CHARACTER}));");
            Ok((listed, add))
        })
    }

    /// What a stream is made of that can be read: a string of its own.
    fn text_of_stream(&mut self, name: &str, character: ClangType<'u>) -> Result<String, String> {
        let number = self.next_object();
        self.text((number, &format!("{name}_text"), "std::string".to_owned()), character)?;
        Ok(format!("({{@{number}}})"))
    }

    /// What was done to a stream before the call, and what it reads from or writes to.
    fn past_of_stream(&mut self, (number, name): (usize, &str), (text, writes): (Option<String>, bool)) {
        let past = Past { number, name };
        let flags = "{@}.flags(static_cast<std::ios_base::fmtflags>({#}));";
        self.vary_stream(past, "int", (flags, &format!("{{#}} >= 0 && {{#}} < {FLAGS}")));
        self.vary_stream(past, "int", ("{@}.width({#});", ""));
        self.vary_stream(past, "int", ("{@}.precision({#});", ""));
        self.vary_stream(past, "unsigned char", ("{@}.fill(static_cast<char>({#}));", ""));
        let mut buffers = Vec::new();
        if let Some(text) = text {
            buffers.push(self.buffer(past, "__bw_broken", (Vec::new(), text)));
        }
        if writes {
            let room = self.choice(format!("characters that {name} has room for"));
            let steps = vec![Step::Value { feed: room, declared: "unsigned char ".to_owned() }];
            buffers.push(self.buffer(past, "__bw_limited", (steps, format!("({{#{}}})", room.0))));
        }
        self.vary_past(past, buffers);
        self.vary_stream(past, "unsigned char", ("{@}.clear(static_cast<std::ios_base::iostate>({#}));", "{#} < 8"));
        let exceptions = "try { {@}.exceptions(static_cast<std::ios_base::iostate>({#})); } \
                          catch (const std::ios_base::failure &) {}";
        self.vary_stream(past, "unsigned char", (exceptions, "{#} < 8"));
    }

    /// One thing that a test may do to a stream, with a number.
    fn vary_stream(&mut self, past: Past<'_>, number: &str, (statement, requires): (&str, &str)) {
        let signed = number == "int";
        let feed = self.number(past.name.to_owned(), (if signed { 32 } else { 8 }, signed, number));
        let fill = |text: &str| {
            text.replace("{@}", &format!("{{@{}}}", past.number)).replace("{#}", &format!("{{#{}}}", feed.0))
        };
        let steps = vec![Step::Value { feed, declared: format!("{number} ") }, Step::Statement(fill(statement))];
        self.vary_past(past, vec![Way { steps, requires: fill(requires), ..Way::default() }]);
    }

    /// Another buffer for a stream.
    fn buffer(&mut self, past: Past<'_>, class: &str, (mut steps, initializer): (Vec<Step>, String)) -> Way {
        let number = self.next_object();
        let name = format!("{}_buffer", past.name);
        let ways = vec![Construction::of(class, Vec::new(), &initializer)];
        let class = class.to_owned();
        steps.push(Step::Object(Object { number, name, class, choice: None, ways, may_be_null: false }));
        steps.push(Step::Statement(format!("static_cast<std::ios &>({{@{}}}).rdbuf(&{{@{number}}});", past.number)));
        Way { steps, ..Way::default() }
    }

    fn vary_past(&mut self, past: Past<'_>, others: Vec<Way>) {
        let choice = self.choice(format!("what {} went through", past.name));
        let ways = [Way::default()].into_iter().chain(others).collect();
        let question = Question::Past(past.name.to_owned());
        self.usage.steps.push(Step::Variation(Variation { question, choice, object: None, ways }));
    }

    /// One of several alternatives, by its place.
    fn variant(
        &mut self,
        (number, name, class): (usize, &str, String),
        alternatives: &[ClangType<'u>],
        depth: usize,
    ) -> Result<(), String> {
        let choice = self.choice(format!("which alternative {name} holds"));
        let mut ways = Vec::new();
        for (place, alternative) in alternatives.iter().enumerate() {
            let index = format!("std::in_place_index<{place}>");
            let (before, value) = self.apart(true, |maker| match is_nothing(*alternative) {
                true => Ok(String::new()),
                false => Ok(format!(", {}", maker.argument(name, *alternative, depth)?)),
            })?;
            ways.push(Construction::of(&class, before, &format!("({index}{value})")));
        }
        self.library_object((number, name, class), Some(choice), ways);
        Ok(())
    }

    /// A smart pointer to an object of its own, or to none.
    fn smart_pointer(
        &mut self,
        (number, name, class): (usize, &str, String),
        target: ClangType<'u>,
        depth: usize,
    ) -> Result<usize, String> {
        let target = target.canonical().unqualified();
        if target.kind() == CXType_Record && standard(target).is_none() && !target.declaration().in_system_header() {
            self.objects = number;
            let of = self.concrete(target.declaration());
            let known = Known { class: target.declaration(), may_be_null: false, holder: Some(class), name: None };
            // The pointer itself is no step down.
            return self.object_of(&of, name, depth + 1, known);
        }
        let choice = self.choice(format!("whether there is a {name}"));
        let (before, value) = self.apart(true, |maker| maker.argument(name, target, depth))?;
        let initializer = format!("(new {}({value}))", spelled(target));
        let ways = vec![Construction::of(&class, before, &initializer), Construction::of(&class, Vec::new(), "{}")];
        self.library_object((number, name, class), Some(choice), ways);
        Ok(number)
    }

    /// Something that can be called: a function of the test whose results it says, or nothing.
    fn function(
        &mut self,
        (number, name, class): (usize, &str, String),
        signature: ClangType<'u>,
    ) -> Result<(), String> {
        let signature = signature.canonical();
        let result = signature.function_result().canonical();
        let (before, lambda) = match result.kind() {
            CXType_Void => (Vec::new(), "([](auto &&...) {})".to_owned()),
            _ if is_number(result) => {
                let type_id = self.shop.types.id(result);
                let origin = FeedOrigin::Object;
                let feed = self.shop.feeds.push(Feed { name: format!("{name}()"), type_id, origin });
                let takes = format!("{{ return {{#{0}}}; }}", feed.0);
                let lambda = format!("([{{~{}}}](auto &&...) -> {} {takes})", feed.0, result.spelling());
                (vec![Step::Answers { feed, name: name.to_owned() }], lambda)
            }
            _ => return Err(format!("a test cannot make a `{class}` yet")),
        };
        let changes = |of: &ClangType<'_>| {
            let of = of.canonical();
            matches!(of.kind(), CXType_LValueReference | CXType_Pointer) && !of.pointee().is_const()
        };
        if signature.function_parameters().iter().any(changes) {
            self.usage.never_done.insert(format!("changes that {name} makes to its arguments"));
        }
        self.usage.never_done.insert(format!("changes that {name} makes to what it refers to"));
        self.usage.never_done.insert(format!("exceptions that {name} throws"));
        let choice = self.choice(format!("whether there is a {name}"));
        let ways = vec![Construction::of(&class, before, &lambda), Construction::of(&class, Vec::new(), "{}")];
        self.library_object((number, name, class), Some(choice), ways);
        Ok(())
    }

    /// An element, as a list holds it, and the statement that adds it.
    fn one(
        &mut self,
        element: ClangType<'u>,
        number: usize,
        adds: &str,
        depth: usize,
    ) -> Result<(String, String), String> {
        let copied = is_copied(element.canonical());
        let element = self.argument("element", element, depth)?;
        let add = format!("{{@{number}}}.{adds}({element});");
        Ok((if copied { element } else { String::new() }, add))
    }

    fn container(
        &mut self,
        (number, name, class): (usize, &str, String),
        make: impl FnOnce(&mut Self) -> Result<(String, String), String>,
    ) -> Result<(), String> {
        let more = self.choice(format!("whether {name} goes on"));
        let (element, (listed, add)) = self.apart(true, make)?;
        let name = name.to_owned();
        self.usage.steps.push(Step::Container(Container { number, name, class, more, element, listed, add }));
        Ok(())
    }

    /// What is made in one way, of parts that stand before it.
    pub(super) fn whole(&mut self, (number, name, class): (usize, &str, String), initializer: String) {
        let way = Construction::of(&class, Vec::new(), &initializer);
        self.library_object((number, name, class), None, vec![way]);
    }

    fn library_object(
        &mut self,
        (number, name, class): (usize, &str, String),
        choice: Option<FeedId>,
        ways: Vec<Construction>,
    ) {
        let name = name.to_owned();
        self.usage.steps.push(Step::Object(Object { number, name, class, choice, ways, may_be_null: false }));
    }
}

/// A stream of which a past is described.
#[derive(Copy, Clone)]
struct Past<'n> {
    number: usize,
    name: &'n str,
}

/// Flags of streams are below this number.
const FLAGS: u32 = 0x8000;

/// The alternative of a variant that stands for none.
fn is_nothing(of: ClangType<'_>) -> bool {
    qualified(of.canonical().declaration()) == "std::monostate"
}
