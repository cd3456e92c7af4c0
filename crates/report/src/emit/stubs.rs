//! Functions that the file under test calls and does not define: each test gives the values that their calls return and
//! write, as arrays with names.

use std::collections::BTreeSet;

use branchwise_program::library;
use branchwise_program::map::{DerivedClass, FeedOrigin, Map, Stub, StubAct, StubParameter};
use branchwise_program::types::TypeKind;
use branchwise_program::{CallableId, FeedId};
use branchwise_replay::{Blob, TestCase};

use super::allocations;
use super::callbacks;
use super::changes;
use super::declare::named;
use super::needs::SYMBOLS;
use crate::file_report::FileReport;

/// What generated names begin with in the map; emitted code is read by people.
pub const GENERATED: &str = "__bw_";
/// What they begin with in emitted code.
pub const EMITTED: &str = "branchwise_";

/// The name of a function that a function pointer points to.
pub fn callable_name(map: &Map, callable: CallableId) -> String {
    map.callables.get(callable).map_or("NULL".to_owned(), |callable| emitted_name(&callable.name))
}

pub fn emitted_name(name: &str) -> String {
    match name.strip_prefix(GENERATED) {
        Some(rest) => format!("{EMITTED}{rest}"),
        None => name.to_owned(),
    }
}

fn is_generated(stub: &Stub) -> bool {
    stub.name.starts_with(GENERATED)
}

/// The variable that holds what a feed still has to give.
pub fn feed_variable(map: &Map, feed: FeedId) -> String {
    format!("branchwise_{}", feed_wish(map, feed))
}

/// A name for the values of a feed: `read_sensor_results`, `read_sensor_value`.
pub fn feed_wish(map: &Map, feed: FeedId) -> String {
    let called = |function: &str| function.strip_prefix(GENERATED).unwrap_or(function).to_owned();
    match &map.feeds[feed].origin {
        FeedOrigin::AllocationFails => "allocation_fails".to_owned(),
        FeedOrigin::Object => map.feeds[feed].name.clone(),
        FeedOrigin::StubResult { function } => format!("{}_results", called(function)),
        FeedOrigin::StubCalls { function, parameter } => {
            format!("{}_calls_{}", called(function), named_parameter(map, function, *parameter))
        }
        FeedOrigin::StubArgument { function, parameter, argument } => {
            let parameter = named_parameter(map, function, *parameter);
            format!("{}_{parameter}_argument_{}", called(function), argument + 1)
        }
        FeedOrigin::StubParameter { function, parameter } => {
            format!("{}_{}", called(function), named_parameter(map, function, *parameter))
        }
    }
}

fn named_parameter(map: &Map, function: &str, parameter: usize) -> String {
    let stub = map.stubs.iter().find(|stub| stub.name == function);
    let found = stub.and_then(|stub| stub.parameters.get(parameter));
    found.map_or_else(|| format!("argument_{}", parameter + 1), |found| parameter_name(found, parameter))
}

/// Names that begin with an underscore are those of system headers, and mean nothing to a reader.
pub fn parameter_name(parameter: &StubParameter, index: usize) -> String {
    if parameter.name.is_empty() || parameter.name.starts_with('_') {
        format!("argument_{}", index + 1)
    } else {
        parameter.name.clone()
    }
}

/// Gives the functions that stubs stand for a symbol of their own, before the unit declares them: the tests are about what
/// the stubs say, also where the program is linked with the real functions, and the C library keeps its own. A static
/// function has no symbol to share, and clang refuses to give it another one.
pub fn symbols(map: &Map) -> String {
    let renamed = map.stubs.iter().filter(|stub| !is_generated(stub) && !stub.internal && stub.symbol == stub.name);
    let renamed: Vec<&str> = renamed.map(|stub| stub.name.as_str()).collect();
    renamed.iter().map(|name| format!("#pragma redefine_extname {name} branchwise_stub_{name}\n")).collect()
}

/// Is this function replaced by a stub?
pub fn is_stubbed(map: &Map, function: &str) -> bool {
    map.stubs.iter().any(|stub| stub.name == function)
}

/// The definitions of all stubs, behind the file under test; empty where there are none.
pub fn definitions(file: &FileReport) -> String {
    let map = file.map;
    let stubs = defined(file);
    let mut text = if has_feeds(file) { FEED.to_owned() } else { String::new() };
    // Other files may have streams, too.
    if (map.opens_files || file.is_cpp() && !file.linked.is_empty()) && !map.allowed_calls.contains("fopen64") {
        text += FILES;
    }
    let has = |wanted: &dyn Fn(&StubParameter) -> bool| stubs.iter().any(|stub| stub.parameters.iter().any(wanted));
    if has(&|parameter| parameter.buffer) {
        text += FILL;
    }
    if stubs.iter().any(|stub| is_of_library(stub) && feeds_of(map, stub).any(|(_, origin)| is_written(stub, origin))) {
        text += PUT;
    }
    if changes::any(file) {
        text += changes::DEFINITIONS;
        if file.is_cpp() {
            text = text.replace(changes::ERRNO, &format!("extern \"C\" {}", &changes::ERRNO["extern ".len()..]));
        }
    }
    text += &allocations::definitions(file);
    text += &ends(&stubs);
    text.extend(stubs.iter().map(|stub| definition(file, stub)));
    text += &for_linked_files(file, &stubs);
    for class in used_classes(file) {
        text += &format!("\n/* A {} whose methods return what a test lists. */\n", class.base);
        text += &class.definition.replace(GENERATED, EMITTED);
    }
    text
}

/// Lets linked files call the stubs of library functions by their usual names, as they do natively. The tests' own
/// helpers keep the functions that they need.
fn for_linked_files(file: &FileReport, stubs: &[&Stub]) -> String {
    let shared = |stub: &&&Stub| {
        let renamed = !is_generated(stub) && !stub.internal && stub.symbol == stub.name;
        renamed && is_of_library(stub) && !SYMBOLS.contains(&stub.name.as_str())
    };
    let alias = |stub: &&Stub| {
        let name = &stub.name;
        format!("__asm__(\".globl {name}\\n.set {name}, branchwise_stub_{name}\");\n")
    };
    let lines: String = match file.linked.is_empty() {
        true => String::new(),
        false => stubs.iter().filter(shared).map(alias).collect(),
    };
    match lines.is_empty() {
        true => lines,
        false => format!("\n/* The files that the tests are linked with call the same. */\n{lines}"),
    }
}

/// Generated classes of which tests may make objects.
fn used_classes<'f>(file: &FileReport<'f>) -> Vec<&'f DerivedClass> {
    let tests = file.report.functions.iter().flat_map(|unit| &unit.tests);
    let calls = tests.flat_map(|test| test.case.before.iter().map(|call| call.function).chain([test.case.function]));
    let usages = calls.filter_map(|function| file.map.functions.get(function)?.usage.as_ref());
    let names: BTreeSet<&str> = usages.flat_map(|usage| &usage.derived).map(String::as_str).collect();
    file.map.derived_classes.iter().filter(|class| names.contains(class.name.as_str())).collect()
}

/// The stubs that the tests need: all but generated functions that no test passes on.
fn defined<'f>(file: &FileReport<'f>) -> Vec<&'f Stub> {
    let mut used = used_callables(file);
    used.extend(used_classes(file).into_iter().flat_map(|class| &class.stubs).map(String::as_str));
    file.map.stubs.iter().filter(|stub| !is_generated(stub) || used.contains(stub.name.as_str())).collect()
}

/// Whether a stub, or an allocation, takes values that tests give.
pub fn has_feeds(file: &FileReport) -> bool {
    allocations::any_fails(file) || defined(file).into_iter().any(|stub| feeds_of(file.map, stub).next().is_some())
}

/// Generated functions that some test passes as a pointer.
fn used_callables<'f>(file: &FileReport<'f>) -> BTreeSet<&'f str> {
    let tests = file.report.functions.iter().flat_map(|unit| &unit.tests);
    let functions = tests.flat_map(|test| blobs(&test.case)).flat_map(|blob| &blob.functions);
    functions.filter_map(|pointer| Some(file.map.callables.get(pointer.callable)?.name.as_str())).collect()
}

/// All values of a test case.
fn blobs(case: &TestCase) -> impl Iterator<Item = &Blob> {
    let before = case.before.iter().flat_map(|call| &call.inputs);
    let objects = case.objects.iter().map(|object| &object.blob);
    case.inputs.iter().chain(before).chain(objects).chain(case.feeds.iter().flatten())
}

const FEED: &str = "
/* What the calls of a stub return or write: a test gives the values in order; after the last come zeros. */
struct branchwise_feed {
    const void *next;
    size_t left;
};

static void branchwise_take(struct branchwise_feed *feed, void *into, size_t size)
{
    unsigned char *to = (unsigned char *)into;
    const unsigned char *from = feed->left > 0 ? (const unsigned char *)feed->next : NULL;
    size_t at;
    for (at = 0; at < size; at++)
        to[at] = from ? from[at] : 0;
    if (from) {
        feed->next = from + size;
        feed->left--;
    }
}
";

const FILL: &str = "
/* A buffer of which a test gives the first bytes; behind them come zeros. */
static void branchwise_fill(struct branchwise_feed *feed, void *into, size_t size)
{
    unsigned char taken[16];
    unsigned char *to = (unsigned char *)into;
    size_t at;
    if (!into || !size)
        return;
    branchwise_take(feed, taken, sizeof taken);
    for (at = 0; at < size; at++)
        to[at] = at < sizeof taken ? taken[at] : 0;
}
";

/// Defined by the name by which the library of C++ calls it.
const FILES: &str = "
/* Files that streams open by name: none is there to read, and what is written goes nowhere. */
extern \"C\" int branchwise_open(const char *name, int flags, ...) __asm__(\"open\");
extern \"C\" struct _IO_FILE *branchwise_stream_of(int descriptor, const char *mode) __asm__(\"fdopen\");
extern \"C\" int *branchwise_errno(void) __asm__(\"__errno_location\");
extern \"C\" struct _IO_FILE *branchwise_fopen(const char *name, const char *mode) __asm__(\"fopen64\");
struct _IO_FILE *branchwise_fopen(const char *name, const char *mode)
{
    if (*mode != 'r' && *name)
        return branchwise_stream_of(branchwise_open(\"/dev/null\", 1 /* to write */), \"w\");
    *branchwise_errno() = 2 /* no such file */;
    return 0;
}
";

const PUT: &str = "
/* The same where a pointer leads. */
static void branchwise_put(struct branchwise_feed *feed, void *into, size_t size)
{
    if (into)
        branchwise_take(feed, into, size);
}
";

/// Whether the C library has the real function. Its headers may promise that no pointer is null.
fn is_of_library(stub: &Stub) -> bool {
    library::row(&stub.name).is_some()
}

/// Whether a stub writes values of this feed to an object behind a parameter.
fn is_written(stub: &Stub, origin: &FeedOrigin) -> bool {
    matches!(origin, FeedOrigin::StubParameter { parameter, .. } if !stub.parameters[*parameter].buffer)
}

/// What stubs that end the process call.
fn ends(stubs: &[&Stub]) -> String {
    let acts = |wanted: &[StubAct]| stubs.iter().any(|stub| wanted.contains(&stub.act));
    let mut text = String::new();
    if acts(&[StubAct::Aborts]) {
        text += "extern void branchwise_stub_abort(void) __asm__(\"abort\") __attribute__((noreturn));\n";
    }
    if acts(&[StubAct::Assumes, StubAct::Ends]) {
        text += "extern void branchwise_stub_exit(int status) __asm__(\"_exit\") __attribute__((noreturn));\n";
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

fn feeds_of<'m>(map: &'m Map, stub: &'m Stub) -> impl Iterator<Item = (FeedId, &'m FeedOrigin)> {
    let feeds = map.feeds.iter().map(|(id, feed)| (id, &feed.origin));
    feeds.filter(|(_, origin)| match origin {
        FeedOrigin::StubResult { function }
        | FeedOrigin::StubParameter { function, .. }
        | FeedOrigin::StubCalls { function, .. }
        | FeedOrigin::StubArgument { function, .. } => *function == stub.name,
        FeedOrigin::AllocationFails | FeedOrigin::Object => false,
    })
}

/// A method of a generated class calls it.
fn is_of_class(map: &Map, stub: &Stub) -> bool {
    map.derived_classes.iter().any(|class| class.stubs.contains(&stub.name))
}

fn definition(file: &FileReport, stub: &Stub) -> String {
    let map = file.map;
    let feeds: Vec<(FeedId, &FeedOrigin)> = feeds_of(map, stub).collect();
    let mut text = match is_generated(stub) {
        true if is_of_class(map, stub) => "\n".to_owned(),
        true => "\n/* What a function pointer of this type may point to. */\n".to_owned(),
        false if is_of_library(stub) => {
            format!("\n/* The tests say what {} returns; the real one is not called. */\n", stub.name)
        }
        false => format!("\n/* The file under test declares {} and does not define it. */\n", stub.name),
    };
    for (feed, _) in &feeds {
        text += &format!("static struct branchwise_feed {};\n", feed_variable(map, *feed));
    }
    let changed = changes::of_stub(file, stub);
    if !changed.is_empty() {
        text += &format!("static struct branchwise_changes {};\n", changes::variable(stub));
    }
    // The parentheses keep a macro of the same name away.
    let name = if is_generated(stub) { emitted_name(&stub.name) } else { format!("({})", stub.name) };
    let storage = if is_generated(stub) { "static " } else { "" };
    text += &format!("{storage}{}\n{{\n", named(&stub.result, &format!("{name}({})", parameters(stub))));
    for line in statements(map, stub, &feeds, changes::statements(stub, &changed)) {
        text += &format!("    {line}\n");
    }
    text + "}\n"
}

fn parameters(stub: &Stub) -> String {
    let declared = stub.parameters.iter().enumerate();
    let mut declared: Vec<String> =
        declared.map(|(index, found)| named(&found.spelling, &parameter_name(found, index))).collect();
    if stub.variadic {
        declared.push("...".to_owned());
    }
    if declared.is_empty() { "void".to_owned() } else { declared.join(", ") }
}

fn statements(map: &Map, stub: &Stub, feeds: &[(FeedId, &FeedOrigin)], changes: Vec<String>) -> Vec<String> {
    let name = |index: usize| parameter_name(&stub.parameters[index], index);
    let written = |index: usize| {
        let at = |origin: &FeedOrigin| match origin {
            FeedOrigin::StubParameter { parameter, .. } | FeedOrigin::StubCalls { parameter, .. } => Some(*parameter),
            _ => None,
        };
        let is_size = index > 0 && stub.parameters[index - 1].buffer;
        is_size || feeds.iter().any(|(_, origin)| at(origin) == Some(index))
    };
    let used = |index: usize| match stub.act {
        StubAct::Feeds => written(index),
        StubAct::Assumes => index == 0,
        StubAct::Aborts | StubAct::Ends => false,
    };
    let unused = (0..stub.parameters.len()).filter(|index| !used(*index));
    let mut lines: Vec<String> = unused.map(|index| format!("(void){};", name(index))).collect();
    match stub.act {
        StubAct::Feeds => lines.splice(0..0, result_declaration(stub)).for_each(drop),
        StubAct::Assumes => lines.extend([format!("if (!{})", name(0)), "    branchwise_stub_exit(1);".to_owned()]),
        StubAct::Aborts => lines.push("branchwise_stub_abort();".to_owned()),
        StubAct::Ends => lines.push("branchwise_stub_exit(1);".to_owned()),
    }
    let changes_again = changes.clone();
    lines.extend(changes);
    for (feed, origin) in feeds {
        let variable = feed_variable(map, *feed);
        match origin {
            FeedOrigin::StubParameter { parameter, .. } if stub.parameters[*parameter].buffer => {
                let (name, size) = (name(*parameter), name(*parameter + 1));
                let size = format!("{size} > 0 ? (size_t){size} : 0");
                lines.push(format!("branchwise_fill(&{variable}, {name}, {size});"));
            }
            FeedOrigin::StubParameter { parameter, .. } => {
                let name = name(*parameter);
                let cast = if stub.parameters[*parameter].spelling.contains("volatile") { "(void *)" } else { "" };
                let size = match map.types[map.feeds[*feed].type_id].kind {
                    TypeKind::Array { count: Some(count), .. } => format!("{count} * sizeof *{name}"),
                    _ => format!("sizeof *{name}"),
                };
                if is_of_library(stub) {
                    lines.push(format!("branchwise_put(&{variable}, {cast}{name}, {size});"));
                    continue;
                }
                lines.push(format!("if ({name})"));
                lines.push(format!("    branchwise_take(&{variable}, {cast}{name}, {size});"));
            }
            FeedOrigin::StubCalls { parameter, .. } => {
                lines.extend(callbacks::statements(map, stub, *parameter, feeds, &changes_again));
            }
            FeedOrigin::AllocationFails | FeedOrigin::Object | FeedOrigin::StubArgument { .. } => {}
            FeedOrigin::StubResult { .. } => {
                let result = result_name(stub);
                lines.push(format!("branchwise_take(&{variable}, &{result}, sizeof {result});"));
                lines.push(match library::fails_with_all_ones(&stub.name) {
                    true => format!("return {result} ? {result} : ({})-1l;", stub.result),
                    false => format!("return {result};"),
                });
            }
        }
    }
    lines
}

fn result_declaration(stub: &Stub) -> Option<String> {
    (stub.result != "void").then(|| format!("{};", named(&stub.result, result_name(stub))))
}

fn result_name(stub: &Stub) -> &'static str {
    if stub.parameters.iter().any(|parameter| parameter.name == "result") { "returned" } else { "result" }
}

/// Statements before each test: what one test left over must not reach the next.
pub fn reset(file: &FileReport) -> Vec<String> {
    let feeds = defined(file).into_iter().flat_map(|stub| feeds_of(file.map, stub)).map(|(feed, _)| feed);
    let fails = |feed: &FeedId| file.map.feeds[*feed].origin == FeedOrigin::AllocationFails;
    let allocations = file.map.feeds.ids().filter(|feed| fails(feed) && allocations::any_fails(file));
    let changed = defined(file).into_iter().filter(|stub| !changes::of_stub(file, stub).is_empty());
    let changed = changed.map(|stub| format!("{}.count = 0;", changes::variable(stub)));
    let feeds = feeds.chain(allocations).map(|feed| format!("{}.left = 0;", feed_variable(file.map, feed)));
    feeds.chain(changed).collect()
}

/// The values with which a test makes objects, by feed.
pub fn given_to_objects<'a>(map: &'a Map, case: &'a TestCase) -> impl Iterator<Item = (FeedId, &'a [Blob])> {
    let feeds = map.feeds.iter().zip(&case.feeds).filter(|((_, feed), _)| feed.origin == FeedOrigin::Object);
    feeds.map(|((id, _), values)| (id, values.as_slice()))
}

/// The values that a test gives to stubs, by feed; of allocations, where one fails.
pub fn given<'a>(map: &'a Map, case: &'a TestCase) -> impl Iterator<Item = (FeedId, &'a [Blob])> {
    let feeds = map
        .feeds
        .iter()
        .zip(&case.feeds)
        .filter(|((_, feed), values)| !values.is_empty() && feed.origin != FeedOrigin::Object);
    let fails = allocations::fails(map, case);
    let wanted = feeds.filter(move |((_, feed), _)| feed.origin != FeedOrigin::AllocationFails || fails);
    wanted.map(|((id, _), values)| (id, values.as_slice()))
}
