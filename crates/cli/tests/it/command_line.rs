//! Standard output, standard error and exit status of the program, together.

use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};

fn check(arguments: &[&str], expected: Expect) {
    let output = Command::new(env!("CARGO_BIN_EXE_branchwise")).args(arguments).env("NO_COLOR", "1").output();
    let output = output.expect("the program starts");
    let mut text = String::new();
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            text += &format!("---- {name}\n");
            // clap leaves blanks on otherwise empty lines, which editors and formatters take away from a snapshot.
            text.extend(String::from_utf8_lossy(bytes).lines().map(|line| format!("{}\n", line.trim_end())));
        }
    }
    expected.assert_eq(&format!("{text}---- exit status {}\n", output.status.code().unwrap_or(-1)));
}

pub fn help() {
    check(
        &["--help"],
        expect![[r#"
        ---- stdout
        Generates tests for C that cover its branches, proves what no test can cover, and says of the rest why it is unknown

        Usage: branchwise <COMMAND>

        Commands:
          generate  Generate tests for the functions of C files
          map       Show the control-flow graph of functions
          replay    Run a generated suite again and measure it
          explain   Say why a goal has its verdict
          doctor    Check that everything Branchwise needs is installed, and say what to install if not
          help      Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version
        ---- exit status 0
    "#]],
    );
}

pub fn help_of_generate() {
    check(
        &["generate", "--help"],
        expect![[r#"
            ---- stdout
            Generate tests for the functions of C files

            Prints a table: how many branch outcomes each function has, how many the tests cover (replayed natively and measured with llvm-cov), how many are proven infeasible, and how many stay unknown.

            Exit status: 0 done; 1 less covered than --require asks, or a native run disagrees with a result; 2 wrong usage; 3 a file cannot be used; 4 a fault of Branchwise; 130 interrupted (what was found is kept).

            Usage: branchwise generate [OPTIONS] [FILE]... [-- <CLANG FLAGS>...]

            Arguments:
              [FILE]...
                      C files to generate tests for [default: with -p, all C files of the project]

              [CLANG FLAGS]...
                      Flags for clang, such as -I and -D

            Options:
              -p <DIR>
                      Folder with compile_commands.json, which says how each file is compiled

                  --function <NAME>
                      Only this function; may be given several times [default: every function of the files]

                  --scope <SCOPE>
                      Whose conditions, statements and so on are goals [default: unit]

                      Possible values:
                      - unit:      Those of the function itself; what it calls runs along
                      - reachable: Also those of every function it can reach

                  --findings <FINDINGS>
                      Which faults (access out of bounds, overflow, …) are listed, each with an input that shows it [default: search]

                      Possible values:
                      - none:   None
                      - met:    Those that inputs show which were made for branches
                      - search: Those, and others that are looked for on the same paths, after the branches and with a small part of the time

                  --undefined <UNDEFINED>
                      Executions behind undefined arithmetic: signed overflow, shifts too far, floats that do not fit an integer [default: follow]

                      Possible values:
                      - follow: They go on as the machine does. What only they reach is covered through undefined behaviour, and counted apart
                      - forbid: They end there, and what only they reach is infeasible

                  --aim <AIM>
                      Which goals are tried first; all get their verdict [default: all]

                      Possible values:
                      - unconstrained: Those that are unconstrained edges of the control-flow graph: reaching them reaches the others on the way
                      - all:           All alike

                  --criterion <CRITERION>
                      What tests shall cover; several criteria are set apart by commas [default: branch, or what --goal and --path name]

                      Possible values:
                      - branch:                 Both outcomes of every condition and case label, as llvm-cov counts them
                      - statement:              Every statement
                      - decision:               Both outcomes of every decision as a whole, and every way out of a switch
                      - condition:              Both outcomes of every leaf condition
                      - condition/decision:     Both
                      - function:               Every function is entered
                      - call:                   Every call is executed
                      - loop:                   Every loop makes no iteration, one, and more
                      - multiple-condition:     Every combination of outcomes with which a decision can be evaluated
                      - mcdc:                   Every condition alone makes its decision true and false: two evaluations that differ in nothing else
                      - mcdc-masking:           The same, where what has no effect may differ too
                      - path:                   The paths that --path names
                      - all-paths:              Every path, through all functions that run
                      - k-path:                 Every path with at most -k iterations of each loop
                      - minimal-all-paths:      Every path of the function, whatever happens inside connectives and calls
                      - minimal-all-conditions: Both outcomes of every leaf condition of the function itself, found breadth first
                      - minimal-all-decisions:  Both outcomes of every decision of the function itself, found breadth first
                      - empty-else:             Every path but those that skip all conditionals without an else where another does not
                      - max-iterations:         Every path but those that make fewer iterations of loops without a condition than another
                      - boundary:               Every comparison of numbers with equal operands, and with neighbours below and above
                      - labels:                 Every branchwise_label(expression) of the source with a true expression
                      - def-use:                Every definition of a variable reaches every use that it can reach in the control-flow graph

                  --measure
                      Count the instructions that the tests of the longest paths execute, and name the slowest (criteria max-iterations and empty-else)

                  --goal <PLACE>
                      Only this goal, in the function or in what it calls: a statement by its [FILE:]LINE, an outcome of a condition or label by [FILE:]LINE:COLUMN:true or :false; may be given several times

                  --path <OUTCOMES>
                      A path as a goal, in the form in which reports and tests have it, such as '34+ 23- 5b+ 7:case 2': a test shall begin with these outcomes; may be given several times

                  --paths <FILE>
                      File with a path on each line

                  --strategy <STRATEGY>
                      How paths are chosen [default: hybrid]

                      Possible values:
                      - hybrid:      Single paths, and where these reach nothing new, all ways at once
                      - tree:        For each branch a tree of the short ways to it, solved as one formula; then as hybrid
                      - concolic:    Single paths: from that of one input to its neighbours, those nearest to an open goal first
                      - dependence:  Single paths along the decisions, across calls, that a goal depends on: those with the fewest left first
                      - depth-first: The latest alternative first, whether a goal can follow it or not; to compare the others with

              -k <N>
                      How often the ways of execution trees may repeat a decision (strategy tree), or a path a loop (criterion k-path) [default: 2]

                  --time <SECONDS>
                      Time for each function [default: 10]

                  --steps <N>
                      Paths and solver queries for each function, instead of a time: the same seed and steps give the same result

                  --attack <SHARE>
                      Share of each function's time, in percent, in which the outcomes that are called infeasible are attacked: native runs with random inputs try to take them. 0: none do [default: 3]

                  --memory <MEGABYTES>
                      Memory for each function; its exploration ends there

                      [default: 1024]

                  --external-solver <NAME>
                      Solver that is asked about conditions which are still undecided when nothing else is left to do: bitwuzla, cvc5 or none

                      [default: none]

                  --no-data-dependence
                      Explore also alternatives that can affect no open goal, by control and data dependence (docs/criteria.md)

                  --jobs <N>
                      Functions that are treated at the same time; the result does not depend on it [default: number of processors]

                  --seed <N>
                      Start of the random choices: the same seed gives the same tests [default: 0]

                  --seed-test <FILE>
                      File with an input whose path is the first, one `name = integer` a line: `x = 3`, `a[1] = -2`, `*p = 0`

                  --config <FILE>
                      File with preconditions, domains of inputs and settings [default: the nearest branchwise.toml, here or above the first file]

                  --out <DIR>
                      Folder for the tests, report.json and suite.json

                      [default: branchwise-out]

                  --resume
                      Go on with an earlier run that did not finish: functions whose results are in the journal of the folder are not searched again

                  --salvage
                      Write what the journal of the folder has, without searching the other functions

                  --replace
                      Write the results to the folder even where a fuller result is there; without it, a lesser one goes to the folder `partial` in it

                  --emit <FORMAT>
                      What tests are written as; may be given several times

                      Possible values:
                      - c:      Plain C, or C++ for files of C++, without a framework
                      - gtest:  GoogleTest
                      - catch2: Catch2 for files of C++; tests of C are plain

                      [default: c]

                  --set-statics
                      Make the file's static variables inputs, instead of reaching their values by calls

                  --private
                      Call private and protected methods of C++ directly; their tests are compiled with -fno-access-control

                  --instance <INSTANCE>
                      Test templates as this instance, such as 'clamp<double>' or 'Stack<int>'; may be given several times. Without it, templates of C++ are tested as the simplest instance that the program uses

                  --allow-calls <NAME>
                      Functions that act on the world or read from it and yet run, such as 'remove' or 'std::filesystem::remove_all', instead of returning what the test says; several are set apart by commas

                  --assume <NAME[:SUBJECT]>
                      Assumptions that verdicts may rest on as on preconditions: names of docs/assumptions.md, each for all subjects or as NAME:SUBJECT, or the bundles 'hosted' and 'quiet-callees'; several are set apart by commas

                  --require <PERCENT>
                      Exit with status 1 if the tests cover less than this part of the outcomes that are not proven infeasible

                  --json
                      Print one JSON object on standard output instead of the table

              -q, --quiet
                      Print nothing but errors (and the JSON object, with --json)

                  --sandbox <MODE>
                      How tests are confined when they run here (docs/reliability.md)

                      Possible values:
                      - require: Only with Landlock and seccomp, without which guarantees do not hold
                      - auto:    With the best that the machine has
                      - off:     Not at all: tests may do what you may

                      [default: auto]

                  --read-time <SECONDS>
                      Seconds to read and compile one file, at most

                      [default: 300]

                  --read-memory <MEGABYTES>
                      Megabytes for each process that reads or compiles a file

                      [default: 4096]

                  --trust-flags
                      Use flags that load code into the compiler or write files, and do not confine the compiler

              -h, --help
                      Print help (see a summary with '-h')
            ---- exit status 0
        "#]],
    );
}

pub fn short_help_of_generate() {
    check(
        &["generate", "-h"],
        expect![[r#"
            ---- stdout
            Generate tests for the functions of C files

            Usage: branchwise generate [OPTIONS] [FILE]... [-- <CLANG FLAGS>...]

            Arguments:
              [FILE]...         C files to generate tests for [default: with -p, all C files of the project]
              [CLANG FLAGS]...  Flags for clang, such as -I and -D

            Options:
              -p <DIR>                       Folder with compile_commands.json, which says how each file is compiled
                  --function <NAME>          Only this function; may be given several times [default: every function of the files]
                  --scope <SCOPE>            Whose conditions, statements and so on are goals [default: unit] [possible values: unit, reachable]
                  --findings <FINDINGS>      Which faults (access out of bounds, overflow, …) are listed, each with an input that shows it [default: search] [possible values: none, met, search]
                  --undefined <UNDEFINED>    Executions behind undefined arithmetic: signed overflow, shifts too far, floats that do not fit an integer [default: follow] [possible values: follow, forbid]
                  --aim <AIM>                Which goals are tried first; all get their verdict [default: all] [possible values: unconstrained, all]
                  --criterion <CRITERION>    What tests shall cover; several criteria are set apart by commas [default: branch, or what --goal and --path name] [possible values: branch, statement, decision, condition, condition/decision, function, call, loop, multiple-condition, mcdc, mcdc-masking, path, all-paths, k-path, minimal-all-paths, minimal-all-conditions, minimal-all-decisions, empty-else, max-iterations, boundary, labels, def-use]
                  --measure                  Count the instructions that the tests of the longest paths execute, and name the slowest (criteria max-iterations and empty-else)
                  --goal <PLACE>             Only this goal, in the function or in what it calls: a statement by its [FILE:]LINE, an outcome of a condition or label by [FILE:]LINE:COLUMN:true or :false; may be given several times
                  --path <OUTCOMES>          A path as a goal, in the form in which reports and tests have it, such as '34+ 23- 5b+ 7:case 2': a test shall begin with these outcomes; may be given several times
                  --paths <FILE>             File with a path on each line
                  --strategy <STRATEGY>      How paths are chosen [default: hybrid] [possible values: hybrid, tree, concolic, dependence, depth-first]
              -k <N>                         How often the ways of execution trees may repeat a decision (strategy tree), or a path a loop (criterion k-path) [default: 2]
                  --time <SECONDS>           Time for each function [default: 10]
                  --steps <N>                Paths and solver queries for each function, instead of a time: the same seed and steps give the same result
                  --attack <SHARE>           Share of each function's time, in percent, in which the outcomes that are called infeasible are attacked: native runs with random inputs try to take them. 0: none do [default: 3]
                  --memory <MEGABYTES>       Memory for each function; its exploration ends there [default: 1024]
                  --external-solver <NAME>   Solver that is asked about conditions which are still undecided when nothing else is left to do: bitwuzla, cvc5 or none [default: none]
                  --no-data-dependence       Explore also alternatives that can affect no open goal, by control and data dependence (docs/criteria.md)
                  --jobs <N>                 Functions that are treated at the same time; the result does not depend on it [default: number of processors]
                  --seed <N>                 Start of the random choices: the same seed gives the same tests [default: 0]
                  --seed-test <FILE>         File with an input whose path is the first, one `name = integer` a line: `x = 3`, `a[1] = -2`, `*p = 0`
                  --config <FILE>            File with preconditions, domains of inputs and settings [default: the nearest branchwise.toml, here or above the first file]
                  --out <DIR>                Folder for the tests, report.json and suite.json [default: branchwise-out]
                  --resume                   Go on with an earlier run that did not finish: functions whose results are in the journal of the folder are not searched again
                  --salvage                  Write what the journal of the folder has, without searching the other functions
                  --replace                  Write the results to the folder even where a fuller result is there; without it, a lesser one goes to the folder `partial` in it
                  --emit <FORMAT>            What tests are written as; may be given several times [default: c] [possible values: c, gtest, catch2]
                  --set-statics              Make the file's static variables inputs, instead of reaching their values by calls
                  --private                  Call private and protected methods of C++ directly; their tests are compiled with -fno-access-control
                  --instance <INSTANCE>      Test templates as this instance, such as 'clamp<double>' or 'Stack<int>'; may be given several times. Without it, templates of C++ are tested as the simplest instance that the program uses
                  --allow-calls <NAME>       Functions that act on the world or read from it and yet run, such as 'remove' or 'std::filesystem::remove_all', instead of returning what the test says; several are set apart by commas
                  --assume <NAME[:SUBJECT]>  Assumptions that verdicts may rest on as on preconditions: names of docs/assumptions.md, each for all subjects or as NAME:SUBJECT, or the bundles 'hosted' and 'quiet-callees'; several are set apart by commas
                  --require <PERCENT>        Exit with status 1 if the tests cover less than this part of the outcomes that are not proven infeasible
                  --json                     Print one JSON object on standard output instead of the table
              -q, --quiet                    Print nothing but errors (and the JSON object, with --json)
                  --sandbox <MODE>           How tests are confined when they run here (docs/reliability.md) [default: auto] [possible values: require, auto, off]
                  --read-time <SECONDS>      Seconds to read and compile one file, at most [default: 300]
                  --read-memory <MEGABYTES>  Megabytes for each process that reads or compiles a file [default: 4096]
                  --trust-flags              Use flags that load code into the compiler or write files, and do not confine the compiler
              -h, --help                     Print help (see more with '--help')
            ---- exit status 0
        "#]],
    );
}

pub fn help_of_map() {
    check(
        &["map", "-h"],
        expect![[r#"
            ---- stdout
            Show the control-flow graph of functions

            Usage: branchwise map [OPTIONS] <FILE>... [-- <CLANG FLAGS>...]

            Arguments:
              <FILE>...         C files to read
              [CLANG FLAGS]...  Flags for clang, such as -I and -D

            Options:
                  --function <NAME>                Only this function
                  --graph <GRAPH>                  Which graph --dot and --svg draw [default: cfg] [possible values: cfg, edges, dominators, postdominators, icfg, dependence, decision, abstract, classes]
                  --nodes <NODES>                  What has a node of its own in the graphs of single functions [default: statements] [possible values: statements, conditions]
                  --line <LINE>                    The line whose decision graph is shown (with --graph decision)
                  --interprocedural                Mark the edges that are unconstrained in the whole program, from main() or the function that is asked for, instead of those of each function alone
                  --tree <LINE:COLUMN:true|false>  Show the execution tree of this branch outcome of the function instead: the ways that lead to it
              -k <N>                               How often the ways of the tree may repeat a decision [default: 1]
                  --json                           Print one JSON object
                  --dot                            Print a drawing for Graphviz
                  --svg                            Print a drawing for a browser
                  --read-time <SECONDS>            Seconds to read and compile one file, at most [default: 300]
                  --read-memory <MEGABYTES>        Megabytes for each process that reads or compiles a file [default: 4096]
                  --trust-flags                    Use flags that load code into the compiler or write files, and do not confine the compiler
              -h, --help                           Print help (see more with '--help')
            ---- exit status 0
        "#]],
    );
}

pub fn help_of_replay() {
    check(
        &["replay", "-h"],
        expect![[r#"
            ---- stdout
            Run a generated suite again and measure it

            Usage: branchwise replay [OPTIONS] <DIR>

            Arguments:
              <DIR>  A folder that `branchwise generate --out` wrote

            Options:
                  --json                     Print one JSON object
                  --sandbox <MODE>           How tests are confined when they run here (docs/reliability.md) [default: auto] [possible values: require, auto, off]
                  --read-time <SECONDS>      Seconds to read and compile one file, at most [default: 300]
                  --read-memory <MEGABYTES>  Megabytes for each process that reads or compiles a file [default: 4096]
                  --trust-flags              Use flags that load code into the compiler or write files, and do not confine the compiler
              -h, --help                     Print help (see more with '--help')
            ---- exit status 0
        "#]],
    );
}

pub fn help_of_explain() {
    check(
        &["explain", "-h"],
        expect![[r#"
        ---- stdout
        Say why a goal has its verdict

        Usage: branchwise explain <DIR> <GOAL>

        Arguments:
          <DIR>   A folder that `branchwise generate --out` wrote
          <GOAL>  FUNCTION:ID, LINE, LINE:COLUMN or FILE:LINE:COLUMN, each with :true or :false behind it if only one is meant

        Options:
          -h, --help  Print help
        ---- exit status 0
    "#]],
    );
}

pub fn no_file() {
    check(
        &["generate"],
        expect![[r#"
        ---- stderr
        error: the following required arguments were not provided:
          <FILE>...

        Usage: branchwise generate <FILE>... [-- <CLANG FLAGS>...]

        For more information, try '--help'.
        ---- exit status 2
    "#]],
    );
}

pub fn an_option_that_is_not_there() {
    check(
        &["generate", "shape.c", "--fuction", "f"],
        expect![[r#"
        ---- stderr
        error: unexpected argument '--fuction' found

          tip: a similar argument exists: '--function'
          tip: to pass '--fuction' as a value, use '-- --fuction'

        Usage: branchwise generate --function <NAME> <FILE>... [-- <CLANG FLAGS>...]

        For more information, try '--help'.
        ---- exit status 2
    "#]],
    );
}

pub fn a_percentage_that_is_none() {
    check(
        &["generate", "shape.c", "--require", "120"],
        expect![[r#"
        ---- stderr
        error: invalid value '120' for '--require <PERCENT>': give a number from 0 to 100

        For more information, try '--help'.
        ---- exit status 2
    "#]],
    );
}

pub fn a_file_that_is_not_there() {
    check(
        &["generate", "nowhere.c"],
        expect![[r#"
        ---- stderr
        Error: cannot read nowhere.c: No such file or directory (os error 2)
        ---- exit status 3
    "#]],
    );
}

pub fn a_folder_instead_of_a_file() {
    check(
        &["generate", "/"],
        expect![[r#"
        ---- stderr
        Error: cannot read /: it is a folder
        Hint: name the C files in it
        ---- exit status 3
    "#]],
    );
}

pub fn a_suite_that_is_not_there() {
    check(
        &["replay", "/nowhere"],
        expect![[r#"
        ---- stderr
        Error: cannot read /nowhere/suite.json: No such file or directory (os error 2)
        Hint: give a folder that `branchwise generate --out` wrote
        ---- exit status 3
    "#]],
    );
    check(
        &["explain", "/nowhere", "12:3"],
        expect![[r#"
        ---- stderr
        Error: cannot read /nowhere/report.json: No such file or directory (os error 2)
        Hint: give a folder that `branchwise generate --out` wrote
        ---- exit status 3
    "#]],
    );
}

pub fn a_goal_is_explained_from_a_stored_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stored");
    let folder = folder.display().to_string();
    check(
        &["explain", &folder, "classify:2"],
        expect![[r#"
            ---- stdout
            classify:2  shape.c:4:9  'n > 20' true
              verdict: infeasible
              proof: every path was explored
              paths: 3
              refuted prefixes: 2
              given: any-int: 'n' is any int
            ---- exit status 0
        "#]],
    );
    check(
        &["explain", &folder, "99:1"],
        expect![[r#"
            ---- stderr
            Error: no goal '99:1' in this report
            Hint: name a goal as FUNCTION:ID, LINE:COLUMN or FILE:LINE:COLUMN, as the files of the report list them
            ---- exit status 2
        "#]],
    );
}
