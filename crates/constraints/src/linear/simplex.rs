//! The simplex method on bounds, in exact arithmetic.
//!
//! Unknowns are the columns and, as far as they are bounded, the forms. Those that are not basic always have an integral
//! value within their bounds, so a basic one has an integral numerator over the denominator of its row, and no fraction is
//! ever stored. Bounds may be widened again at any time, which is what backtracking does.

use super::budget::{Budget, Stop};
use super::program::{FormId, Program};
use super::sum::{combination, greatest_common_divisor};

/// A column, or a form after all the columns.
pub(super) type Unknown = usize;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Low,
    High,
}

/// The bounds of the unknowns as they are now.
pub(super) struct Bounds {
    pub low: Vec<i128>,
    pub high: Vec<i128>,
}

impl Bounds {
    fn clamp(&self, unknown: Unknown, value: i128) -> i128 {
        value.clamp(self.low[unknown], self.high[unknown])
    }
}

/// `denominator · basic = Σ factor · other`, others ascending, denominator positive.
#[derive(Clone, Debug)]
struct Row {
    basic: Unknown,
    denominator: i128,
    terms: Vec<(Unknown, i128)>,
}

pub(super) enum Outcome {
    Feasible,
    /// Bounds that exclude each other.
    Conflict(Vec<(Unknown, Side)>),
}

pub(super) struct Simplex {
    columns: usize,
    rows: Vec<Row>,
    /// By unknown: the row in which it is basic.
    row_of: Vec<Option<usize>>,
    /// By unknown, of those that are not basic.
    values: Vec<i128>,
    active: Vec<bool>,
}

impl Simplex {
    /// At these values of the columns at first, as far as their bounds allow.
    pub(super) fn new(program: &Program, start: Vec<i128>) -> Self {
        let unknowns = program.columns.len() + program.forms.len();
        let mut values = start;
        values.resize(unknowns, 0);
        Self {
            columns: program.columns.len(),
            rows: Vec::new(),
            row_of: vec![None; unknowns],
            values,
            active: vec![false; program.forms.len()],
        }
    }

    /// Takes the form into the table, from when on its bounds count.
    pub(super) fn activate(&mut self, program: &Program, form: FormId) -> Result<(), Stop> {
        if std::mem::replace(&mut self.active[form.index()], true) {
            return Ok(());
        }
        let terms =
            program.forms[form.index()].terms.iter().map(|&(column, factor)| (column.index(), factor)).collect();
        let basic = self.columns + form.index();
        let mut row = Row { basic, denominator: 1, terms };
        let basics: Vec<usize> = row.terms.iter().filter_map(|&(column, _)| self.row_of[column]).collect();
        for place in basics {
            substitute(&mut row, &self.rows[place]).ok_or(Stop::NumbersTooLarge)?;
        }
        self.row_of[basic] = Some(self.rows.len());
        self.rows.push(row);
        Ok(())
    }

    /// Moves to values within all bounds, if there are any among the rational numbers.
    pub(super) fn solve(&mut self, bounds: &Bounds, budget: &mut Budget<'_>) -> Result<Outcome, Stop> {
        for unknown in 0..self.values.len() {
            if self.row_of[unknown].is_none() {
                self.values[unknown] = bounds.clamp(unknown, self.values[unknown]);
            }
        }
        loop {
            budget.step()?;
            let Some((place, side)) = self.violated(bounds).ok_or(Stop::NumbersTooLarge)? else {
                return Ok(Outcome::Feasible);
            };
            let Some(entering) = self.entering(place, side, bounds) else {
                return Ok(Outcome::Conflict(self.conflict(place, side)));
            };
            let leaving = self.rows[place].basic;
            self.values[leaving] = match side {
                Side::Low => bounds.low[leaving],
                Side::High => bounds.high[leaving],
            };
            self.pivot(place, entering).ok_or(Stop::NumbersTooLarge)?;
        }
    }

    /// The row of the smallest basic unknown outside its bounds, and the bound it breaks. Smallest first, here and for what
    /// enters: Bland's rule, which never goes in circles.
    fn violated(&self, bounds: &Bounds) -> Option<Option<(usize, Side)>> {
        let mut found: Option<(usize, Side)> = None;
        for (place, row) in self.rows.iter().enumerate() {
            if found.is_some_and(|(other, _)| self.rows[other].basic < row.basic) {
                continue;
            }
            let value = self.numerator(row)?;
            if value < bounds.low[row.basic].checked_mul(row.denominator)? {
                found = Some((place, Side::Low));
            } else if value > bounds.high[row.basic].checked_mul(row.denominator)? {
                found = Some((place, Side::High));
            }
        }
        Some(found)
    }

    fn numerator(&self, row: &Row) -> Option<i128> {
        let add = |sum: i128, &(unknown, factor): &(Unknown, i128)| {
            sum.checked_add(factor.checked_mul(self.values[unknown])?)
        };
        row.terms.iter().try_fold(0_i128, add)
    }

    /// The smallest unknown of the row that can move so that the row moves towards its bound.
    fn entering(&self, place: usize, side: Side, bounds: &Bounds) -> Option<Unknown> {
        let movable = |&&(unknown, factor): &&(Unknown, i128)| match (factor > 0) == (side == Side::Low) {
            true => self.values[unknown] < bounds.high[unknown],
            false => self.values[unknown] > bounds.low[unknown],
        };
        self.rows[place].terms.iter().find(movable).map(|&(unknown, _)| unknown)
    }

    /// All unknowns of the row stand at the bound that pushes it furthest, and that is not far enough.
    fn conflict(&self, place: usize, side: Side) -> Vec<(Unknown, Side)> {
        let row = &self.rows[place];
        let pushing = |&(unknown, factor): &(Unknown, i128)| match (factor > 0) == (side == Side::Low) {
            true => (unknown, Side::High),
            false => (unknown, Side::Low),
        };
        row.terms.iter().map(pushing).chain([(row.basic, side)]).collect()
    }

    fn pivot(&mut self, place: usize, entering: Unknown) -> Option<()> {
        let row = &self.rows[place];
        let leaving = row.basic;
        let factor = row.terms.iter().find(|&&(unknown, _)| unknown == entering)?.1;
        // denominator · leaving = … + factor · entering  becomes  factor · entering = denominator · leaving − …
        let sign = factor.signum();
        let mut terms: Vec<(Unknown, i128)> = Vec::with_capacity(row.terms.len());
        for &(unknown, other) in row.terms.iter().filter(|&&(unknown, _)| unknown != entering) {
            terms.push((unknown, other.checked_mul(-sign)?));
        }
        let at = terms.partition_point(|&(unknown, _)| unknown < leaving);
        terms.insert(at, (leaving, row.denominator.checked_mul(sign)?));
        let solved = Row { basic: entering, denominator: factor.checked_abs()?, terms };
        for (other, row) in self.rows.iter_mut().enumerate() {
            if other != place {
                substitute(row, &solved)?;
            }
        }
        self.rows[place] = solved;
        self.row_of[leaving] = None;
        self.row_of[entering] = Some(place);
        Some(())
    }

    /// The value of a column: numerator and positive denominator.
    pub(super) fn value(&self, column: usize) -> Option<(i128, i128)> {
        match self.row_of[column] {
            Some(place) => Some((self.numerator(&self.rows[place])?, self.rows[place].denominator)),
            None => Some((self.values[column], 1)),
        }
    }
}

/// Replaces in `row` what `solved` is solved for.
fn substitute(row: &mut Row, solved: &Row) -> Option<()> {
    let Ok(at) = row.terms.binary_search_by_key(&solved.basic, |&(unknown, _)| unknown) else {
        return Some(());
    };
    let (_, factor) = row.terms.remove(at);
    let divisor = i128::try_from(greatest_common_divisor(factor, solved.denominator)).ok()?;
    let (times, factor) = (solved.denominator / divisor, factor / divisor);
    row.denominator = row.denominator.checked_mul(times)?;
    row.terms = combination((&row.terms, times), (&solved.terms, factor))?;
    reduce(row)
}

fn reduce(row: &mut Row) -> Option<()> {
    let mut divisor = row.denominator.unsigned_abs();
    for &(_, factor) in &row.terms {
        if divisor == 1 {
            return Some(());
        }
        divisor = greatest_common_divisor(i128::try_from(divisor).ok()?, factor);
    }
    let divisor = i128::try_from(divisor).ok()?;
    row.denominator /= divisor;
    row.terms.iter_mut().for_each(|(_, factor)| *factor /= divisor);
    Some(())
}
