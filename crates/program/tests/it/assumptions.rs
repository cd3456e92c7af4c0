//! `docs/assumptions.md` lists every row of the catalogue of assumptions.

use std::fmt::Write;

use branchwise_program::assumption::{Bundle, acceptable};
use expect_test::expect_file;

const BEGINNING: &str = "\
# What a verdict may rest on

`infeasible` means: no execution takes the outcome, whoever calls the function and whatever is linked with it, under the
preconditions that you state. Four kinds of things limit a verdict. Only two of them weaken it.

| kind | example | effect |
|---|---|---|
| configuration | `-DNDEBUG`, 32-bit `int`, the headers of this machine | none: the verdict speaks of this build; `run` in `report.json` says how it was made |
| precondition | `// assume: low <= high`, an accepted assumption | none: you stated it; the evidence lists it as given |
| assumption | a function without a body keeps no pointers | `infeasible_within_bounds`, with the name of the assumption |
| bound | 8 iterations, 2 calls before the tested one | `infeasible_within_bounds`, with the number |

An *assumption* is something that a linker, another thread, another caller, a function without a body, the operating system or the
library could do, and that the search did not try. It has a name and mostly a subject: `callees-leave-globals:get_sensor`. Only
outcomes that it can influence carry it.

Undefined behaviour needs no assumption. A path ends where the program accesses memory outside an object or through a null
pointer, or divides by zero. Arithmetic wraps around as the machine's does, and the path goes on. With `--undefined forbid` it ends
there; the evidence lists that as given.

## Accepting an assumption

If you know that an assumption holds in your project, say so:

    branchwise generate driver.c --assume callees-leave-globals:get_sensor,no-files

or in `branchwise.toml`:

    assume = [\"callees-leave-globals:get_sensor\", \"hosted\"]

`NAME` accepts the assumption for all subjects, `NAME:SUBJECT` for one. The verdict is `infeasible` then, if nothing else limits it,
and its evidence says what was given. Accepting an assumption does not change the tests: it changes what the verdicts are called.

A bundle accepts several at once:

BUNDLES

## The catalogue

`{}` stands for the subject.

| name | bundle | statement |
|---|---|---|
";

fn bundle_lines() -> String {
    let line = |bundle: Bundle| {
        let names = acceptable().filter(|known| known.bundle == Some(bundle));
        let names: Vec<String> = names.map(|known| format!("`{}`", known.name)).collect();
        format!("- `{}`: {}", bundle.name(), names.join(", "))
    };
    Bundle::ALL.map(line).join("\n")
}

#[test]
fn the_document_lists_every_assumption() {
    let mut text = BEGINNING.replace("BUNDLES", &bundle_lines());
    for known in acceptable() {
        let bundle = known.bundle.map_or(String::new(), |bundle| format!("`{}`", bundle.name()));
        writeln!(text, "| `{}` | {bundle} | {} |", known.name, known.text).expect("text");
    }
    expect_file!["../../../../docs/assumptions.md"].assert_eq(&text);
}
