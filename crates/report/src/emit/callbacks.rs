//! Stubs that call the functions which they are given, as often as a test says.

use branchwise_program::FeedId;
use branchwise_program::map::{FeedOrigin, HandedOver, MOST_CALLBACKS, Map, Stub};

use super::declare::named;
use super::stubs::{EMITTED, feed_variable, parameter_name};

/// Statements that call the function behind a parameter; `acts` are those by which the stub changes what the test says.
pub fn statements(
    map: &Map,
    stub: &Stub,
    parameter: usize,
    feeds: &[(FeedId, &FeedOrigin)],
    acts: &[String],
) -> Vec<String> {
    let Some(handed) = stub.parameters[parameter].calls.as_ref() else { return Vec::new() };
    let variable = |wanted: &dyn Fn(&FeedOrigin) -> bool| {
        let found = feeds.iter().find(|(_, origin)| wanted(origin));
        found.map_or_else(String::new, |(feed, _)| feed_variable(map, *feed))
    };
    let asked = variable(&|origin| matches!(origin, FeedOrigin::StubCalls { parameter: of, .. } if *of == parameter));
    let (mut declared, mut taken, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
    for (index, handed) in handed.iter().enumerate() {
        match handed {
            HandedOver::Argument(given, spelling) => {
                let name = parameter_name(&stub.parameters[*given], *given);
                arguments.push(format!("({spelling}){name}"));
            }
            HandedOver::Fed(spelling) => {
                let value = format!("{EMITTED}value_{}", index + 1);
                let feed = variable(&|origin| {
                    matches!(origin, FeedOrigin::StubArgument { parameter: of, argument, .. }
                        if (*of, *argument) == (parameter, index))
                });
                declared.push(format!("        {};", named(spelling, &value)));
                taken.push(format!("        branchwise_take(&{feed}, &{value}, sizeof {value});"));
                arguments.push(value);
            }
        }
    }
    let name = parameter_name(&stub.parameters[parameter], parameter);
    let turn = format!("{EMITTED}turn");
    let mut lines = vec![
        "{".to_owned(),
        format!("    int {turn};"),
        format!("    for ({turn} = 0; {turn} < {MOST_CALLBACKS} && {name}; {turn}++) {{"),
        format!("        unsigned char {EMITTED}calls;"),
    ];
    lines.extend(declared);
    lines.push(format!("        branchwise_take(&{asked}, &{EMITTED}calls, 1);"));
    lines.push(format!("        if (!{EMITTED}calls)"));
    lines.push("            break;".to_owned());
    lines.extend(taken);
    lines.push(format!("        (void){name}({});", arguments.join(", ")));
    lines.extend(acts.iter().map(|line| format!("        {line}")));
    lines.extend(["    }".to_owned(), "}".to_owned()]);
    lines
}
