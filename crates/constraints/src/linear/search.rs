//! Branch and bound on a program, in exact arithmetic.
//!
//! A 0-1 variable is decided by taking its alternative: the bounds of the alternative are asserted, which is what its rows
//! say once the variable is 1, and those of the alternatives that are not taken say nothing. What remains at each node is a
//! relaxation: bounds are propagated through the forms, then the simplex method looks for rational values, then a column
//! that is not integral is split. Every conflict is traced back to the decisions it rests on, and the search goes back to
//! the last of those.

use std::collections::{BTreeSet, VecDeque};

use super::budget::{Budget, Stop};
use super::program::{AlternativeId, Bound, ChoiceId, FormId, Program, Subject};
use super::simplex::{Bounds, Outcome, Side, Simplex, Unknown};
use super::sum::{ceiling_division, floor_division};

/// What the search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A value for each column, accepted by the caller.
    Point(Vec<i128>),
    Infeasible,
    /// A solution of the program that the caller did not accept.
    Rejected,
}

/// The decisions that a conflict rests on, by their level, from 1.
type Levels = BTreeSet<usize>;

enum Reason {
    Level(usize),
    /// Entries of the trail.
    Entries(Vec<usize>),
}

/// A bound that was tightened, and how to undo it.
struct Entry {
    unknown: Unknown,
    side: Side,
    before: i128,
    entry_before: Option<usize>,
    reason: Reason,
}

enum Decision {
    Choice { choice: ChoiceId, order: Vec<AlternativeId> },
    Split { column: usize, floor: i128 },
}

struct OpenChoice {
    choice: ChoiceId,
    /// The point is within the bounds of one of its alternatives.
    satisfied: bool,
    /// How many alternatives are not excluded.
    possible: usize,
}

/// Asking the caller costs as much as the formula is long, so it is done less often the more often it failed.
#[derive(Default)]
struct Trials {
    failed: u32,
    skip: u32,
}

impl Trials {
    fn are_due(&mut self, open: Option<&OpenChoice>) -> bool {
        // Where a choice is open that the point does not satisfy, the caller would say no.
        if open.is_some_and(|choice| !choice.satisfied) {
            return false;
        }
        if open.is_some() && self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.failed += 1;
        self.skip = self.failed.min(MOST_SKIPPED);
        true
    }
}

const MOST_SKIPPED: u32 = 64;

struct Frame {
    trail: usize,
    open: usize,
    decision: Decision,
    /// How many of its options were begun.
    tried: usize,
    /// What the options before rest on.
    levels: Levels,
}

pub(super) struct Search<'a, 'b> {
    program: &'a Program,
    budget: &'a mut Budget<'b>,
    simplex: Simplex,
    bounds: Bounds,
    /// By unknown: the entry that set the bound; none if it is the first one.
    low_entry: Vec<Option<usize>>,
    high_entry: Vec<Option<usize>>,
    trail: Vec<Entry>,
    frames: Vec<Frame>,
    /// Choices of the alternatives that were taken, with the level at which they were.
    open: Vec<(ChoiceId, usize)>,
    decided: Vec<bool>,
    active: Vec<bool>,
    forms_of: Vec<Vec<FormId>>,
    queue: VecDeque<FormId>,
    queued: Vec<bool>,
}

impl<'a, 'b> Search<'a, 'b> {
    /// It looks first near the values of `start`, one for each column.
    pub(super) fn new(program: &'a Program, start: Vec<i128>, budget: &'a mut Budget<'b>) -> Self {
        let columns = program.columns.iter().map(|column| (column.low, column.high));
        let forms = program.forms.iter().map(|form| (form.low, form.high));
        let (low, high): (Vec<i128>, Vec<i128>) = columns.chain(forms).unzip();
        let mut forms_of = vec![Vec::new(); program.columns.len()];
        for (index, form) in program.forms.iter().enumerate() {
            form.terms.iter().for_each(|(column, _)| forms_of[column.index()].push(FormId::from_index(index)));
        }
        Self {
            program,
            budget,
            simplex: Simplex::new(program, start),
            low_entry: vec![None; low.len()],
            high_entry: vec![None; low.len()],
            bounds: Bounds { low, high },
            trail: Vec::new(),
            frames: Vec::new(),
            open: Vec::new(),
            decided: vec![false; program.choices.len()],
            active: vec![false; program.forms.len()],
            forms_of,
            queue: VecDeque::new(),
            queued: vec![false; program.forms.len()],
        }
    }

    /// A solution that `accept` says yes to.
    pub(super) fn run(mut self, mut accept: impl FnMut(&[i128]) -> bool) -> Result<Found, Stop> {
        let mut trials = Trials::default();
        let mut conflict = self.take(Program::ROOT, 0)?;
        loop {
            if conflict.is_none() {
                conflict = self.relaxation()?;
            }
            if let Some(levels) = conflict.take() {
                match self.go_back(levels)? {
                    true => continue,
                    false => return Ok(Found::Infeasible),
                }
            }
            let (point, fractional) = self.point().ok_or(Stop::NumbersTooLarge)?;
            let choice = self.next_choice(&point);
            if trials.are_due(choice.as_ref()) && accept(&point) {
                return Ok(Found::Point(point));
            }
            let decision = match (choice, fractional) {
                (Some(choice), _) => self.options(choice.choice, &point),
                (None, Some(column)) => Decision::Split { column, floor: point[column] },
                (None, None) => return Ok(Found::Rejected),
            };
            conflict = self.decide(decision)?;
        }
    }

    /// The values of the columns, rounded down, and a column that had to be.
    fn point(&self) -> Option<(Vec<i128>, Option<usize>)> {
        let mut fractional = None;
        let mut point = Vec::with_capacity(self.program.columns.len());
        for column in 0..self.program.columns.len() {
            let (numerator, denominator) = self.simplex.value(column)?;
            if numerator.rem_euclid(denominator) != 0 {
                fractional = fractional.or(Some(column));
            }
            point.push(floor_division(numerator, denominator));
        }
        Some((point, fractional))
    }

    fn decide(&mut self, decision: Decision) -> Result<Option<Levels>, Stop> {
        let mut levels = Levels::new();
        if let Decision::Choice { choice, .. } = decision {
            // The choice has to be made only because of the decision that led to it.
            let opened = self.open.iter().find(|(open, _)| *open == choice).map_or(0, |&(_, level)| level);
            levels.extend((opened > 0).then_some(opened));
            self.decided[choice.index()] = true;
        }
        let (trail, open) = (self.trail.len(), self.open.len());
        self.frames.push(Frame { trail, open, decision, tried: 0, levels });
        match self.try_option()? {
            Some(conflict) => Ok(conflict),
            None => Ok(self.frames.last().map(|frame| frame.levels.clone())),
        }
    }

    /// Begins the next option of the last decision: none if there is no more, else the conflict it leads to, if any.
    fn try_option(&mut self) -> Result<Option<Option<Levels>>, Stop> {
        let level = self.frames.len();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(None);
        };
        let number = frame.tried;
        frame.tried += 1;
        match &frame.decision {
            Decision::Choice { order, .. } => match order.get(number).copied() {
                Some(alternative) => self.take(alternative, level).map(Some),
                None => Ok(None),
            },
            &Decision::Split { column, floor } => {
                self.budget.step()?;
                match number {
                    0 => Ok(Some(self.tighten(column, Side::High, floor, Reason::Level(level)))),
                    1 => Ok(Some(self.tighten(column, Side::Low, floor + 1, Reason::Level(level)))),
                    _ => Ok(None),
                }
            }
        }
    }

    /// Back to the last decision that the conflict rests on and that has an option left; false if there is none.
    fn go_back(&mut self, mut levels: Levels) -> Result<bool, Stop> {
        while !self.frames.is_empty() {
            let level = self.frames.len();
            self.undo();
            if !levels.remove(&level) {
                self.drop_frame();
                continue;
            }
            if let Some(frame) = self.frames.last_mut() {
                frame.levels.append(&mut levels);
            }
            match self.try_option()? {
                Some(None) => return Ok(true),
                Some(Some(conflict)) => levels = conflict,
                None => levels = self.drop_frame().map_or(Levels::new(), |frame| frame.levels),
            }
        }
        Ok(false)
    }

    fn drop_frame(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        if let Decision::Choice { choice, .. } = frame.decision {
            self.decided[choice.index()] = false;
        }
        Some(frame)
    }

    /// To where the last decision was made.
    fn undo(&mut self) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        self.open.truncate(frame.open);
        for entry in self.trail.drain(frame.trail..).rev() {
            let (bounds, entries) = match entry.side {
                Side::Low => (&mut self.bounds.low, &mut self.low_entry),
                Side::High => (&mut self.bounds.high, &mut self.high_entry),
            };
            bounds[entry.unknown] = entry.before;
            entries[entry.unknown] = entry.entry_before;
        }
        self.queue.drain(..).for_each(|form| self.queued[form.index()] = false);
    }

    /// Asserts what holds in the alternative.
    fn take(&mut self, alternative: AlternativeId, level: usize) -> Result<Option<Levels>, Stop> {
        self.budget.step()?;
        let program = self.program;
        let alternative = &program.alternatives[alternative.index()];
        self.open.extend(alternative.choices.iter().map(|&choice| (choice, level)));
        for bound in &alternative.bounds {
            if let Subject::Form(form) = bound.subject {
                self.simplex.activate(program, form)?;
                self.active[form.index()] = true;
                self.enqueue(form);
            }
            let unknown = self.unknown(bound.subject);
            for (side, value) in [(Side::Low, bound.low), (Side::High, bound.high)] {
                let reason = if level == 0 { Reason::Entries(Vec::new()) } else { Reason::Level(level) };
                if let Some(conflict) = self.tighten(unknown, side, value, reason) {
                    return Ok(Some(conflict));
                }
            }
        }
        Ok(None)
    }

    fn unknown(&self, subject: Subject) -> Unknown {
        match subject {
            Subject::Column(column) => column.index(),
            Subject::Form(form) => self.program.columns.len() + form.index(),
        }
    }

    /// The conflict, if the bound excludes the other one.
    fn tighten(&mut self, unknown: Unknown, side: Side, value: i128, reason: Reason) -> Option<Levels> {
        let (low, high) = (self.bounds.low[unknown], self.bounds.high[unknown]);
        let (tighter, excluded) = match side {
            Side::Low => (value > low, value > high),
            Side::High => (value < high, value < low),
        };
        if !tighter {
            return None;
        }
        if excluded {
            let other = match side {
                Side::Low => self.high_entry[unknown],
                Side::High => self.low_entry[unknown],
            };
            return Some(self.levels_of(reason, other));
        }
        let (bounds, entries) = match side {
            Side::Low => (&mut self.bounds.low, &mut self.low_entry),
            Side::High => (&mut self.bounds.high, &mut self.high_entry),
        };
        let (before, entry_before) = (bounds[unknown], entries[unknown]);
        bounds[unknown] = value;
        entries[unknown] = Some(self.trail.len());
        self.trail.push(Entry { unknown, side, before, entry_before, reason });
        self.enqueue_users(unknown);
        None
    }

    fn enqueue_users(&mut self, unknown: Unknown) {
        match unknown.checked_sub(self.program.columns.len()) {
            Some(form) => self.enqueue(FormId::from_index(form)),
            None => {
                for place in 0..self.forms_of[unknown].len() {
                    self.enqueue(self.forms_of[unknown][place]);
                }
            }
        }
    }

    fn enqueue(&mut self, form: FormId) {
        if self.active[form.index()] && !self.queued[form.index()] {
            self.queued[form.index()] = true;
            self.queue.push_back(form);
        }
    }

    fn levels_of(&self, reason: Reason, other: Option<usize>) -> Levels {
        let (mut entries, mut levels): (Vec<usize>, Levels) = (other.into_iter().collect(), Levels::new());
        match reason {
            Reason::Level(level) => levels.extend([level]),
            Reason::Entries(more) => entries.extend(more),
        }
        self.traced(entries, levels)
    }

    /// The decisions that the entries come from.
    fn traced(&self, entries: Vec<usize>, mut levels: Levels) -> Levels {
        // Reasons are older than what they explain, so the newest first meets each entry once.
        let mut pending: BTreeSet<usize> = entries.into_iter().collect();
        while let Some(entry) = pending.pop_last() {
            match &self.trail[entry].reason {
                Reason::Level(level) => levels.extend([*level]),
                Reason::Entries(more) => pending.extend(more),
            }
        }
        levels
    }

    /// Propagation, then the simplex method: the conflict, if there is one.
    fn relaxation(&mut self) -> Result<Option<Levels>, Stop> {
        let mut left = PROPAGATIONS_PER_FORM * (1 + self.queue.len());
        while let Some(form) = self.queue.pop_front() {
            self.queued[form.index()] = false;
            if let Some(conflict) = self.propagate(form).ok_or(Stop::NumbersTooLarge)? {
                return Ok(Some(conflict));
            }
            left -= 1;
            if left == 0 {
                self.queue.drain(..).for_each(|form| self.queued[form.index()] = false);
            }
        }
        match self.simplex.solve(&self.bounds, self.budget)? {
            Outcome::Feasible => Ok(None),
            Outcome::Conflict(bounds) => {
                let entries = bounds.into_iter().filter_map(|(unknown, side)| self.entry(unknown, side)).collect();
                Ok(Some(self.traced(entries, Levels::new())))
            }
        }
    }

    fn entry(&self, unknown: Unknown, side: Side) -> Option<usize> {
        match side {
            Side::Low => self.low_entry[unknown],
            Side::High => self.high_entry[unknown],
        }
    }

    fn bound(&self, unknown: Unknown, side: Side) -> i128 {
        match side {
            Side::Low => self.bounds.low[unknown],
            Side::High => self.bounds.high[unknown],
        }
    }

    /// Bounds of the form from those of its columns, and of each column from the form and the others. None on overflow.
    fn propagate(&mut self, form: FormId) -> Option<Option<Levels>> {
        let program = self.program;
        let terms = &program.forms[form.index()].terms;
        let own = program.columns.len() + form.index();
        for side in [Side::Low, Side::High] {
            let total = self.extreme(form, side)?;
            let reasons = self.reasons(form, side, None);
            if let Some(conflict) = self.tighten(own, side, total, Reason::Entries(reasons)) {
                return Some(Some(conflict));
            }
        }
        // On each side: factor · column ≥ form's low − greatest of the others, ≤ form's high − least of the others.
        for side in [Side::Low, Side::High] {
            let total = self.extreme(form, opposite(side))?;
            let room = self.bound(own, side).checked_sub(total)?;
            for &(column, factor) in terms {
                let column_side = if factor > 0 { side } else { opposite(side) };
                let here = self.bound(column.index(), opposite(column_side));
                let product = room.checked_add(factor.checked_mul(here)?)?;
                let value = divided(product, factor, column_side)?;
                if self.is_tighter(column.index(), column_side, value) {
                    let mut reasons = self.reasons(form, opposite(side), Some(column.index()));
                    reasons.extend(self.entry(own, side));
                    let conflict = self.tighten(column.index(), column_side, value, Reason::Entries(reasons));
                    if conflict.is_some() {
                        return Some(conflict);
                    }
                }
            }
        }
        Some(None)
    }

    fn is_tighter(&self, unknown: Unknown, side: Side, value: i128) -> bool {
        match side {
            Side::Low => value > self.bounds.low[unknown],
            Side::High => value < self.bounds.high[unknown],
        }
    }

    /// The least or greatest value that the bounds of the columns give the form.
    fn extreme(&self, form: FormId, side: Side) -> Option<i128> {
        let mut total = 0_i128;
        for &(column, factor) in &self.program.forms[form.index()].terms {
            let bound = self.bound(column.index(), if factor > 0 { side } else { opposite(side) });
            total = total.checked_add(factor.checked_mul(bound)?)?;
        }
        Some(total)
    }

    /// The entries behind [`Search::extreme`], without those of one column.
    fn reasons(&self, form: FormId, side: Side, without: Option<usize>) -> Vec<usize> {
        let terms = self.program.forms[form.index()].terms.iter();
        terms
            .filter(|(column, _)| Some(column.index()) != without)
            .filter_map(|&(column, factor)| self.entry(column.index(), if factor > 0 { side } else { opposite(side) }))
            .collect()
    }

    /// The open choice with the fewest options, of those that the point does not satisfy if there are any.
    fn next_choice(&self, point: &[i128]) -> Option<OpenChoice> {
        let mut best: Option<OpenChoice> = None;
        for &(choice, _) in self.open.iter().filter(|(choice, _)| !self.decided[choice.index()]) {
            let alternatives = &self.program.choices[choice.index()].alternatives;
            let satisfied = alternatives.iter().any(|&alternative| self.satisfied(alternative, point));
            if satisfied && best.as_ref().is_some_and(|best| !best.satisfied) {
                continue;
            }
            let possible = alternatives.iter().filter(|&&alternative| self.possible(alternative)).count();
            if best.as_ref().is_none_or(|best| (satisfied, possible) < (best.satisfied, best.possible)) {
                best = Some(OpenChoice { choice, satisfied, possible });
            }
        }
        best
    }

    /// The alternatives that the point satisfies first, those that are excluded last.
    fn options(&self, choice: ChoiceId, point: &[i128]) -> Decision {
        let mut order = self.program.choices[choice.index()].alternatives.clone();
        order.sort_by_key(|&alternative| (!self.satisfied(alternative, point), !self.possible(alternative)));
        Decision::Choice { choice, order }
    }

    /// The point is within the alternative's bounds.
    fn satisfied(&self, alternative: AlternativeId, point: &[i128]) -> bool {
        let value = |bound: &Bound| match bound.subject {
            Subject::Column(column) => Some(point[column.index()]),
            Subject::Form(form) => {
                let terms = self.program.forms[form.index()].terms.iter();
                terms.copied().try_fold(0_i128, |sum, (column, factor)| {
                    sum.checked_add(factor.checked_mul(point[column.index()])?)
                })
            }
        };
        let within = |bound: &Bound| value(bound).is_some_and(|value| bound.low <= value && value <= bound.high);
        self.program.alternatives[alternative.index()].bounds.iter().all(within)
    }

    /// No bound of the alternative excludes the present ones by itself.
    fn possible(&self, alternative: AlternativeId) -> bool {
        let meets = |bound: &Bound| {
            let (low, high) = self.present_range(bound.subject);
            bound.low <= high && bound.high >= low
        };
        self.program.alternatives[alternative.index()].bounds.iter().all(meets)
    }

    /// Of a form that was not bounded yet, what the bounds of its columns leave.
    fn present_range(&self, subject: Subject) -> (i128, i128) {
        let unknown = self.unknown(subject);
        let (low, high) = (self.bounds.low[unknown], self.bounds.high[unknown]);
        match subject {
            Subject::Form(form) if !self.active[form.index()] => {
                (self.extreme(form, Side::Low).unwrap_or(low), self.extreme(form, Side::High).unwrap_or(high))
            }
            _ => (low, high),
        }
    }
}

/// A form may be gone through again when its columns change, but a pair such as `x < y` and `y < x` would go on for as long
/// as there are numbers.
const PROPAGATIONS_PER_FORM: usize = 6;

fn opposite(side: Side) -> Side {
    match side {
        Side::Low => Side::High,
        Side::High => Side::Low,
    }
}

/// `product / factor` rounded into the bound: up for a low one, down for a high one.
fn divided(product: i128, factor: i128, side: Side) -> Option<i128> {
    let (product, factor) = match factor < 0 {
        true => (product.checked_neg()?, factor.checked_neg()?),
        false => (product, factor),
    };
    Some(match side {
        Side::Low => ceiling_division(product, factor),
        Side::High => floor_division(product, factor),
    })
}
