//! A second opinion on floats for tests: Z3's own theory of them. It is far too slow for use, but it shares nothing
//! with our bounds. NaN are one value there, so the bits of a NaN result are left open.

use std::fmt::Write;

use z3::{SatResult, Solver};

use super::translate::in_new_timed_context;
use super::wire::{Graph, GraphNode};
use crate::floats::FloatOp;
use crate::solver::Limits;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, UnaryOp};

/// Whether the constraints have a model, if Z3 finds out; none for what its theory does not know.
pub(crate) fn has_model(graph: &Graph, milliseconds: u64) -> Option<bool> {
    let text = script(graph)?;
    let limits = Limits { milliseconds, ..Limits::default() };
    in_new_timed_context(&limits, || {
        let solver = Solver::new();
        solver.from_string(text.clone());
        match solver.check() {
            SatResult::Sat => Some(true),
            SatResult::Unsat => Some(false),
            SatResult::Unknown => None,
        }
    })
}

fn script(graph: &Graph) -> Option<String> {
    let mut text = String::new();
    for (place, node) in graph.nodes.iter().enumerate() {
        let width = node.width;
        let sort = format!("(_ BitVec {width})");
        match node.kind {
            TermKind::Variable(_) => writeln!(text, "(declare-const n{place} {sort})"),
            TermKind::Float(op, ..) if has_float_result(op) => {
                let result = float_result(graph, node)?;
                writeln!(text, "(declare-const n{place} {sort})\n(assert (= {} {result}))", float(place, width))
            }
            _ => writeln!(text, "(define-fun n{place} () {sort} {})", expression(graph, node)?),
        }
        .ok()?;
    }
    for constraint in &graph.constraints {
        writeln!(text, "(assert (= n{} #b1))", constraint.0).ok()?;
    }
    Some(text)
}

fn has_float_result(op: FloatOp) -> bool {
    !op.is_comparison() && !matches!(op, FloatOp::ToSigned | FloatOp::ToUnsigned)
}

fn format_of(width: u32) -> &'static str {
    if width == 64 { "11 53" } else { "8 24" }
}

/// The float whose bits a node is.
fn float(place: usize, width: u32) -> String {
    format!("((_ to_fp {}) n{place})", format_of(width))
}

fn expression(graph: &Graph, node: &GraphNode) -> Option<String> {
    let width = node.width;
    let width_of = |term: TermId| graph.nodes[term.index()].width;
    let n = |term: TermId| format!("n{}", term.0);
    let truth = |condition: String| format!("(ite {condition} #b1 #b0)");
    Some(match node.kind {
        TermKind::Constant(value) => format!("(_ bv{value} {width})"),
        TermKind::Unary(UnaryOp::Not, a) => format!("(bvnot {})", n(a)),
        TermKind::Unary(UnaryOp::Neg, a) => format!("(bvneg {})", n(a)),
        TermKind::Binary(op, a, b) => format!("({} {} {})", binary(op), n(a), n(b)),
        TermKind::Compare(op, a, b) => truth(format!("({} {} {})", comparison(op), n(a), n(b))),
        TermKind::IfThenElse { condition, then, otherwise } => {
            format!("(ite (= {} #b1) {} {})", n(condition), n(then), n(otherwise))
        }
        TermKind::Extract { term, low } => format!("((_ extract {} {low}) {})", low + width - 1, n(term)),
        TermKind::Concat { high, low } => format!("(concat {} {})", n(high), n(low)),
        TermKind::ZeroExtend(a) => format!("((_ zero_extend {}) {})", width - width_of(a), n(a)),
        TermKind::SignExtend(a) => format!("((_ sign_extend {}) {})", width - width_of(a), n(a)),
        TermKind::Float(FloatOp::ToSigned, a, ..) if matches!(width, 32 | 64) => {
            let (x, format) = (float(a.index(), width_of(a)), format_of(width_of(a)));
            let limit = format!("((_ to_fp {format}) RNE {}.0)", 1_u128 << (width - 1));
            let whole = format!("(fp.roundToIntegral RTZ {x})");
            let fits = format!("(and (fp.leq (fp.neg {limit}) {whole}) (fp.lt {whole} {limit}))");
            format!("(ite {fits} ((_ fp.to_sbv {width}) RTZ {x}) (_ bv{} {width}))", 1_u128 << (width - 1))
        }
        TermKind::Float(op, a, Some(b), _) if op.is_comparison() => {
            let [x, y] = [a, b].map(|term| float(term.index(), width_of(term)));
            truth(match op {
                FloatOp::Equal => format!("(fp.eq {x} {y})"),
                FloatOp::Less => format!("(fp.lt {x} {y})"),
                FloatOp::LessOrEqual => format!("(fp.leq {x} {y})"),
                _ => format!("(or (fp.isNaN {x}) (fp.isNaN {y}))"),
            })
        }
        TermKind::Variable(_) | TermKind::Float(..) => return None,
    })
}

fn float_result(graph: &Graph, node: &GraphNode) -> Option<String> {
    let TermKind::Float(op, ..) = node.kind else { return None };
    let operands: Vec<TermId> = node.kind.operands().collect();
    let from = graph.nodes[operands[0].index()].width;
    let floats: Vec<String> = operands.iter().map(|term| float(term.index(), from)).collect();
    let (arguments, format) = (floats.join(" "), format_of(node.width));
    Some(match op {
        FloatOp::Add => format!("(fp.add RNE {arguments})"),
        FloatOp::Sub => format!("(fp.sub RNE {arguments})"),
        FloatOp::Mul => format!("(fp.mul RNE {arguments})"),
        FloatOp::Div => format!("(fp.div RNE {arguments})"),
        FloatOp::Sqrt => format!("(fp.sqrt RNE {arguments})"),
        FloatOp::FusedMultiplyAdd => format!("(fp.fma RNE {arguments})"),
        FloatOp::Floor => format!("(fp.roundToIntegral RTN {arguments})"),
        FloatOp::Ceil => format!("(fp.roundToIntegral RTP {arguments})"),
        FloatOp::Trunc => format!("(fp.roundToIntegral RTZ {arguments})"),
        FloatOp::RoundEven => format!("(fp.roundToIntegral RNE {arguments})"),
        FloatOp::RoundAway => format!("(fp.roundToIntegral RNA {arguments})"),
        FloatOp::Convert => format!("((_ to_fp {format}) RNE {arguments})"),
        FloatOp::FromSigned => format!("((_ to_fp {format}) RNE n{})", operands[0].0),
        FloatOp::FromUnsigned => format!("((_ to_fp_unsigned {format}) RNE n{})", operands[0].0),
        _ => return None,
    })
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
