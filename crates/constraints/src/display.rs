//! The text form of terms: infix, C-like, with `s` and `u` on the operators that differ by sign.

use std::fmt;

use crate::floats::FloatOp;
use crate::semantics;
use crate::terms::{BinaryOp, CompareOp, TermId, TermKind, Terms, UnaryOp};

/// Terms share operands, so the text of a term can be exponentially longer than the term.
const MOST_PIECES: usize = 2000;

/// See [`Terms::display`].
pub struct Displayed<'a> {
    terms: &'a Terms,
    root: TermId,
    pieces: usize,
}

enum Piece {
    Text(&'static str),
    Owned(String),
    Term { term: TermId, nested: bool },
}

impl<'a> Displayed<'a> {
    pub(crate) fn new(terms: &'a Terms, root: TermId) -> Self {
        Self { terms, root, pieces: MOST_PIECES }
    }

    /// Cut off with `…` after about this many operators, operands and parentheses.
    pub fn at_most(self, pieces: usize) -> Self {
        Self { pieces, ..self }
    }

    fn expand(&self, term: TermId, nested: bool) -> Vec<Piece> {
        let atom = |term| Piece::Term { term, nested: true };
        let plain = |term| Piece::Term { term, nested: false };
        let text = Piece::Text;
        match *self.terms.kind(term) {
            TermKind::Constant(value) => {
                vec![Piece::Owned(self.constant(value, self.terms.width(term)))]
            }
            TermKind::Variable(id) => vec![Piece::Owned(self.terms.variable_name(id).to_owned())],
            TermKind::Unary(UnaryOp::Not, inner) => self.negation(inner, term, nested),
            TermKind::Unary(UnaryOp::Neg, inner) => vec![text("-"), atom(inner)],
            TermKind::Binary(op, a, b) => self.infix(self.operator(op, term), a, b, nested),
            TermKind::Compare(op, a, b) => self.comparison(op, a, b, nested),
            TermKind::IfThenElse { condition, then, otherwise } => {
                vec![text("ite("), plain(condition), text(", "), plain(then), text(", "), plain(otherwise), text(")")]
            }
            TermKind::Extract { term: inner, low } => {
                let high = low + self.terms.width(term) - 1;
                vec![atom(inner), Piece::Owned(format!("[{high}:{low}]"))]
            }
            TermKind::Concat { high, low } => self.infix("++", high, low, nested),
            TermKind::ZeroExtend(inner) => self.extension("zext", inner, term),
            TermKind::SignExtend(inner) => self.extension("sext", inner, term),
            TermKind::Float(op, a, Some(b), None) if is_infix(op) => {
                let (a, b) = (self.float_operand(a), self.float_operand(b));
                parenthesised(vec![a, Piece::Text(" "), Piece::Text(op.name()), Piece::Text(" "), b], nested)
            }
            TermKind::Float(op, ..) => self.call(op.name(), self.terms.kind(term)),
        }
    }

    fn infix(&self, operator: &'static str, a: TermId, b: TermId, nested: bool) -> Vec<Piece> {
        let atom = |term| Piece::Term { term, nested: true };
        parenthesised(vec![atom(a), Piece::Text(" "), Piece::Text(operator), Piece::Text(" "), atom(b)], nested)
    }

    /// A constant as the number that its bits are.
    fn float_operand(&self, term: TermId) -> Piece {
        match (self.terms.as_constant(term), self.terms.width(term)) {
            (Some(bits), 64) => Piece::Owned(format!("{:?}", f64::from_bits(bits as u64))),
            (Some(bits), 32) => Piece::Owned(format!("{:?}", f32::from_bits(bits as u32))),
            _ => Piece::Term { term, nested: true },
        }
    }

    /// A constant is stored left of `<` for want of `>`; people expect it right.
    fn comparison(&self, op: CompareOp, a: TermId, b: TermId, nested: bool) -> Vec<Piece> {
        let (operator, converse) = match op {
            CompareOp::Eq => ("==", "=="),
            CompareOp::Ult => ("<u", ">u"),
            CompareOp::Ule => ("<=u", ">=u"),
            CompareOp::Slt => ("<s", ">s"),
            CompareOp::Sle => ("<=s", ">=s"),
        };
        match self.terms.as_constant(a) {
            Some(_) => self.infix(converse, b, a, nested),
            None => self.infix(operator, a, b, nested),
        }
    }

    fn negation(&self, inner: TermId, term: TermId, nested: bool) -> Vec<Piece> {
        if let TermKind::Compare(CompareOp::Eq, a, b) = *self.terms.kind(inner) {
            return self.infix("!=", a, b, nested);
        }
        let sign = if self.terms.width(term) == 1 { "!" } else { "~" };
        vec![Piece::Text(sign), Piece::Term { term: inner, nested: true }]
    }

    fn extension(&self, name: &str, inner: TermId, term: TermId) -> Vec<Piece> {
        let start = format!("{name}{}(", self.terms.width(term));
        vec![Piece::Owned(start), Piece::Term { term: inner, nested: false }, Piece::Text(")")]
    }

    fn call(&self, name: &'static str, kind: &TermKind) -> Vec<Piece> {
        let mut pieces = vec![Piece::Text(name)];
        for (index, term) in kind.operands().enumerate() {
            pieces.push(Piece::Text(if index == 0 { "(" } else { ", " }));
            pieces.push(Piece::Term { term, nested: false });
        }
        pieces.push(Piece::Text(")"));
        pieces
    }

    fn operator(&self, op: BinaryOp, term: TermId) -> &'static str {
        let boolean = self.terms.width(term) == 1;
        match op {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::UDiv => "/u",
            BinaryOp::SDiv => "/s",
            BinaryOp::URem => "%u",
            BinaryOp::SRem => "%s",
            BinaryOp::And if boolean => "&&",
            BinaryOp::Or if boolean => "||",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::LShr => ">>u",
            BinaryOp::AShr => ">>s",
        }
    }

    /// Small negative numbers read better signed; masks and addresses read better in hexadecimal.
    fn constant(&self, value: u128, width: u32) -> String {
        let signed = semantics::signed(value, width);
        match width {
            1 => (value == 1).to_string(),
            _ if (-65536..0).contains(&signed) && width > 8 => signed.to_string(),
            _ if value < 65536 => value.to_string(),
            _ => format!("{value:#x}"),
        }
    }
}

fn parenthesised(pieces: Vec<Piece>, nested: bool) -> Vec<Piece> {
    if !nested {
        return pieces;
    }
    [Piece::Text("(")].into_iter().chain(pieces).chain([Piece::Text(")")]).collect()
}

fn is_infix(op: FloatOp) -> bool {
    use FloatOp::{Add, Div, Equal, Less, LessOrEqual, Mul, Sub};
    matches!(op, Add | Sub | Mul | Div | Equal | Less | LessOrEqual)
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.pieces;
        let mut pending = vec![Piece::Term { term: self.root, nested: false }];
        while let Some(piece) = pending.pop() {
            if left == 0 {
                return f.write_str("…");
            }
            left -= 1;
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Owned(text) => f.write_str(&text)?,
                Piece::Term { term, nested } => pending.extend(self.expand(term, nested).into_iter().rev()),
            }
        }
        Ok(())
    }
}
