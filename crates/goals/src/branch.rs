//! The criterion `branch`: every outcome that llvm-cov counts.

use branchwise_program::map::{Label, LabelValues, Map, Marker, MarkerKind};
use branchwise_program::{FunctionId, MarkerId};

use crate::{Criterion, Goal, GoalKind, Needs};

/// The branch outcomes of one function in source order, true before false.
pub fn branch_goals(map: &Map, function: FunctionId) -> Vec<Goal> {
    let markers = map.functions[function].markers.iter();
    markers.flat_map(|&id| marker_goals(id, &map.markers[id])).collect()
}

fn marker_goals(id: MarkerId, marker: &Marker) -> Vec<Goal> {
    match &marker.kind {
        MarkerKind::Condition { counted: false } | MarkerKind::Handler => Vec::new(),
        MarkerKind::Condition { counted: true } => both_outcomes(id, marker, GoalKind::Condition).into(),
        MarkerKind::Switch { labels, default_counted, .. } => switch_goals(id, marker, labels, *default_counted),
    }
}

fn switch_goals(id: MarkerId, marker: &Marker, labels: &[Label], default_counted: bool) -> Vec<Goal> {
    let mut goals = Vec::new();
    if default_counted && !labels.iter().any(|label| label.values == LabelValues::Default) {
        goals.extend(both_outcomes(id, marker, GoalKind::ImplicitDefault(labels.len() as u32)));
    }
    for (index, label) in labels.iter().enumerate() {
        let pair = both_outcomes(id, marker, GoalKind::Label(index as u32));
        goals.extend(pair.map(|goal| Goal {
            place: label.place,
            spelled: label.spelled,
            text: label.text.clone(),
            ..goal
        }));
    }
    goals
}

fn both_outcomes(id: MarkerId, marker: &Marker, kind: GoalKind) -> [Goal; 2] {
    [true, false].map(|outcome| Goal {
        function: marker.function,
        criterion: Criterion::Branch,
        kind,
        outcome: Some(outcome),
        needs: Needs::Outcome(id),
        place: marker.place,
        spelled: marker.spelled,
        text: marker.text.clone(),
    })
}
