//! Abstract paths (Williams 2010, section 3): paths in which some structures of the source stand as one node.
//!
//! The fully expanded tree has an arc for every outcome of every leaf condition, in all functions that run. An abstract
//! AND or OR node has one arc for each value of the connective; what happens in an abstract CALL node has none.

use std::collections::HashMap;
use std::sync::Arc;

use branchwise_program::MarkerId;
use branchwise_program::map::{Event, Formula, Map};

use crate::course::Step;
use crate::notation::Notation;

/// Which structures stand as one node. None: the fully expanded tree.
#[derive(Debug, Copy, Clone, Default, PartialEq, Eq)]
pub struct Abstraction {
    pub calls: bool,
    pub conjunctions: bool,
    pub disjunctions: bool,
}

impl Abstraction {
    pub const EXPANDED: Abstraction = Abstraction { calls: false, conjunctions: false, disjunctions: false };
    /// Williams 2010, figure 7.
    pub const MINIMAL: Abstraction = Abstraction { calls: true, conjunctions: true, disjunctions: true };

    fn hides(self, formula: &Formula) -> bool {
        match formula {
            Formula::And(..) => self.conjunctions,
            Formula::Or(..) => self.disjunctions,
            Formula::Leaf(_) | Formula::Constant(_) | Formula::Not(_) => false,
        }
    }
}

/// An arc of an abstract tree.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeArc {
    Outcome(Event),
    /// The connective that begins with this leaf, the so-manieth around it from outside, has this value.
    Connective {
        leaf: MarkerId,
        nesting: u32,
        value: bool,
    },
}

/// The decisions of a program, by leaf, and how paths name them.
#[derive(Debug)]
pub struct Decisions {
    formulas: HashMap<MarkerId, Arc<Formula>>,
    notation: Notation,
}

impl Decisions {
    pub fn of(map: &Map) -> Self {
        let mut decisions = Decisions { formulas: HashMap::new(), notation: Notation::of(map) };
        for function in map.functions.values() {
            for decision in &function.decisions {
                let formula = Arc::new(decision.formula.clone());
                let leaves = decision.formula.leaves().into_iter();
                decisions.formulas.extend(leaves.map(|leaf| (leaf, Arc::clone(&formula))));
            }
        }
        decisions
    }

    /// How paths name a condition or switch.
    pub(crate) fn name(&self, marker: MarkerId) -> &str {
        self.notation.name(marker)
    }

    /// The arc of an abstract tree that ends with this event, if one does; `depth` is the number of calls around it.
    pub(crate) fn arc(&self, abstraction: Abstraction, event: Event, depth: usize) -> Option<TreeArc> {
        if abstraction.calls && depth > 0 {
            return None;
        }
        let around = self.around(event.marker);
        let Some(at) = around.iter().position(|formula| abstraction.hides(formula)) else {
            return Some(TreeArc::Outcome(event));
        };
        let value = around[at].value_after(event.marker, event.outcome == 1)?;
        let leaf = *around[at].leaves().first()?;
        Some(TreeArc::Connective { leaf, nesting: at as u32, value })
    }

    /// The formulas around a leaf, the whole decision first.
    fn around(&self, leaf: MarkerId) -> Vec<&Formula> {
        let mut around = Vec::new();
        let mut at = self.formulas.get(&leaf).map(Arc::as_ref);
        while let Some(formula) = at {
            around.push(formula);
            at = match formula {
                Formula::Leaf(_) | Formula::Constant(_) => None,
                Formula::Not(inner) => Some(inner),
                Formula::And(left, right) | Formula::Or(left, right) => {
                    Some(if left.leaves().contains(&leaf) { left } else { right })
                }
            };
        }
        around
    }

    /// The path in the notation of Williams 2010, figure 8: outcomes as line numbers with + or -, brackets around what
    /// abstract nodes contain: `<< >>` for AND, `< >` for OR, `{ }` for CALL.
    pub(crate) fn notation(&self, abstraction: Abstraction, steps: &[Step]) -> String {
        let mut words: Vec<String> = Vec::new();
        let mut calls: Vec<usize> = Vec::new();
        for step in steps {
            match *step {
                Step::Enter(_) => calls.push(words.len()),
                Step::Take(event) => {
                    let depth = calls.len().saturating_sub(1);
                    words.push(self.outcome_words(abstraction, event, depth));
                }
                Step::Leave => {
                    let began = calls.pop().unwrap_or(0);
                    if abstraction.calls && !calls.is_empty() && began < words.len() {
                        words[began].insert(0, '{');
                        words.last_mut().into_iter().for_each(|last| last.push('}'));
                    }
                }
                Step::Node(_) | Step::Call(_) => {}
            }
        }
        words.join(" ")
    }

    /// One outcome with the brackets that open before it and close behind it.
    fn outcome_words(&self, abstraction: Abstraction, event: Event, depth: usize) -> String {
        let sign = |value: bool| if value { '+' } else { '-' };
        let mut words = self.notation.outcome(event);
        if abstraction.calls && depth > 0 {
            return words;
        }
        for formula in self.around(event.marker).into_iter().rev().filter(|formula| abstraction.hides(formula)) {
            let (open, close) = if matches!(formula, Formula::And(..)) { ("<<", ">>") } else { ("<", ">") };
            if formula.leaves().first() == Some(&event.marker) {
                words.insert_str(0, open);
            }
            if let Some(value) = formula.value_after(event.marker, event.outcome == 1) {
                words += &format!("{close}{}", sign(value));
            }
        }
        words
    }
}
