//! From syntax to the user's files: where a piece of the program stands and how the user wrote it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use branchwise_program::map::{Place, SourceFile, node_text};
use branchwise_program::{FileId, IdVec};
use branchwise_tools::{LARGEST_SOURCE, read_limited};
use clang_sys::CXSourceLocation;

use crate::clang::{self, Cursor};
use crate::syntax::{Kind, SyntaxId, SyntaxTree};

/// The files of the map and their contents, as far as they were needed.
#[derive(Default)]
pub(crate) struct Files {
    pub table: IdVec<FileId, SourceFile>,
    ids: HashMap<PathBuf, FileId>,
    contents: HashMap<PathBuf, Contents>,
}

#[derive(Default)]
struct Contents {
    bytes: Vec<u8>,
    /// The offset of each line, found when the first line is asked for.
    lines: Vec<usize>,
}

impl Files {
    pub fn id(&mut self, path: &Path) -> FileId {
        if let Some(&id) = self.ids.get(path) {
            return id;
        }
        let id = self.table.push(SourceFile { path: path.to_owned() });
        self.ids.insert(path.to_owned(), id);
        id
    }

    pub fn bytes(&mut self, path: &Path) -> &[u8] {
        &self.contents(path).bytes
    }

    fn contents(&mut self, path: &Path) -> &mut Contents {
        if !self.contents.contains_key(path) {
            // A file that cannot be read any more only costs the texts.
            let bytes = read_limited(path, LARGEST_SOURCE).unwrap_or_default();
            self.contents.insert(path.to_owned(), Contents { bytes, lines: Vec::new() });
        }
        self.contents.entry(path.to_owned()).or_default()
    }

    /// The identifier that starts at this place.
    pub fn identifier_at(&mut self, path: &Path, (line, column): (u32, u32)) -> Option<String> {
        let contents = self.contents(path);
        if contents.lines.is_empty() {
            let ends = contents.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            contents.lines = std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect();
        }
        let start = contents.lines.get(line.checked_sub(1)? as usize)? + column.checked_sub(1)? as usize;
        let rest = contents.bytes.get(start..)?;
        let end = rest.iter().position(|&byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(rest.len());
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

/// The two views of one function: the preprocessed one that is edited and the original one that the user knows.
pub(crate) struct Views<'t, 'u> {
    pub tree: &'t SyntaxTree<'u>,
    /// `None` if the trees differ; then the line markers of the preprocessed text must do.
    pub original: Option<&'t SyntaxTree<'u>>,
    pub preprocessed: &'t str,
}

impl Views<'_, '_> {
    pub fn place(&self, files: &mut Files, id: SyntaxId) -> Place {
        let mut place = match self.original {
            Some(original) if self.is_colon(id) => {
                location_place(files, clang::file_location(original[id].cursor.end()))
            }
            Some(original) => file_place(files, original[id].cursor),
            None if self.is_colon(id) => presumed(files, self.tree[id].cursor.end()),
            None => presumed_place(files, self.tree[id].cursor),
        };
        place.column -= u32::from(self.is_colon(id) && place.column > 1);
        place
    }

    /// The variable of a loop over a range ends with the colon, which is where the loop decides.
    fn is_colon(&self, id: SyntaxId) -> bool {
        self.tree[id].kind == Kind::LoopVariable
    }

    /// Line and column of the outermost macro use, or of the text itself outside macros.
    pub fn outermost(&self, id: SyntaxId) -> Option<(u32, u32)> {
        let cursor = self.original?[id].cursor;
        let colon = self.is_colon(id);
        let place = clang::expansion_location(if colon { cursor.end() } else { cursor.start() });
        Some((place.line, place.column - u32::from(colon && place.column > 1)))
    }

    /// The text as the user wrote it; `macro_use` says whether a piece of a macro is shown as the use of that macro
    /// (good for a statement) or as what it expands to (good for a condition).
    pub fn text(&self, files: &mut Files, id: SyntaxId, shown: Shown) -> String {
        let written = self.original.and_then(|original| written_text(files, original[id].cursor, shown));
        let node = &self.tree[id];
        let expanded = || self.preprocessed.get(node.start as usize..node.end as usize).unwrap_or_default();
        shorten(&written.unwrap_or_else(|| without_line_markers(expanded())))
    }
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    MacroUse,
    MacroBody,
}

fn written_text(files: &mut Files, cursor: Cursor<'_>, shown: Shown) -> Option<String> {
    if shown == Shown::MacroBody && (clang::in_macro(cursor.start()) || clang::in_macro(cursor.end())) {
        return None;
    }
    let (start, end) = (clang::file_location(cursor.start()), clang::file_location(cursor.end()));
    let path = start.file.filter(|path| end.file.as_ref() == Some(path))?;
    let bytes = files.bytes(&path).get(start.offset as usize..end.offset as usize)?;
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn without_line_markers(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ")
}

pub(crate) fn file_place(files: &mut Files, cursor: Cursor<'_>) -> Place {
    location_place(files, clang::file_location(cursor.start()))
}

pub(crate) fn location_place(files: &mut Files, location: clang::Location) -> Place {
    let file = files.id(&location.file.unwrap_or_default());
    Place { file, line: location.line, column: location.column }
}

pub(crate) fn presumed_place(files: &mut Files, cursor: Cursor<'_>) -> Place {
    presumed(files, cursor.start())
}

pub(crate) fn presumed(files: &mut Files, location: CXSourceLocation) -> Place {
    let (path, line, column) = clang::presumed_location(location);
    Place { file: files.id(&path), line, column }
}

/// One line without comments, no longer than the limit.
pub(crate) fn shorten(text: &str) -> String {
    let bare = without_comments(text);
    let words = bare.split_whitespace().collect::<Vec<_>>().join(" ");
    node_text(words.trim_end_matches(';').trim_end())
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    let mut quote = None;
    while let Some(character) = rest.chars().next() {
        let skipped = match quote {
            None if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            None if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => 0,
        };
        if skipped > 0 {
            kept.push(' ');
            rest = &rest[skipped..];
            continue;
        }
        let escaped = quote.is_some() && character == '\\';
        let taken = rest.char_indices().nth(if escaped { 2 } else { 1 }).map_or(rest.len(), |(end, _)| end);
        match quote {
            Some(open) if open == character => quote = None,
            None if matches!(character, '"' | '\'') => quote = Some(character),
            _ => {}
        }
        kept.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_one_short_line_without_comments() {
        assert_eq!(shorten("a /* why */\n   && b // here\n;"), "a && b");
        assert_eq!(shorten("puts(\"// no \\\" comment\")"), "puts(\"// no \\\" comment\")");
        assert_eq!(shorten(&"x".repeat(70)).chars().count(), 60);
    }
}
