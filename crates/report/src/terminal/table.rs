//! The final table: one row for each function, and their sum.

use super::{Colour, Style};
use crate::file_report::{FileReport, Totals};

/// Which time the last column shows.
#[derive(Debug, Copy, Clone, PartialEq)]
pub enum TableTime {
    /// What each function took; the sum in the last row.
    Measured,
    /// The same for every row, so that a snapshot of the output is stable.
    Fixed(f64),
}

struct Row {
    name: String,
    totals: Totals,
    seconds: f64,
}

/// The table, one line each, without a line end after the last.
pub fn table(files: &[FileReport], time: TableTime, style: Style) -> Vec<String> {
    let rows = rows(files, time);
    let sum = Row {
        name: "total".to_owned(),
        totals: Totals::of_files(files),
        seconds: match time {
            // The sum of nothing is a negative zero.
            TableTime::Measured => rows.iter().map(|row| row.seconds).sum::<f64>() + 0.0,
            TableTime::Fixed(seconds) => seconds,
        },
    };
    let shown = Limited {
        undefined: sum.totals.through_undefined > 0,
        assumed: sum.totals.under_assumptions_alone > 0,
        bounded: sum.totals.bounded() > 0,
    };
    let mut cells = vec![header(shown)];
    cells.extend(rows.iter().map(|row| row_cells(row, shown)));
    cells.push(row_cells(&sum, shown));
    let widths = widths(&cells);
    let mut lines: Vec<String> = cells.iter().map(|row| aligned(row, &widths)).collect();
    let rule = "─".repeat(widths.iter().sum::<usize>() + 2 * (widths.len() - 1));
    for (line, row) in lines[1..].iter_mut().zip(rows.iter().chain([&sum])) {
        *line = style.paint(colour(&row.totals), line);
    }
    lines[0] = style.paint(Colour::Bold, &lines[0]);
    lines.insert(1, rule.clone());
    lines.insert(lines.len() - 1, rule);
    lines
}

fn rows(files: &[FileReport], time: TableTime) -> Vec<Row> {
    let several = files.len() > 1;
    let of_file = |file: &FileReport| {
        let row = |unit| {
            let name = file.function_name(unit);
            Row {
                name: if several { format!("{} ({})", name, file.source.display()) } else { name.to_owned() },
                totals: Totals::of_function(unit),
                seconds: match time {
                    TableTime::Measured => unit.work.seconds,
                    TableTime::Fixed(seconds) => seconds,
                },
            }
        };
        file.report.functions.iter().map(row).collect::<Vec<_>>()
    };
    files.iter().flat_map(of_file).collect()
}

/// The columns of verdicts that not every run has; each is shown where it has an entry.
#[derive(Debug, Copy, Clone)]
struct Limited {
    /// Covered only behind undefined behaviour.
    undefined: bool,
    /// Infeasible under assumptions alone.
    assumed: bool,
    /// Infeasible within bounds in numbers.
    bounded: bool,
}

fn header(shown: Limited) -> Vec<String> {
    let mut cells = vec!["function", "goals", "covered", "%"];
    cells.extend(shown.undefined.then_some("undefined"));
    cells.push("infeasible");
    cells.extend(shown.assumed.then_some("assumed"));
    cells.extend(shown.bounded.then_some("within bounds"));
    cells.extend(["unknown", "tests", "time"]);
    cells.into_iter().map(str::to_owned).collect()
}

fn row_cells(row: &Row, shown: Limited) -> Vec<String> {
    let totals = &row.totals;
    let mut cells = vec![
        row.name.clone(),
        totals.goals.to_string(),
        totals.covered_defined().to_string(),
        percent_text(totals.percent()),
    ];
    cells.extend(shown.undefined.then(|| totals.through_undefined.to_string()));
    cells.push(totals.infeasible.to_string());
    cells.extend(shown.assumed.then(|| totals.under_assumptions_alone.to_string()));
    cells.extend(shown.bounded.then(|| totals.bounded().to_string()));
    cells.extend([
        totals.unknown.to_string(),
        (totals.tests - totals.reproducers).to_string(),
        seconds_text(row.seconds),
    ]);
    cells
}

/// Never rounded up to 100: one goal of a thousand left must be seen.
pub fn percent_text(percent: f64) -> String {
    let tenths = (percent * 10.0).floor() / 10.0;
    if tenths == 100.0 { "100".to_owned() } else { format!("{tenths:.1}") }
}

fn seconds_text(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    format!("{} min {:02} s", whole / 60, whole % 60)
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    (0..columns).map(width).collect()
}

/// Names to the left, numbers to the right.
fn aligned(cells: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        match column {
            0 => line += &format!("{cell:<width$}"),
            _ => line += &format!("  {cell:>width$}"),
        }
    }
    line
}

fn colour(totals: &Totals) -> Colour {
    if totals.unknown > 0 || totals.infeasible_within_bounds > 0 { Colour::Yellow } else { Colour::Green }
}
