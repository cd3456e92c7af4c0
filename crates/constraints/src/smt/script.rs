//! A query as SMT-LIB text, floats included, for solvers that read it.
//!
//! SMT-LIB has one NaN and no functions of the C library. So the bits of a float result are any whose float it is, the
//! functions are uninterpreted, and conversions to more than 64 bits give any value: every model of the query is one of
//! the text, and a refutation of the text is one of the query. The other way round a model has to be evaluated.

use std::collections::BTreeSet;

use super::wire::{Graph, GraphNode};
use crate::floats::FloatOp;
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp};

/// How others look at a node.
#[derive(Copy, Clone, Default)]
struct Use {
    bits: bool,
    float: bool,
}

/// Everything up to the assertions.
pub(crate) fn script(graph: &Graph) -> String {
    let mut writer = Writer { graph, uses: uses(graph), text: String::new(), functions: BTreeSet::new() };
    (0..graph.nodes.len()).for_each(|place| writer.node(place));
    for constraint in &graph.constraints {
        writer.line(&format!("(assert {})", truth(*constraint)));
    }
    let floats = graph.nodes.iter().any(|node| matches!(node.kind, TermKind::Float(..)));
    let logic = match (floats, writer.functions.is_empty()) {
        (_, false) => "QF_UFBVFP",
        (true, _) => "QF_BVFP",
        (false, _) => "QF_BV",
    };
    format!("(set-option :produce-models true)\n(set-logic {logic})\n{}", writer.text)
}

/// Whether every model of the text is one of the query.
pub(crate) fn is_exact(graph: &Graph) -> bool {
    let is_open = |(node, own): (&GraphNode, Use)| match node.kind {
        TermKind::Float(FloatOp::Library(_), ..) => true,
        TermKind::Float(op, ..) if has_float_result(op) => own.bits,
        TermKind::Float(..) => node.width > 64,
        _ => false,
    };
    !graph.nodes.iter().zip(uses(graph)).any(is_open)
}

/// The name of a node as a vector of bits.
pub(crate) fn bits(term: TermId) -> String {
    format!("n{}", term.0)
}

/// The name of a node of width 1 as a boolean. Solvers put values for variables that such a one makes equal to them, but
/// not for those of a vector of one bit: 12 ms instead of 5 s for a root of a constant with cvc5.
fn truth(term: TermId) -> String {
    format!("b{}", term.0)
}

/// The name of a node as a float.
fn float(term: TermId) -> String {
    format!("f{}", term.0)
}

/// From the constraints down. A node that is chosen or negated, and looked at as a float only, needs its operands as
/// floats only: the bits of a result are one more unknown.
fn uses(graph: &Graph) -> Vec<Use> {
    let mut uses = vec![Use::default(); graph.nodes.len()];
    graph.constraints.iter().for_each(|constraint| uses[constraint.index()].bits = true);
    for (place, node) in graph.nodes.iter().enumerate().rev() {
        let as_floats: Vec<TermId> = match (node.kind, uses[place].bits) {
            (TermKind::Float(op, ..), _) if takes_floats(op) => node.kind.operands().collect(),
            (TermKind::IfThenElse { then, otherwise, .. }, false) => vec![then, otherwise],
            (_, false) => sign_changed(graph, node).map(|(_, operand)| operand).into_iter().collect(),
            (_, true) => Vec::new(),
        };
        for operand in node.kind.operands() {
            let used = &mut uses[operand.index()];
            if as_floats.contains(&operand) { used.float = true } else { used.bits = true }
        }
    }
    uses
}

fn takes_floats(op: FloatOp) -> bool {
    !matches!(op, FloatOp::FromSigned | FloatOp::FromUnsigned | FloatOp::Library(_))
}

fn has_float_result(op: FloatOp) -> bool {
    !op.is_comparison() && !matches!(op, FloatOp::ToSigned | FloatOp::ToUnsigned | FloatOp::Library(_))
}

/// The operation and its operand, of a node that changes nothing but the sign.
fn sign_changed(graph: &Graph, node: &GraphNode) -> Option<(&'static str, TermId)> {
    let TermKind::Binary(op, a, b) = node.kind else { return None };
    let constant = |term: TermId| match graph.nodes[term.index()].kind {
        TermKind::Constant(value) => Some(value),
        _ => None,
    };
    let (operand, changed) = constant(b).map(|value| (a, value)).or_else(|| Some((b, constant(a)?)))?;
    match op {
        BinaryOp::Xor if changed == semantics::signed_minimum(node.width) => Some(("fp.neg", operand)),
        BinaryOp::And if changed == semantics::signed_maximum(node.width) => Some(("fp.abs", operand)),
        _ => None,
    }
}

fn format_of(width: u32) -> &'static str {
    if width == 64 { "11 53" } else { "8 24" }
}

fn float_of_bits(bits: &str, width: u32) -> String {
    format!("((_ to_fp {}) {bits})", format_of(width))
}

struct Writer<'a> {
    graph: &'a Graph,
    uses: Vec<Use>,
    text: String,
    functions: BTreeSet<String>,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn width(&self, term: TermId) -> u32 {
        self.graph.nodes[term.index()].width
    }

    fn node(&mut self, place: usize) {
        let (node, own) = (self.graph.nodes[place], self.uses[place]);
        let term = TermId(place as u32);
        let (name, sort) = (bits(term), format!("(_ BitVec {})", node.width));
        if let TermKind::Float(op, ..) = node.kind
            && has_float_result(op)
        {
            let result = self.float_result(op, &node);
            self.define_float(term, node.width, &result);
            if own.bits {
                let result = float_of_bits(&name, node.width);
                self.line(&format!("(declare-const {name} {sort})\n(assert (= {result} {}))", float(term)));
            }
            return;
        }
        if own.float
            && !own.bits
            && let Some(result) = self.float_form(&node)
        {
            return self.define_float(term, node.width, &result);
        }
        if let Some(value) = self.boolean_form(&node) {
            self.line(&format!("(define-fun {} () Bool {value})", truth(term)));
            return self.line(&format!("(define-fun {name} () {sort} (ite {} #b1 #b0))", truth(term)));
        }
        match self.bits_form(&node) {
            Some(value) => self.line(&format!("(define-fun {name} () {sort} {value})")),
            None => self.line(&format!("(declare-const {name} {sort})")),
        }
        if node.width == 1 {
            self.line(&format!("(define-fun {} () Bool (= {name} #b1))", truth(term)));
        }
        if own.float {
            self.define_float(term, node.width, &float_of_bits(&name, node.width));
        }
    }

    fn define_float(&mut self, term: TermId, width: u32, value: &str) {
        self.line(&format!("(define-fun {} () (_ FloatingPoint {}) {value})", float(term), format_of(width)));
    }

    /// A node that nobody looks at but as a float, from its operands as floats.
    fn float_form(&self, node: &GraphNode) -> Option<String> {
        match node.kind {
            TermKind::IfThenElse { condition, then, otherwise } => {
                Some(format!("(ite {} {} {})", truth(condition), float(then), float(otherwise)))
            }
            _ => sign_changed(self.graph, node).map(|(operation, operand)| format!("({operation} {})", float(operand))),
        }
    }

    /// A node of width 1 that is logical, from its operands as booleans.
    fn boolean_form(&self, node: &GraphNode) -> Option<String> {
        if node.width != 1 {
            return None;
        }
        Some(match node.kind {
            TermKind::Constant(value) => (value == 1).to_string(),
            TermKind::Unary(UnaryOp::Not, a) => format!("(not {})", truth(a)),
            TermKind::Binary(BinaryOp::And, a, b) => format!("(and {} {})", truth(a), truth(b)),
            TermKind::Binary(BinaryOp::Or, a, b) => format!("(or {} {})", truth(a), truth(b)),
            TermKind::Binary(BinaryOp::Xor, a, b) => format!("(xor {} {})", truth(a), truth(b)),
            TermKind::Compare(CompareOp::Eq, a, b) if self.width(a) == 1 => format!("(= {} {})", truth(a), truth(b)),
            TermKind::Compare(op, a, b) => format!("({} {} {})", comparison(op), bits(a), bits(b)),
            TermKind::IfThenElse { condition, then, otherwise } => {
                format!("(ite {} {} {})", truth(condition), truth(then), truth(otherwise))
            }
            TermKind::Float(op, a, Some(b), _) if op.is_comparison() => float_comparison(op, &float(a), &float(b)),
            _ => return None,
        })
    }

    /// None for what may be anything.
    fn bits_form(&mut self, node: &GraphNode) -> Option<String> {
        let width = node.width;
        Some(match node.kind {
            TermKind::Variable(_) | TermKind::Compare(..) => return None,
            TermKind::Constant(value) => constant(value, width),
            TermKind::Unary(UnaryOp::Not, a) => format!("(bvnot {})", bits(a)),
            TermKind::Unary(UnaryOp::Neg, a) => format!("(bvneg {})", bits(a)),
            TermKind::Binary(op, a, b) => format!("({} {} {})", binary(op), bits(a), bits(b)),
            TermKind::IfThenElse { condition, then, otherwise } => {
                format!("(ite {} {} {})", truth(condition), bits(then), bits(otherwise))
            }
            TermKind::Extract { term, low } => extracted(&bits(term), low + width - 1, low),
            TermKind::Concat { high, low } => format!("(concat {} {})", bits(high), bits(low)),
            TermKind::ZeroExtend(a) => format!("((_ zero_extend {}) {})", width - self.width(a), bits(a)),
            TermKind::SignExtend(a) => format!("((_ sign_extend {}) {})", width - self.width(a), bits(a)),
            TermKind::Float(FloatOp::Library(_), ..) => self.library_call(node),
            TermKind::Float(op, a, ..) => return self.to_integer(op, a, width),
        })
    }

    fn library_call(&mut self, node: &GraphNode) -> String {
        let TermKind::Float(op, ..) = node.kind else { unreachable!("a call of the library") };
        let name = format!("{}{}", op.name(), node.width);
        let arguments: Vec<String> = node.kind.operands().map(bits).collect();
        if self.functions.insert(name.clone()) {
            let sort = format!("(_ BitVec {})", node.width);
            let sorts = vec![sort.clone(); arguments.len()].join(" ");
            self.line(&format!("(declare-fun {name} ({sorts}) {sort})"));
        }
        format!("({name} {})", arguments.join(" "))
    }

    /// As `floats::to_signed` and `floats::to_unsigned` do it.
    fn to_integer(&self, op: FloatOp, a: TermId, width: u32) -> Option<String> {
        let (x, from) = (float(a), self.width(a));
        let (value, computed) = match (op, width) {
            (_, 65..) => return None,
            (FloatOp::ToUnsigned, 64) => {
                let limit = float_of_bits(&constant(power_of_two(63, from), from), from);
                let low = truncated(&x, 64, from);
                let high = truncated(&format!("(fp.sub RNE {x} {limit})"), 64, from);
                let mask = format!("(bvashr {low} {})", constant(63, 64));
                (format!("(bvor (bvand {high} {mask}) {low})"), 64)
            }
            (FloatOp::ToUnsigned, 32..) => (truncated(&x, 64, from), 64),
            (FloatOp::ToUnsigned, _) => (truncated(&x, 32, from), 32),
            _ => (truncated(&x, width.max(32), from), width.max(32)),
        };
        Some(if computed == width { value } else { extracted(&value, width - 1, 0) })
    }

    fn float_result(&self, op: FloatOp, node: &GraphNode) -> String {
        let operands: Vec<TermId> = node.kind.operands().collect();
        let arguments: Vec<String> = operands.iter().map(|&operand| float(operand)).collect();
        let (arguments, format) = (arguments.join(" "), format_of(node.width));
        let first = operands[0];
        // One bit more, because a number of a single bit is not every solver's idea of a signed one.
        let integer = |extension: &str| format!("((_ {extension} 1) {})", bits(first));
        match op {
            FloatOp::FromSigned => format!("((_ to_fp {format}) RNE {})", integer("sign_extend")),
            FloatOp::FromUnsigned => format!("((_ to_fp_unsigned {format}) RNE {})", integer("zero_extend")),
            FloatOp::Convert => format!("((_ to_fp {format}) RNE {arguments})"),
            _ => format!("({} {arguments})", arithmetic(op)),
        }
    }
}

fn constant(value: u128, width: u32) -> String {
    format!("(_ bv{value} {width})")
}

fn extracted(value: &str, high: u32, low: u32) -> String {
    format!("((_ extract {high} {low}) {value})")
}

/// The bits of this power of two as a float.
fn power_of_two(exponent: u32, width: u32) -> u128 {
    let value = 2_f64.powi(exponent as i32);
    if width == 64 { u128::from(value.to_bits()) } else { u128::from((value as f32).to_bits()) }
}

/// Towards zero, and the smallest number for what does not fit and for a NaN.
fn truncated(x: &str, width: u32, from: u32) -> String {
    let limit = float_of_bits(&constant(power_of_two(width - 1, from), from), from);
    let whole = format!("(fp.roundToIntegral RTZ {x})");
    let fits = format!("(and (fp.leq (fp.neg {limit}) {whole}) (fp.lt {whole} {limit}))");
    format!("(ite {fits} ((_ fp.to_sbv {width}) RTZ {x}) {})", constant(semantics::signed_minimum(width), width))
}

fn float_comparison(op: FloatOp, x: &str, y: &str) -> String {
    match op {
        FloatOp::Equal => format!("(fp.eq {x} {y})"),
        FloatOp::Less => format!("(fp.lt {x} {y})"),
        FloatOp::LessOrEqual => format!("(fp.leq {x} {y})"),
        _ => format!("(or (fp.isNaN {x}) (fp.isNaN {y}))"),
    }
}

fn arithmetic(op: FloatOp) -> &'static str {
    match op {
        FloatOp::Add => "fp.add RNE",
        FloatOp::Sub => "fp.sub RNE",
        FloatOp::Mul => "fp.mul RNE",
        FloatOp::Div => "fp.div RNE",
        FloatOp::Sqrt => "fp.sqrt RNE",
        FloatOp::FusedMultiplyAdd => "fp.fma RNE",
        FloatOp::Floor => "fp.roundToIntegral RTN",
        FloatOp::Ceil => "fp.roundToIntegral RTP",
        FloatOp::Trunc => "fp.roundToIntegral RTZ",
        FloatOp::RoundEven => "fp.roundToIntegral RNE",
        FloatOp::RoundAway => "fp.roundToIntegral RNA",
        _ => unreachable!("{op:?} is not arithmetic on floats"),
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "bvadd",
        BinaryOp::Sub => "bvsub",
        BinaryOp::Mul => "bvmul",
        BinaryOp::UDiv => "bvudiv",
        BinaryOp::SDiv => "bvsdiv",
        BinaryOp::URem => "bvurem",
        BinaryOp::SRem => "bvsrem",
        BinaryOp::And => "bvand",
        BinaryOp::Or => "bvor",
        BinaryOp::Xor => "bvxor",
        BinaryOp::Shl => "bvshl",
        BinaryOp::LShr => "bvlshr",
        BinaryOp::AShr => "bvashr",
    }
}

fn comparison(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "=",
        CompareOp::Ult => "bvult",
        CompareOp::Ule => "bvule",
        CompareOp::Slt => "bvslt",
        CompareOp::Sle => "bvsle",
    }
}
