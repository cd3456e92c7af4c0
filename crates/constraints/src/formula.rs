//! And/or formulas over conditions: what has to hold so that one of the paths of an execution tree is taken.
//!
//! Trees nest deeper than threads do, so nothing here recurses: not the traversals, not comparing, copying or dropping.

use std::fmt;
use std::slice;

use crate::hash::FastMap;
use crate::model::{Evaluator, Model};
use crate::terms::{TermId, TermKind, Terms};

/// Lapierre 1998, annex A, 3.2: a partial branch coverability condition has this form.
pub enum Formula {
    /// A term of width 1.
    Condition(TermId),
    /// True when empty.
    All(Vec<Formula>),
    /// False when empty.
    Any(Vec<Formula>),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Junction {
    All,
    Any,
}

impl Formula {
    pub fn truth() -> Self {
        Formula::All(Vec::new())
    }

    pub fn falsehood() -> Self {
        Formula::Any(Vec::new())
    }

    /// The formula as one boolean term.
    pub fn term(&self, terms: &mut Terms) -> TermId {
        self.fold(&mut |step| match step {
            Step::Condition(term) => term,
            Step::Junction(Junction::All, parts) => terms.conjunction(&parts),
            Step::Junction(Junction::Any, parts) => terms.disjunction(&parts),
        })
    }

    /// Whether the model satisfies it. The evaluator is one for this model.
    pub fn holds(&self, terms: &Terms, model: &Model, evaluator: &mut Evaluator) -> bool {
        let mut open: Vec<(Junction, slice::Iter<'_, Formula>)> = Vec::new();
        let mut next = Some(self);
        loop {
            let mut value = match next {
                Some(Formula::Condition(term)) => evaluator.evaluate(terms, model, *term) == 1,
                Some(Formula::All(parts)) => {
                    open.push((Junction::All, parts.iter()));
                    true
                }
                Some(Formula::Any(parts)) => {
                    open.push((Junction::Any, parts.iter()));
                    false
                }
                None => unreachable!("set below before every turn"),
            };
            next = None;
            while let Some((junction, rest)) = open.last_mut() {
                let undecided = value == (*junction == Junction::All);
                next = if undecided { rest.next() } else { None };
                if next.is_some() {
                    break;
                }
                value = if undecided { *junction == Junction::All } else { value };
                open.pop();
            }
            if next.is_none() {
                return value;
            }
        }
    }

    /// The conditions that it consists of, in the order of its text.
    pub fn conditions(&self) -> impl Iterator<Item = TermId> {
        let conditions = self.prefix_order().into_iter().filter_map(|part| match part {
            Formula::Condition(term) => Some(*term),
            Formula::All(_) | Formula::Any(_) => None,
        });
        conditions.collect::<Vec<_>>().into_iter()
    }

    /// How many ways there are to take one part of every `Any` that matters: the paths of the tree it came from.
    pub fn paths(&self) -> u64 {
        self.fold(&mut |step| match step {
            Step::Condition(_) => 1,
            Step::Junction(Junction::All, parts) => parts.into_iter().fold(1, u64::saturating_mul),
            Step::Junction(Junction::Any, parts) => parts.into_iter().fold(0, u64::saturating_add),
        })
    }

    /// Without constants, without a junction directly inside one of its kind, without the same condition twice in one.
    pub fn simplified(&self, terms: &Terms) -> Self {
        self.fold(&mut |step| match step {
            Step::Condition(term) => match terms.as_boolean(term) {
                Some(true) => Formula::truth(),
                Some(false) => Formula::falsehood(),
                None => Formula::Condition(term),
            },
            Step::Junction(junction, parts) => joined(junction, parts),
        })
    }

    /// One line such as `x != 10 ∧ (y == 3 ∨ z <s y)`.
    pub fn display<'a>(&'a self, terms: &'a Terms) -> impl fmt::Display + 'a {
        Shown { formula: self, terms }
    }

    /// From the leaves up, each part once.
    pub(crate) fn fold<T>(&self, make: &mut impl FnMut(Step<T>) -> T) -> T {
        let mut open: Vec<(Junction, slice::Iter<'_, Formula>, Vec<T>)> = Vec::new();
        let mut next = self;
        loop {
            let mut made = match next {
                Formula::Condition(term) => Some(make(Step::Condition(*term))),
                Formula::All(parts) => {
                    open.push((Junction::All, parts.iter(), Vec::with_capacity(parts.len())));
                    None
                }
                Formula::Any(parts) => {
                    open.push((Junction::Any, parts.iter(), Vec::with_capacity(parts.len())));
                    None
                }
            };
            loop {
                let Some((_, rest, done)) = open.last_mut() else {
                    return made.expect("the root is made last");
                };
                done.extend(made.take());
                if let Some(part) = rest.next() {
                    next = part;
                    break;
                }
                made = open.pop().map(|(junction, _, done)| make(Step::Junction(junction, done)));
            }
        }
    }

    /// The formula as a list from which it can be built again: each junction before its parts.
    fn prefix_order(&self) -> Vec<&Formula> {
        let mut order = Vec::new();
        let mut pending = vec![self];
        while let Some(formula) = pending.pop() {
            order.push(formula);
            pending.extend(formula.parts().iter().rev());
        }
        order
    }

    fn parts(&self) -> &[Formula] {
        match self {
            Formula::Condition(_) => &[],
            Formula::All(parts) | Formula::Any(parts) => parts,
        }
    }

    fn take_parts(&mut self) -> Vec<Formula> {
        match self {
            Formula::Condition(_) => Vec::new(),
            Formula::All(parts) | Formula::Any(parts) => std::mem::take(parts),
        }
    }
}

/// One part of a [`Formula::fold`].
pub(crate) enum Step<T> {
    Condition(TermId),
    Junction(Junction, Vec<T>),
}

/// Parts that are simplified already.
fn joined(junction: Junction, parts: Vec<Formula>) -> Formula {
    let mut kept: Vec<Formula> = Vec::with_capacity(parts.len());
    let mut seen = FastMap::default();
    for mut part in parts {
        let same = matches!((junction, &part), (Junction::All, Formula::All(_)) | (Junction::Any, Formula::Any(_)));
        if !same && part.parts().is_empty() && !matches!(part, Formula::Condition(_)) {
            // The other junction without parts decides this one.
            return part;
        }
        let inner = if same { part.take_parts() } else { vec![part] };
        kept.extend(inner.into_iter().filter(|part| match part {
            Formula::Condition(term) => seen.insert(*term, ()).is_none(),
            Formula::All(_) | Formula::Any(_) => true,
        }));
    }
    match (junction, kept.len()) {
        (_, 1) => kept.swap_remove(0),
        (Junction::All, _) => Formula::All(kept),
        (Junction::Any, _) => Formula::Any(kept),
    }
}

impl Drop for Formula {
    fn drop(&mut self) {
        let mut pending = self.take_parts();
        while let Some(mut part) = pending.pop() {
            pending.append(&mut part.take_parts());
        }
    }
}

impl Clone for Formula {
    fn clone(&self) -> Self {
        self.fold(&mut |step| match step {
            Step::Condition(term) => Formula::Condition(term),
            Step::Junction(Junction::All, parts) => Formula::All(parts),
            Step::Junction(Junction::Any, parts) => Formula::Any(parts),
        })
    }
}

impl PartialEq for Formula {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (self.prefix_order(), other.prefix_order());
        let same = |(a, b): (&&Formula, &&Formula)| match (a, b) {
            (Formula::Condition(a), Formula::Condition(b)) => a == b,
            (Formula::All(a), Formula::All(b)) | (Formula::Any(a), Formula::Any(b)) => a.len() == b.len(),
            _ => false,
        };
        left.len() == right.len() && left.iter().zip(&right).all(same)
    }
}

impl Eq for Formula {}

/// In prefix order: `all(2) t4 any(1) t7`.
impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, part) in self.prefix_order().into_iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            match part {
                Formula::Condition(term) => write!(f, "{space}{term}")?,
                Formula::All(parts) => write!(f, "{space}all({})", parts.len())?,
                Formula::Any(parts) => write!(f, "{space}any({})", parts.len())?,
            }
        }
        Ok(())
    }
}

struct Shown<'a> {
    formula: &'a Formula,
    terms: &'a Terms,
}

enum Piece<'a> {
    Text(&'static str),
    Formula { formula: &'a Formula, inside: Option<Junction> },
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pending = vec![Piece::Formula { formula: self.formula, inside: None }];
        while let Some(piece) = pending.pop() {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Formula { formula: Formula::Condition(term), inside } => {
                    let loose = inside.is_some() && matches!(self.terms.kind(*term), TermKind::Binary(..));
                    let (before, after) = if loose { ("(", ")") } else { ("", "") };
                    write!(f, "{before}{}{after}", self.terms.display(*term))?;
                }
                Piece::Formula { formula: Formula::All(parts), inside } => {
                    pending.extend(pieces(Junction::All, parts, inside).into_iter().rev());
                }
                Piece::Formula { formula: Formula::Any(parts), inside } => {
                    pending.extend(pieces(Junction::Any, parts, inside).into_iter().rev());
                }
            }
        }
        Ok(())
    }
}

fn pieces(junction: Junction, parts: &[Formula], inside: Option<Junction>) -> Vec<Piece<'_>> {
    let (sign, empty) = match junction {
        Junction::All => (" ∧ ", "true"),
        Junction::Any => (" ∨ ", "false"),
    };
    if let [part] = parts {
        return vec![Piece::Formula { formula: part, inside }];
    }
    let parenthesised = parts.len() > 1 && inside.is_some_and(|outer| outer != junction);
    let mut pieces = vec![Piece::Text(if parenthesised { "(" } else { "" })];
    for (place, formula) in parts.iter().enumerate() {
        pieces.push(Piece::Text(if place == 0 { "" } else { sign }));
        pieces.push(Piece::Formula { formula, inside: Some(junction) });
    }
    pieces.push(Piece::Text(if parts.is_empty() { empty } else { "" }));
    pieces.push(Piece::Text(if parenthesised { ")" } else { "" }));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(terms: &mut Terms) -> Formula {
        let (x, y) = (terms.variable("x", 32), terms.variable("y", 32));
        let (ten, zero) = (terms.constant(10, 32), terms.constant(0, 32));
        let not_ten = Formula::Condition(terms.not_equal(x, ten));
        let small = Formula::Condition(terms.signed_less(y, x));
        let negative = terms.signed_less(y, zero);
        let either = {
            let ten_or = terms.signed_less(x, y);
            Formula::Condition(terms.or(negative, ten_or))
        };
        let truth = Formula::Condition(terms.boolean(true));
        Formula::All(vec![
            truth,
            not_ten,
            Formula::Any(vec![small, Formula::All(vec![Formula::Condition(negative), either])]),
        ])
    }

    #[test]
    fn it_reads_as_one_line() {
        let mut terms = Terms::new();
        let formula = sample(&mut terms);
        assert_eq!(
            formula.display(&terms).to_string(),
            "true ∧ x != 10 ∧ (y <s x ∨ (y <s 0 ∧ ((y <s 0) || (x <s y))))"
        );
        assert_eq!(
            formula.simplified(&terms).display(&terms).to_string(),
            "x != 10 ∧ (y <s x ∨ (y <s 0 ∧ ((y <s 0) || (x <s y))))"
        );
        assert_eq!(Formula::truth().display(&terms).to_string(), "true");
        assert_eq!(Formula::falsehood().display(&terms).to_string(), "false");
        assert_eq!(Formula::Any(vec![Formula::truth()]).display(&terms).to_string(), "true");
    }

    #[test]
    fn constants_and_repetitions_go() {
        let mut terms = Terms::new();
        let x = terms.variable("x", 1);
        let (yes, no) = (Formula::Condition(terms.boolean(true)), Formula::Condition(terms.boolean(false)));
        let x = Formula::Condition(x);
        let all = Formula::All(vec![x.clone(), yes.clone(), Formula::All(vec![x.clone()])]);
        assert_eq!(all.simplified(&terms), x);
        assert_eq!(Formula::All(vec![x.clone(), no.clone()]).simplified(&terms), Formula::falsehood());
        assert_eq!(Formula::Any(vec![x.clone(), yes]).simplified(&terms), Formula::truth());
        assert_eq!(Formula::Any(vec![no, x.clone()]).simplified(&terms), x);
        assert_ne!(Formula::truth(), Formula::falsehood());
    }

    #[test]
    fn the_term_and_the_formula_have_the_same_models() {
        let mut terms = Terms::new();
        let formula = sample(&mut terms);
        let term = formula.term(&mut terms);
        let simplified = formula.simplified(&terms);
        let mut evaluator = Evaluator::new();
        let (mut held, mut failed) = (0, 0);
        for x in 5..15_u128 {
            for y in [0, 6, 10, 12, u128::from(u32::MAX)] {
                let values = [(0, x), (1, y)].map(|(variable, value)| (crate::VariableId::from_index(variable), value));
                let model = values.into_iter().collect();
                evaluator.reset();
                let expected = evaluator.evaluate(&terms, &model, term) == 1;
                assert_eq!(formula.holds(&terms, &model, &mut evaluator), expected);
                assert_eq!(simplified.holds(&terms, &model, &mut evaluator), expected);
                *(if expected { &mut held } else { &mut failed }) += 1;
            }
        }
        assert!(held > 0 && failed > 0);
        let (mut model, mut nothing) = (Model::new(), Evaluator::new());
        assert!(Formula::truth().holds(&terms, &model, &mut nothing));
        assert!(!Formula::falsehood().holds(&terms, &model, &mut nothing));
        model.set(crate::VariableId::from_index(0), 1);
        assert!(!Formula::All(vec![Formula::falsehood(), Formula::truth()]).holds(&terms, &model, &mut nothing));
    }

    #[test]
    fn paths_multiply_and_add() {
        let mut terms = Terms::new();
        let x = terms.variable("x", 1);
        let two = || Formula::Any(vec![Formula::Condition(x), Formula::Condition(x)]);
        assert_eq!(Formula::All(vec![two(), two(), Formula::Condition(x)]).paths(), 4);
        assert_eq!(Formula::Any(vec![two(), Formula::falsehood(), Formula::truth()]).paths(), 3);
        assert_eq!(Formula::All((0..100).map(|_| two()).collect()).paths(), u64::MAX);
    }

    /// A thread of a test has 2 MB.
    #[test]
    fn depth_is_no_danger() {
        let mut terms = Terms::new();
        let x = terms.variable("x", 32);
        let mut formula = Formula::truth();
        for depth in 0..100_000 {
            let value = terms.constant(depth, 32);
            let other = Formula::Condition(terms.not_equal(x, value));
            formula = match depth % 2 {
                0 => Formula::All(vec![other, formula]),
                _ => Formula::Any(vec![formula, other]),
            };
        }
        let copy = formula.clone();
        assert_eq!(copy, formula);
        assert_eq!(formula.paths(), 50_001);
        let simplified = formula.simplified(&terms);
        let (model, mut evaluator) = (Model::new(), Evaluator::new());
        let expected = formula.holds(&terms, &model, &mut evaluator);
        assert_eq!(simplified.holds(&terms, &model, &mut evaluator), expected);
        assert!(formula.display(&terms).to_string().contains("x != 50001"));
        assert!(format!("{formula:?}").starts_with("any(2) all(2)"));
        let term = formula.term(&mut terms);
        assert_eq!(evaluator.evaluate(&terms, &model, term) == 1, expected);
    }
}
