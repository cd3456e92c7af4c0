//! Which file the coverage mapping speaks of when it reports a place inside a macro.

use std::collections::HashMap;
use std::path::PathBuf;

use clang_sys::CXCursor_MacroDefinition;

use crate::clang::{Cursor, file_location, spelling_location};
use crate::coverage::{Branch, FunctionRegions};
use crate::places::Files;

struct Definition {
    file: PathBuf,
    lines: std::ops::RangeInclusive<u32>,
}

/// The macro definitions of the original file and its headers, by name.
#[derive(Default)]
pub(crate) struct MacroTable {
    definitions: HashMap<String, Vec<Definition>>,
}

impl MacroTable {
    pub fn of_unit(root: Cursor<'_>) -> MacroTable {
        let mut table = MacroTable::default();
        for cursor in root.children().into_iter().filter(|cursor| cursor.kind() == CXCursor_MacroDefinition) {
            let (start, end) = (file_location(cursor.start()), file_location(cursor.end()));
            if let Some(file) = start.file {
                let definition = Definition { file, lines: start.line..=end.line };
                table.definitions.entry(cursor.spelling()).or_default().push(definition);
            }
        }
        table
    }

    /// The file of a region: that of the spelling if the region starts exactly there, otherwise that of the definition
    /// of the macro whose expansion the region lies in; `None` outside macros.
    pub fn file_of(
        &self,
        cursor: Cursor<'_>,
        regions: &FunctionRegions,
        branch: &Branch,
        files: &mut Files,
    ) -> Option<PathBuf> {
        let spelled = spelling_location(cursor.start());
        if (spelled.line, spelled.column) == branch.start {
            return spelled.file;
        }
        let function_file = file_location(cursor.start()).file?;
        self.file_of_expansion(regions, branch.file, branch.start.0, function_file, files)
    }

    fn file_of_expansion(
        &self,
        regions: &FunctionRegions,
        file: u32,
        line: u32,
        function_file: PathBuf,
        files: &mut Files,
    ) -> Option<PathBuf> {
        let Some((outer, place)) = regions.expanded_at(file) else { return Some(function_file) };
        let outer_file = self.file_of_expansion(regions, outer, place.0, function_file, files)?;
        let name = files.identifier_at(&outer_file, place)?;
        let definitions = self.definitions.get(&name)?;
        let defined = definitions.iter().find(|definition| definition.lines.contains(&line)).or(definitions.last())?;
        Some(defined.file.clone())
    }
}
