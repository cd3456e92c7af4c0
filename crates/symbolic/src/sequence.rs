//! A test as a sequence of calls: first calls that change the state that statics keep, then the call under test.

use branchwise_constraints::CompareOp;
use branchwise_program::FunctionId;

use crate::executor::{Executor, Step};
use crate::path::{Alternative, AlternativeKind, PathEnd};

impl Executor<'_, '_> {
    /// Makes all calls of the test and says how the last of them, or an earlier one that did not return, ended.
    pub(crate) fn make_calls(&mut self) -> PathEnd {
        for number in 0..self.session.calls_before {
            self.calls_to_come = self.session.calls_before - number;
            let end = match self.choose_call(number) {
                Ok(Some(function)) => {
                    self.calls.push(function);
                    self.make_call(function)
                }
                Ok(None) => {
                    self.skipped_calls += 1;
                    continue;
                }
                Err(end) => *end,
            };
            if end != PathEnd::Returned {
                return end;
            }
        }
        self.calls_to_come = 0;
        self.events_before_unit = self.events.len();
        self.make_call(self.session.function)
    }

    /// Which function the call with this number goes to: an input decides. `None`: to none, because the sequence begins
    /// later.
    fn choose_call(&mut self, number: u32) -> Step<Option<FunctionId>> {
        let functions = self.session.callers_of_state.clone();
        let later = self.calls.is_empty().then_some(None);
        let candidates: Vec<Option<FunctionId>> = functions.iter().copied().map(Some).chain(later).collect();
        let term = self.session.call_choice(number);
        let mut alternatives = Vec::with_capacity(candidates.len());
        for index in 0..candidates.len() {
            let terms = &mut self.session.terms;
            let constant = terms.constant(index as u128, 8);
            // The last candidate takes all other values, so that every input means something.
            let constraint = match index + 1 == candidates.len() {
                true => terms.compare(CompareOp::Ule, constant, term),
                false => terms.compare(CompareOp::Eq, term, constant),
            };
            alternatives.push(Alternative { constraint, kind: AlternativeKind::Continue });
        }
        let taken = if alternatives.len() == 1 { 0 } else { self.choose(alternatives)? };
        Ok(candidates[taken])
    }

    fn make_call(&mut self, function: FunctionId) -> PathEnd {
        let Some(driver) = self.session.shared.driver_of(function) else {
            return PathEnd::Unsupported { what: "a call of a function without a driver".to_string(), location: None };
        };
        self.calling = function;
        self.begin_call();
        // Only what the last call hands out is observed.
        self.outputs.clear();
        self.enter(driver, &[]);
        loop {
            if let Err(end) = self.advance() {
                return *end;
            }
        }
    }
}
