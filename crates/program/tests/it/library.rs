//! `docs/library.md` lists every row of the table of library functions.

use std::fmt::Write;

use branchwise_program::library::cpp::SCOPES;
use branchwise_program::library::otherwise::{Errno, errno, excluded};
use branchwise_program::library::{Acts, Facts, Fails, Model, Native, Row, rows};
use expect_test::expect_file;

const BEGINNING: &str = "\
# Functions of libc and POSIX

This list is the table in `crates/program/src/library`, which decides what Branchwise does with a call of each function. A
function that has no body and no row is a stub, also where a header of the system declares it.

| column | word | meaning |
|---|---|---|
| model | code | C code in `frontend/library` stands for it |
| | stream | the executor has streams |
| | executor | the executor knows it by name |
| | term | its result is a term over floating-point numbers |
| | stub | the test chooses its results and what it writes through its parameters |
| | – | the path ends there, and nothing is concluded from it |
| native run | library | the C library's own function |
| | harness | a function of the harness |
| | stub | the same stub as in the model; where there is none, the test ends with `SIGSYS` |
| facts | returns | it comes back and calls none of the unit's functions |
| | calls back | it may call functions that the unit gave it |
| | registers | what it is given runs at the end of the program |
| | ends | it does not come back |
| | handlers | it does not come back, but calls what was registered |
| | jumps | it may come back twice |
| | jumps away | it goes to another place |
| world | – | it has nothing to do with it |
| | reads | what it tells differs from machine to machine or from run to run |
| | acts | it may change files, processes, the machine, or what others see of it |
| may fail | yes, with -1 | then it returns a pointer with all bits set, and it never returns null |
| otherwise | a name | it may do more than tests bring about; this assumption excludes it, where the program can tell |
| | `errno` | it tells errors by `errno`, which tests do not follow: a path that looks at it ends |

A function for which the standard does not say what it does to `errno` may change it even where it succeeds. A path that looks at
`errno` behind such a call rests on `errno-kept-on-success`. Where the file is compiled with `-ffreestanding`, `-fno-builtin`
or without the standard libraries, all of these are ordinary functions: what rests on a model rests on `library-as-here`.

Of what `strcmp`, `memcmp` and the like return, the standard fixes the sign; of what `isdigit` and the like return, whether it is
zero. Where the program looks at more, what follows rests on `library-as-here`. Results of `sin`, `pow` and others that are not exact
may have other last digits elsewhere: what is refuted only because of them rests on `math-as-here`.

What C++ has of this kind in its shared library has no model: the path ends at a call, and so does the native run. These are the
functions whose names begin so, without those of `std::filesystem::path` and `filesystem_error`:

SCOPES

| function | model | native run | facts | world | may fail | otherwise |
|---|---|---|---|---|---|---|
";

fn words(row: &Row) -> [&'static str; 5] {
    let model = match row.model {
        Model::Code => "code",
        Model::Stream => "stream",
        Model::Executor => "executor",
        Model::Term => "term",
        Model::Stub => "stub",
        Model::Nothing => "–",
    };
    let native = match row.native {
        Native::Library => "library",
        Native::Harness => "harness",
        Native::Stub => "stub",
    };
    let facts = match row.facts {
        Facts::Returns => "returns",
        Facts::CallsBack => "calls back",
        Facts::Registers => "registers",
        Facts::Ends => "ends",
        Facts::LeavesByHandlers => "handlers",
        Facts::Jumps => "jumps",
        Facts::JumpsAway => "jumps away",
    };
    let world = match row.acts {
        Acts::No => "–",
        Acts::Reads => "reads",
        Acts::Acts => "acts",
    };
    let fails = match row.fails {
        Fails::No => "no",
        Fails::Yes => "yes",
        Fails::AllOnes => "yes, with -1",
    };
    [model, native, facts, world, fails]
}

/// What the function may do that no test brings about.
fn otherwise(name: &str) -> String {
    let tells = (errno(name) == Errno::TellsErrors).then_some("`errno`".to_owned());
    let names = excluded(name).into_iter().map(|known| format!("`{}`", known.name)).chain(tells);
    let names: Vec<String> = names.collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}

#[test]
fn the_document_lists_every_row() {
    let scope =
        |(name, acts): &(&str, Acts)| format!("- `{name}` {}\n", if *acts == Acts::Acts { "acts" } else { "reads" });
    let scopes: String = SCOPES.iter().map(scope).collect();
    let mut text = BEGINNING.replace("SCOPES\n", &scopes);
    for row in rows() {
        let _ = writeln!(text, "| `{}` | {} | {} |", row.name, words(row).join(" | "), otherwise(row.name));
    }
    expect_file!["../../../../docs/library.md"].assert_eq(&text);
}
