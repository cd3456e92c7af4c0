//! The findings of a file as they are listed: every line once for each kind, in the order of the lines.

use std::collections::{BTreeMap, BTreeSet};

use branchwise_generate::{Confirmation, Finding, FunctionReport};
use branchwise_program::FunctionId;
use branchwise_program::map::Place;

use crate::file_report::FileReport;

/// A finding, and what else was found of the same kind in the same line.
pub(crate) struct Listed<'a> {
    pub unit: &'a FunctionReport,
    pub finding: &'a Finding,
    /// Where it has a place: all columns of the line.
    pub columns: Vec<u32>,
    /// The other functions whose inputs show it.
    pub also_in: Vec<&'a str>,
}

/// The findings of a file. Of several for one line, the one that is listed is confirmed, if any is, and an input of the
/// function that the line belongs to shows it, if one does.
pub(crate) fn listed<'a>(file: &FileReport<'a>) -> Vec<Listed<'a>> {
    if !file.report.lists_findings {
        return Vec::new();
    }
    let mut lines: BTreeMap<_, Vec<(&FunctionReport, &Finding)>> = BTreeMap::new();
    for unit in &file.report.functions {
        for finding in &unit.findings {
            let place = finding.place.unwrap_or(file.map.functions[unit.function].place);
            // Without a place, it belongs to its function alone.
            let alone = finding.place.is_none().then_some(unit.function);
            lines.entry((place.file, place.line, finding.kind, alone)).or_default().push((unit, finding));
        }
    }
    lines.into_values().filter_map(|same| list(file, same)).collect()
}

fn list<'a>(file: &FileReport<'a>, mut same: Vec<(&'a FunctionReport, &'a Finding)>) -> Option<Listed<'a>> {
    let rank = |unit: &FunctionReport, finding: &Finding| {
        let confirmed = matches!(finding.confirmation, Confirmation::Confirmed { .. });
        let own = finding.place.is_none_or(|place| lies_in(file, place, unit.function));
        (!confirmed, !own, finding.place.map(|place| place.column))
    };
    same.sort_by_key(|(unit, finding)| rank(unit, finding));
    let &(unit, finding) = same.first()?;
    let columns: BTreeSet<u32> = same.iter().filter_map(|(_, found)| found.place).map(|place| place.column).collect();
    let others: BTreeSet<FunctionId> = same.iter().map(|(other, _)| other.function).collect();
    let others = others.into_iter().filter(|&other| other != unit.function);
    Some(Listed {
        unit,
        finding,
        columns: columns.into_iter().collect(),
        also_in: others.map(|other| file.map.functions[other].name.as_str()).collect(),
    })
}

fn lies_in(file: &FileReport, place: Place, function: FunctionId) -> bool {
    let function = &file.map.functions[function];
    function.place.file == place.file && (function.place.line..=function.end.line).contains(&place.line)
}
