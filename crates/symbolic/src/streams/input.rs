//! Streams that are read: standard input, and those that a test gives, as sequences of input variables.
//!
//! Bytes are made when the program asks for them. A numeric conversion at a place where nothing was looked at yet takes
//! a whole number as one variable: digits that add up to a value are hard to solve for, a value is not. What such a
//! number leaves open (is there anything behind it?) is decided when the program looks.

use branchwise_constraints::{CompareOp, FloatOp, TermId};
use branchwise_program::assumption::catalogue::INPUT_ENDS_ONCE;

use crate::executor::{Executor, Step};
use crate::inputs::ShapeId;
use crate::path::{Alternative, AlternativeKind, PathEnd};
use crate::streams::given::Given;
use crate::streams::pieces::{Digits, Notation, Slot, StreamPiece};

/// What a path knows of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StreamState {
    /// The input that it is; `None`: standard input.
    pub shape: Option<ShapeId>,
    pub pieces: Vec<StreamPiece>,
    /// Bytes that were put back, the next one last.
    pub(super) pushed_back: Vec<TermId>,
    /// Nothing follows the pieces.
    pub(super) ended: bool,
    /// Something follows the pieces.
    more: bool,
    /// The stream's end-of-file flag; of a stream that a test gives, it may still turn out to be the error flag.
    pub(super) end_seen: bool,
    /// White space up to the next other byte is to be skipped; it is read when that makes a difference.
    skipping: bool,
    /// A number, or what was none, was the last piece: the conversion looked at what follows, without taking it.
    looked_ahead: bool,
    /// What follows is none of these, or it would have been part of the last piece.
    not_next: Option<Digits>,
    /// The C library's buffer may hold more than was read.
    pub buffered: bool,
    /// Something was read or asked.
    pub(super) used: bool,
    /// What else there is to know of a stream that a test gives.
    pub given: Given,
}

impl StreamState {
    pub fn of(shape: Option<ShapeId>) -> StreamState {
        StreamState { shape, ..StreamState::default() }
    }

    /// What a test writes: where something follows that nobody read, white space will do.
    pub(super) fn written(&self) -> Vec<StreamPiece> {
        let mut pieces = self.pieces.clone();
        pieces.extend(self.more.then_some(StreamPiece::Space));
        pieces
    }
}

/// What a numeric conversion found.
pub(crate) enum Found {
    End,
    Number(TermId),
    NoNumber,
}

impl Executor<'_, '_> {
    /// The next byte (8 bits), `None` at the end.
    pub(crate) fn take_byte(&mut self) -> Step<Option<TermId>> {
        if let Some(byte) = self.input.pushed_back.pop() {
            return Ok(Some(byte));
        }
        if std::mem::take(&mut self.input.skipping) {
            return self.take_after_space();
        }
        self.take_raw()
    }

    fn take_after_space(&mut self) -> Step<Option<TermId>> {
        while let Some(byte) = self.take_raw()? {
            let is_space = self.is_space(byte);
            if !self.holds(is_space)? {
                return Ok(Some(byte));
            }
        }
        Ok(None)
    }

    fn take_raw(&mut self) -> Step<Option<TermId>> {
        self.input.used = true;
        if !self.has_more()? {
            self.input.end_seen = true;
            return Ok(None);
        }
        self.check_stream_bound()?;
        let byte = self.stream_variable(Slot::Byte(self.input.not_next));
        if let Some(digits) = self.input.not_next {
            self.notes.caveats.plain_numbers |= self.follows_other_texts();
            let continues = self.is_digit_of(byte, digits);
            let allowed = self.session.terms.not(continues);
            self.require(allowed)?;
        }
        self.push_piece(StreamPiece::Byte(byte));
        Ok(Some(byte))
    }

    /// Whether anything follows the pieces.
    fn has_more(&mut self) -> Step<bool> {
        if self.input.ended || self.input.more {
            return Ok(self.input.more);
        }
        let more = self.stream_variable(Slot::More);
        self.input.more = self.holds(more)?;
        self.input.ended = !self.input.more;
        Ok(self.input.more)
    }

    /// A number of this width as a conversion without a field width takes it, after any white space; `None` where it
    /// has to be read byte by byte.
    pub(crate) fn take_number(&mut self, notation: Notation, width: u32) -> Step<Option<Found>> {
        if !self.input.pushed_back.is_empty() {
            return Ok(None);
        }
        self.input.used = true;
        self.input.skipping = false;
        if self.input.ended {
            self.input.end_seen = true;
            return Ok(Some(Found::End));
        }
        Ok(Some(match self.choose_found()? {
            0 => {
                if self.input.more {
                    self.push_piece(StreamPiece::Space);
                }
                self.input.ended = true;
                self.input.end_seen = true;
                Found::End
            }
            1 => {
                self.check_stream_bound()?;
                // A number that does not fit its type is told of in `errno` alone.
                self.notes.caveats.plain_numbers |= self.session.shared.looks_at_errno;
                let value = self.stream_variable(Slot::Number(notation, width));
                self.require_writable_float(notation, value)?;
                self.require_declared(notation, value)?;
                self.push_piece(StreamPiece::Number { value, notation });
                self.input.looked_ahead = true;
                self.input.not_next = Some(notation.digits());
                Found::Number(value)
            }
            _ => {
                self.check_stream_bound()?;
                self.push_piece(StreamPiece::NoNumber(notation));
                self.input.looked_ahead = true;
                // The beginning of "inf" with something else behind it is taken: then anything may follow.
                self.input.not_next = (notation != Notation::Float).then(|| notation.digits());
                Found::NoNumber
            }
        }))
    }

    fn choose_found(&mut self) -> Step<usize> {
        let found = self.stream_variable(Slot::Found);
        let alternatives = (0..3)
            .map(|what| {
                let constant = self.session.terms.constant(what, 2);
                let op = if what == 2 { CompareOp::Ule } else { CompareOp::Eq };
                let constraint = self.session.terms.compare(op, constant, found);
                Alternative { constraint, kind: AlternativeKind::Continue }
            })
            .collect();
        self.choose(alternatives)
    }

    /// The only texts of values that are not numbers are "nan" and "-nan".
    fn require_writable_float(&mut self, notation: Notation, value: TermId) -> Step<()> {
        if notation != Notation::Float {
            return Ok(());
        }
        let width = self.session.terms.width(value);
        let (infinity, plain) =
            if width == 32 { (0x7f80_0000, 0x7fc0_0000) } else { (0x7ff0_0000_0000_0000, 0x7ff8_0000_0000_0000) };
        let terms = &mut self.session.terms;
        let magnitude = terms.extract(value, 0, width - 1);
        let (infinity, plain) = (terms.constant(infinity, width - 1), terms.constant(plain, width - 1));
        let is_number = terms.compare(CompareOp::Ule, magnitude, infinity);
        let is_plain = terms.compare(CompareOp::Eq, magnitude, plain);
        let writable = terms.or(is_number, is_plain);
        self.require(writable)
    }

    /// A number is read only if it is in the domain that is declared of it.
    fn require_declared(&mut self, notation: Notation, value: TermId) -> Step<()> {
        let program = self.session.program;
        let is_number = |piece: &&StreamPiece| matches!(piece, StreamPiece::Number { .. });
        let before = self.input.pieces.iter().filter(is_number).count();
        let declared = program.map.domain(self.session.function).and_then(|domain| domain.of_number_read(before));
        let Some(domain) = declared else { return Ok(()) };
        let within = match notation {
            Notation::Float => self.float_within(value, &domain.floats),
            Notation::Signed | Notation::AnyBase => self.within(value, &domain.integers, true),
            Notation::Unsigned | Notation::Octal | Notation::Hexadecimal => self.within(value, &domain.integers, false),
        };
        self.require(within)
    }

    /// Whether a float lies in one of these ranges, whose ends are bits of doubles.
    fn float_within(&mut self, value: TermId, ranges: &[(u64, u64)]) -> TermId {
        let terms = &mut self.session.terms;
        let wide = if terms.width(value) == 64 { value } else { terms.float(FloatOp::Convert, 64, &[value]) };
        let mut within = terms.boolean(false);
        for &(low, high) in ranges {
            let [low, high] = [low, high].map(|bits| terms.constant(u128::from(bits), 64));
            let above = terms.float(FloatOp::LessOrEqual, 1, &[low, wide]);
            let below = terms.float(FloatOp::LessOrEqual, 1, &[wide, high]);
            let inside = terms.and(above, below);
            within = terms.or(within, inside);
        }
        within
    }

    /// White space from here on does not count.
    pub(crate) fn skip_space(&mut self) -> Step<()> {
        while let Some(byte) = self.input.pushed_back.pop() {
            let is_space = self.is_space(byte);
            if !self.holds(is_space)? {
                self.input.pushed_back.push(byte);
                return Ok(());
            }
        }
        self.input.used = true;
        self.input.skipping = true;
        Ok(())
    }

    pub(crate) fn put_back(&mut self, byte: TermId) {
        self.input.pushed_back.push(byte);
    }

    /// `ungetc`
    pub(crate) fn unget(&mut self, byte: TermId) -> Step<()> {
        self.settle_input()?;
        self.settle_end()?;
        self.input.end_seen = false;
        self.input.pushed_back.push(byte);
        Ok(())
    }

    /// Whether the end was seen. At the start of a test it was not, but a call before this one may have seen it.
    pub(crate) fn end_was_seen(&mut self) -> Step<bool> {
        self.notes.caveats.reads_state |= !self.input.used && self.input.shape.is_none();
        self.settle_start()?;
        self.settle_input()?;
        self.settle_end()?;
        Ok(self.input.end_seen)
    }

    pub(crate) fn forget_end(&mut self) -> Step<()> {
        if self.input.shape.is_none() {
            self.rest_on(INPUT_ENDS_ONCE.assumed());
        }
        self.settle_start()?;
        self.settle_input()?;
        self.input.used = true;
        self.input.end_seen = false;
        self.input.given.error_seen = false;
        Ok(())
    }

    /// Does what was put off, so that the end-of-file flag is what it should be.
    pub(super) fn settle_input(&mut self) -> Step<()> {
        if self.input.skipping {
            if let Some(byte) = self.take_byte()? {
                self.put_back(byte);
            }
        } else if self.input.looked_ahead && self.input.pushed_back.is_empty() && !self.has_more()? {
            self.input.end_seen = true;
        }
        Ok(())
    }

    fn push_piece(&mut self, piece: StreamPiece) {
        self.input.pieces.push(piece);
        self.input.more = false;
        self.input.looked_ahead = false;
        self.input.not_next = None;
    }

    /// Digits may follow "inf", and 8 and 9 an octal number of `%i`: such inputs are not made.
    fn follows_other_texts(&self) -> bool {
        let other_texts = [Notation::Float, Notation::AnyBase];
        matches!(self.input.pieces.last(), Some(StreamPiece::Number { notation, .. }) if other_texts.contains(notation))
    }

    fn stream_variable(&mut self, slot: Slot) -> TermId {
        self.stream_variable_at(self.input.pieces.len(), slot)
    }

    pub(super) fn stream_variable_at(&mut self, place: usize, slot: Slot) -> TermId {
        let shape = self.input.shape;
        let name = shape.map_or("stdin", |shape| self.session.inputs.shape(shape).name.as_str());
        self.session.stream_variables.get(&mut self.session.terms, (shape, name), place, slot)
    }

    fn check_stream_bound(&self) -> Step<()> {
        let bound = self.limits.standard_input;
        if (self.input.pieces.len() as u64) < bound {
            return Ok(());
        }
        Err(Box::new(PathEnd::StreamBound { location: self.location(), shape: self.input.shape, bound }))
    }

    /// What holds for all inputs that are made; others have no text.
    pub(crate) fn require(&mut self, condition: TermId) -> Step<()> {
        let holds = self.decide(condition, [AlternativeKind::Rejected, AlternativeKind::Continue])?;
        if holds { Ok(()) } else { Err(Box::new(PathEnd::Rejected)) }
    }

    /// Decides a condition that no marker tells of.
    pub(crate) fn holds(&mut self, condition: TermId) -> Step<bool> {
        self.decide(condition, [AlternativeKind::Continue; 2])
    }
}
