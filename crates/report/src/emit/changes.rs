//! What the functions that nobody defines write beside what their feeds are for: variables, errno, and what lies behind their
//! arguments.

use std::collections::BTreeSet;

use branchwise_program::TypeId;
use branchwise_program::map::{ChangedPlace, Map, Stub};
use branchwise_program::types::{TypeKind, TypeTable};
use branchwise_replay::{Change, TestCase};

use super::stubs::{EMITTED, GENERATED, emitted_name, parameter_name};
use crate::file_report::FileReport;

/// How the tests reach errno, whatever headers the file includes.
pub const ERRNO: &str = "extern int *branchwise_errno_place(void) __asm__(\"__errno_location\");";

pub const DEFINITIONS: &str = "
extern int *branchwise_errno_place(void) __asm__(\"__errno_location\");

/* What a call of a stub changes: a variable, or what one of its arguments leads to. */
struct branchwise_change {
    size_t before;   /* so many calls come first */
    void *variable;  /* NULL: the place is behind an argument */
    size_t argument; /* which one, from 0 */
    size_t pointers; /* so many pointers lead there */
    long offsets[8]; /* where each of them stands, and last the place, in bytes */
    const void *value;
    size_t size;
};

struct branchwise_changes {
    struct branchwise_change *list;
    size_t count;
};

static void branchwise_change(struct branchwise_changes *changes, const void *const *arguments)
{
    size_t number, step;
    for (number = 0; number < changes->count; number++) {
        struct branchwise_change *change = &changes->list[number];
        unsigned char *place = (unsigned char *)change->variable;
        const unsigned char *value = (const unsigned char *)change->value;
        if (change->before-- != 0)
            continue;
        if (!place)
            place = (unsigned char *)arguments[change->argument];
        for (step = 0; step < change->pointers; step++)
            place = *(unsigned char **)(void *)(place + change->offsets[step]);
        place += change->offsets[change->pointers];
        for (step = 0; step < change->size; step++)
            place[step] = value[step];
    }
}
";

/// How the tests name a stub.
pub fn called(stub: &Stub) -> &str {
    stub.name.strip_prefix(GENERATED).unwrap_or(&stub.name)
}

/// The variable that holds what a stub still has to change.
pub fn variable(stub: &Stub) -> String {
    format!("{EMITTED}{}_changes", called(stub))
}

/// What a stub changes in a test.
pub fn of_test<'a>(case: &'a TestCase, stub: &'a Stub) -> impl Iterator<Item = &'a Change> {
    case.changes.iter().filter(|change| change.stub == stub.name)
}

/// What a stub changes in any test of a file.
pub fn of_stub<'f>(file: &FileReport<'f>, stub: &'f Stub) -> Vec<&'f Change> {
    let tests = file.report.functions.iter().flat_map(|unit| &unit.tests);
    tests.flat_map(|test| of_test(&test.case, stub)).collect()
}

/// Whether any stub changes anything in a test of a file.
pub fn any(file: &FileReport) -> bool {
    file.report.functions.iter().flat_map(|unit| &unit.tests).any(|test| !test.case.changes.is_empty())
}

/// Statements of a stub that change what the test says.
pub fn statements(stub: &Stub, changed: &[&Change]) -> Vec<String> {
    if changed.is_empty() {
        return Vec::new();
    }
    let used = |change: &&Change| match change.place {
        ChangedPlace::Argument { number, .. } => Some(number as usize),
        _ => None,
    };
    let used: BTreeSet<usize> = changed.iter().filter_map(used).collect();
    let Some(&last) = used.last() else { return vec![format!("branchwise_change(&{}, NULL);", variable(stub))] };
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    for index in 0..=last.min(stub.parameters.len().saturating_sub(1)) {
        places.push(place_of_argument(stub, index, &used, &mut lines));
    }
    if let Some(more) = (last + 1).checked_sub(stub.parameters.len()).filter(|&more| more > 0) {
        lines.extend(take_variable(stub, more));
        places.extend((0..more).map(|index| format!("&{EMITTED}more[{index}]")));
    }
    lines.insert(0, "{".to_owned());
    lines.push(format!("    const void *const {EMITTED}arguments[] = {{{}}};", places.join(", ")));
    lines.push(format!("    branchwise_change(&{}, {EMITTED}arguments);", variable(stub)));
    lines.push("}".to_owned());
    lines
}

/// Where an argument stands; of a reference, a pointer to what it refers to.
fn place_of_argument(stub: &Stub, index: usize, used: &BTreeSet<usize>, lines: &mut Vec<String>) -> String {
    let name = parameter_name(&stub.parameters[index], index);
    if !used.contains(&index) {
        return "NULL".to_owned();
    }
    if stub.parameters[index].spelling.ends_with('&') {
        lines.push(format!("    void *{EMITTED}referred_{index} = (void *)&{name};"));
        return format!("&{EMITTED}referred_{index}");
    }
    format!("(const void *)&{name}")
}

/// Variable arguments are looked at only in calls that change something behind them: there, they are there.
fn take_variable(stub: &Stub, more: usize) -> Vec<String> {
    let (named, changes) = (stub.parameters.len(), variable(stub));
    let last = parameter_name(&stub.parameters[named - 1], named - 1);
    let text = format!(
        "    void *{EMITTED}more[{more}] = {{0}};
    size_t {EMITTED}at, {EMITTED}taken = 0;
    __builtin_va_list {EMITTED}list;
    for ({EMITTED}at = 0; {EMITTED}at < {changes}.count; {EMITTED}at++) {{
        const struct branchwise_change *change = &{changes}.list[{EMITTED}at];
        if (change->before == 0 && !change->variable && change->argument >= {named} + {EMITTED}taken)
            {EMITTED}taken = change->argument - {named} + 1;
    }}
    __builtin_va_start({EMITTED}list, {last});
    for ({EMITTED}at = 0; {EMITTED}at < {EMITTED}taken; {EMITTED}at++)
        {EMITTED}more[{EMITTED}at] = __builtin_va_arg({EMITTED}list, void *);
    __builtin_va_end({EMITTED}list);"
    );
    text.lines().map(str::to_owned).collect()
}

/// A name for a value: `mode_1`, or after the function that writes it.
pub fn value_wish(map: &Map, change: &Change) -> String {
    let stub = change.stub.strip_prefix(GENERATED).unwrap_or(&change.stub);
    match &change.place {
        ChangedPlace::Variable { number, .. } => {
            let name = map.variables.get(*number).map_or("", |variable| &variable.name);
            format!("{stub}_{}", name.rsplit("::").next().unwrap_or(name))
        }
        ChangedPlace::Errno => format!("{stub}_errno"),
        ChangedPlace::Argument { number, .. } => {
            let found = map.stubs.iter().find(|known| known.name == change.stub);
            let parameter = found.and_then(|stub| stub.parameters.get(*number as usize));
            let name = parameter
                .map_or(format!("argument_{}", number + 1), |parameter| parameter_name(parameter, *number as usize));
            format!("{stub}_behind_{name}")
        }
    }
}

/// The type of the number that a change writes, where that is known.
pub fn value_type(map: &Map, change: &Change) -> Option<TypeId> {
    let ChangedPlace::Variable { number, offset } = &change.place else { return None };
    let found = scalar_at(&map.types, map.variables.get(*number)?.type_id, u64::try_from(*offset).ok()?)?;
    let (of, size) = (&map.types[found], change.bytes.len() as u64);
    // A type without a name cannot be written down.
    (of.size == size && !of.spelling.contains('(')).then_some(found)
}

/// The number that stands at an offset of an object.
fn scalar_at(types: &TypeTable, type_id: TypeId, offset: u64) -> Option<TypeId> {
    let of = types.get(type_id)?;
    match &of.kind {
        TypeKind::Integer { .. } | TypeKind::Enumeration { .. } | TypeKind::Float { .. } => {
            (offset == 0).then_some(type_id)
        }
        TypeKind::Array { element, .. } => {
            let size = types.get(*element)?.size;
            scalar_at(types, *element, offset.checked_rem(size)?)
        }
        TypeKind::Record { union: false, fields: Some(fields) } => {
            let plain = fields.iter().filter(|field| field.bit_field.is_none());
            let mut before = plain.filter(|field| field.offset_bits / 8 <= offset);
            let field = before.next_back()?;
            scalar_at(types, field.type_id, offset - field.offset_bits / 8)
        }
        _ => None,
    }
}

/// The initialiser of a change.
pub fn entry(map: &Map, change: &Change, value: &str) -> String {
    let (variable, argument, offsets) = match &change.place {
        ChangedPlace::Variable { number, offset } => {
            let name = map.variables.get(*number).map_or_else(String::new, |found| emitted_name(&found.name));
            (format!("(void *)&{name}"), 0, vec![*offset])
        }
        ChangedPlace::Errno => ("branchwise_errno_place()".to_owned(), 0, vec![0]),
        ChangedPlace::Argument { number, offsets } => ("NULL".to_owned(), *number, offsets.clone()),
    };
    let pointers = offsets.len() - 1;
    let offsets: Vec<String> = offsets.iter().map(i64::to_string).collect();
    let (before, offsets) = (change.calls_before, offsets.join(", "));
    format!("{{{before}, {variable}, {argument}, {pointers}, {{{offsets}}}, &{value}, sizeof {value}}}")
}
