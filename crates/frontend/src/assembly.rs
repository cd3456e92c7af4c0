//! Assembly outside functions (`asm(".globl start\nstart: …")`): the names that it defines, for which no stub is made.

use std::collections::BTreeSet;

use clang_sys::CXCursor_UnexposedDecl;

use crate::clang::{Cursor, file_offset};

/// Returns the names that the assembly among these declarations defines. `text` is the file in which they stand.
pub(crate) fn defined_names(declarations: &[Cursor<'_>], text: &str) -> BTreeSet<String> {
    let unexposed = declarations.iter().filter(|cursor| cursor.kind() == CXCursor_UnexposedDecl);
    let sources = unexposed.filter_map(|cursor| text.get(file_offset(cursor.start()) as usize..));
    let assembly = sources.filter_map(|source| source.split_once('(').filter(|(word, _)| is_keyword(word.trim())));
    assembly.flat_map(|(_, source)| names_in(&literals(source))).collect()
}

fn is_keyword(word: &str) -> bool {
    let word = word.strip_suffix("volatile").map_or(word, str::trim_end);
    matches!(word, "asm" | "__asm" | "__asm__")
}

/// Returns the contents of the string literals up to the parenthesis behind them.
fn literals(source: &str) -> String {
    let mut contents = String::new();
    let (mut inside, mut escaped) = (false, false);
    for letter in source.chars() {
        match letter {
            _ if escaped => {
                contents.push(if matches!(letter, 'n' | 't') { '\n' } else { letter });
                escaped = false;
            }
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            ')' if !inside => break,
            _ if inside => contents.push(letter),
            _ => {}
        }
    }
    contents
}

/// Labels, and what `.set`, `.equ`, `.comm` and the like give a place or a value.
fn names_in(assembly: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in assembly.split(['\n', ';']) {
        let mut rest = statement.trim();
        while let Some((label, behind)) = rest.split_once(':').filter(|(label, _)| is_name(label)) {
            names.insert(label.to_owned());
            rest = behind.trim();
        }
        names.extend(assigned(rest).filter(|name| is_name(name)).map(str::to_owned));
    }
    names
}

fn assigned(statement: &str) -> Option<&str> {
    let directive = [".set", ".equ", ".equiv", ".comm", ".lcomm", ".symver", ".weakref"]
        .iter()
        .find_map(|directive| statement.strip_prefix(directive).filter(|rest| rest.starts_with(char::is_whitespace)));
    let equation = || statement.split_once('=').map(|(name, _)| name);
    directive.and_then(|operands| operands.split(',').next()).or_else(equation).map(str::trim)
}

fn is_name(word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$');
    !word.is_empty() && word.chars().all(is_part) && !word.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        let names = names_in(&literals(source));
        assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn labels_and_assignments_define_names() {
        check(r#"".text\n.globl begin\nbegin: movl $1, %eax\n\tret\n")"#, &["begin"]);
        check(
            r#""first: second: ret; third = 4;" ".set fourth, first\n" ".comm room, 16")"#,
            &["first", "fourth", "room", "second", "third"],
        );
    }

    #[test]
    fn operands_and_numbers_define_none() {
        check(r#"".section \"text:x\"\n 1: jmp 1b\n .quad begin\n")"#, &[]);
    }
}
