use super::float_propagation::float_roles;
use super::float_range::FloatRange;
use super::range::Range;
use super::{backward, forward};
use crate::smt::wire::{Graph, GraphNode};
use crate::terms::{TermId, TermKind};

/// How often all terms are gone through. Most contradictions show in the first two rounds; a pair such as `x < y` and
/// `y < x` would take as many rounds as there are numbers.
const MOST_ROUNDS: usize = 6;

/// The bounds of the variables under the constraints, by the number of the variable, in the orders of integers and, for
/// those that are used as floats, in that of floats; none if they exclude each other.
pub(super) fn contracted(graph: &Graph) -> Option<(Vec<Range>, Vec<Option<FloatRange>>)> {
    Some(propagated(graph)?.of_variables())
}

/// The bounds of one node under the constraints; none if they exclude each other.
pub(super) fn contracted_range(graph: &Graph, node: TermId) -> Option<Range> {
    Some(propagated(graph)?.range(node))
}

/// For each alternative, whether it and the constraints exclude each other. What the constraints say alone is worked out once.
pub(super) fn excluded(graph: &Graph, alternatives: &[TermId]) -> Vec<bool> {
    let Some(common) = propagated(graph) else { return vec![true; alternatives.len()] };
    alternatives.iter().map(|&alternative| common.clone().contract_further(alternative).is_none()).collect()
}

fn propagated(graph: &Graph) -> Option<Propagation<'_>> {
    let mut propagation = Propagation::new(graph);
    propagation.contract()?;
    Some(propagation)
}

#[derive(Clone)]
pub(super) struct Propagation<'a> {
    pub graph: &'a Graph,
    /// By node. A term has one value in a model wherever it occurs, so bounds from all its uses apply together.
    pub ranges: Vec<Range>,
    /// By node, of those that are floats.
    pub floats: Vec<Option<FloatRange>>,
    /// Pairs of nodes, the first of which is never greater than the second; neither is a NaN.
    pub ordered: Vec<(TermId, TermId)>,
    pub changed: bool,
    /// How many times all terms were gone through.
    pub rounds: u64,
    changes: Changes,
}

/// When the bounds of each node changed last, and when it was looked at, forwards and backwards. A node that was looked at
/// since its operands (backwards: and itself) changed would give the same bounds again, which hold already. Nothing is
/// kept where there are floats, whose bounds come from more than their operands.
#[derive(Clone, Debug, Default)]
struct Changes {
    now: u32,
    last: Vec<u32>,
    forward: Vec<u32>,
    backward: Vec<u32>,
}

impl Changes {
    /// Nothing has been looked at.
    fn of(nodes: usize) -> Self {
        Changes { now: 1, last: vec![1; nodes], forward: vec![0; nodes], backward: vec![0; nodes] }
    }

    fn note(&mut self, term: TermId) {
        if let Some(last) = self.last.get_mut(term.index()) {
            self.now += 1;
            *last = self.now;
        }
    }

    /// Whether a node may give new bounds for itself; it is looked at now.
    fn forward_due(&mut self, place: usize, node: &GraphNode) -> bool {
        let Some(seen) = self.forward.get_mut(place) else { return true };
        let due = *seen == 0 || node.kind.operands().any(|operand| self.last[operand.index()] > *seen);
        *seen = self.now;
        due
    }

    /// Whether a node may give new bounds for its operands; it is looked at now.
    fn backward_due(&mut self, place: usize, node: &GraphNode) -> bool {
        let Some(seen) = self.backward.get_mut(place) else { return true };
        let changed = |place: usize| self.last[place] > *seen;
        let due = changed(place) || node.kind.operands().any(|operand| changed(operand.index()));
        *seen = self.now;
        due
    }
}

impl<'a> Propagation<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let ranges = graph.nodes.iter().map(|node| Range::full(node.width)).collect();
        let (floats, changes) = (float_roles(graph), Changes::default());
        Propagation { graph, ranges, floats, ordered: Vec::new(), changed: false, rounds: 0, changes }
    }

    /// Bounds under the constraints, to a fixpoint if that is near; none if they exclude each other.
    pub(super) fn contract(&mut self) -> Option<()> {
        let is_float = |node: &GraphNode| matches!(node.kind, TermKind::Float(..));
        let floats = self.graph.nodes.iter().any(is_float);
        self.contract_with(if floats { Changes::default() } else { Changes::of(self.graph.nodes.len()) })
    }

    fn contract_with(&mut self, changes: Changes) -> Option<()> {
        self.changes = changes;
        for &constraint in &self.graph.constraints {
            self.narrow(constraint, Range::boolean(true))?;
        }
        self.go_through()
    }

    /// The same where one constraint more is to hold.
    fn contract_further(&mut self, constraint: TermId) -> Option<()> {
        self.narrow(constraint, Range::boolean(true))?;
        self.go_through()
    }

    fn go_through(&mut self) -> Option<()> {
        for _ in 0..MOST_ROUNDS {
            self.changed = false;
            self.rounds += 1;
            self.round()?;
            if !self.changed {
                break;
            }
        }
        Some(())
    }
}

impl Propagation<'_> {
    fn round(&mut self) -> Option<()> {
        for (place, node) in self.graph.nodes.iter().enumerate() {
            if self.changes.forward_due(place, node) {
                let range = self.forward(place, node);
                self.narrow(TermId(place as u32), range)?;
            }
            self.forward_float(place, node)?;
        }
        self.narrow_ordered()?;
        for (place, node) in self.graph.nodes.iter().enumerate().rev() {
            self.backward_float(place, node)?;
            if self.changes.backward_due(place, node) {
                self.backward(self.ranges[place], node)?;
            }
        }
        Some(())
    }

    pub(super) fn range(&self, term: TermId) -> Range {
        self.ranges[term.index()]
    }

    pub(super) fn narrow(&mut self, term: TermId, range: Range) -> Option<()> {
        let known = self.range(term);
        if !known.is_within(range) {
            let met = known.meet(range)?;
            if met != known {
                self.changed = true;
                self.changes.note(term);
                self.ranges[term.index()] = met;
            }
        }
        Some(())
    }

    fn narrow_both(&mut self, a: TermId, b: TermId, ranges: Option<backward::Pair>) -> Option<()> {
        let (left, right) = ranges?;
        self.narrow(a, left)?;
        self.narrow(b, right)
    }

    fn forward(&self, place: usize, node: &GraphNode) -> Range {
        match node.kind {
            TermKind::Constant(value) => Range::point(value, node.width),
            TermKind::Variable(_) => self.ranges[place],
            TermKind::Unary(op, a) => forward::unary(op, self.range(a)),
            TermKind::Binary(op, a, b) => forward::binary(op, self.range(a), self.range(b)),
            TermKind::Compare(op, a, b) => forward::compare(op, self.range(a), self.range(b)),
            TermKind::IfThenElse { condition, then, otherwise } => self.chosen(condition, then, otherwise),
            TermKind::Extract { term, low } => forward::extract(self.range(term), low, node.width),
            TermKind::Concat { high, low } => forward::concat(self.range(high), self.range(low)),
            TermKind::ZeroExtend(a) => forward::zero_extend(self.range(a), node.width),
            TermKind::SignExtend(a) => forward::sign_extend(self.range(a), node.width),
            TermKind::Float(op, a, b, _) => self.float_result(op, a, b, node.width),
        }
    }

    fn chosen(&self, condition: TermId, then: TermId, otherwise: TermId) -> Range {
        match self.range(condition).as_point() {
            Some(1) => self.range(then),
            Some(_) => self.range(otherwise),
            None => self.range(then).hull(self.range(otherwise)),
        }
    }

    fn backward(&mut self, result: Range, node: &GraphNode) -> Option<()> {
        match node.kind {
            TermKind::Constant(_) | TermKind::Variable(_) => Some(()),
            // Both are their own inverses.
            TermKind::Unary(op, a) => self.narrow(a, forward::unary(op, result)),
            TermKind::Binary(op, a, b) => {
                self.narrow_both(a, b, backward::binary(op, result, self.range(a), self.range(b)))
            }
            TermKind::Compare(op, a, b) => match result.as_point() {
                Some(truth) => self.narrow_both(a, b, backward::compare(op, truth == 1, self.range(a), self.range(b))),
                None => Some(()),
            },
            TermKind::IfThenElse { condition, then, otherwise } => self.choose(result, condition, then, otherwise),
            TermKind::Extract { term, low } => self.narrow(term, backward::extract(result, self.range(term), low)?),
            TermKind::Concat { high, low } => {
                self.narrow_both(high, low, backward::concat(result, self.range(high), self.range(low)))
            }
            TermKind::ZeroExtend(a) => self.narrow(a, backward::zero_extend(result, self.range(a))?),
            TermKind::SignExtend(a) => self.narrow(a, backward::sign_extend(result, self.range(a))?),
            TermKind::Float(op, a, b, _) => self.narrow_converted(op, result, a, b),
        }
    }

    fn choose(&mut self, result: Range, condition: TermId, then: TermId, otherwise: TermId) -> Option<()> {
        let ranges = backward::choice(result, self.range(condition), self.range(then), self.range(otherwise))?;
        self.narrow(condition, ranges.0)?;
        self.narrow(then, ranges.1)?;
        self.narrow(otherwise, ranges.2)
    }

    fn of_variables(&self) -> (Vec<Range>, Vec<Option<FloatRange>>) {
        // Variables are numbered in the order of their nodes.
        let is_variable = |node: &GraphNode| matches!(node.kind, TermKind::Variable(_));
        let nodes = self.graph.nodes.iter().zip(self.ranges.iter().zip(&self.floats));
        nodes.filter(|(node, _)| is_variable(node)).map(|(_, (&range, &float))| (range, float)).unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::super::library_tests::{Random, cases};
    use super::super::range::all_ranges;
    use super::*;
    use crate::semantics;
    use crate::smt::wire::graph;
    use crate::terms::{BinaryOp, CompareOp, Terms, UnaryOp};

    fn values(range: Range) -> impl Iterator<Item = u128> {
        (0..=semantics::mask(range.width)).filter(move |&value| range.contains(value))
    }

    /// Every pair of values from every pair of ranges, where `keep` thins out the pairs of larger widths.
    fn for_all_pairs(width: u32, keep: usize, mut check: impl FnMut(Range, Range, u128, u128)) {
        let ranges = all_ranges(width);
        for (number, (&a, &b)) in ranges.iter().flat_map(|a| ranges.iter().map(move |b| (a, b))).enumerate() {
            if number % keep == 0 {
                values(a).for_each(|left| values(b).for_each(|right| check(a, b, left, right)));
            }
        }
    }

    #[test]
    fn forward_ranges_contain_every_value() {
        for (width, keep) in [(1, 1), (2, 1), (3, 1), (4, 97)] {
            for_all_pairs(width, keep, |a, b, left, right| {
                for op in BinaryOp::ALL {
                    let range = forward::binary(op, a, b);
                    let value = semantics::binary(op, left, right, width);
                    assert!(
                        range.contains(value),
                        "{op:?} {a:?} {b:?}: {left} {right} gives {value}, not in {range:?}"
                    );
                }
                for op in CompareOp::ALL {
                    let value = u128::from(semantics::compare(op, left, right, width));
                    assert!(forward::compare(op, a, b).contains(value), "{op:?} {a:?} {b:?} {left} {right}");
                }
                assert!(forward::concat(a, b).contains((left << width) | right));
            });
        }
    }

    #[test]
    fn backward_ranges_keep_every_solution() {
        for (width, result_keep, keep) in [(1, 1, 1), (2, 1, 1), (3, 5, 7)] {
            let results: Vec<Range> = all_ranges(width).into_iter().step_by(result_keep).collect();
            for_all_pairs(width, keep, |a, b, left, right| {
                for op in BinaryOp::ALL {
                    let value = semantics::binary(op, left, right, width);
                    for &result in results.iter().filter(|result| result.contains(value)) {
                        let kept = backward::binary(op, result, a, b);
                        let kept = kept.is_some_and(|(a, b)| a.contains(left) && b.contains(right));
                        assert!(kept, "{op:?} {a:?} {b:?} {left} {right} {result:?}");
                    }
                }
                for op in CompareOp::ALL {
                    let truth = semantics::compare(op, left, right, width);
                    let kept = backward::compare(op, truth, a, b);
                    let kept = kept.is_some_and(|(a, b)| a.contains(left) && b.contains(right));
                    assert!(kept, "{op:?} {truth} {a:?} {b:?} {left} {right}");
                }
            });
        }
    }

    #[test]
    fn changes_of_width_lose_no_value() {
        let narrow_ranges = all_ranges(2);
        let wide_ranges = all_ranges(4);
        for (&a, value) in wide_ranges.iter().flat_map(|a| values(*a).map(move |value| (a, value))) {
            for low in 0..=2 {
                let bits = semantics::truncate(value >> low, 2);
                assert!(forward::extract(a, low, 2).contains(bits), "{a:?} {value} {low}");
                for &result in narrow_ranges.iter().filter(|result| result.contains(bits)) {
                    let kept = backward::extract(result, a, low);
                    assert!(kept.is_some_and(|kept| kept.contains(value)), "{result:?} {a:?} {low} {value}");
                }
            }
        }
        for (&a, value) in narrow_ranges.iter().flat_map(|a| values(*a).map(move |value| (a, value))) {
            let sign = semantics::truncate(semantics::signed(value, 2) as u128, 4);
            assert!(forward::zero_extend(a, 4).contains(value) && forward::sign_extend(a, 4).contains(sign));
            for &result in &wide_ranges {
                let zero = backward::zero_extend(result, a).is_some_and(|kept| kept.contains(value));
                assert!(zero || !result.contains(value), "{result:?} {a:?} {value}");
                let signed = backward::sign_extend(result, a).is_some_and(|kept| kept.contains(value));
                assert!(signed || !result.contains(sign), "{result:?} {a:?} {value}");
            }
        }
    }

    #[test]
    fn parts_and_unary_results_lose_no_value() {
        let results: Vec<Range> = all_ranges(4).into_iter().step_by(3).collect();
        for_all_pairs(2, 1, |high, low, left, right| {
            let joined = (left << 2) | right;
            for &result in results.iter().filter(|result| result.contains(joined)) {
                let kept = backward::concat(result, high, low);
                assert!(
                    kept.is_some_and(|(h, l)| h.contains(left) && l.contains(right)),
                    "{result:?} {high:?} {low:?}"
                );
            }
            for op in [UnaryOp::Not, UnaryOp::Neg] {
                assert!(forward::unary(op, high).contains(semantics::unary(op, left, 2)), "{op:?} {high:?} {left}");
            }
        });
    }

    /// Some terms over each other and some comparisons of them.
    fn random_graph(random: &mut Random) -> Graph {
        let mut terms = Terms::new();
        let width = [4, 8, 32][random.below(3) as usize];
        let mut known: Vec<TermId> = (0..3).map(|_| terms.variable("x", width)).collect();
        let mut constraints = Vec::new();
        for _ in 0..20 {
            let mut any = || known[random.below(known.len() as u64) as usize];
            let (a, b) = (any(), any());
            let compared = terms.compare(CompareOp::ALL[random.below(CompareOp::ALL.len() as u64) as usize], a, b);
            known.push(match random.below(4) {
                0 => terms.if_then_else(compared, a, b),
                1 => terms.constant(random.integer(width), width),
                _ => terms.binary(BinaryOp::ALL[random.below(BinaryOp::ALL.len() as u64) as usize], a, b),
            });
            if random.below(3) == 0 {
                constraints.push(compared);
            }
        }
        graph(&terms, &constraints).0
    }

    /// What is left out because nothing has changed would have changed nothing.
    #[test]
    fn leaving_out_what_has_not_changed_loses_nothing() {
        let (mut random, mut rounds, mut excluded) = (Random(43), 0, 0);
        for _ in 0..cases(4_000) {
            let graph = random_graph(&mut random);
            let [mut all, mut due] = [Propagation::new(&graph), Propagation::new(&graph)];
            let found = [all.contract_with(Changes::default()), due.contract_with(Changes::of(graph.nodes.len()))];
            assert_eq!(found[0], found[1]);
            assert_eq!((&all.ranges, all.rounds), (&due.ranges, due.rounds));
            rounds = rounds.max(due.rounds);
            excluded += usize::from(found[0].is_none());
        }
        assert!(rounds > 3 && excluded > 100, "{rounds} rounds, {excluded} excluded");
    }

    #[test]
    fn choices_lose_no_value() {
        let ranges = all_ranges(2);
        for condition in all_ranges(1) {
            for_all_pairs(2, 1, |then, otherwise, left, right| {
                for chosen in values(condition) {
                    let value = if chosen == 1 { left } else { right };
                    for &result in ranges.iter().filter(|result| result.contains(value)) {
                        let kept = backward::choice(result, condition, then, otherwise);
                        let all =
                            kept.is_some_and(|(c, t, o)| c.contains(chosen) && t.contains(left) && o.contains(right));
                        assert!(all, "{result:?} {condition:?} {then:?} {otherwise:?} {left} {right}");
                    }
                }
            });
        }
    }
}
