//! Streams that a test gives: what a `FILE *` among the inputs points to. One is read or written, not both; it is never
//! buffered, so that a call that writes fails there and then. What a run of the program cannot tell is left open: whether
//! reading ended or failed until somebody asks, and whether a call failed whose result nobody looks at.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use branchwise_constraints::{CompareOp, TermId};
use branchwise_program::assumption::catalogue::{OUTPUT_SUCCEEDS, STREAMS_ARE_FRESH};
use branchwise_program::types::TypeKind;

use crate::executor::{Executor, Step, Touchable};
use crate::inputs::ShapeId;
use crate::memory::Origin;
use crate::streams::input::StreamState;
use crate::streams::pieces::{Slot, StreamPiece};
use crate::value::ObjectId;

/// Standard input first, then the streams that a test gives, in the order of their use; the selected one is what the
/// functions that read and write work on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Streams {
    states: Vec<StreamState>,
    selected: usize,
}

/// What a test has to say of a stream that it gives.
#[derive(Debug, Clone)]
pub struct GivenStream {
    /// What it holds.
    pub pieces: Vec<StreamPiece>,
    /// Reading behind that fails, instead of finding the end.
    pub reading_fails: bool,
    /// That was tried once before the call.
    pub at_end: bool,
    /// How many bytes can be written (64 bits); `None`: any number.
    pub room: Option<TermId>,
    pub closing_fails: bool,
}

/// What a path knows of a stream beside what was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Given {
    direction: Option<Direction>,
    at_end: bool,
    /// How what it holds ends, once somebody asked: with an error or not.
    broken: Option<bool>,
    /// The stream's error flag.
    pub(super) error_seen: bool,
    /// Calls that wrote.
    writes: usize,
    /// How many bytes they wrote (64 bits).
    total: Option<TermId>,
    /// How many of them are known to have been taken.
    assured: Option<TermId>,
    /// How many there is room for, once a call failed.
    room: Option<TermId>,
    unclosable: bool,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Direction {
    Reading,
    Writing,
}

impl Default for Streams {
    fn default() -> Self {
        Streams { states: vec![StreamState::of(None)], selected: 0 }
    }
}

impl Deref for Streams {
    type Target = StreamState;

    fn deref(&self) -> &StreamState {
        &self.states[self.selected]
    }
}

impl DerefMut for Streams {
    fn deref_mut(&mut self) -> &mut StreamState {
        &mut self.states[self.selected]
    }
}

impl Streams {
    /// `None`: standard input.
    fn select(&mut self, shape: Option<ShapeId>) {
        let known = self.states.iter().position(|state| state.shape == shape);
        self.selected = known.unwrap_or_else(|| {
            self.states.push(StreamState::of(shape));
            self.states.len() - 1
        });
    }

    pub(crate) fn standard_input(&self) -> Vec<StreamPiece> {
        self.states[0].written()
    }

    pub(crate) fn given_streams(&self) -> BTreeMap<ShapeId, GivenStream> {
        let given = |state: &StreamState| {
            let about = &state.given;
            let stream = GivenStream {
                pieces: state.written(),
                reading_fails: about.broken == Some(true),
                at_end: about.at_end,
                room: about.room,
                closing_fails: about.unclosable,
            };
            Some((state.shape?, stream))
        };
        self.states.iter().filter_map(given).collect()
    }
}

impl Executor<'_, '_> {
    pub(crate) fn is_stream_shape(&self, shape: ShapeId) -> bool {
        self.session.program.map.types[self.session.inputs.shape(shape).element].kind == TypeKind::Stream
    }

    /// The input that a stream is.
    pub(super) fn given_stream(&self, object: ObjectId) -> Option<ShapeId> {
        match self.memory.get(object)?.origin {
            Origin::Input(shape) if self.is_stream_shape(shape) => Some(shape),
            _ => None,
        }
    }

    /// A stream of a test is none of those that every program has.
    pub(crate) fn note_compared_streams(&mut self, left: ObjectId, right: ObjectId) {
        let given = self.given_stream(left).is_some() || self.given_stream(right).is_some();
        let standard = self.session.stream_of(left).is_some() || self.session.stream_of(right).is_some();
        if given && standard {
            self.rest_on(STREAMS_ARE_FRESH.about("standard input, standard output, standard error"));
        }
    }

    pub(super) fn select_standard_input(&mut self) {
        self.input.select(None);
    }

    pub(super) fn select_given(&mut self, shape: ShapeId, direction: Option<Direction>) -> Step<()> {
        self.input.select(Some(shape));
        // Even to look at a stream is to see what was done to it by another name.
        self.touched.entry(Touchable::Input(shape)).or_default().written = true;
        let known = self.input.given.direction;
        match (known, direction) {
            (Some(known), Some(wanted)) if known != wanted => {
                self.unsupported("a stream that is both read and written")
            }
            _ => {
                self.input.given.direction = known.or(direction);
                Ok(())
            }
        }
    }

    /// Before anything was read or written, an earlier call may have come to the end or to an error.
    pub(super) fn settle_start(&mut self) -> Step<()> {
        if self.input.shape.is_none() || self.input.used {
            return Ok(());
        }
        self.input.used = true;
        let at_end = self.stream_variable_at(0, Slot::AtEnd);
        if self.holds(at_end)? {
            self.input.ended = true;
            self.input.end_seen = true;
            self.input.given.at_end = true;
        }
        Ok(())
    }

    /// Whether it was the end or an error that stopped reading.
    pub(super) fn settle_end(&mut self) -> Step<()> {
        if self.input.shape.is_none() || !self.input.end_seen {
            return Ok(());
        }
        let broken = match self.input.given.broken {
            Some(broken) => broken,
            None => {
                let broken = self.stream_variable_at(0, Slot::Broken);
                self.holds(broken)?
            }
        };
        self.input.given.broken = Some(broken);
        if broken {
            self.input.end_seen = false;
            self.input.given.error_seen = true;
            self.note_errno_of_failure();
        }
        Ok(())
    }

    /// Reading has come to the end, for the function that stops there: whether an error is the reason.
    pub(super) fn ended_by_error(&mut self) -> Step<bool> {
        self.settle_end()?;
        Ok(self.input.shape.is_some() && self.input.given.error_seen)
    }

    /// `ferror`
    pub(super) fn error_was_seen(&mut self) -> Step<bool> {
        self.settle_start()?;
        if self.input.given.direction == Some(Direction::Writing) {
            self.settle_writing()?;
        } else {
            self.settle_input()?;
            self.settle_end()?;
        }
        Ok(self.input.given.error_seen)
    }

    /// No test lets standard input, output or error fail.
    pub(super) fn note_failing_standard_stream(&mut self) {
        self.rest_on(OUTPUT_SUCCEEDS.about("standard streams"));
    }

    /// Whether one of the writing calls failed whose results nobody looked at.
    fn settle_writing(&mut self) -> Step<()> {
        let (Some(total), assured, None) = (self.input.given.total, self.assured(), self.input.given.room) else {
            return Ok(());
        };
        let failed = self.stream_variable_at(self.input.given.writes, Slot::WasFull);
        let same = self.session.terms.compare(CompareOp::Eq, total, assured);
        let more = self.session.terms.not(same);
        let failed = self.session.terms.and(failed, more);
        if self.holds(failed)? {
            self.fail_at(assured);
        } else {
            self.input.given.assured = Some(total);
        }
        Ok(())
    }

    fn assured(&mut self) -> TermId {
        let zero = self.session.terms.constant(0, 64);
        self.input.given.assured.unwrap_or(zero)
    }

    fn fail_at(&mut self, room: TermId) {
        self.input.given.room = Some(room);
        self.input.given.error_seen = true;
        self.note_errno_of_failure();
    }

    /// What fails in a test leaves `errno` alone.
    fn note_errno_of_failure(&mut self) {
        if self.session.shared.looks_at_errno {
            self.rest_on(STREAMS_ARE_FRESH.about("streams that set errno when they fail"));
        }
    }

    /// Writes so many bytes (64 bits) to the selected stream; whether that succeeds. `asked`: somebody looks.
    pub(super) fn put_to_given(&mut self, length: TermId, asked: bool) -> Step<bool> {
        self.input.used = true;
        let zero = self.session.terms.constant(0, 64);
        let is_empty = self.session.terms.compare(CompareOp::Eq, length, zero);
        if self.input.given.room.is_some() {
            return if asked { self.holds(is_empty) } else { Ok(false) };
        }
        let before = self.input.given.total.unwrap_or(zero);
        let after = self.session.terms.add(before, length);
        if asked {
            let full = self.stream_variable_at(self.input.given.writes, Slot::Full);
            let not_empty = self.session.terms.not(is_empty);
            let fails = self.session.terms.and(full, not_empty);
            self.input.given.writes += 1;
            if self.holds(fails)? {
                self.fail_at(before);
                return Ok(false);
            }
            self.input.given.assured = Some(after);
        } else {
            self.input.given.writes += 1;
        }
        self.input.given.total = Some(after);
        Ok(true)
    }

    /// Whether closing the selected stream succeeds.
    pub(super) fn close_given(&mut self, asked: bool) -> Step<bool> {
        if !asked {
            return Ok(true);
        }
        let unclosable = self.stream_variable_at(0, Slot::Unclosable);
        self.input.given.unclosable = self.holds(unclosable)?;
        if self.input.given.unclosable {
            self.note_errno_of_failure();
        }
        Ok(!self.input.given.unclosable)
    }

    /// `fflush`
    pub(super) fn flush_given(&mut self, asked: bool) {
        if asked && self.input.given.direction == Some(Direction::Writing) {
            self.rest_on(OUTPUT_SUCCEEDS.about("fflush"));
        }
    }

    /// `ftell`, as a term of 64 bits.
    pub(super) fn position(&mut self) -> Step<TermId> {
        self.note_positions();
        if self.input.given.direction == Some(Direction::Writing) {
            self.settle_writing()?;
            let zero = self.session.terms.constant(0, 64);
            return match self.input.given.room {
                Some(_) => self.unsupported("the position of a stream that failed"),
                None => Ok(self.input.given.total.unwrap_or(zero)),
            };
        }
        self.settle_input()?;
        let read = self.bytes_read()?.len() as u64;
        match read.checked_sub(self.input.pushed_back.len() as u64) {
            Some(position) => Ok(self.session.terms.constant(u128::from(position), 64)),
            None => self.unsupported("a position before the beginning of a stream"),
        }
    }

    /// A stream of a test begins at its beginning and can be positioned; others are pipes, or were used before.
    fn note_positions(&mut self) {
        self.rest_on(STREAMS_ARE_FRESH.about("streams that were used before the call, streams without positions"));
    }

    /// Everything that was read, where it was read byte by byte.
    fn bytes_read(&mut self) -> Step<Vec<TermId>> {
        let byte = |piece: &StreamPiece| match piece {
            StreamPiece::Byte(byte) => Some(*byte),
            _ => None,
        };
        match self.input.pieces.iter().map(byte).collect() {
            Some(bytes) => Ok(bytes),
            None => self.unsupported("the position in a stream from which numbers were read"),
        }
    }

    /// `fseek`; the state is that of a stream that was read up to there.
    pub(super) fn seek(&mut self, offset: i64, whence: u64) -> Step<()> {
        if self.input.given.direction == Some(Direction::Writing) {
            return self.unsupported("another position in a stream that is written");
        }
        self.note_positions();
        self.input.given.direction = Some(Direction::Reading);
        let begin = match whence {
            0 => 0,
            1 => {
                let position = self.position()?;
                self.session.terms.as_constant(position).unwrap_or(0) as i64
            }
            2 => {
                while self.take_byte()?.is_some() {}
                self.bytes_read()?.len() as i64
            }
            _ => return self.unsupported("fseek() from an unknown place"),
        };
        let Some(target) = begin.checked_add(offset).and_then(|target| usize::try_from(target).ok()) else {
            return self.unsupported("a position before the beginning of a stream");
        };
        self.settle_input()?;
        self.input.pushed_back.clear();
        while self.bytes_read()?.len() < target {
            if self.take_byte()?.is_none() {
                return self.unsupported("a position behind the end of a stream");
            }
        }
        let bytes = self.bytes_read()?;
        self.input.used = true;
        self.input.end_seen = false;
        self.input.pushed_back = bytes[target..].iter().rev().copied().collect();
        Ok(())
    }
}
