//! Programs as text for other solvers: CPLEX's LP format, and MPS with free columns.

use std::fmt::{self, Write};

use super::program::{Program, Relation, Row};
use crate::hash::FastMap;

/// Lines of the LP format stay below what readers take (255 in the oldest).
const TERMS_PER_LINE: usize = 8;

impl Program {
    /// CPLEX's LP format. Unknowns are named as inputs display, with what the format does not allow replaced; comments at
    /// the start say which is which. None if a big-M does not fit 128 bits.
    pub fn lp_text(&self) -> Option<String> {
        let (rows, names) = (self.rows()?, self.names());
        let mut text = String::new();
        self.write_lp(&mut text, &rows, &names).ok()?;
        Some(text)
    }

    /// MPS, fields separated by blanks. None as for [`Program::lp_text`].
    pub fn mps_text(&self) -> Option<String> {
        let (rows, names) = (self.rows()?, self.names());
        let mut text = String::new();
        self.write_mps(&mut text, &rows, &names).ok()?;
        Some(text)
    }

    fn write_lp(&self, out: &mut impl Write, rows: &[Row], names: &[String]) -> fmt::Result {
        for (column, name) in self.columns.iter().zip(names).filter(|(column, name)| column.name != **name) {
            writeln!(out, "\\ {name} is {}", column.name)?;
        }
        writeln!(out, "Minimize\n obj:\nSubject To")?;
        for (number, row) in rows.iter().enumerate() {
            write!(out, " c{}:", number + 1)?;
            for (place, &(unknown, factor)) in row.terms.iter().enumerate() {
                let line = if place > 0 && place % TERMS_PER_LINE == 0 { "\n  " } else { "" };
                write!(out, "{line} {}{}", signed_factor(factor), names[unknown])?;
            }
            // A row without unknowns is not allowed; the first one with a factor of zero says the same.
            if row.terms.is_empty() {
                write!(out, " 0 {}", names.first().map_or("nothing", String::as_str))?;
            }
            writeln!(out, " {} {}", relation(row.relation), row.constant)?;
        }
        writeln!(out, "Bounds")?;
        for (column, name) in self.columns.iter().zip(names) {
            writeln!(out, " {} <= {name} <= {}", column.low, column.high)?;
        }
        let (columns, binaries) = names.split_at(self.columns.len());
        for (section, names) in [("Generals", columns), ("Binaries", binaries)] {
            if !names.is_empty() {
                writeln!(out, "{section}")?;
                names.iter().try_for_each(|name| writeln!(out, " {name}"))?;
            }
        }
        writeln!(out, "End")
    }

    fn write_mps(&self, out: &mut impl Write, rows: &[Row], names: &[String]) -> fmt::Result {
        writeln!(out, "NAME pbcc\nROWS\n N obj")?;
        let mut by_unknown = vec![Vec::new(); names.len()];
        for (number, row) in rows.iter().enumerate() {
            let kind = match row.relation {
                Relation::AtMost => "L",
                Relation::AtLeast => "G",
            };
            writeln!(out, " {kind} c{}", number + 1)?;
            row.terms.iter().for_each(|&(unknown, factor)| by_unknown[unknown].push((number, factor)));
        }
        writeln!(out, "COLUMNS\n MARKER 'MARKER' 'INTORG'")?;
        for (name, uses) in names.iter().zip(&by_unknown) {
            // A column that no row uses has to be declared all the same.
            if uses.is_empty() {
                writeln!(out, " {name} obj 0")?;
            }
            uses.iter().try_for_each(|(number, factor)| writeln!(out, " {name} c{} {factor}", number + 1))?;
        }
        writeln!(out, " MARKER 'MARKER' 'INTEND'\nRHS")?;
        for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.constant != 0) {
            writeln!(out, " RHS c{} {}", number + 1, row.constant)?;
        }
        writeln!(out, "BOUNDS")?;
        for (column, name) in self.columns.iter().zip(names) {
            writeln!(out, " LO BND {name} {}\n UP BND {name} {}", column.low, column.high)?;
        }
        names[self.columns.len()..].iter().try_for_each(|name| writeln!(out, " BV BND {name}"))?;
        writeln!(out, "ENDATA")
    }

    /// By unknown, each one once.
    fn names(&self) -> Vec<String> {
        let binaries = (1..=self.binaries()).map(|number| format!("y{number}"));
        let wanted = self.columns.iter().map(|column| plain(&column.name)).chain(binaries);
        let mut used: FastMap<String, ()> = FastMap::default();
        let mut names = Vec::with_capacity(self.unknowns());
        for name in wanted {
            let mut unique = name.clone();
            let mut number = 1;
            while used.insert(unique.clone(), ()).is_some() {
                number += 1;
                unique = format!("{name}.{number}");
            }
            names.push(unique);
        }
        names
    }
}

fn signed_factor(factor: i128) -> String {
    match factor {
        1 => "+ ".to_owned(),
        -1 => "- ".to_owned(),
        _ if factor < 0 => format!("- {} ", factor.unsigned_abs()),
        _ => format!("+ {factor} "),
    }
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::AtMost => "<=",
        Relation::AtLeast => ">=",
    }
}

/// Letters, digits, `_` and `.`; not a digit first, nor what could be an exponent (`e12`) or a word of the format.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' => plain.push(character),
            _ if plain.ends_with('_') => {}
            _ => plain.push('_'),
        }
    }
    let kept = plain.trim_end_matches('_');
    let exponent = kept.starts_with(['e', 'E']) && kept[1..].chars().all(|character| character.is_ascii_digit());
    let first_is_wrong = kept.starts_with(|first: char| first.is_ascii_digit() || first == '.') || kept.is_empty();
    match exponent || first_is_wrong || is_reserved(kept) {
        true => format!("x_{kept}"),
        false => kept.to_owned(),
    }
}

fn is_reserved(name: &str) -> bool {
    const WORDS: [&str; 21] = [
        "bin", "binaries", "binary", "bound", "bounds", "end", "free", "gen", "general", "generals", "inf", "infinity",
        "int", "integer", "integers", "max", "maximize", "min", "minimize", "st", "semi",
    ];
    WORDS.contains(&name.to_ascii_lowercase().as_str())
}
