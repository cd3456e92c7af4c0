//! Single goals that somebody names: a statement or outcome by its place, a path by its outcomes.

use std::fmt;
use std::path::PathBuf;

use branchwise_goals::{Goal, Notation};
use branchwise_program::FunctionId;
use branchwise_program::map::Map;

/// The only goals of a run; none: all that the criteria make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedGoals {
    pub places: Vec<WantedPlace>,
    /// As reports write them: `34+ 23- 7:case 2`.
    pub paths: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedPlace {
    /// The end of its path is enough; `None`: any file.
    pub file: Option<PathBuf>,
    pub line: u32,
    pub column: Option<u32>,
    pub outcome: Option<bool>,
}

impl fmt::Display for WantedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
        }
        write!(f, "{}", self.line)?;
        self.column.iter().try_for_each(|column| write!(f, ":{column}"))?;
        self.outcome.iter().try_for_each(|outcome| write!(f, ":{outcome}"))
    }
}

impl WantedPlace {
    fn names(&self, map: &Map, goal: &Goal) -> bool {
        let file = map.files.get(goal.place.file).map(|file| &file.path);
        let in_file = self.file.as_ref().is_none_or(|wanted| file.is_some_and(|file| file.ends_with(wanted)));
        let in_column = self.column.is_none_or(|column| goal.place.column == column);
        in_file && goal.place.line == self.line && in_column && (self.outcome.is_none() || goal.outcome == self.outcome)
    }
}

impl WantedGoals {
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.paths.is_empty()
    }

    /// Those of `goals` that are named, and the paths; or what is named and is no goal.
    pub(crate) fn choose(&self, map: &Map, unit: FunctionId, goals: Vec<Goal>) -> Result<Vec<Goal>, String> {
        if self.is_empty() {
            return Ok(goals);
        }
        if let Some(place) = self.places.iter().find(|place| !goals.iter().any(|goal| place.names(map, goal))) {
            let columns: Vec<String> =
                WantedPlace { column: None, outcome: None, ..place.clone() }.columns(map, &goals);
            let hint = match columns.is_empty() {
                true => String::new(),
                false => format!(" (on this line there are goals at column {})", columns.join(", ")),
            };
            return Err(format!("nothing that it runs is a goal at {place}{hint}"));
        }
        let is_named = |goal: &Goal| self.places.iter().any(|place| place.names(map, goal));
        let mut chosen: Vec<Goal> = goals.into_iter().filter(is_named).collect();
        let notation = Notation::of(map);
        for text in &self.paths {
            let events = notation.read(text).map_err(|error| format!("no path '{text}': {error}"))?;
            if events.is_empty() {
                return Err("a path of no decisions is none".to_string());
            }
            chosen.push(Goal::of_path(unit, map.functions[unit].place, notation.path(&events), events));
        }
        Ok(chosen)
    }
}

impl WantedPlace {
    fn columns(&self, map: &Map, goals: &[Goal]) -> Vec<String> {
        let there = goals.iter().filter(|goal| self.names(map, goal));
        let mut columns: Vec<u32> = there.map(|goal| goal.place.column).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.iter().map(u32::to_string).collect()
    }
}
