//! From the text of the file to a [`Config`]; every error names its line and column and what would be right.

use std::path::Path;
use std::time::Duration;

use branchwise_generate::{FindingsMode, Scope, Strategy, Undefined};
use branchwise_program::map::{Precondition, ReadDomain, ResultDomain, Written};
use branchwise_report::did_you_mean;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Choices, Config, FunctionConfig, InputConfig, Number};
use crate::error::CliError;

/// Above this, an object costs more than it shows.
const MOST_ELEMENTS: u64 = 4096;

const TOP_KEYS: [&str; 14] = [
    "time",
    "steps",
    "seed",
    "strategy",
    "scope",
    "findings",
    "undefined",
    "include",
    "exclude",
    "allow_calls",
    "assume",
    "function",
    "stub",
    "register",
];
const FUNCTION_KEYS: [&str; 8] = ["skip", "time", "steps", "seed", "strategy", "assume", "inputs", "read"];
const INPUT_KEYS: [&str; 5] = ["min", "max", "values", "elements", "null"];
/// Of what a stub returns and of a number that is read.
const NUMBER_KEYS: [&str; 3] = ["min", "max", "values"];
const ELEMENTS_KEYS: [&str; 2] = ["min", "max"];

type Value<'a> = Spanned<DeValue<'a>>;
type Read<T> = Result<T, CliError>;

pub(super) fn config(path: &Path, text: &str) -> Read<Config> {
    let reader = Reader { path, text };
    let table = DeTable::parse(text).map_err(|error| {
        let written = reader.written(error.span().map_or(0, |span| span.start));
        CliError::input(format!("{written}: {}", error.message()))
    })?;
    reader.top(table.get_ref())
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn written(&self, offset: usize) -> Written {
        let before = &self.text[..offset.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.matches('\n').count();
        Written { path: self.path.to_owned(), line: line as u32, column: 1 + (before.len() - line_start) as u32 }
    }

    fn error(&self, at: usize, what: impl std::fmt::Display) -> CliError {
        CliError::input(format!("{}: {what}", self.written(at)))
    }

    /// The entries of a table all of whose keys are known.
    fn entries<'t, 'a>(&self, table: &'t DeTable<'a>, known: &[&str]) -> Read<Vec<(&'t str, usize, &'t Value<'a>)>> {
        let mut entries = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let error = self.error(key.span().start, format!("unknown key '{name}'"));
                return Err(match did_you_mean(name, known.iter().copied()) {
                    Some(nearest) => error.with_hint(format!("did you mean '{nearest}'?")),
                    None => error.with_hint(format!("known here: {}", known.join(", "))),
                });
            }
            entries.push((name, key.span().start, value));
        }
        Ok(entries)
    }

    fn wrong(&self, key: &str, value: &Value<'_>, wanted: &str) -> CliError {
        let got = value.get_ref().type_str();
        self.error(value.span().start, format!("'{key}' is {wanted}, not this {got}"))
    }

    fn table<'t, 'a>(&self, key: &str, value: &'t Value<'a>) -> Read<&'t DeTable<'a>> {
        value.get_ref().as_table().ok_or_else(|| self.wrong(key, value, "a table"))
    }

    fn top(&self, table: &DeTable<'_>) -> Read<Config> {
        let mut config = Config::default();
        for (key, _, value) in self.entries(table, &TOP_KEYS)? {
            match key {
                "scope" => config.scope = Some(self.scope(value)?),
                "findings" => config.findings = Some(self.findings(value)?),
                "undefined" => config.undefined = Some(self.undefined(value)?),
                "include" => config.include = self.texts(key, value)?.into_iter().map(|(text, _)| text).collect(),
                "exclude" => config.exclude = self.texts(key, value)?.into_iter().map(|(text, _)| text).collect(),
                "allow_calls" => {
                    let named = self.texts(key, value)?.into_iter();
                    config.allowed_calls = named.map(|(name, written)| (name, written.to_string())).collect();
                }
                "assume" => {
                    let named = self.texts(key, value)?.into_iter();
                    config.assume = named.map(|(name, written)| (name, written.to_string())).collect();
                }
                "function" => {
                    for (name, function) in self.table(key, value)? {
                        let read = self.function(name.span().start, name.get_ref(), function)?;
                        config.functions.insert(name.get_ref().to_string(), read);
                    }
                }
                "stub" => {
                    for (name, stub) in self.table(key, value)? {
                        let domain = self.stub(name.span().start, name.get_ref(), stub)?;
                        config.stub_results.insert(name.get_ref().to_string(), domain);
                    }
                }
                "register" => {
                    for (name, register) in self.table(key, value)? {
                        let address = self.address(name.span().start, name.get_ref())?;
                        let domain = self.register(name.span().start, name.get_ref(), register)?;
                        config.registers.insert(address, domain);
                    }
                }
                _ => self.choice(key, value, &mut config.defaults)?,
            }
        }
        Ok(config)
    }

    /// The address of a register, as C writes it.
    fn address(&self, at: usize, name: &str) -> Read<u64> {
        let parsed = match name.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => name.parse(),
        };
        parsed.map_err(|_| self.error(at, format!("'{name}' is no address such as 0x40021000")))
    }

    fn register(&self, at: usize, name: &str, value: &Value<'_>) -> Read<ResultDomain> {
        let domain = self.stub(at, name, value)?;
        match domain.ranges.iter().all(|(_, high)| *high < 0) {
            true => Err(self.error(at, format!("register {name} holds a number without a sign"))),
            false => Ok(domain),
        }
    }

    fn scope(&self, value: &Value<'_>) -> Read<Scope> {
        match value.get_ref().as_str() {
            Some("unit") => Ok(Scope::Unit),
            Some("reachable") => Ok(Scope::Reachable),
            _ => Err(self.error(value.span().start, "'scope' is \"unit\" or \"reachable\"")),
        }
    }

    fn findings(&self, value: &Value<'_>) -> Read<FindingsMode> {
        match value.get_ref().as_str() {
            Some("none") => Ok(FindingsMode::None),
            Some("met") => Ok(FindingsMode::Met),
            Some("search") => Ok(FindingsMode::Search),
            _ => Err(self.error(value.span().start, "'findings' is \"none\", \"met\" or \"search\"")),
        }
    }

    fn undefined(&self, value: &Value<'_>) -> Read<Undefined> {
        match value.get_ref().as_str() {
            Some("follow") => Ok(Undefined::Follow),
            Some("forbid") => Ok(Undefined::Forbid),
            _ => Err(self.error(value.span().start, "'undefined' is \"follow\" or \"forbid\"")),
        }
    }

    fn function(&self, at: usize, name: &str, value: &Value<'_>) -> Read<FunctionConfig> {
        let mut function = FunctionConfig {
            written: self.written(at),
            skip: false,
            choices: Choices::default(),
            preconditions: Vec::new(),
            inputs: Vec::new(),
            read: Vec::new(),
        };
        for (key, _, value) in self.entries(self.table(name, value)?, &FUNCTION_KEYS)? {
            match key {
                "skip" => function.skip = self.boolean(key, value)?,
                "assume" => {
                    let precondition = |(expression, written)| Precondition { expression, written, error: None };
                    function.preconditions = self.texts(key, value)?.into_iter().map(precondition).collect();
                }
                "inputs" => {
                    for (name, input) in self.table(key, value)? {
                        function.inputs.push(self.input(name.span().start, name.get_ref(), input)?);
                    }
                }
                "read" => {
                    function.read = match value.get_ref() {
                        DeValue::Array(domains) if !domains.is_empty() => {
                            domains.iter().map(|domain| self.number_read(key, domain)).collect::<Read<Vec<_>>>()?
                        }
                        _ => vec![self.number_read(key, value)?],
                    };
                }
                _ => self.choice(key, value, &mut function.choices)?,
            }
        }
        Ok(function)
    }

    fn choice(&self, key: &str, value: &Value<'_>, choices: &mut Choices) -> Read<()> {
        match key {
            "time" => choices.time = Some(self.seconds(key, value)?),
            "steps" => choices.steps = Some(self.count(key, value)?),
            "seed" => choices.seed = Some(self.count(key, value)?),
            _ => choices.strategy = Some(self.strategy(key, value)?),
        }
        Ok(())
    }

    fn strategy(&self, key: &str, value: &Value<'_>) -> Read<Strategy> {
        match value.get_ref().as_str() {
            Some("hybrid") => Ok(Strategy::Hybrid),
            Some("tree") => Ok(Strategy::Tree),
            Some("concolic") => Ok(Strategy::Concolic),
            Some("dependence") => Ok(Strategy::Dependence),
            Some("depth-first") => Ok(Strategy::DepthFirst),
            _ => {
                let choices =
                    format!("'{key}' is \"hybrid\", \"tree\", \"concolic\", \"dependence\" or \"depth-first\"");
                Err(self.error(value.span().start, choices))
            }
        }
    }

    fn input(&self, at: usize, name: &str, value: &Value<'_>) -> Read<InputConfig> {
        let mut input = InputConfig {
            name: name.to_owned(),
            written: self.written(at),
            lowest: None,
            highest: None,
            values: Vec::new(),
            elements: None,
            null: None,
        };
        for (key, _, value) in self.entries(self.table(name, value)?, &INPUT_KEYS)? {
            match key {
                "min" => input.lowest = Some(self.number(key, value)?),
                "max" => input.highest = Some(self.number(key, value)?),
                "values" => input.values = self.numbers(key, value)?,
                "elements" => input.elements = Some(self.elements(key, value)?),
                _ => input.null = Some(self.boolean(key, value)?),
            }
        }
        Ok(input)
    }

    fn stub(&self, at: usize, name: &str, value: &Value<'_>) -> Read<ResultDomain> {
        let (mut lowest, mut highest, mut values) = (i128::from(i64::MIN), i128::from(u64::MAX), Vec::new());
        let integer = |number: &Number| {
            number
                .integer
                .ok_or_else(|| self.error(at, "the results of stubs and the values of registers are integers"))
        };
        for (key, _, value) in self.entries(self.table(name, value)?, &NUMBER_KEYS)? {
            match key {
                "min" => lowest = integer(&self.number(key, value)?)?,
                "max" => highest = integer(&self.number(key, value)?)?,
                _ => values = self.numbers(key, value)?.iter().map(integer).collect::<Read<Vec<_>>>()?,
            }
        }
        let inside = values.iter().filter(|value| (lowest..=highest).contains(*value)).map(|&value| (value, value));
        let ranges: Vec<(i128, i128)> = if values.is_empty() { vec![(lowest, highest)] } else { inside.collect() };
        if ranges.iter().all(|(low, high)| low > high) {
            return Err(self.error(at, format!("no value is left for '{name}'")));
        }
        Ok(ResultDomain { ranges, written: self.written(at) })
    }

    fn number_read(&self, key: &str, value: &Value<'_>) -> Read<ReadDomain> {
        let at = value.span().start;
        let (mut lowest, mut highest, mut values) = (f64::NEG_INFINITY, f64::INFINITY, Vec::new());
        let (mut least, mut most) = (i128::MIN, i128::MAX);
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.wrong(key, value, "{ min = …, max = … } or an array of these"));
        };
        for (key, _, value) in self.entries(table, &NUMBER_KEYS)? {
            match key {
                "min" => {
                    let number = self.number(key, value)?;
                    (lowest, least) = (number.real, number.integer.unwrap_or(number.real.ceil() as i128));
                }
                "max" => {
                    let number = self.number(key, value)?;
                    (highest, most) = (number.real, number.integer.unwrap_or(number.real.floor() as i128));
                }
                _ => values = self.numbers(key, value)?,
            }
        }
        let (mut integers, mut floats) = (Vec::new(), Vec::new());
        if values.is_empty() {
            integers.push((least, most));
            floats.push((lowest.to_bits(), highest.to_bits()));
        }
        for number in values.iter().filter(|number| (lowest..=highest).contains(&number.real)) {
            integers.extend(number.integer.map(|integer| (integer, integer)));
            floats.push((number.real.to_bits(), number.real.to_bits()));
        }
        if floats.iter().all(|&(low, high)| f64::from_bits(low) > f64::from_bits(high)) {
            return Err(self.error(at, "no value is left for a number that is read"));
        }
        Ok(ReadDomain { integers, floats, written: self.written(at) })
    }

    fn elements(&self, key: &str, value: &Value<'_>) -> Read<(u64, u64)> {
        let (mut least, mut most) = (1, MOST_ELEMENTS);
        match value.get_ref() {
            DeValue::Integer(_) => {
                least = self.count(key, value)?;
                most = least;
            }
            DeValue::Table(table) => {
                for (key, _, value) in self.entries(table, &ELEMENTS_KEYS)? {
                    let side = if key == "min" { &mut least } else { &mut most };
                    *side = self.count(key, value)?;
                }
            }
            _ => return Err(self.wrong(key, value, "a number or { min = …, max = … }")),
        }
        match least >= 1 && least <= most && most <= MOST_ELEMENTS {
            true => Ok((least, most)),
            false => {
                let what = format!("'{key}' is from 1 to {MOST_ELEMENTS}, 'min' not above 'max'");
                Err(self.error(value.span().start, what))
            }
        }
    }

    fn boolean(&self, key: &str, value: &Value<'_>) -> Read<bool> {
        value.get_ref().as_bool().ok_or_else(|| self.wrong(key, value, "true or false"))
    }

    fn seconds(&self, key: &str, value: &Value<'_>) -> Read<Duration> {
        let seconds = self.number(key, value)?.text.parse::<f64>().unwrap_or(0.0);
        match seconds > 0.0 && seconds.is_finite() {
            true => Ok(Duration::from_secs_f64(seconds)),
            false => Err(self.error(value.span().start, format!("'{key}' is a number of seconds above 0"))),
        }
    }

    fn count(&self, key: &str, value: &Value<'_>) -> Read<u64> {
        let integer = self.number(key, value)?.integer.and_then(|integer| u64::try_from(integer).ok());
        integer.ok_or_else(|| self.error(value.span().start, format!("'{key}' is a whole number, 0 or more")))
    }

    fn numbers(&self, key: &str, value: &Value<'_>) -> Read<Vec<Number>> {
        let array = value.get_ref().as_array().ok_or_else(|| self.wrong(key, value, "an array of numbers"))?;
        if array.is_empty() {
            return Err(self.error(value.span().start, format!("'{key}' lists at least one number")));
        }
        array.iter().map(|element| self.number(key, element)).collect()
    }

    fn number(&self, key: &str, value: &Value<'_>) -> Read<Number> {
        let written = self.written(value.span().start);
        match value.get_ref() {
            DeValue::Integer(integer) => {
                let parsed = i128::from_str_radix(integer.as_str(), integer.radix());
                let integer = parsed.map_err(|_| self.wrong(key, value, "a number of at most 64 bits"))?;
                Ok(Number { text: literal(integer), integer: Some(integer), real: integer as f64, written })
            }
            DeValue::Float(float) => match float.as_str().parse::<f64>() {
                Ok(number) if number.is_finite() => {
                    Ok(Number { text: format!("{number:?}"), integer: None, real: number, written })
                }
                _ => Err(self.wrong(key, value, "a finite number")),
            },
            _ => Err(self.wrong(key, value, "a number")),
        }
    }

    /// An array of texts, each with its place; one text may stand alone.
    fn texts(&self, key: &str, value: &Value<'_>) -> Read<Vec<(String, Written)>> {
        let wanted = "a text or an array of texts";
        let text = |value: &Value<'_>| {
            let text = value.get_ref().as_str().ok_or_else(|| self.wrong(key, value, wanted))?;
            // Behind the quotation mark.
            Ok((text.to_owned(), self.written(value.span().start + 1)))
        };
        match value.get_ref() {
            DeValue::Array(array) => array.iter().map(text).collect(),
            _ => Ok(vec![text(value)?]),
        }
    }
}

/// An integer as C reads it: the smallest has no literal of its own, and what needs 64 bits without a sign says so.
fn literal(integer: i128) -> String {
    match integer {
        _ if integer == i128::from(i64::MIN) => format!("({} - 1)", integer + 1),
        _ if integer > i128::from(i64::MAX) => format!("{integer}u"),
        _ => integer.to_string(),
    }
}
