//! Limits hold, and odd programs end nothing: no panic, no signal, and what a limit cuts says so.

use crate::support::folder;
use std::process::{Command, Output};

use serde_json::Value;

/// What `branchwise generate` says of a program, as JSON, and its exit status.
struct Said {
    json: Value,
    status: Option<i32>,
    errors: String,
}

fn generate(file: &str, text: &str, arguments: &[&str]) -> Said {
    let folder = folder::temporary();
    std::fs::write(folder.path().join(file), text).expect("a writable folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_branchwise"));
    command.args(["generate", file, "--json"]).args(arguments).current_dir(folder.path()).env("NO_COLOR", "1");
    let Output { status, stdout, stderr } = command.output().expect("branchwise runs");
    let errors = String::from_utf8_lossy(&stderr).into_owned();
    let json = serde_json::from_slice(&stdout).unwrap_or_else(|error| panic!("{error}: {errors}"));
    Said { json, status: status.code(), errors }
}

/// All objects within a value.
fn objects<'v>(value: &'v Value, found: &mut Vec<&'v serde_json::Map<String, Value>>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| objects(value, found)),
        Value::Object(object) => {
            found.push(object);
            object.values().for_each(|value| objects(value, found));
        }
        _ => {}
    }
}

impl Said {
    fn objects(&self) -> Vec<&serde_json::Map<String, Value>> {
        let mut found = Vec::new();
        objects(&self.json, &mut found);
        found
    }

    fn goals(&self, function: &str) -> Vec<&serde_json::Map<String, Value>> {
        let is_goal = |object: &&serde_json::Map<String, Value>| object.contains_key("verdict");
        self.objects().into_iter().filter(is_goal).filter(|goal| goal["function"] == function).collect()
    }

    fn covered(&self, function: &str) -> usize {
        self.goals(function).iter().filter(|goal| goal["verdict"] == "covered").count()
    }

    fn disagreements(&self) -> usize {
        let lists = self.objects().into_iter().filter_map(|object| object.get("disagreements"));
        lists.filter_map(Value::as_array).map(Vec::len).sum()
    }

    fn is_fine(&self) -> &Self {
        assert_eq!(self.status, Some(0), "{}", self.errors);
        assert!(!self.errors.contains("a fault of Branchwise"), "{}", self.errors);
        self
    }
}

/// The paths of such inputs are longer than those that the round has in its tree.
pub fn an_input_followed_beyond_the_bounds_may_be_varied_where_it_does_not_return() {
    let known = "int k(int n) {\n    int a = 0, b = 0;\n    while (n-- > 0) {\n        a++;\n        \
                 if (a % 1000 == 0) b++;\n    }\n    if (b == 3) return 1;\n    return 0;\n}\n";
    generate("known.c", known, &["--strategy", "concolic", "--steps", "300"]).is_fine();
}

pub fn constructor_functions_are_called_however_they_are_listed() {
    let text = "static int done, last;\nstatic void run(void) { if (!done) done = 1; }\n\
                __attribute__((section(\".init_array\"), used)) static void (*const hook)(void) = run;\n\
                __attribute__((constructor)) static void after(void) { last = done; }\n\
                int f(int x) { if (done && last) return x ? 1 : 2; return 3; }\n";
    let said = generate("listed.c", text, &["--steps", "300"]);
    assert_eq!((said.is_fine().covered("f"), said.disagreements()), (4, 0), "{:#}", said.json);
}

pub fn a_constructor_function_that_asks_for_the_arguments_of_the_program_is_not_supported_by_name() {
    let text = "static int many;\n__attribute__((constructor)) static void c(int argc, char **argv) { many = argc > 3; }\n\
                int f(int x) { if (many) return x ? 1 : 2; return 3; }\n";
    let said = generate("arguments.c", text, &["--steps", "200"]);
    let verdicts: Vec<_> = said.is_fine().goals("f").iter().map(|goal| goal["verdict"].to_string()).collect();
    assert!(verdicts.len() == 4 && verdicts.iter().all(|verdict| !verdict.contains("infeasible")), "{verdicts:?}");
    assert!(said.json.to_string().contains("a constructor function with the arguments of the program"));
}

/// The linker gives such an array its length at the end of the unit.
pub fn arrays_may_get_their_length_late_or_never() {
    let text = "int late[]; int late[3];\nint never[];\nextern int other[]; extern int other[7];\n\
                int rows[][4]; int rows[2][4];\n\
                int f(void) { return late[1] == 3 ? 1 : 2; }\nint g(void) { return never[0] == 3 ? 1 : 2; }\n\
                int h(void) { return other[6] == 3 ? 1 : 2; }\nint k(void) { return rows[1][3] == 3 ? 1 : 2; }\n";
    let said = generate("late.c", text, &["--steps", "300", "--set-statics"]);
    for function in ["f", "g", "h", "k"] {
        assert_eq!(said.is_fine().covered(function), 2, "{function}: {:#}", said.json);
    }
}

pub fn overloaded_functions_in_c_are_named_and_the_others_tested() {
    let text = "__attribute__((overloadable)) int size(int a) { return a ? 1 : 2; }\n\
                __attribute__((overloadable)) int size(double a) { return a > 0 ? 1 : 2; }\n\
                int f(int a) { return a > 3 ? 1 : 0; }\n";
    let said = generate("overloaded.c", text, &["--steps", "200"]);
    assert_eq!(said.is_fine().covered("f"), 2, "{:#}", said.json);
    assert!(said.json.to_string().contains("overloadable"));
}

/// The native runs of such inputs go on until they are stopped: each takes its time.
pub fn goals_whose_inputs_were_not_run_for_lack_of_time_are_unknown_and_say_so() {
    let loops: String = (0..3).map(|at| format!("    if (at == {at}) for (;;) keep ^= {at};\n")).collect();
    let text = format!("volatile int keep;\nint f(int at) {{\n{loops}    return 0;\n}}\n");
    let said = generate("loops.c", &text, &["--time", "0.5", "--findings", "met"]);
    for goal in said.is_fine().goals("f") {
        let verdict = goal["verdict"].as_str().unwrap_or_default();
        assert!(verdict == "covered" || verdict == "unknown", "{goal:?}");
    }
    let said = generate("loops.c", &text, &["--steps", "300", "--findings", "met"]);
    assert_eq!(said.is_fine().covered("f"), 6, "where steps are counted, nothing is left out");
}
