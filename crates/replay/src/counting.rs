//! How many instructions a function executes on its tests: on a build without markers and without counters of coverage,
//! compiled as the others are (`-O0`), by single steps from its entry to its return, with all that it calls.

use std::path::PathBuf;

use branchwise_program::FunctionId;

use crate::batch::{Answer, Batch, Counters, Purpose};
use crate::case::{NativeEnd, TestCase};
use crate::compile::{build_counting, read};
use crate::elf::address_of;
use crate::harness::built_in;
use crate::process::{Build, Process};
use crate::{Harness, ReplayError};

impl Harness {
    /// For each case the instructions of the call under test; `None` where it does not return, or not in time.
    pub fn count_instructions(
        &mut self,
        function: FunctionId,
        cases: &[TestCase],
    ) -> Result<Vec<Option<u64>>, ReplayError> {
        let executable = self.counting_build()?;
        let symbol = self.unit(function, 0)?.symbol.clone();
        let bytes = read(&executable)?;
        let address = address_of(&bytes, &[&symbol, &format!("__bw_user_{symbol}")]);
        let missing = || ReplayError::Harness { message: format!("its build has no function '{symbol}'") };
        let address = address.ok_or_else(missing)?;
        let mut batch = Batch::new();
        for (index, case) in cases.iter().enumerate() {
            self.add_group(&mut batch, Counters::All, std::slice::from_ref(case), index)?;
        }
        let written = self.write_batch(&mut batch, Purpose::Count)?;
        let mut process = Process::start(self, &executable, written, &Build::Counting(address))?;
        let (mut counts, mut returned) = (Vec::new(), false);
        loop {
            match process.next()? {
                Answer::Started => {}
                Answer::Test(raw) => returned = raw.end == NativeEnd::Returned,
                Answer::Group(count) => counts.push(Some(count).filter(|&count| returned && count > 0)),
                Answer::End => return Ok(counts),
                Answer::Died => {
                    let signal = process.signal_of_death()?;
                    let message = format!("a test ended it with signal {signal} while instructions were counted");
                    return Err(ReplayError::Harness { message });
                }
            }
        }
    }

    fn counting_build(&self) -> Result<PathBuf, ReplayError> {
        let built = self.counting.get_or_init(|| {
            let built = build_counting(&self.tools, &self.sanitizer.sources, &built_in(&self.folder));
            built.map_err(|error| error.to_string())
        });
        built.clone().map_err(|message| ReplayError::Harness { message })
    }
}
