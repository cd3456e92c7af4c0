//! The criteria whose goals are single conditions, decisions, statements, functions, calls and loops of the source.

use branchwise_program::map::{
    CallSite, Decision, DecisionKind, Event, Function, LabelValues, Loop, LoopKind, Map, MarkerKind, NodeKind, Place,
    Probe, ProbeKind, Reading,
};
use branchwise_program::{FunctionId, MarkerId, NodeId};

use crate::combinations::{self, Cause, evaluations, value};
use crate::definitions::{Pair, Usage, pairs};
use crate::loops::LoopShape;
use crate::outcomes::deciding;
use crate::{Criterion, Goal, GoalKind, Iterations, Needs, branch_goals};

/// The goals of one function.
pub fn goals(map: &Map, function: FunctionId, criterion: Criterion) -> Vec<Goal> {
    let maker = Maker { map, id: function, function: &map.functions[function], criterion };
    match criterion {
        Criterion::Branch => branch_goals(map, function),
        Criterion::Statement => maker.statements(),
        Criterion::Decision => maker.decisions(),
        Criterion::Condition => maker.conditions(),
        Criterion::ConditionDecision => [maker.conditions(), maker.decisions()].concat(),
        Criterion::Function => vec![maker.entered()],
        Criterion::Call => maker.calls(),
        Criterion::Loop => maker.loops(),
        Criterion::MultipleCondition => maker.combinations(),
        Criterion::Mcdc => [maker.combinations(), maker.effects(Cause::Unique)].concat(),
        Criterion::McdcMasking => [maker.combinations(), maker.effects(Cause::Masking)].concat(),
        Criterion::MinimalAllConditions => [maker.conditions(), maker.switches()].concat(),
        Criterion::MinimalAllDecisions => maker.decisions(),
        Criterion::Boundary => maker.boundaries(),
        Criterion::Labels => maker.labels(),
        Criterion::DefUse => maker.definitions(),
        // Their goals are named by the user, or found while paths are executed.
        Criterion::Path
        | Criterion::AllPaths
        | Criterion::KPath
        | Criterion::MinimalAllPaths
        | Criterion::EmptyElse
        | Criterion::MaxIterations => Vec::new(),
    }
}

struct Maker<'a> {
    map: &'a Map,
    id: FunctionId,
    function: &'a Function,
    criterion: Criterion,
}

impl Maker<'_> {
    fn goal(&self, kind: GoalKind, outcome: Option<bool>, place: Place, text: String, needs: Needs) -> Goal {
        Goal { function: self.id, criterion: self.criterion, kind, outcome, place, spelled: place, text, needs }
    }

    fn node_goal(&self, kind: GoalKind, node: NodeId, place: Place, text: String) -> Goal {
        self.goal(kind, None, place, text, Needs::Trace { events: Vec::new(), nodes: vec![node] })
    }

    fn conditions(&self) -> Vec<Goal> {
        let outcomes = branch_goals(self.map, self.id).into_iter();
        let conditions = outcomes.filter(|goal| goal.kind == GoalKind::Condition);
        conditions.map(|goal| Goal { criterion: self.criterion, ..goal }).collect()
    }

    fn decisions(&self) -> Vec<Goal> {
        let mut goals: Vec<Goal> =
            self.function.decisions.iter().flat_map(|decision| self.decision(decision)).collect();
        goals.sort_by_key(|goal| goal.place);
        goals
    }

    fn switches(&self) -> Vec<Goal> {
        let decisions = self.function.decisions.iter();
        decisions.filter(|decision| decision.kind == DecisionKind::Switch).flat_map(|it| self.decision(it)).collect()
    }

    fn decision(&self, decision: &Decision) -> Vec<Goal> {
        if let (DecisionKind::Switch, &[marker]) = (decision.kind, decision.formula.leaves().as_slice()) {
            return self.switch_ways(marker);
        }
        let text = decision_text(self.map, decision);
        let goal = |value| {
            let needs = Needs::AnyOf(deciding(&decision.formula, value));
            self.goal(GoalKind::Decision, Some(value), decision.place, text.clone(), needs)
        };
        // With constant operands it may have one value only.
        [true, false].map(goal).into_iter().filter(|goal| goal.needs != Needs::AnyOf(Vec::new())).collect()
    }

    /// One goal for each label, and one for the way past all of them.
    fn switch_ways(&self, id: MarkerId) -> Vec<Goal> {
        let marker = &self.map.markers[id];
        let MarkerKind::Switch { labels, .. } = &marker.kind else { return Vec::new() };
        let taken = |outcome: usize, kind: fn(u32) -> GoalKind, place, text: &str| {
            let event = Event { marker: id, outcome: outcome as u32 };
            self.goal(kind(outcome as u32), Some(true), place, text.to_string(), Needs::AnyOf(vec![event]))
        };
        let mut goals: Vec<Goal> = Vec::new();
        for (index, label) in labels.iter().enumerate() {
            goals.push(taken(index, GoalKind::Label, label.place, &label.text));
        }
        if !labels.iter().any(|label| label.values == LabelValues::Default) {
            goals.push(taken(labels.len(), GoalKind::ImplicitDefault, marker.place, &marker.text));
        }
        goals
    }

    /// The decisions that are evaluated condition by condition.
    fn evaluated(&self) -> impl Iterator<Item = &Decision> {
        self.function.decisions.iter().filter(|decision| decision.kind != DecisionKind::Switch)
    }

    fn combinations(&self) -> Vec<Goal> {
        let of_decision = |decision: &Decision| {
            let goal = |evaluation: Vec<Event>| {
                let outcome = |event: &Event| format!("{} {}", self.map.markers[event.marker].text, event.outcome == 1);
                let text = evaluation.iter().map(outcome).collect::<Vec<_>>().join(", ");
                let value = value(&decision.formula, &evaluation);
                self.goal(GoalKind::Combination, value, decision.place, text, Needs::Evaluation(evaluation))
            };
            evaluations(&decision.formula).into_iter().map(goal).collect::<Vec<_>>()
        };
        self.evaluated().flat_map(of_decision).collect()
    }

    fn effects(&self, cause: Cause) -> Vec<Goal> {
        let of_decision = |decision: &Decision| {
            // Without evaluations there were too many of them.
            let leaves = if evaluations(&decision.formula).is_empty() { Vec::new() } else { decision.formula.leaves() };
            let goal = |leaf: MarkerId| {
                let (place, text) = (self.map.markers[leaf].place, self.map.markers[leaf].text.clone());
                let needs = Needs::Pairs(combinations::pairs(&decision.formula, leaf, cause));
                self.goal(GoalKind::Effect, None, place, text, needs)
            };
            leaves.into_iter().map(goal).collect::<Vec<_>>()
        };
        self.evaluated().flat_map(of_decision).collect()
    }

    /// Statements with a node of their own, and those that are a decision.
    fn statements(&self) -> Vec<Goal> {
        let own = self.function.cfg.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Statement);
        let mut goals: Vec<Goal> =
            own.map(|(id, node)| self.node_goal(GoalKind::Statement, id, node.place, node.text.clone())).collect();
        let is_statement =
            |decision: &&Decision| !matches!(decision.kind, DecisionKind::Conditional | DecisionKind::Value);
        for decision in self.function.decisions.iter().filter(is_statement) {
            if let Some(first) = decision.formula.leaves().first() {
                let text = format!("{} ({})", keyword(decision.kind), decision_text(self.map, decision));
                let node = self.map.markers[*first].node;
                goals.push(self.node_goal(GoalKind::Statement, node, decision.place, text));
            }
        }
        goals.sort_by_key(|goal| goal.place);
        goals
    }

    fn entered(&self) -> Goal {
        self.node_goal(GoalKind::Function, self.function.cfg.entry, self.function.place, self.function.name.clone())
    }

    fn calls(&self) -> Vec<Goal> {
        let name = |call: &CallSite| call.callee.clone().map_or("through a pointer".to_string(), |it| it + "()");
        let goal = |call: &CallSite| self.node_goal(GoalKind::Call, call.node, call.place, name(call));
        self.function.calls.iter().map(goal).collect()
    }

    fn definitions(&self) -> Vec<Goal> {
        let Some(accesses) = self.map.accesses.get(&self.id) else { return Vec::new() };
        let nodes = &self.function.cfg.nodes;
        let goal = |(index, pair): (usize, Pair)| {
            let (node, outcome, needs) = match pair.usage {
                Usage::Node(node) => (node, None, Needs::Trace { events: Vec::new(), nodes: vec![node] }),
                Usage::Outcome(event) => {
                    let marker = &self.map.markers[event.marker];
                    let is_condition = matches!(marker.kind, MarkerKind::Condition { .. });
                    let outcome = is_condition.then_some(event.outcome == 1);
                    (marker.node, outcome, Needs::Trace { events: vec![event], nodes: Vec::new() })
                }
            };
            let way = match pair.usage {
                Usage::Outcome(event) if outcome.is_none() => format!(" (outcome {})", event.outcome),
                _ => String::new(),
            };
            let defined = nodes[pair.definition].place.line;
            let text = format!(
                "{} of line {defined} in {}{way}",
                accesses.variables[pair.variable as usize], nodes[node].text
            );
            self.goal(GoalKind::DefUse(index), outcome, nodes[node].place, text, needs)
        };
        pairs(self.map, self.id).into_iter().enumerate().map(goal).collect()
    }

    fn boundaries(&self) -> Vec<Goal> {
        let relations =
            [(Probe::EQUAL, "equal"), (Probe::BELOW, "just below"), (Probe::ABOVE, "just above")].into_iter();
        self.readings(ProbeKind::Relation, GoalKind::Boundary, |text| {
            let goal = |(value, word): (u32, &str)| (value, format!("{text}: {word}"));
            relations.clone().map(goal).collect()
        })
    }

    fn labels(&self) -> Vec<Goal> {
        self.readings(ProbeKind::Label, GoalKind::UserLabel, |text| vec![(1, text.to_string())])
    }

    /// The goals of all probes of a kind: the answers that are asked for, with their texts.
    fn readings(&self, kind: ProbeKind, goal: GoalKind, answers: impl Fn(&str) -> Vec<(u32, String)>) -> Vec<Goal> {
        let own = self.map.probes.iter().filter(|(_, probe)| probe.function == self.id && probe.kind == kind);
        let goals = own.flat_map(|(id, probe)| {
            let of_answer = |(value, text): (u32, String)| {
                let needs = Needs::Reading { reading: Reading { probe: id, value }, node: probe.node };
                self.goal(goal, None, probe.place, text, needs)
            };
            answers(&probe.text).into_iter().map(of_answer).collect::<Vec<_>>()
        });
        goals.collect()
    }

    fn loops(&self) -> Vec<Goal> {
        let loops = self.function.loops.iter().enumerate();
        loops.flat_map(|(index, found)| self.iterations(index, found)).collect()
    }

    /// What may be the last choice that matters is the outcome of any condition inside the loop.
    fn iterations(&self, index: usize, found: &Loop) -> Vec<Goal> {
        let shape = LoopShape::of(self.map, self.function, found);
        let inside = |marker: &&MarkerId| shape.body.contains(&self.map.markers[**marker].node);
        let markers = self.function.markers.iter().filter(inside);
        let outcomes =
            |&marker: &MarkerId| (0..self.map.markers[marker].outcomes()).map(move |outcome| Event { marker, outcome });
        let events: Vec<Event> = markers.flat_map(outcomes).collect();
        let counts = [Iterations::Zero, Iterations::One, Iterations::Many];
        let possible = counts.into_iter().filter(|&count| shape.condition.is_some() || count != Iterations::Zero);
        let goal = |count| {
            let text = format!("{}: {}", loop_word(found.kind), count_words(count));
            let needs = Needs::Trace { events: events.clone(), nodes: vec![found.head] };
            self.goal(GoalKind::Loop(index, count), None, found.place, text, needs)
        };
        possible.map(goal).collect()
    }
}

fn count_words(count: Iterations) -> &'static str {
    match count {
        Iterations::Zero => "no iteration",
        Iterations::One => "one iteration",
        Iterations::Many => "two or more iterations",
    }
}

fn loop_word(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::While => "while",
        LoopKind::Do => "do",
        LoopKind::For => "for",
        LoopKind::Goto => "goto",
    }
}

fn keyword(kind: DecisionKind) -> &'static str {
    match kind {
        DecisionKind::If => "if",
        DecisionKind::While | DecisionKind::Do => "while",
        DecisionKind::For => "for",
        DecisionKind::Switch => "switch",
        DecisionKind::Conditional | DecisionKind::Value => "",
    }
}

/// The decision with the texts of its conditions.
pub(crate) fn decision_text(map: &Map, decision: &Decision) -> String {
    use branchwise_program::map::Formula;
    fn text(map: &Map, formula: &Formula, inner: bool) -> String {
        let joined = |left, word, right| {
            let joined = format!("{} {word} {}", text(map, left, true), text(map, right, true));
            if inner { format!("({joined})") } else { joined }
        };
        match formula {
            Formula::Leaf(marker) => map.markers[*marker].text.clone(),
            Formula::Constant(value) => u8::from(*value).to_string(),
            Formula::Not(formula) => format!("!{}", text(map, formula, true)),
            Formula::And(left, right) => joined(left, "&&", right),
            Formula::Or(left, right) => joined(left, "||", right),
        }
    }
    text(map, &decision.formula, false)
}
