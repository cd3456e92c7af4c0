//! The encoding of queries and replies between us and the worker.
//!
//! A message is its length (4 bytes, little-endian) and that many bytes. A query is the limits, the variables
//! (their widths), the nodes of the term graph with operands first, and the constraints. Numbers are LEB128;
//! operands are the distance back to the operand, which is short for most.

use std::io;

use crate::floats::FloatOp;
use crate::hash::FastMap;
use crate::library::MathFunction;
use crate::solver::{Limits, Procedure};
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp, VariableId};

/// The term graph of one query, renumbered: an operand `TermId(i)` is `nodes[i]`, and variables are dense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    pub nodes: Vec<GraphNode>,
    pub variable_count: u32,
    pub constraints: Vec<TermId>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct GraphNode {
    pub kind: TermKind,
    pub width: u32,
}

/// What the worker says; values by renumbered variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Sat(Vec<(u32, u128)>),
    /// The places of constraints in the query that already contradict each other; none when that was not found out.
    Unsat(Vec<u32>),
    TimeLimit,
    ResourceLimit,
    MemoryLimit,
    GaveUp(String),
}

/// The graph of a query, and the variables in the order of their new numbers.
pub(crate) fn graph(terms: &Terms, constraints: &[TermId]) -> (Graph, Vec<VariableId>) {
    let mut builder = GraphBuilder::default();
    for term in terms.reachable(constraints) {
        builder.add(terms, term);
    }
    let constraints = constraints.iter().map(|term| builder.numbers[term]).collect();
    let variable_count = builder.variables.len() as u32;
    (Graph { nodes: builder.nodes, variable_count, constraints }, builder.variables)
}

#[derive(Default)]
struct GraphBuilder {
    nodes: Vec<GraphNode>,
    variables: Vec<VariableId>,
    numbers: FastMap<TermId, TermId>,
}

impl GraphBuilder {
    fn add(&mut self, terms: &Terms, term: TermId) {
        let kind = match *terms.kind(term) {
            TermKind::Variable(id) => self.add_variable(id),
            kind => map_operands(kind, |operand| self.numbers[&operand]),
        };
        self.numbers.insert(term, TermId(self.nodes.len() as u32));
        self.nodes.push(GraphNode { kind, width: terms.width(term) });
    }

    fn add_variable(&mut self, id: VariableId) -> TermKind {
        self.variables.push(id);
        TermKind::Variable(VariableId(self.variables.len() as u32 - 1))
    }
}

fn map_operands(kind: TermKind, f: impl Fn(TermId) -> TermId) -> TermKind {
    match kind {
        TermKind::Constant(_) | TermKind::Variable(_) => kind,
        TermKind::Unary(op, a) => TermKind::Unary(op, f(a)),
        TermKind::Binary(op, a, b) => TermKind::Binary(op, f(a), f(b)),
        TermKind::Compare(op, a, b) => TermKind::Compare(op, f(a), f(b)),
        TermKind::IfThenElse { condition, then, otherwise } => {
            TermKind::IfThenElse { condition: f(condition), then: f(then), otherwise: f(otherwise) }
        }
        TermKind::Extract { term, low } => TermKind::Extract { term: f(term), low },
        TermKind::Concat { high, low } => TermKind::Concat { high: f(high), low: f(low) },
        TermKind::ZeroExtend(a) => TermKind::ZeroExtend(f(a)),
        TermKind::SignExtend(a) => TermKind::SignExtend(f(a)),
        TermKind::Float(op, a, b, c) => TermKind::Float(op, f(a), b.map(&f), c.map(&f)),
    }
}

mod tag {
    pub const CONSTANT: u8 = 0;
    pub const VARIABLE: u8 = 1;
    pub const IF_THEN_ELSE: u8 = 2;
    pub const EXTRACT: u8 = 3;
    pub const CONCAT: u8 = 4;
    pub const ZERO_EXTEND: u8 = 5;
    pub const SIGN_EXTEND: u8 = 6;
    /// The operator's place in its table is added.
    pub const UNARY: u8 = 16;
    pub const COMPARE: u8 = 32;
    pub const BINARY: u8 = 48;
    pub const FLOAT: u8 = 64;
    pub const LIBRARY: u8 = 128;

    pub const SAT: u8 = 0;
    pub const UNSAT: u8 = 1;
    pub const TIME_LIMIT: u8 = 2;
    pub const RESOURCE_LIMIT: u8 = 3;
    pub const MEMORY_LIMIT: u8 = 4;
    pub const GAVE_UP: u8 = 5;
}

pub(crate) fn encode_query(graph: &Graph, limits: &Limits) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.number(limits.milliseconds.into());
    writer.number(limits.resource.into());
    writer.number(limits.memory_megabytes.into());
    writer.number(u128::from(limits.procedure == Procedure::Lazy));
    writer.number(graph.variable_count.into());
    writer.number(graph.nodes.len() as u128);
    for (position, node) in graph.nodes.iter().enumerate() {
        writer.node(position as u32, node);
    }
    writer.number(graph.constraints.len() as u128);
    graph.constraints.iter().for_each(|constraint| writer.number(constraint.0.into()));
    writer.bytes
}

pub(crate) fn decode_query(bytes: &[u8]) -> io::Result<(Graph, Limits)> {
    let mut reader = Reader { bytes };
    let milliseconds = reader.number_as()?;
    let resource = reader.number_as()?;
    let memory_megabytes = reader.number_as()?;
    let lazy: u32 = reader.number_as()?;
    let procedure = if lazy == 0 { Procedure::Eager } else { Procedure::Lazy };
    let variable_count = reader.number_as()?;
    let length: u32 = reader.number_as()?;
    let nodes = (0..length).map(|position| reader.node(position)).collect::<io::Result<_>>()?;
    let length: u32 = reader.number_as()?;
    let constraints = (0..length).map(|_| reader.number_as().map(TermId)).collect::<io::Result<_>>()?;
    Ok((Graph { nodes, variable_count, constraints }, Limits { milliseconds, resource, memory_megabytes, procedure }))
}

pub(crate) fn encode_reply(reply: &Reply) -> Vec<u8> {
    let mut writer = Writer::default();
    match reply {
        Reply::Sat(values) => writer.values(values),
        Reply::Unsat(core) => writer.core(core),
        Reply::TimeLimit => writer.byte(tag::TIME_LIMIT),
        Reply::ResourceLimit => writer.byte(tag::RESOURCE_LIMIT),
        Reply::MemoryLimit => writer.byte(tag::MEMORY_LIMIT),
        Reply::GaveUp(message) => writer.text(tag::GAVE_UP, message),
    }
    writer.bytes
}

pub(crate) fn decode_reply(bytes: &[u8]) -> io::Result<Reply> {
    let mut reader = Reader { bytes };
    Ok(match reader.byte()? {
        tag::SAT => Reply::Sat(reader.values()?),
        tag::UNSAT => Reply::Unsat(reader.core()?),
        tag::TIME_LIMIT => Reply::TimeLimit,
        tag::RESOURCE_LIMIT => Reply::ResourceLimit,
        tag::MEMORY_LIMIT => Reply::MemoryLimit,
        tag::GAVE_UP => Reply::GaveUp(String::from_utf8_lossy(reader.bytes).into_owned()),
        _ => return Err(malformed()),
    })
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn number(&mut self, mut number: u128) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn text(&mut self, tag: u8, text: &str) {
        self.byte(tag);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn values(&mut self, values: &[(u32, u128)]) {
        self.byte(tag::SAT);
        self.number(values.len() as u128);
        for &(variable, value) in values {
            self.number(variable.into());
            self.number(value);
        }
    }

    fn core(&mut self, core: &[u32]) {
        self.byte(tag::UNSAT);
        self.number(core.len() as u128);
        core.iter().for_each(|&place| self.number(place.into()));
    }

    fn node(&mut self, position: u32, node: &GraphNode) {
        self.byte(tag_of(&node.kind));
        self.byte(node.width as u8);
        for operand in node.kind.operands() {
            self.number((position - operand.0).into());
        }
        match node.kind {
            TermKind::Constant(value) => self.number(value),
            TermKind::Variable(id) => self.number(id.0.into()),
            TermKind::Extract { low, .. } => self.number(low.into()),
            _ => {}
        }
    }
}

fn tag_of(kind: &TermKind) -> u8 {
    match *kind {
        TermKind::Constant(_) => tag::CONSTANT,
        TermKind::Variable(_) => tag::VARIABLE,
        TermKind::Unary(op, _) => tag::UNARY + place(&UnaryOp::ALL, op),
        TermKind::Binary(op, _, _) => tag::BINARY + place(&BinaryOp::ALL, op),
        TermKind::Compare(op, _, _) => tag::COMPARE + place(&CompareOp::ALL, op),
        TermKind::IfThenElse { .. } => tag::IF_THEN_ELSE,
        TermKind::Extract { .. } => tag::EXTRACT,
        TermKind::Concat { .. } => tag::CONCAT,
        TermKind::ZeroExtend(_) => tag::ZERO_EXTEND,
        TermKind::SignExtend(_) => tag::SIGN_EXTEND,
        TermKind::Float(FloatOp::Library(function), ..) => tag::LIBRARY + place(MathFunction::ALL, function),
        TermKind::Float(op, ..) => tag::FLOAT + place(&FloatOp::PLAIN, op),
    }
}

fn place<T: PartialEq>(table: &[T], wanted: T) -> u8 {
    table.iter().position(|have| *have == wanted).expect("the table lists every operator") as u8
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> io::Result<u8> {
        let (&first, rest) = self.bytes.split_first().ok_or_else(malformed)?;
        self.bytes = rest;
        Ok(first)
    }

    fn number(&mut self) -> io::Result<u128> {
        let mut number = 0;
        for shift in (0..128).step_by(7) {
            let byte = self.byte()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(malformed())
    }

    fn number_as<T: TryFrom<u128>>(&mut self) -> io::Result<T> {
        T::try_from(self.number()?).map_err(|_| malformed())
    }

    fn values(&mut self) -> io::Result<Vec<(u32, u128)>> {
        let length: u32 = self.number_as()?;
        (0..length).map(|_| Ok((self.number_as()?, self.number()?))).collect()
    }

    fn core(&mut self) -> io::Result<Vec<u32>> {
        let length: u32 = self.number_as()?;
        (0..length).map(|_| self.number_as()).collect()
    }

    /// An operand before `position`, so that a malformed message cannot make a cycle.
    fn operand(&mut self, position: u32) -> io::Result<TermId> {
        let back: u32 = self.number_as()?;
        let operand = position.checked_sub(back).filter(|_| back > 0);
        operand.map(TermId).ok_or_else(malformed)
    }

    fn node(&mut self, position: u32) -> io::Result<GraphNode> {
        let tag = self.byte()?;
        let width = u32::from(self.byte()?);
        let kind = match tag {
            tag::CONSTANT => TermKind::Constant(self.number()?),
            tag::VARIABLE => TermKind::Variable(VariableId(self.number_as()?)),
            tag::EXTRACT => TermKind::Extract { term: self.operand(position)?, low: self.number_as()? },
            tag::CONCAT => TermKind::Concat { high: self.operand(position)?, low: self.operand(position)? },
            tag::ZERO_EXTEND => TermKind::ZeroExtend(self.operand(position)?),
            tag::SIGN_EXTEND => TermKind::SignExtend(self.operand(position)?),
            tag::IF_THEN_ELSE => self.if_then_else(position)?,
            _ => self.operation(tag, position)?,
        };
        Ok(GraphNode { kind, width })
    }

    fn if_then_else(&mut self, position: u32) -> io::Result<TermKind> {
        let condition = self.operand(position)?;
        let then = self.operand(position)?;
        let otherwise = self.operand(position)?;
        Ok(TermKind::IfThenElse { condition, then, otherwise })
    }

    fn operation(&mut self, tag: u8, position: u32) -> io::Result<TermKind> {
        let a = self.operand(position)?;
        let library = || entry(MathFunction::ALL, tag, tag::LIBRARY).map(FloatOp::Library);
        if let Some(op) = entry(&FloatOp::PLAIN, tag, tag::FLOAT).or_else(library) {
            let mut next = |arity| (op.arity() >= arity).then(|| self.operand(position)).transpose();
            return Ok(TermKind::Float(op, a, next(2)?, next(3)?));
        }
        if let Some(op) = entry(&UnaryOp::ALL, tag, tag::UNARY) {
            return Ok(TermKind::Unary(op, a));
        }
        let b = self.operand(position)?;
        let compare = entry(&CompareOp::ALL, tag, tag::COMPARE).map(|op| TermKind::Compare(op, a, b));
        let binary = || entry(&BinaryOp::ALL, tag, tag::BINARY).map(|op| TermKind::Binary(op, a, b));
        compare.or_else(binary).ok_or_else(malformed)
    }
}

fn entry<T: Copy>(table: &[T], tag: u8, base: u8) -> Option<T> {
    table.get(usize::from(tag.checked_sub(base)?)).copied()
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed solver message")
}

/// Far above any real query; keeps a stray byte on the pipe from asking for all memory.
const LONGEST_MESSAGE: u32 = 1 << 30;

pub(crate) fn write_message(stream: &mut impl io::Write, payload: &[u8]) -> io::Result<()> {
    stream.write_all(&framed(payload)?)?;
    stream.flush()
}

pub(crate) fn framed(payload: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok().filter(|length| *length <= LONGEST_MESSAGE);
    let mut message = length.ok_or_else(malformed)?.to_le_bytes().to_vec();
    message.extend_from_slice(payload);
    Ok(message)
}

pub(crate) fn message_length(header: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(header);
    if length > LONGEST_MESSAGE { Err(malformed()) } else { Ok(length as usize) }
}

pub(crate) fn read_message(stream: &mut impl io::Read) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header)?;
    let mut payload = vec![0; message_length(header)?];
    stream.read_exact(&mut payload)?;
    Ok(payload)
}
