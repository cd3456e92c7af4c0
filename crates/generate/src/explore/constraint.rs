//! Path constraints as people read them (Sy and Deville 2003, section 3): what defines the inputs apart from what the
//! branches demand of them. Definitions of other variables are substituted where their values are used.

use std::collections::BTreeSet;

use branchwise_constraints::{TermId, Terms};
use branchwise_search::Candidate;
use branchwise_symbolic::{AlternativeKind, Decision, Path};

use super::Exploration;
use crate::result::{BranchConstraint, PathConstraint};

/// Nobody reads more of one path.
const MOST_BRANCHES: usize = 64;

/// Longer conditions are cut.
const MOST_PIECES: usize = 60;

/// One branch of a path, with the conditions on inputs that became active before it.
struct Link<'a> {
    domain: &'a [TermId],
    branch: TermId,
    event: Option<branchwise_program::map::Event>,
}

impl Exploration<'_, '_> {
    /// What an input must satisfy to take an executed path, from the call under test on.
    pub(super) fn constraint_of_path(&self, path: &Path) -> PathConstraint {
        let links: Vec<Link<'_>> =
            path.decisions.iter().filter(|decision| decision.repeats.is_none()).map(link).collect();
        text(&self.session.terms, &links)
    }

    /// What an input had to satisfy to go an alternative's way.
    pub(super) fn constraint_of_candidate(&self, candidate: Candidate) -> PathConstraint {
        let mut links = Vec::new();
        let mut at = Some((candidate.node, candidate.branch));
        while let Some((node, branch)) = at {
            let knowledge = &self.knowledge[node.0 as usize];
            let event = self.tree.branches(node)[branch].event;
            links.push(Link { domain: &knowledge.domain, branch: knowledge.branches[branch], event });
            at = self.tree.parent(node);
        }
        links.reverse();
        text(&self.session.terms, &links)
    }
}

fn link(decision: &Decision) -> Link<'_> {
    let taken = &decision.alternatives[decision.taken];
    let event = match taken.kind {
        AlternativeKind::Event(event) => Some(event),
        _ => None,
    };
    Link { domain: &decision.domain, branch: taken.constraint, event }
}

fn text(terms: &Terms, links: &[Link<'_>]) -> PathConstraint {
    let shown = &links[..links.len().min(MOST_BRANCHES)];
    let display = |term: TermId| terms.display(term).at_most(MOST_PIECES).to_string();
    let mut inputs = BTreeSet::new();
    for &term in shown.iter().flat_map(|link| link.domain.iter().chain([&link.branch])) {
        inputs.extend(terms.variables(term).iter().copied());
    }
    let input = |variable| format!("{} ({} bits)", terms.variable_name(variable), terms.variable_width(variable));
    PathConstraint {
        inputs: inputs.into_iter().map(input).collect(),
        domain: shown.iter().flat_map(|link| link.domain).map(|&term| display(term)).collect(),
        branches: shown
            .iter()
            .map(|link| BranchConstraint { event: link.event, condition: display(link.branch) })
            .collect(),
        more: links.len() - shown.len(),
    }
}
