//! Probes: what the marked text asks about values. The path goes on whatever the answer is; other answers on the same way
//! are for others to look for.

use std::rc::Rc;

use branchwise_constraints::TermId;
use branchwise_program::ProbeId;
use branchwise_program::code::Operand;
use branchwise_program::map::Reading;

use crate::executor::{Executor, Step};
use crate::path::{FaultKind, Position};
use crate::value::Value;

/// A probe whose answer depends on the inputs.
#[derive(Debug, Clone)]
pub struct Probed {
    pub probe: ProbeId,
    /// 32 bits.
    pub value: TermId,
    /// How many decisions of the path came before.
    pub decisions: usize,
    /// How many of the conditions on shapes that became active since the last of them.
    pub domain: usize,
    /// Where the functions on the call stack stand, innermost last.
    pub positions: Rc<[Position]>,
}

/// What a path's probes answer.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    /// The predicted answers.
    pub readings: Vec<Reading>,
    pub probed: Vec<Probed>,
}

impl Executor<'_, '_> {
    pub(crate) fn probe(&mut self, probe: ProbeId, value: &Operand) -> Step<()> {
        const NEVER_WRITTEN: &str = "a value that was never written answers a probe";
        let value = match self.value(value) {
            Value::Bits(bits) => bits as u32,
            Value::Undefined => return self.fail(FaultKind::UninitialisedRead, NEVER_WRITTEN),
            // All ways at once have no answers.
            _ if self.unites() => return Ok(()),
            value => {
                let value = self.as_term(&value, 32);
                if self.session.is_garbage(value) {
                    return self.fail(FaultKind::UninitialisedRead, NEVER_WRITTEN);
                }
                let (decisions, domain, positions) = (self.decision_count(), self.domain.len(), self.positions());
                self.probes.probed.push(Probed { probe, value, decisions, domain, positions });
                self.evaluate(value) as u32
            }
        };
        self.probes.readings.push(Reading { probe, value });
        Ok(())
    }
}
