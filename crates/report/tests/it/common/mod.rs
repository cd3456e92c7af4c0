//! Hand-made maps and reports, so that output is tested without clang, search or solver.
#![allow(dead_code, reason = "every test file uses its own part")]

use std::path::{Path, PathBuf};

use branchwise_generate::{
    Finding, FindingKind, FunctionReport, GoalReport, PathConstraint, ReplaySummary, Report, Test, TestSource, Work,
};
use branchwise_goals::{Criterion, Goal, GoalId, GoalKind, Needs, TestId, Verdict};
use branchwise_program::map::{
    Cfg, Event, Function, Input, InputOrigin, Language, Map, Marker, MarkerKind, Node, NodeKind, Parameter, Place,
    SourceFile,
};
use branchwise_program::types::{Field, Type, TypeKind};
use branchwise_program::{FileId, FunctionId, IdVec, MarkerId, NodeId, TypeId};
use branchwise_replay::{Blob, NativeEnd, Object, Observation, PointerAt, TestCase};
use branchwise_report::FileReport;

/// A map and a report under construction.
pub struct Unit {
    pub map: Map,
    pub report: Report,
    pub source: PathBuf,
    pub flags: Vec<String>,
    pub keeps_state: bool,
}

/// The types that most tests need.
#[derive(Debug, Copy, Clone)]
pub struct Basic {
    pub void: TypeId,
    pub int: TypeId,
    pub unsigned: TypeId,
    pub char: TypeId,
    pub double: TypeId,
}

impl Unit {
    pub fn new(source: &Path) -> (Self, Basic) {
        let mut map = Map::default();
        map.files.push(SourceFile { path: source.to_owned() });
        let replay = ReplaySummary { compiler: "clang version 19.1.7".to_owned(), ..ReplaySummary::default() };
        let report = Report { functions: Vec::new(), replay, lists_findings: true, criteria: vec![Criterion::Branch] };
        let mut unit = Unit { map, report, source: source.to_owned(), flags: Vec::new(), keeps_state: false };
        let integer = |bits, signed, character| TypeKind::Integer { bits, signed, character };
        let basic = Basic {
            void: unit.add_type("void", TypeKind::Void, 0),
            int: unit.add_type("int", integer(32, true, false), 4),
            unsigned: unit.add_type("unsigned int", integer(32, false, false), 4),
            char: unit.add_type("char", integer(8, true, true), 1),
            double: unit.add_type("double", TypeKind::Float { bits: 64 }, 8),
        };
        (unit, basic)
    }

    pub fn file_report(&self) -> FileReport<'_> {
        FileReport {
            linked: &[],
            missing: &[],
            map: &self.map,
            report: &self.report,
            source: &self.source,
            flags: &self.flags,
            keeps_state: self.keeps_state,
        }
    }

    pub fn add_type(&mut self, spelling: &str, kind: TypeKind, size: u64) -> TypeId {
        self.map.types.push(Type { kind, spelling: spelling.to_owned(), size, alignment: size.clamp(1, 8) })
    }

    pub fn pointer(&mut self, target: TypeId, constant: bool) -> TypeId {
        let qualifier = if constant { "const " } else { "" };
        let spelling = format!("{qualifier}{} *", self.map.types[target].spelling);
        self.add_type(&spelling, TypeKind::Pointer { target, constant, declared_count: None }, 8)
    }

    pub fn array(&mut self, element: TypeId, count: u64) -> TypeId {
        let of = &self.map.types[element];
        let (spelling, size) = (format!("{}[{count}]", of.spelling), of.size * count);
        self.add_type(&spelling, TypeKind::Array { element, count: Some(count) }, size)
    }

    pub fn record(&mut self, spelling: &str, size: u64, fields: Vec<Field>) -> TypeId {
        self.add_type(spelling, TypeKind::Record { union: false, fields: Some(fields) }, size)
    }

    pub fn add_function(&mut self, name: &str, line: u32, result: TypeId, inputs: Vec<Input>) -> FunctionId {
        let place = place(line, 1);
        let entry = Node { kind: NodeKind::Entry, place, text: String::new() };
        let is_parameter = |input: &&Input| matches!(input.origin, InputOrigin::Parameter(_));
        let parameter = |input: &Input| Parameter { name: input.name.clone(), type_id: input.type_id };
        let function = self.map.functions.push(Function {
            variants: Vec::new(),
            usage: None,
            name: name.to_owned(),
            symbol: name.to_owned(),
            place,
            end: place,
            language: Language::C,
            internal: false,
            variadic: false,
            result,
            parameters: inputs.iter().filter(is_parameter).map(parameter).collect(),
            inputs,
            driver: Ok(format!("bw_driver_{name}")),
            markers: Vec::new(),
            decisions: Vec::new(),
            cfg: Cfg { nodes: [entry].into_iter().collect(), edges: IdVec::new(), entry: NodeId(0), exit: NodeId(0) },
            loops: Vec::new(),
            calls: Vec::new(),
        });
        self.report.functions.push(FunctionReport {
            function,
            goals: Vec::new(),
            tests: Vec::new(),
            findings: Vec::new(),
            work: Work { paths: 7, seconds: 0.25, solver_calls: vec![("smt".to_owned(), 5)], ..Work::default() },
            timing: None,
            trouble: None,
            interrupted: false,
        });
        function
    }

    /// Adds a condition and its two goals; returns its marker.
    pub fn add_condition(&mut self, function: FunctionId, at: (u32, u32), text: &str, ends: [Verdict; 2]) -> MarkerId {
        let place = place(at.0, at.1);
        let marker = self.map.markers.push(Marker {
            function,
            text: text.to_owned(),
            place,
            spelled: place,
            kind: MarkerKind::Condition { counted: true },
            node: NodeId(0),
        });
        self.map.functions[function].markers.push(marker);
        let goals = &mut self.report.functions[function.0 as usize].goals;
        for (outcome, verdict) in [true, false].into_iter().zip(ends) {
            let text = text.to_owned();
            let goal = Goal {
                function,
                criterion: Criterion::Branch,
                kind: GoalKind::Condition,
                outcome: Some(outcome),
                place,
                spelled: place,
                text,
                needs: Needs::Outcome(marker),
            };
            goals.push(GoalReport {
                id: GoalId(goals.len() as u32),
                goal,
                verdict,
                pair: None,
                refuted: None,
                attacked: None,
            });
        }
        marker
    }

    pub fn add_test(&mut self, function: FunctionId, case: TestCase, observation: Observation) -> &mut Test {
        let tests = &mut self.report.functions[function.0 as usize].tests;
        tests.push(Test {
            undefined: false,
            reproducer: false,
            id: TestId(tests.len() as u32 + 1),
            case,
            observation,
            source: TestSource::Concolic,
            covers: Vec::new(),
            kept_for: Vec::new(),
            path: Vec::new(),
            before_unit: 0,
            constraint: PathConstraint::default(),
        });
        tests.last_mut().expect("just pushed")
    }

    pub fn add_finding(&mut self, function: FunctionId, kind: FindingKind, message: &str, case: TestCase) {
        let found = &mut self.report.functions[function.0 as usize];
        let test = found.tests.iter().find(|test| test.case == case).map(|test| test.id);
        found.findings.push(Finding {
            kind,
            place: Some(place(30, 12)),
            message: message.to_owned(),
            case,
            test,
            observation: None,
            confirmation: branchwise_generate::Confirmation::default(),
        });
    }
}

pub fn place(line: u32, column: u32) -> Place {
    Place { file: FileId(0), line, column }
}

pub fn parameter(index: usize, name: &str, type_id: TypeId) -> Input {
    Input { name: name.to_owned(), type_id, origin: InputOrigin::Parameter(index) }
}

pub fn global(name: &str, type_id: TypeId) -> Input {
    Input { name: name.to_owned(), type_id, origin: InputOrigin::Global }
}

pub fn field(name: &str, type_id: TypeId, offset: u64) -> Field {
    Field { name: name.to_owned(), type_id, offset_bits: offset * 8, bit_field: None }
}

pub fn blob(bytes: impl Into<Vec<u8>>) -> Blob {
    Blob::of_bytes(bytes.into())
}

pub fn ints(values: &[i32]) -> Blob {
    blob(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

pub fn to_object(object: usize) -> Blob {
    Blob { pointers: vec![PointerAt { at: 0, object, offset: 0 }], ..Blob::of_bytes(vec![0; 8]) }
}

pub fn case(function: FunctionId, inputs: Vec<Blob>) -> TestCase {
    TestCase::new(function, inputs, Vec::new())
}

pub fn object(element: TypeId, count: u64, blob: Blob) -> Object {
    Object::array(element, count, blob)
}

pub fn returned(result: Option<Blob>) -> Observation {
    ended(NativeEnd::Returned, result)
}

pub fn ended(end: NativeEnd, result: Option<Blob>) -> Observation {
    Observation {
        end,
        events: Vec::new(),
        readings: Vec::new(),
        truncated: false,
        result,
        inputs_after: Vec::new(),
        objects_after: Vec::new(),
        foreign: Vec::new(),
        threw: None,
        state: Default::default(),
        freed: Vec::new(),
    }
}

pub fn covered(tests: &[u32]) -> Verdict {
    Verdict::Covered { tests: tests.iter().map(|test| TestId(*test)).collect(), through: None }
}

pub fn event(marker: MarkerId, outcome: u32) -> Event {
    Event { marker, outcome }
}
