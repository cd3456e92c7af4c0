//! From debug locations to the user's columns.
//!
//! The compiler sees the marked text: line markers keep its lines, but expanded macros and inserted markers shift its
//! columns. Every node of a function is known in both texts, so a table leads back; what has no entry of its own takes
//! the nearest one to its left on the line.

// libclang's constants keep their names.
#![allow(non_upper_case_globals)]

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use branchwise_program::FileId;
use branchwise_program::code::{Code, Location};
use branchwise_program::map::{Function, Map, Place};
use clang_sys::*;

use crate::clang::{self, Cursor};
use crate::marking::Insertion;
use crate::places::{self, Files, Views};
use crate::syntax::{SyntaxId, SyntaxTree};

/// The user's places of the marked text, by line and column as the compiler counts them.
#[derive(Debug, Clone, Default)]
pub struct UserColumns {
    /// Files as the line markers name them.
    files: HashMap<PathBuf, u32>,
    lines: HashMap<(u32, u32), Vec<Entry>>,
}

#[derive(Debug, Copy, Clone)]
struct Entry {
    column: u32,
    place: Place,
}

/// A byte of the preprocessed text whose place in the user's files is known.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Point {
    offset: u32,
    place: Place,
}

impl UserColumns {
    /// Where the user wrote what the compiler saw at this place; `None` outside the user's functions. Column 0 (the
    /// compiler has no column, as beyond 65535) stands for the first of the line.
    pub fn place(&self, file: &str, line: u32, column: u32) -> Option<Place> {
        self.place_in(self.file(file)?, line, column)
    }

    fn place_in(&self, file: u32, line: u32, column: u32) -> Option<Place> {
        let entries = self.lines.get(&(file, line))?;
        let behind = entries.partition_point(|entry| entry.column <= column);
        entries.get(behind.saturating_sub(1)).map(|entry| entry.place)
    }

    /// The compiler puts its directory before relative names, so the longest name that fits is meant.
    fn file(&self, name: &str) -> Option<u32> {
        let fitting = self.files.iter().filter(|(path, _)| is_same_file(name, path));
        fitting.max_by_key(|(path, _)| path.as_os_str().len()).map(|(_, &number)| number)
    }

    /// One pass over the text; the insertions are in the order in which they are applied.
    pub(crate) fn new(text: &str, insertions: &[Insertion], mut points: Vec<Point>) -> UserColumns {
        // Stable: of the nodes that begin at one byte, the outermost comes first and is kept.
        points.sort_by_key(|point| point.offset);
        points.dedup_by_key(|point| point.offset);
        let mut columns = UserColumns::default();
        let (mut file, mut number, mut start) = (0, 0, 0);
        let (mut points, mut insertions) = (points.as_slice(), insertions);
        for line in text.split_inclusive('\n') {
            let end = start + line.len() as u32;
            let here = take_before(&mut points, end, |point| point.offset);
            let inserted = take_before(&mut insertions, end, Insertion::offset);
            if let Some((marked_number, name)) = line_marker(line) {
                number = marked_number;
                let next = columns.files.len() as u32;
                file = *columns.files.entry(name).or_insert(next);
            } else {
                if !here.is_empty() {
                    let entries = columns.lines.entry((file, number)).or_default();
                    add_line(entries, start, here, inserted);
                }
                number += 1;
            }
            start = end;
        }
        for entries in columns.lines.values_mut() {
            // Several lines of the text may carry one number; the first of them wins.
            entries.sort_by_key(|entry| entry.column);
            entries.dedup_by_key(|entry| entry.column);
        }
        columns
    }
}

fn take_before<'s, T>(rest: &mut &'s [T], end: u32, offset: impl Fn(&T) -> u32) -> &'s [T] {
    let count = rest.iter().take_while(|item| offset(item) < end).count();
    let (taken, left) = rest.split_at(count);
    *rest = left;
    taken
}

/// Adds the points of one line of the preprocessed text that begins at `start`.
fn add_line(entries: &mut Vec<Entry>, start: u32, points: &[Point], mut insertions: &[Insertion]) {
    let mut shift = 1;
    for point in points {
        for insertion in take_before(&mut insertions, point.offset + 1, Insertion::offset) {
            if insertion.offset() == point.offset && insertion.is_opening() {
                // The marker call itself belongs to the condition that it wraps.
                entries.push(Entry { column: point.offset - start + shift, place: point.place });
            }
            shift += insertion.text().len() as u32;
        }
        entries.push(Entry { column: point.offset - start + shift, place: point.place });
    }
}

/// `# 12 "file.c" 2`: the number of the next line and the file.
fn line_marker(line: &str) -> Option<(u32, PathBuf)> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let quoted = rest.strip_prefix('"')?;
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((number.parse().ok()?, PathBuf::from(name))),
            '\\' => name.push(characters.next()?),
            character => name.push(character),
        }
    }
}

fn is_same_file(name: &str, path: &Path) -> bool {
    let relative = path.strip_prefix(".").unwrap_or(path);
    // The first line marker may name nothing, and every path ends with an empty one.
    !relative.as_os_str().is_empty() && (Path::new(name) == path || Path::new(name).ends_with(relative))
}

/// Rewrites every location of the code to the user's place; those outside the functions of the unit stay: functions of
/// other files that are linked with it were compiled as the user wrote them.
pub fn with_user_columns(mut code: Code, columns: &UserColumns, map: &Map) -> Code {
    let known: Vec<Option<u32>> = code.files.iter().map(|name| columns.file(name)).collect();
    let mut numbers: HashMap<FileId, u32> = HashMap::new();
    let symbols: HashSet<&str> = map.functions.values().flat_map(Function::symbols).collect();
    let of_unit = |name: &str| symbols.contains(name) || name.starts_with("__bw_");
    for (_, function) in code.functions.iter_mut().filter(|(_, function)| of_unit(&function.name)) {
        let locations = function.blocks.iter_mut().flat_map(|(_, block)| &mut block.locations);
        for location in locations.flatten() {
            let file = known.get(location.file as usize).copied().flatten();
            let place = file.and_then(|file| columns.place_in(file, location.line, location.column));
            let Some(place) = place else { continue };
            let file = *numbers.entry(place.file).or_insert_with(|| {
                let path = map.files.get(place.file).map(|file| file.path.as_path());
                file_number(&mut code.files, path, location.file)
            });
            *location = Location { file, line: place.line, column: place.column };
        }
    }
    code
}

/// The number of the user's file among those of the code. With `#line` the compiler may never have named it.
fn file_number(files: &mut Vec<String>, path: Option<&Path>, current: u32) -> u32 {
    let Some(path) = path else { return current };
    if files.get(current as usize).is_some_and(|name| is_same_file(name, path)) {
        return current;
    }
    let found = files.iter().position(|name| is_same_file(name, path));
    let number = found.unwrap_or_else(|| {
        files.push(path.display().to_string());
        files.len() - 1
    });
    number as u32
}

/// The known points of one function body.
pub(crate) fn points(views: &Views<'_, '_>, files: &mut Files) -> Vec<Point> {
    let mut points = Vec::new();
    for id in views.tree.ids() {
        let cursor = views.tree[id].cursor;
        let user = views.original.map(|original| original[id].cursor);
        points.push(point(files, cursor.start(), user.map(Cursor::start)));
        points.push(point(files, cursor.location(), user.map(Cursor::location)));
        points.extend(operator(views, files, id));
        if cursor.kind() == CXCursor_CompoundStmt {
            // The extent ends behind the brace, where the block's end is located.
            let mut end = point(files, cursor.end(), user.map(Cursor::end));
            end.offset = end.offset.saturating_sub(1);
            end.place.column = end.place.column.saturating_sub(1).max(1);
            points.push(end);
        }
    }
    points
}

/// The names of the function and of its parameters.
pub(crate) fn head_points(files: &mut Files, function: Cursor<'_>, original: Option<Cursor<'_>>) -> Vec<Point> {
    let mut points = vec![point(files, function.location(), original.map(Cursor::location))];
    let user = original.map(Cursor::arguments).unwrap_or_default();
    for (index, parameter) in function.arguments().into_iter().enumerate() {
        points.push(point(files, parameter.location(), user.get(index).map(|parameter| parameter.location())));
    }
    points
}

fn point(files: &mut Files, location: CXSourceLocation, user: Option<CXSourceLocation>) -> Point {
    let place = match user {
        Some(user) => places::location_place(files, clang::file_location(user)),
        None => places::presumed(files, location),
    };
    Point { offset: clang::file_offset(location), place }
}

/// The compiler locates binary and postfix operations at the operator, for which libclang has no location: it is the
/// text behind the first operand. If the user's text has something else there, the operator is part of a macro.
fn operator(views: &Views<'_, '_>, files: &mut Files, id: SyntaxId) -> Option<Point> {
    let operand = operand_before_operator(views.tree, id)?;
    let text = views.preprocessed.as_bytes();
    let offset = skip_space(text, views.tree[operand].end as usize);
    let Some(original) = views.original else {
        let (start, mut place) = (views.tree[id].start, places::presumed_place(files, views.tree[id].cursor));
        let same_line = !text.get(start as usize..offset)?.contains(&b'\n');
        place.column += if same_line { offset as u32 - start } else { 0 };
        return Some(Point { offset: offset as u32, place });
    };
    let cursor = original[id].cursor;
    let place = user_operator(files, cursor, original[operand].cursor, *text.get(offset)?)
        .unwrap_or_else(|| places::file_place(files, cursor));
    Some(Point { offset: offset as u32, place })
}

fn operand_before_operator(tree: &SyntaxTree<'_>, id: SyntaxId) -> Option<SyntaxId> {
    let node = &tree[id];
    let kind = node.cursor.kind();
    let infix = matches!(kind, CXCursor_BinaryOperator | CXCursor_CompoundAssignOperator);
    let operator = || node.cursor.unary_operator();
    let postfix =
        kind == CXCursor_UnaryOperator && matches!(operator(), CXUnaryOperator_PostInc | CXUnaryOperator_PostDec);
    (infix || postfix).then(|| node.children.first().copied()).flatten()
}

fn user_operator(files: &mut Files, whole: Cursor<'_>, operand: Cursor<'_>, symbol: u8) -> Option<Place> {
    let (from, limit) = (clang::file_location(operand.end()), clang::file_location(whole.end()));
    let path = from.file.clone().filter(|path| limit.file.as_ref() == Some(path))?;
    let bytes = files.bytes(&path);
    let offset = skip_space(bytes, from.offset as usize);
    let fits = offset < limit.offset as usize && bytes.get(offset) == Some(&symbol);
    let skipped = bytes.get(from.offset as usize..offset).filter(|_| fits)?;
    let lines = skipped.iter().filter(|&&byte| byte == b'\n').count();
    let column = match skipped.iter().rposition(|&byte| byte == b'\n') {
        Some(newline) => skipped.len() - newline,
        None => from.column as usize + skipped.len(),
    };
    Some(Place { file: files.id(&path), line: from.line + lines as u32, column: column as u32 })
}

/// Past blanks, comments, continued lines and line markers.
fn skip_space(text: &[u8], mut at: usize) -> usize {
    let end_of = |at: usize, end: &[u8]| {
        let rest = text.get(at..).unwrap_or_default();
        rest.windows(end.len()).position(|window| window == end).map_or(text.len(), |found| at + found + end.len())
    };
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let line_start = at == 0 || text.get(at - 1) == Some(&b'\n');
        at = match rest {
            [b'/', b'*', ..] => end_of(at + 2, b"*/"),
            [b'/', b'/', ..] => end_of(at, b"\n"),
            [b'#', ..] if line_start => end_of(at, b"\n"),
            [b'\\', b'\n', ..] => at + 2,
            [byte, ..] if byte.is_ascii_whitespace() => at + 1,
            _ => return at,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_are_read_with_their_escapes() {
        assert_eq!(line_marker("# 12 \"a\\\"b.c\" 2 3\n"), Some((12, PathBuf::from("a\"b.c"))));
        assert_eq!(line_marker("#pragma pack(1)\n"), None);
    }

    #[test]
    fn comments_and_line_markers_are_no_operators() {
        let text = b"a /* + */ \\\n // -\n# 7 \"x\"\n  * b";
        assert_eq!(text[skip_space(text, 1)], b'*');
    }

    #[test]
    fn relative_names_fit_with_the_directory_before_them() {
        assert!(is_same_file("/src/./sub/a.c", Path::new("./sub/a.c")));
        assert!(!is_same_file("/src/ba.c", Path::new("a.c")));
        assert!(!is_same_file("/src/a.c", Path::new("")));
    }
}
