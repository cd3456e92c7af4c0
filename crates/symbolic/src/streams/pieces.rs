//! What a stream consists of, as a path took it, and the variables that it is made of.

use std::collections::BTreeMap;

use branchwise_constraints::{TermId, Terms};

use crate::inputs::ShapeId;

/// A part of a stream, in the order in which a path took it.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum StreamPiece {
    /// One byte: 8 bits.
    Byte(TermId),
    /// A number that a conversion took as a whole; its width is that of the value.
    Number { value: TermId, notation: Notation },
    /// Something at which a conversion of this notation found no number.
    NoNumber(Notation),
    /// White space before the end.
    Space,
}

/// How a conversion writes numbers.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Notation {
    /// `%d`
    Signed,
    /// `%i`: decimal, unless a prefix says otherwise.
    AnyBase,
    /// `%u`
    Unsigned,
    /// `%o`
    Octal,
    /// `%x`
    Hexadecimal,
    /// `%f`, `%e`, `%g`, `%a`
    Float,
}

impl Notation {
    /// The digits that would go on with a number of this notation.
    pub(crate) fn digits(self) -> Digits {
        match self {
            Notation::Octal => Digits::Octal,
            Notation::Hexadecimal => Digits::Hexadecimal,
            _ => Digits::Decimal,
        }
    }
}

/// Bytes that cannot follow a number, because they would be part of it.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Digits {
    Octal,
    Decimal,
    Hexadecimal,
}

/// The variables of all streams. A place is the number of pieces (or of writing calls) before it, so paths that took the
/// same pieces ask for the same variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamVariables {
    /// By stream (`None`: standard input), place and question.
    known: BTreeMap<(Option<ShapeId>, usize, Slot), TermId>,
}

/// What can be asked at a place.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// 1 bit: there is at least one byte.
    More,
    /// 8 bits; what it must not be is part of its name, so that a value is never carried over to where it is not allowed.
    Byte(Option<Digits>),
    /// 2 bits: what a conversion finds there (0: the end; 1: a number; otherwise: something else).
    Found,
    /// The number that it finds.
    Number(Notation, u32),
    /// 1 bit: an earlier call has come to the end.
    AtEnd,
    /// 1 bit: reading behind the last byte fails, instead of finding the end.
    Broken,
    /// 1 bit: a call that writes fails.
    Full,
    /// 1 bit: one of the writing calls whose results nobody looked at failed.
    WasFull,
    /// 1 bit: closing fails.
    Unclosable,
}

impl Slot {
    fn width(self) -> u32 {
        match self {
            Slot::More | Slot::AtEnd | Slot::Broken | Slot::Full | Slot::WasFull | Slot::Unclosable => 1,
            Slot::Byte(_) => 8,
            Slot::Found => 2,
            Slot::Number(_, width) => width,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Slot::More => "more",
            Slot::Byte(_) => "byte",
            Slot::Found => "found",
            Slot::Number(..) => "number",
            Slot::AtEnd => "at_end",
            Slot::Broken => "broken",
            Slot::Full => "full",
            Slot::WasFull => "was_full",
            Slot::Unclosable => "unclosable",
        }
    }
}

impl StreamVariables {
    /// `name`: of the stream, for people.
    pub(crate) fn get(
        &mut self,
        terms: &mut Terms,
        (stream, name): (Option<ShapeId>, &str),
        place: usize,
        slot: Slot,
    ) -> TermId {
        let make = || terms.variable(&format!("{name}.{}{place}", slot.name()), slot.width());
        *self.known.entry((stream, place, slot)).or_insert_with(make)
    }
}
