//! Preconditions: `// assume: EXPR` above a function, and those declared elsewhere. Each becomes a small generated
//! function with the parameters of the user's, whose line markers lead the compiler's messages to what the user wrote.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use branchwise_program::map::{Domain, Language, Precondition, Written};

use crate::clang::{self, Cursor, ParsedUnit};
use crate::drivers::{parameter_type, unspellable};
use crate::functions::{Named, identifier};
use crate::places::Files;
use crate::preprocess::preprocess_from;
use crate::{Declarations, FrontendError, Toolchain};

const PREFIX: &str = "__bw_pre_";
const KEYWORD: &[u8] = b"assume:";
/// A line of its own between the user's text and ours.
const START: &str = "__bw_start_of_preconditions";
const OURS: &str = "# 1 \"<branchwise>\"";

/// The name of the function that checks the precondition with this number.
pub(crate) fn check_name(function: &str, number: usize) -> String {
    format!("{PREFIX}{number}_{}", identifier(function))
}

pub(crate) fn is_check(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// What the preconditions are compiled with.
pub(crate) struct Context<'a> {
    pub toolchain: &'a Toolchain,
    /// Includes the user's file.
    pub include: &'a str,
    pub flags: &'a [String],
    pub parse_flags: &'a [String],
    pub language: Language,
}

/// The domains of a unit's functions, by name, and the functions that check their preconditions.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub domains: BTreeMap<String, Domain>,
    /// To stand behind the user's file.
    pub text: String,
    /// To stand behind the user's preprocessed text.
    pub preprocessed: String,
}

impl Checks {
    /// How many preconditions the driver of a function checks: none if one of them does not compile.
    pub fn usable(&self, function: &str) -> usize {
        self.domains.get(function).map_or(0, |domain| match domain.errors().next() {
            Some(_) => 0,
            None => domain.preconditions.len(),
        })
    }

    /// Why the function's preconditions cannot be used.
    pub fn complaint(&self, function: &str) -> Option<String> {
        let errors: Vec<&str> = self.domains.get(function)?.errors().collect();
        (!errors.is_empty()).then(|| format!("its precondition cannot be used: {}", errors.join("; ")))
    }
}

/// Collects the preconditions of the functions and compiles them.
pub(crate) fn checks(
    context: &Context<'_>,
    functions: &[Named<'_>],
    declarations: &Declarations,
) -> Result<Checks, FrontendError> {
    let mut checks = Checks::default();
    let mut texts = Vec::new();
    let mut files = Files::default();
    for Named { cursor: function, name, .. } in functions {
        let (function, name) = (*function, name.clone());
        let mut domain = Domain { preconditions: above(function, &mut files), ..Domain::default() };
        if let Some(declared) = declarations.get(&name) {
            domain.preconditions.extend(declared.preconditions.iter().cloned());
            domain.pointers.extend(declared.pointers.iter().cloned());
            domain.read.extend(declared.read.iter().cloned());
        }
        // A parameter that cannot be written leaves the function without a driver anyway.
        let own: Result<Vec<String>, String> =
            (0..).zip(&domain.preconditions).map(|(number, one)| check(function, &name, number, one)).collect();
        if let Ok(own) = own
            && !own.is_empty()
        {
            texts.push((name.clone(), own));
        }
        if domain != Domain::default() {
            checks.domains.insert(name, domain);
        }
    }
    let all: String = texts.iter().flat_map(|(_, own)| own).cloned().collect();
    if context.errors(&all).is_some() {
        texts.retain(|(name, own)| context.note_errors(own, checks.domains.get_mut(name)));
    }
    checks.text = texts.into_iter().flat_map(|(_, own)| own).collect();
    if !checks.text.is_empty() {
        let whole = format!("{}{START}\n{}", context.include, checks.text);
        checks.preprocessed = preprocess_from(context.toolchain, &whole, START, context.language, context.flags)?;
    }
    Ok(checks)
}

impl Context<'_> {
    /// What clang says against the text, in the context of the user's file.
    fn errors(&self, text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let whole = format!("{}{text}", self.include);
        let name = Path::new("branchwise-preconditions.c");
        match ParsedUnit::parse(name, Some(&whole), self.parse_flags) {
            Ok(_) => None,
            Err(FrontendError::DoesNotCompile { messages, .. }) => Some(messages),
            Err(other) => Some(other.to_string()),
        }
    }

    /// Whether all preconditions of one function compile; what does not is noted.
    fn note_errors(&self, own: &[String], domain: Option<&mut Domain>) -> bool {
        let Some(domain) = domain else { return false };
        for (text, precondition) in own.iter().zip(&mut domain.preconditions) {
            precondition.error = self.errors(text).map(|messages| first_message(&messages, precondition));
        }
        domain.errors().next().is_none()
    }
}

/// The first message of clang: what follows is mostly its consequence. One that is not about the line itself (a missing
/// parenthesis is seen behind it) gets its place.
fn first_message(messages: &str, precondition: &Precondition) -> String {
    let Precondition { expression, written, .. } = precondition;
    let first = messages.lines().next().unwrap_or_default();
    let line = format!("{}:{}:", written.path.display(), written.line);
    let what = first.split_once(" error: ").map_or(first, |(_, what)| what);
    match first.starts_with(&line) {
        true => format!("{first} in `{expression}`"),
        false => format!("{written}: error: {what} in `{expression}`"),
    }
}

/// The function that checks a precondition. Its parameters are constant, so that `x = 1` is refused.
fn check(
    function: Cursor<'_>,
    function_name: &str,
    number: usize,
    precondition: &Precondition,
) -> Result<String, String> {
    let mut parameters = Vec::new();
    for (index, parameter) in function.arguments().into_iter().enumerate() {
        let declared =
            parameter_type(parameter.clang_type()).map_err(|type_name| unspellable(parameter, &type_name))?;
        let name = match parameter.spelling() {
            name if name.is_empty() => format!("__bw_p{index}"),
            name => name,
        };
        parameters.push(format!("{declared}const {name}"));
    }
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let Written { path, line, column } = &precondition.written;
    let file = path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let indent = " ".repeat(column.saturating_sub(1) as usize);
    let name = check_name(function_name, number);
    let mut text = String::new();
    let _ = writeln!(text, "{OURS}\nstatic int {name}({parameters}) {{\nreturn !!(");
    let _ = writeln!(text, "# {line} \"{file}\"\n{indent}{}\n{OURS}\n);\n}}", precondition.expression);
    Ok(text)
}

/// The preconditions in the comments directly above a function.
fn above(function: Cursor<'_>, files: &mut Files) -> Vec<Precondition> {
    let start = clang::file_location(function.start());
    let Some(path) = start.file else { return Vec::new() };
    let bytes = files.bytes(&path);
    let Some(before) = bytes.get(..start.offset as usize) else { return Vec::new() };
    let precondition = |offset: usize| {
        let (line, column) = line_and_column(bytes, offset);
        let expression = expression_at(bytes, offset);
        Precondition { expression, written: Written { path: path.clone(), line, column }, error: None }
    };
    assumptions(before).into_iter().map(precondition).collect()
}

fn line_and_column(bytes: &[u8], offset: usize) -> (u32, u32) {
    let before = &bytes[..offset];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    (line as u32, 1 + (offset - line_start) as u32)
}

/// From the offset to the end of the line or of the comment.
fn expression_at(bytes: &[u8], offset: usize) -> String {
    let line = bytes[offset..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let end = line.find("*/").unwrap_or(line.len());
    line[..end].trim().to_owned()
}

/// Where the expressions behind `assume:` start, in the comments with which the text ends.
fn assumptions(text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut end = skip_specifiers(text);
    while let Some((start, body)) = last_comment(&text[..end]) {
        let mut line_start = body.start;
        let mut own = Vec::new();
        for line in text[body].split(|&byte| byte == b'\n') {
            let lead = line.iter().take_while(|byte| byte.is_ascii_whitespace() || b"/*!<".contains(byte)).count();
            if line[lead..].starts_with(KEYWORD) {
                let behind = &line[lead + KEYWORD.len()..];
                let blanks = behind.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                own.push(line_start + lead + KEYWORD.len() + blanks.min(behind.len()));
            }
            line_start += line.len() + 1;
        }
        found.splice(0..0, own);
        end = start;
    }
    found
}

/// The end of the text without what may stand between the comments and the first token that clang counts to the
/// function: attributes, and macros that expand to nothing.
fn skip_specifiers(text: &[u8]) -> usize {
    let mut end = text.len();
    loop {
        let line_start = text[..end].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = text[line_start..end].trim_ascii();
        let is_attribute = line.starts_with(b"__attribute__") || line.starts_with(b"[[");
        let is_words =
            !line.is_empty() && line.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"_ \t".contains(&byte));
        if !is_attribute && !is_words {
            return end;
        }
        end = line_start.saturating_sub(1);
        if line_start == 0 {
            return 0;
        }
    }
}

/// Start and inside of the comment that the text ends with, whitespace aside.
fn last_comment(text: &[u8]) -> Option<(usize, std::ops::Range<usize>)> {
    let text = text.trim_ascii_end();
    if text.ends_with(b"*/") {
        let inside_end = text.len() - 2;
        let open = text[..inside_end].windows(2).rposition(|pair| pair == b"/*")?;
        // Behind other code on its line, it speaks of that.
        let line_start = text[..open].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let prefix = text[line_start..open].trim_ascii();
        if !prefix.is_empty() && !prefix.ends_with(b"*/") {
            return None;
        }
        return Some((open, open + 2..inside_end));
    }
    let line_start = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = &text[line_start..];
    let lead = line.len() - line.trim_ascii_start().len();
    line[lead..].starts_with(b"//").then_some((line_start, line_start + lead + 2..text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let start = text.find("int f").expect("a function");
        let bytes = text.as_bytes();
        assumptions(&bytes[..start]).into_iter().map(|offset| expression_at(bytes, offset)).collect()
    }

    #[test]
    fn comments_directly_above_a_function_are_read() {
        assert_eq!(found("// assume: x > 0\nint f(int x)"), ["x > 0"]);
        assert_eq!(found("/* assume: x > 0 */ int f(int x)"), ["x > 0"]);
        assert_eq!(found("/// assume: a\n//assume: b\n\n/** Doc.\n * assume: c\n */\nint f(int x)"), ["a", "b", "c"]);
        assert_eq!(found("// assume: x\n__attribute__((noinline))\nstatic EXPORT int f(int x)"), ["x"]);
    }

    #[test]
    fn other_comments_and_other_functions_are_not() {
        assert_eq!(found("// assume: x > 0\nint g;\nint f(int x)"), [""; 0]);
        assert_eq!(found("int g; // assume: x > 0\nint f(int x)"), [""; 0]);
        assert_eq!(found("int g; /* assume: x > 0 */\nint f(int x)"), [""; 0]);
        assert_eq!(found("// we assume: nothing\nint f(int x)"), [""; 0]);
    }

    #[test]
    fn places_count_from_one() {
        let text = b"ab\n  // assume: x\n";
        assert_eq!(line_and_column(text, assumptions(text)[0]), (2, 14));
    }
}
