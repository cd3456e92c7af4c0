//! `branchwise.toml`: domains of inputs, preconditions and settings, for all functions or for one.

mod check;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use branchwise_frontend::Declarations;
use branchwise_generate::{FindingsMode, FunctionSettings, Scope, Strategy, Undefined};
use branchwise_program::assumption::{Accepted, Bundle, UnknownAssumption, acceptable};
use branchwise_program::map::{Domain, PointerDomain, Precondition, ReadDomain, ResultDomain, Written};
use branchwise_tools::{LARGEST_TEXT, read_text};

use crate::error::CliError;

const NAME: &str = "branchwise.toml";

/// What the file says. Without a file, nothing.
#[derive(Debug, Default)]
pub struct Config {
    pub defaults: Choices,
    pub scope: Option<Scope>,
    pub findings: Option<FindingsMode>,
    pub undefined: Option<Undefined>,
    /// Names of functions, with `*` for any text; empty: all.
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    functions: BTreeMap<String, FunctionConfig>,
    pub stub_results: BTreeMap<String, ResultDomain>,
    /// By address.
    pub registers: BTreeMap<u64, ResultDomain>,
    /// Assumptions that are accepted, and where each is named.
    assume: Vec<(String, String)>,
    /// Functions that run although they act on the world, and where each is named.
    allowed_calls: BTreeMap<String, String>,
}

/// What a function may spend.
#[derive(Debug, Copy, Clone, Default, PartialEq)]
pub struct Choices {
    pub time: Option<Duration>,
    pub steps: Option<u64>,
    pub seed: Option<u64>,
    pub strategy: Option<Strategy>,
}

#[derive(Debug)]
struct FunctionConfig {
    written: Written,
    skip: bool,
    choices: Choices,
    preconditions: Vec<Precondition>,
    inputs: Vec<InputConfig>,
    read: Vec<ReadDomain>,
}

/// The domain of one input.
#[derive(Debug)]
struct InputConfig {
    /// As C names it: `x`, `p->field`, `table[3]`.
    name: String,
    written: Written,
    lowest: Option<Number>,
    highest: Option<Number>,
    values: Vec<Number>,
    elements: Option<(u64, u64)>,
    null: Option<bool>,
}

/// A number as C writes it, with its value where that is an integer.
#[derive(Debug, Clone)]
struct Number {
    text: String,
    integer: Option<i128>,
    real: f64,
    written: Written,
}

impl Config {
    /// The assumptions that the file and the command line accept.
    pub fn accepted(&self, named: &[String]) -> Result<Accepted, CliError> {
        let mut accepted = Accepted::default();
        for name in named {
            accepted.add(name).map_err(|error| unknown_assumption(&error))?;
        }
        for (name, written) in &self.assume {
            accepted.add(name).map_err(|error| {
                let UnknownAssumption(name) = &error;
                CliError::input(format!("{written}: {error}")).with_hint(known_assumptions(name))
            })?;
        }
        Ok(accepted)
    }

    /// Where no file is named, the nearest `branchwise.toml`: in the current folder, or above the first source.
    pub fn find(named: Option<&Path>, first_source: Option<&Path>) -> Option<PathBuf> {
        named.map(Path::to_owned).or_else(|| nearest(first_source))
    }

    /// What the file says; nothing where there is none.
    pub fn read(path: Option<&Path>) -> Result<Self, CliError> {
        let Some(path) = path else { return Ok(Config::default()) };
        let text = read_text(path, LARGEST_TEXT)
            .map_err(|cause| CliError::input(format!("cannot read {}: {cause}", path.display())))?;
        read::config(path, &text)
    }

    /// What limits the inputs of the functions.
    pub fn declarations(&self) -> Declarations {
        let domain = |(name, function): (&String, &FunctionConfig)| (name.clone(), function.domain());
        self.functions.iter().map(domain).filter(|(_, domain)| *domain != Domain::default()).collect()
    }

    /// Whether a function is to be treated, if it is not named on the command line.
    pub fn wants(&self, name: &str) -> bool {
        let listed = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
        let skipped = self.functions.get(name).is_some_and(|function| function.skip);
        (self.include.is_empty() || listed(&self.include)) && !listed(&self.exclude) && !skipped
    }

    /// Whether it speaks of functions that some file must have.
    pub fn names_functions(&self) -> bool {
        !self.functions.is_empty() || !self.stub_results.is_empty() || !self.allowed_calls.is_empty()
    }

    /// Lets these functions run, too.
    pub fn with_allowed_calls(mut self, names: &[String]) -> Self {
        let allowed = names.iter().map(|name| (name.clone(), "--allow-calls".to_owned()));
        self.allowed_calls.extend(allowed);
        self
    }

    /// Functions that run although they act on the world.
    pub fn allowed_calls(&self) -> BTreeSet<String> {
        self.allowed_calls.keys().cloned().collect()
    }

    /// The settings of single functions.
    pub fn function_settings(&self) -> BTreeMap<String, FunctionSettings> {
        let settings = |choices: &Choices| FunctionSettings {
            time: choices.time,
            steps: choices.steps,
            seed: choices.seed,
            strategy: choices.strategy,
        };
        let own = self.functions.iter().filter(|(_, function)| function.choices != Choices::default());
        own.map(|(name, function)| (name.clone(), settings(&function.choices))).collect()
    }
}

fn nearest(first_source: Option<&Path>) -> Option<PathBuf> {
    let here = PathBuf::from(NAME);
    if here.is_file() {
        return Some(here);
    }
    let source = first_source?.canonicalize().ok()?;
    source.ancestors().skip(1).map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).filter(|&at| name.is_char_boundary(at)).any(|at| fits(rest, &name[at..]))
        }),
    }
}

impl FunctionConfig {
    fn domain(&self) -> Domain {
        let ranges = self.inputs.iter().filter_map(InputConfig::precondition);
        Domain {
            preconditions: ranges.chain(self.preconditions.iter().cloned()).collect(),
            pointers: self.inputs.iter().filter_map(InputConfig::pointer).collect(),
            read: self.read.clone(),
        }
    }
}

impl InputConfig {
    fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.lowest.iter().chain(&self.highest).chain(&self.values)
    }

    fn limits_value(&self) -> bool {
        self.numbers().next().is_some()
    }

    fn limits_target(&self) -> bool {
        self.elements.is_some() || self.null.is_some()
    }

    /// The values as a C expression. What a null pointer on the way hides has no value to limit.
    fn precondition(&self) -> Option<Precondition> {
        let name = &self.name;
        let compare = |number: &Number, operator: &str| format!("{name} {operator} {}", number.text);
        let mut parts: Vec<String> = self.lowest.iter().map(|number| compare(number, ">=")).collect();
        parts.extend(self.highest.iter().map(|number| compare(number, "<=")));
        let values: Vec<String> = self.values.iter().map(|number| compare(number, "==")).collect();
        match (values.len(), parts.is_empty()) {
            (0, _) => {}
            (1, _) | (_, true) => parts.push(values.join(" || ")),
            _ => parts.push(format!("({})", values.join(" || "))),
        }
        if parts.is_empty() {
            return None;
        }
        let range = parts.join(" && ");
        let guards: String = name.match_indices("->").map(|(at, _)| format!("!{} || ", &name[..at])).collect();
        let expression = if guards.is_empty() { range } else { format!("{guards}({range})") };
        Some(Precondition { expression, written: self.written.clone(), error: None })
    }

    fn pointer(&self) -> Option<PointerDomain> {
        self.limits_target().then(|| PointerDomain {
            name: self.name.clone(),
            may_be_null: self.null.unwrap_or(true),
            elements: self.elements,
            written: self.written.clone(),
        })
    }
}

fn unknown_assumption(error: &UnknownAssumption) -> CliError {
    CliError::usage(format!("--assume: {error}")).with_hint(known_assumptions(&error.0))
}

/// A hint on the assumption that a mistyped name may mean.
fn known_assumptions(name: &str) -> String {
    let names = acceptable().map(|known| known.name).chain(Bundle::ALL.map(Bundle::name));
    match branchwise_report::did_you_mean(name, names) {
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None => "docs/assumptions.md lists the names; the bundles are hosted and quiet-callees".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(fits("parse_*", "parse_line") && fits("*", "x") && fits("*_b*", "a_b_c") && fits("f", "f"));
        assert!(!fits("parse_*", "print") && !fits("f", "ff") && !fits("*_", "a_b"));
    }
}
