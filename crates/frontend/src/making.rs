//! The part of a driver that makes the objects of a test, as its feeds say.

use std::fmt::Write;

use branchwise_program::FeedId;
use branchwise_program::usage::{
    Blank, Calls, Construction, Container, ONLY_NATIVE, Object, Question, Step, Usage, Variation, Way, filled,
};

/// Writes what the steps of a usage do.
pub(crate) struct Preparation {
    text: String,
    /// The object that the call itself ends.
    destroyed: Option<usize>,
}

impl Preparation {
    /// The statements before the call, none where it needs no objects, and the call.
    pub fn of(usage: &Usage) -> (String, String) {
        let call = match usage.destroys {
            Some(number) => format!("__bw_end_of({})", pointer(number)),
            None => expression(&usage.call),
        };
        if usage.steps.is_empty() {
            return (String::new(), call);
        }
        let mut preparation = Preparation { text: String::new(), destroyed: usage.destroys };
        preparation.line("__bw_objects __bw_all;");
        preparation.line("__bw_objects_begin();");
        let notes = [("called", &usage.called), ("constructed", &usage.constructed), ("left_out", &usage.left_out)];
        for (what, names) in notes {
            names.iter().for_each(|name| preparation.line(&format!("__bw_objects_{what}(\"{name}\");")));
        }
        preparation.steps(&usage.steps);
        preparation.line("__bw_objects_end();");
        (preparation.text, call)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Value { feed, declared } => self.value(*feed, declared),
                Step::Statement(text) => self.line(&expression(text)),
                Step::Object(object) => self.object(object),
                Step::Calls(calls) => self.calls(calls),
                Step::Container(container) => self.container(container),
                Step::Variation(variation) => self.variation(variation),
                Step::Answers { feed, .. } => self.line(&format!("__bw_value<{}> {}{{}};", feed.0, fed(*feed))),
            }
        }
    }

    fn value(&mut self, feed: FeedId, declared: &str) {
        let name = fed(feed);
        self.line(&format!("{declared}{name}; __bw_feed(&{name}, {}, sizeof {name});", feed.0));
    }

    fn object(&mut self, object: &Object) {
        let (number, last) = (object.number, object.ways.len() - usize::from(!object.may_be_null));
        self.line(&format!("{} *{} = nullptr;", object.class, pointer(number)));
        let Some(choice) = object.choice else {
            return object.ways.iter().for_each(|way| self.construct(number, way));
        };
        self.value(choice, "unsigned char ");
        for (index, way) in object.ways.iter().enumerate() {
            self.branch(choice, index, index == last);
            self.construct(number, way);
            self.line("}");
        }
    }

    /// The start of a way. One condition for each, because a switch without a marker is decided value by value.
    fn branch(&mut self, choice: FeedId, index: usize, last: bool) {
        let otherwise = if index > 0 { "else " } else { "" };
        match last {
            true => self.line(&format!("{otherwise}{{")),
            false => self.line(&format!("{otherwise}if ({} == {index}) {{", fed(choice))),
        }
    }

    fn construct(&mut self, number: usize, way: &Construction) {
        let (name, class) = (pointer(number), &way.class);
        self.line("{");
        self.steps(&way.before);
        match way.borrowed {
            true => self.borrow(class, &expression(&way.initializer)),
            false => self.make(number, class, &expression(&way.initializer)),
        }
        self.line(&format!("{name} = __bw_made;"));
        self.line(&format!("{{ {class} *{name} = __bw_made; (void){name};"));
        self.steps(&way.after);
        self.line("} }");
    }

    /// An object of the program's. Where there is none, there is no test.
    fn borrow(&mut self, class: &str, pointer: &str) {
        self.line(&format!("{class} *__bw_made = {pointer};"));
        self.line("if (!__bw_made) __bw_assume(0);");
    }

    fn make(&mut self, number: usize, class: &str, initializer: &str) {
        let room = format!("__builtin_alloca_with_align(sizeof({class}), 8 * alignof({class}))");
        self.line(&format!("void *__bw_room = {room};"));
        self.line(&format!("{ONLY_NATIVE} __bw_fill(__bw_room, sizeof({class}));"));
        self.line(&format!("{class} *__bw_made = ::new (__bw_room, __bw_here{{}}) {class}{initializer};"));
        if self.destroyed != Some(number) {
            self.line("__bw_all.keep(__builtin_alloca(sizeof(__bw_kept)), __bw_made);");
        }
    }

    fn calls(&mut self, Calls { choice, ways }: &Calls) {
        self.line("for (unsigned __bw_n = 0; __bw_objects_more_calls(__bw_n); __bw_n++) {");
        self.value(*choice, "unsigned char ");
        self.line(&format!("if (!{0}) break;\n    {0}--;", fed(*choice)));
        for (index, way) in ways.iter().enumerate() {
            self.branch(*choice, index, index + 1 == ways.len());
            self.steps(way);
            self.line("}");
        }
        self.line("}");
    }

    fn container(&mut self, container: &Container) {
        let Container { number, class, .. } = container;
        self.line(&format!("{class} *{} = nullptr;", pointer(*number)));
        self.construct(*number, &Construction::of(class, Vec::new(), "{}"));
        self.line("for (unsigned __bw_n = 0; __bw_objects_more_elements(__bw_n); __bw_n++) {");
        self.value(container.more, "unsigned char ");
        self.line(&format!("if (!{}) break;", fed(container.more)));
        self.steps(&container.element);
        self.line(&expression(&container.add));
        self.line("}");
    }

    /// Nobody asks for the choice where the session lets the test take the first way alone.
    fn variation(&mut self, Variation { question, choice, object, ways }: &Variation) {
        if let Some(object) = object {
            self.line(&format!("{} *{} = nullptr;", object.class, pointer(object.number)));
        }
        self.line(&format!("unsigned char {} = 0;", fed(*choice)));
        let feed = format!("__bw_feed(&{0}, {1}, sizeof {0});", fed(*choice), choice.0);
        self.line(&format!("if (__bw_objects_{}) {feed}", asked(question)));
        for (index, way) in ways.iter().enumerate() {
            self.branch(*choice, index, index + 1 == ways.len());
            self.way(way);
            if let Some(object) = object {
                self.line(&format!("{} = {};", pointer(object.number), expression(&way.pointer)));
            }
            self.line("}");
        }
    }

    fn way(&mut self, way: &Way) {
        self.steps(&way.steps);
        if !way.requires.is_empty() {
            self.line(&format!("__bw_assume({});", expression(&way.requires)));
        }
        self.steps(&way.then);
    }
}

/// A question as a call.
fn asked(question: &Question) -> String {
    match question {
        Question::Shares(argument, other) => format!("share(\"{argument}\", \"{other}\")"),
        Question::Owners(argument) => format!("owners(\"{argument}\")"),
        Question::LastingOwners(argument) => format!("lasting_owners(\"{argument}\")"),
        Question::Past(stream) => format!("past(\"{stream}\")"),
    }
}

fn pointer(number: usize) -> String {
    format!("__bw_o{number}")
}

fn fed(feed: FeedId) -> String {
    format!("__bw_f{}", feed.0)
}

/// A text of the usage in the driver: objects are known by pointers to them.
pub(crate) fn expression(text: &str) -> String {
    filled(text, |blank| match blank {
        Blank::Input(index) => format!("__bw_a{index}"),
        Blank::Fed(feed) => fed(feed),
        Blank::Object(number) => format!("(*{})", pointer(number)),
        Blank::Pointer(number) => pointer(number),
        Blank::Result => "__bw_r".to_owned(),
        Blank::Capture(_) => "=".to_owned(),
    })
}
