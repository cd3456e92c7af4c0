//! Tests without undefined behaviour, for goals that tests have reached only behind it. In the rounds for them a path ends where
//! arithmetic is undefined, so that every input they find is defined on its whole way.

use branchwise_goals::{GoalId, Ledger};
use branchwise_program::map::Event;
use branchwise_symbolic::{Sharing, Undefined};

use super::{Unit, larger};
use crate::explore::{Attempt, Budget, Exploration, Found, Limitations, Means};
use crate::replayed::predicted_goals;
use crate::settings::Bounds;

/// Of what is left of the budget, the part that they take after the first round, while other goals are still looked for, ...
pub(super) const SHARE_AT_FIRST: f64 = 0.1;
/// ... and at the end.
pub(super) const SHARE_AT_LAST: f64 = 0.5;

/// More rounds than this look at inputs so large that few find any.
const MOST_ROUNDS: u32 = 3;

impl Unit<'_, '_> {
    /// Looks for such tests with a part of what is left of the budget, and adds them to the attempts.
    pub(super) fn look_for_defined(
        &self,
        ledger: &mut Ledger,
        (means, sharing): (&Means<'_>, &Sharing),
        found: Found<'_>,
        attempts: &mut Vec<Attempt>,
        (budget, share): (&mut Budget<'_>, f64),
    ) {
        let events_of = |goal: GoalId| events_of(ledger, attempts, goal);
        let Some(mut reopened) = ledger.reopened(events_of) else { return };
        let until = budget.spent() + share * (1.0 - budget.spent());
        let mut bounds = Bounds::FIRST;
        let Found { counters, faults } = found;
        for _ in 0..MOST_ROUNDS {
            let Some(session) = self.place.prepared.session(self.function, bounds.pointer_elements) else { break };
            let mut session = session.with_calls_before(bounds.calls - 1);
            session.inputs.sharing = sharing.clone();
            (session.object_calls, session.undefined) = (bounds.object_calls, Undefined::Avoid);
            let found = Found { counters: &mut *counters, faults: &mut *faults };
            let mut exploration = Exploration::new(session, means, &mut reopened, found, bounds, budget);
            exploration.hurry(budget);
            exploration.run(attempts, budget, until, &mut |_, _| {});
            let fresh = exploration.take_attempts();
            let limitations: Limitations = std::mem::take(&mut exploration.limitations);
            let next = larger(bounds, &limitations, exploration.state_has_writers());
            attempts.extend(fresh.into_iter().filter(|attempt| is_wanted(ledger, attempt)));
            let stopped = limitations.interrupted || limitations.out_of_memory;
            if reopened.open() == 0 || next == bounds || stopped || budget.spent() >= until {
                break;
            }
            bounds = next;
        }
        ledger.note_reopened(&reopened);
    }
}

/// Whether an attempt reaches something without undefined behaviour that others reached only behind it.
fn is_wanted(ledger: &Ledger, attempt: &Attempt) -> bool {
    attempt.path.undefined_behaviour().is_none()
        && predicted_goals(attempt, ledger).iter().any(|&id| ledger.is_only_undefined(id))
}

/// The events of a path that is a goal.
fn events_of(ledger: &Ledger, attempts: &[Attempt], goal: GoalId) -> Option<Vec<Event>> {
    let attempt = attempts.iter().find(|attempt| predicted_goals(attempt, ledger).contains(&goal))?;
    attempt.path.events.get(attempt.path.events_before_unit..).map(<[Event]>::to_vec)
}
