//! Whether the map lets follow each other what can follow in the decoded code. Found out once for each edge, when it is
//! first gone along: then the events of a run need not be looked at one by one.

use std::collections::BTreeSet;

use branchwise_program::MarkerId;
use branchwise_program::map::Event;

use super::Machine;
use super::decode::Decoded;
use super::operation::{Edge, Ends, NO_MARKER, Operation, UNSETTLED};

impl Machine<'_, '_, '_, '_> {
    /// Notes if the map does not let all markers follow an edge's event that can be the next ones there.
    pub(super) fn settle(&self, edge: &Edge) {
        let cost = edge.cost.get();
        if cost & UNSETTLED == 0 {
            return;
        }
        edge.cost.set(cost & !UNSETTLED);
        if edge.event.marker != NO_MARKER {
            self.decoded
                .next_markers(edge.target as usize)
                .into_iter()
                .for_each(|next| self.settle_pair(edge.event, next));
        }
    }

    /// Notes if the map does not let a marker follow an event of the innermost frame.
    pub(super) fn settle_pair(&self, event: Event, next: MarkerId) {
        let function = self.executor.frames.last().and_then(|frame| frame.map_function);
        let map = &self.executor.session.program.map;
        let mut successors = self.successors.borrow_mut();
        if function.is_none_or(|function| !successors.allows(map, function, Some(event), next)) {
            self.decoded.strays.set(true);
        }
    }
}

impl Decoded {
    /// The markers that can be the next to report from an operation on, as long as the loop runs.
    fn next_markers(&self, from: usize) -> BTreeSet<MarkerId> {
        let (mut open, mut seen, mut markers) = (vec![from], Vec::new(), BTreeSet::new());
        while let Some(at) = open.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            let leaving = self.operations[at..].iter().find_map(|operation| self.leaving(*operation));
            for edge in leaving.unwrap_or_default() {
                let edge = &self.edges[edge as usize];
                match edge.event.marker {
                    NO_MARKER => open.push(edge.target as usize),
                    marker => drop(markers.insert(marker)),
                }
            }
        }
        markers
    }

    /// The edges that leave an operation, none where the loop stops there; `None` if it leads to the next one.
    fn leaving(&self, mut operation: Operation) -> Option<Vec<u32>> {
        match operation.ends() {
            Ends::Next => None,
            Ends::One(exit) => Some(vec![exit.edge]),
            Ends::Two(fork) => Some(vec![fork.edges, fork.edges + 1]),
            Ends::Table(table) => Some(self.tables[table as usize].all().map(|[edge, _]| edge).collect()),
            Ends::Nothing => Some(Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use branchwise_program::code::{
        Block, Cast, CastOp, Compare, CompareOp, Edge as CodeEdge, Function, Instruction, Operand, Terminator,
    };
    use branchwise_program::{BlockId, CodeFunctionId, Program, RegisterId};

    use super::*;

    const PARAMETER: RegisterId = RegisterId(0);

    fn edge(target: u32) -> CodeEdge {
        CodeEdge { target: BlockId(target), copies: Vec::new(), back: false }
    }

    fn block(instructions: Vec<Instruction>, terminator: Terminator) -> Block {
        Block { locations: vec![None; instructions.len() + 1], instructions, terminator }
    }

    fn compare(op: CompareOp, out: u32, left: u32, right: u128) -> Instruction {
        let (left, right) = (Operand::Register(RegisterId(left)), Operand::Constant(right));
        Instruction::Compare(Compare { op, width: 32, out: RegisterId(out), left, right })
    }

    /// `if (parameter == marker)`, in registers of its own, to the first block or else to the second.
    fn marked(marker: u32, then: u32, otherwise: u32) -> Block {
        let [bit, wide, out, holds] = [1, 2, 3, 4].map(|number| 4 * marker + number);
        let value = Operand::Register(RegisterId(bit));
        let instructions = vec![
            compare(CompareOp::Eq, bit, PARAMETER.0, marker.into()),
            Instruction::Cast(Cast { op: CastOp::ZeroExtend, from: 1, to: 32, out: RegisterId(wide), value }),
            Instruction::MarkCondition {
                out: RegisterId(out),
                marker: MarkerId(marker),
                value: Operand::Register(RegisterId(wide)),
            },
            compare(CompareOp::Ne, holds, out, 0),
        ];
        let condition = Operand::Register(RegisterId(holds));
        block(instructions, Terminator::Branch { condition, then: edge(then), otherwise: edge(otherwise) })
    }

    fn decoded(blocks: Vec<Block>) -> Decoded {
        let function = Function {
            name: "marked".to_owned(),
            parameters: vec![PARAMETER],
            registers: (0..20).map(|_| 32).collect(),
            results: Vec::new(),
            variadic: false,
            library: false,
            weak: false,
            padding: Default::default(),
            blocks: blocks.into_iter().collect(),
        };
        let mut program = Program { map: Default::default(), code: Default::default() };
        program.code.functions.push(function);
        Decoded::of(&program, CodeFunctionId(0))
    }

    fn next(decoded: &Decoded, marker: u32, outcome: u32) -> Vec<u32> {
        let event = Event { marker: MarkerId(marker), outcome };
        let edge = decoded.edges.iter().find(|edge| edge.event == event).expect("an edge with the event");
        decoded.next_markers(edge.target as usize).into_iter().map(|marker| marker.0).collect()
    }

    #[test]
    fn next_is_what_the_code_leads_to() {
        let end = || block(Vec::new(), Terminator::Return(Vec::new()));
        let decoded = decoded(vec![marked(0, 1, 2), marked(1, 2, 3), marked(2, 0, 3), end()]);
        assert_eq!([next(&decoded, 0, 0), next(&decoded, 0, 1)], [vec![2], vec![1]]);
        assert_eq!([next(&decoded, 1, 0), next(&decoded, 1, 1)], [vec![], vec![2]]);
        assert_eq!([next(&decoded, 2, 0), next(&decoded, 2, 1)], [vec![], vec![0]]);
    }

    #[test]
    fn both_ways_of_a_branch_without_marker_can_come_next() {
        let condition = Operand::Register(RegisterId(19));
        let branch = Terminator::Branch { condition, then: edge(2), otherwise: edge(3) };
        let unmarked = block(vec![compare(CompareOp::Slt, 19, PARAMETER.0, 7)], branch);
        let end = block(Vec::new(), Terminator::Return(Vec::new()));
        let decoded = decoded(vec![marked(0, 1, 4), unmarked, marked(2, 4, 4), marked(3, 4, 4), end]);
        assert_eq!(next(&decoded, 0, 1), [2, 3]);
    }
}
