//! Whether the functions and inputs that the file names exist, and whether their types fit.

use std::collections::BTreeSet;
use std::fmt::Display;

use branchwise_program::TypeId;
use branchwise_program::map::{Function, Map};
use branchwise_program::types::{Type, TypeKind};
use branchwise_report::did_you_mean;

use super::{Config, FunctionConfig, InputConfig};
use crate::error::CliError;

impl Config {
    /// Checks the names against the maps of all files. A name that is in none of them and near to none may belong to
    /// another file of the project: those are handed back.
    pub fn check(&self, maps: &[&Map]) -> Result<Vec<String>, CliError> {
        let mut unused = Vec::new();
        for (name, function) in &self.functions {
            let found = maps.iter().find_map(|map| Some((*map, map.function_named(name)?)));
            match found {
                Some((map, id)) => function.check(map, &map.functions[id])?,
                None => {
                    let known = maps.iter().flat_map(|map| map.functions.values()).map(|one| one.name.as_str());
                    unused.push(unknown(name, &function.written, "function", known)?);
                }
            }
        }
        let calls = maps.iter().flat_map(|map| map.functions.values()).flat_map(|function| &function.calls);
        let called: BTreeSet<&str> = calls.filter_map(|call| call.callee.as_deref()).collect();
        for (name, domain) in &self.stub_results {
            if !called.contains(name.as_str()) {
                unused.push(unknown(name, &domain.written, "call of", called.iter().copied())?);
            }
        }
        for (name, written) in &self.allowed_calls {
            if !called.contains(name.as_str()) {
                unused.push(unknown(name, written, "call of", called.iter().copied())?);
            }
        }
        Ok(unused)
    }
}

/// An error where a known name is so near that it must be meant; a remark otherwise.
fn unknown<'a>(
    name: &str,
    written: &impl Display,
    what: &str,
    known: impl Iterator<Item = &'a str>,
) -> Result<String, CliError> {
    let message = format!("{written}: no {what} '{name}' in the given files");
    match did_you_mean(name, known) {
        Some(nearest) => Err(CliError::input(message).with_hint(format!("did you mean '{nearest}'?"))),
        None => Ok(message),
    }
}

impl FunctionConfig {
    fn check(&self, map: &Map, function: &Function) -> Result<(), CliError> {
        self.inputs.iter().try_for_each(|input| input.check(map, function))
    }
}

impl InputConfig {
    fn check(&self, map: &Map, function: &Function) -> Result<(), CliError> {
        let ty = &map.types[Resolver { map, function, input: self }.resolve()?];
        let pointer = matches!(ty.kind, TypeKind::Pointer { .. });
        let wrong = |what: &str| CliError::input(format!("{}: '{}' {what}", self.written, self.name));
        if self.limits_target() && !pointer {
            return Err(wrong(&format!("is no pointer but '{}'", ty.spelling))
                .with_hint("'elements' and 'null' speak of pointers; use 'min', 'max' and 'values' here"));
        }
        if self.limits_value() && !matches!(ty.kind, TypeKind::Float { .. }) && ty.as_integer().is_none() {
            let hint = match pointer {
                true => format!("name a value behind it, as '{0}[0]' or '*{0}'; 'elements' limits how many", self.name),
                false => "name one of its members".to_owned(),
            };
            return Err(wrong(&format!("is no number but '{}'", ty.spelling)).with_hint(hint));
        }
        if self.limits_target() && self.name.contains(['[', '*']) {
            return Err(
                wrong("names one element").with_hint("what is said of a pointer holds for those of all elements")
            );
        }
        self.check_range(ty)
    }

    /// A number outside the type would be converted, and then mean something else.
    fn check_range(&self, ty: &Type) -> Result<(), CliError> {
        let Some((bits, signed)) = ty.as_integer() else { return Ok(()) };
        let (lowest, highest) = match signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, if bits >= 127 { i128::MAX } else { (1i128 << bits) - 1 }),
        };
        for number in self.numbers() {
            if !number.integer.is_some_and(|integer| (lowest..=highest).contains(&integer)) {
                let what = format!("{}: {} is no value of '{}'", number.written, number.text, ty.spelling);
                return Err(CliError::input(what).with_hint(format!("it has values from {lowest} to {highest}")));
            }
        }
        Ok(())
    }
}

/// Finds the type of an input by its name, step by step: `table[3].rows->count`.
struct Resolver<'a> {
    map: &'a Map,
    function: &'a Function,
    input: &'a InputConfig,
}

impl Resolver<'_> {
    fn resolve(&self) -> Result<TypeId, CliError> {
        let (stars, name) = split_at(&self.input.name, |character| character != '*');
        let (root, mut rest) = split_at(name, |character| !is_of_name(character));
        let inputs = || self.function.inputs.iter();
        let Some(input) = inputs().find(|input| input.name == root) else {
            return Err(self.no_such(
                &self.function.name,
                "input",
                root,
                inputs().map(|input| input.name.as_str()).collect(),
            ));
        };
        let mut at = input.type_id;
        while !rest.is_empty() {
            (at, rest) = self.step(at, rest)?;
        }
        (0..stars.len()).try_fold(at, |at, _| self.element(at))
    }

    fn step<'r>(&self, at: TypeId, rest: &'r str) -> Result<(TypeId, &'r str), CliError> {
        if let Some(index) = rest.strip_prefix('[') {
            let Some((_, rest)) = index.split_once(']').filter(|(digits, _)| digits.parse::<u32>().is_ok()) else {
                return Err(self.malformed());
            };
            return Ok((self.element(at)?, rest));
        }
        let (record, member) = match (rest.strip_prefix("->"), rest.strip_prefix('.')) {
            (Some(member), _) => (self.element(at)?, member),
            (None, Some(member)) => (at, member),
            (None, None) => return Err(self.malformed()),
        };
        let (name, rest) = split_at(member, |character| !is_of_name(character));
        Ok((self.member(record, name)?, rest))
    }

    fn element(&self, at: TypeId) -> Result<TypeId, CliError> {
        match self.map.types[at].kind {
            TypeKind::Pointer { target: element, .. } | TypeKind::Array { element, .. } => Ok(element),
            _ => Err(self.error(format!("'{}' points to nothing", self.map.types[at].spelling))),
        }
    }

    fn member(&self, at: TypeId, name: &str) -> Result<TypeId, CliError> {
        let TypeKind::Record { fields: Some(fields), .. } = &self.map.types[at].kind else {
            return Err(self.error(format!("'{}' has no members", self.map.types[at].spelling)));
        };
        match fields.iter().find(|field| field.name == name) {
            Some(field) => Ok(field.type_id),
            None => {
                let known = fields.iter().map(|field| field.name.as_str()).collect();
                Err(self.no_such(&self.map.types[at].spelling, "member", name, known))
            }
        }
    }

    fn no_such(&self, owner: &str, what: &str, name: &str, known: Vec<&str>) -> CliError {
        let error = self.error(format!("'{owner}' has no {what} '{name}'"));
        match did_you_mean(name, known.iter().copied()) {
            Some(nearest) => error.with_hint(format!("did you mean '{nearest}'?")),
            None if known.is_empty() => error.with_hint("it has none"),
            None => error.with_hint(format!("there are: {}", known.join(", "))),
        }
    }

    fn malformed(&self) -> CliError {
        self.error(format!("'{}' names no input", self.input.name))
            .with_hint("write it as C does: x, p->member, a[3].b")
    }

    fn error(&self, what: String) -> CliError {
        CliError::input(format!("{}: {what}", self.input.written))
    }
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn split_at(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}
