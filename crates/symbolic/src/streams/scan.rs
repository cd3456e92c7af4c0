//! `scanf` and `sscanf`: one directive after the other, as glibc does it.

use branchwise_constraints::{CompareOp, TermId};

use crate::address::{Access, Spot};
use crate::executor::{Executor, Step};
use crate::streams::arguments::Arguments;
use crate::streams::input::Found;
use crate::streams::pieces::Notation;
use crate::streams::scan_format::{Conversion, Directive, Kind, parse};
use crate::value::{Pointer, Value};

/// Where the characters come from.
pub(crate) enum Source {
    /// The selected stream.
    Stream,
    /// A string in memory; `at`: bytes from its start.
    Text { address: Value, at: u64 },
}

/// Bytes of a text in which its end is looked for.
const LONGEST_TEXT: u64 = 1 << 12;

/// The state of one call.
pub(crate) struct Scan {
    source: Source,
    /// Bytes taken so far.
    taken: u64,
    /// The end was read: nothing else is.
    at_end: bool,
    /// Bytes are counted (`%n`), so numbers must be read byte by byte.
    counting: bool,
}

/// How a directive ended.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Outcome<T> {
    Matched(T),
    /// The input was over.
    InputFailure,
    /// The input does not fit.
    MatchingFailure,
}

impl Executor<'_, '_> {
    /// What `scanf` returns: how many conversions were stored, or -1 when the input was over before the first.
    pub(crate) fn scan(&mut self, source: Source, format: &[u8], mut arguments: Arguments) -> Step<i32> {
        let directives = match parse(format) {
            Ok(directives) => directives,
            Err(what) => return self.unsupported(what),
        };
        let counts = |directive: &Directive| {
            matches!(directive, Directive::Conversion(Conversion { kind: Kind::Count { .. }, .. }))
        };
        let counting = directives.iter().any(counts);
        let mut scan = Scan { source, taken: 0, at_end: false, counting };
        let mut stored = 0;
        for directive in &directives {
            match self.scan_directive(&mut scan, directive, &mut arguments)? {
                Outcome::Matched(true) => stored += 1,
                Outcome::Matched(false) => {}
                Outcome::InputFailure => return Ok(if stored == 0 { -1 } else { stored }),
                Outcome::MatchingFailure => return Ok(stored),
            }
        }
        Ok(stored)
    }

    /// Whether it stored a conversion that counts.
    fn scan_directive(
        &mut self,
        scan: &mut Scan,
        directive: &Directive,
        arguments: &mut Arguments,
    ) -> Step<Outcome<bool>> {
        match directive {
            Directive::Space => {
                self.scan_space(scan)?;
                Ok(Outcome::Matched(false))
            }
            Directive::Literal(byte) => self.scan_literal(scan, *byte),
            Directive::Percent => {
                self.scan_space(scan)?;
                self.scan_literal(scan, b'%')
            }
            Directive::Conversion(conversion) => self.scan_conversion(scan, conversion, arguments),
        }
    }

    /// On a stream white space is only read when something else is: a number skips it by itself.
    fn scan_space(&mut self, scan: &mut Scan) -> Step<()> {
        if matches!(scan.source, Source::Stream) && !scan.counting && !scan.at_end {
            return self.skip_space();
        }
        while let Some(byte) = self.scan_byte(scan)? {
            let is_space = self.is_space(byte);
            if !self.holds(is_space)? {
                self.unscan(scan, Some(byte));
                break;
            }
        }
        Ok(())
    }

    fn scan_literal(&mut self, scan: &mut Scan, literal: u8) -> Step<Outcome<bool>> {
        let Some(byte) = self.scan_byte(scan)? else { return Ok(Outcome::InputFailure) };
        let matches = self.is_byte(byte, literal);
        if self.holds(matches)? {
            return Ok(Outcome::Matched(false));
        }
        self.unscan(scan, Some(byte));
        Ok(Outcome::MatchingFailure)
    }

    fn scan_conversion(
        &mut self,
        scan: &mut Scan,
        conversion: &Conversion,
        arguments: &mut Arguments,
    ) -> Step<Outcome<bool>> {
        let target = if conversion.suppressed { None } else { Some(self.next_argument(arguments, 64)?) };
        match &conversion.kind {
            Kind::Integer { notation, bytes } => {
                self.scan_space(scan)?;
                let number = self.scan_integer_value(scan, conversion, *notation, *bytes)?;
                self.store_scanned(number, target, *bytes)
            }
            Kind::Float { bytes } => {
                self.scan_space(scan)?;
                let number = self.scan_float_value(scan, conversion, *bytes)?;
                self.store_scanned(number, target, *bytes)
            }
            Kind::Characters => self.scan_characters(scan, conversion.width.unwrap_or(1), target),
            Kind::Word => {
                self.scan_space(scan)?;
                self.scan_word(scan, conversion.width, target)
            }
            Kind::Set(ranges) => self.scan_set(scan, ranges, conversion.width, target),
            Kind::Count { bytes } => {
                if let Some(target) = target {
                    self.write(&target, *bytes, Value::Bits(scan.taken))?;
                }
                Ok(Outcome::Matched(false))
            }
        }
    }

    fn store_scanned(&mut self, number: Outcome<TermId>, target: Option<Value>, bytes: u64) -> Step<Outcome<bool>> {
        Ok(match number {
            Outcome::Matched(term) => {
                if let Some(target) = &target {
                    let term = self.session.terms.extract(term, 0, 8 * bytes as u32);
                    let value = self.term_value(term);
                    self.write(target, bytes, value)?;
                }
                Outcome::Matched(target.is_some())
            }
            Outcome::InputFailure => Outcome::InputFailure,
            Outcome::MatchingFailure => Outcome::MatchingFailure,
        })
    }

    fn scan_integer_value(
        &mut self,
        scan: &mut Scan,
        conversion: &Conversion,
        notation: Notation,
        bytes: u64,
    ) -> Step<Outcome<TermId>> {
        match self.scan_whole_number(scan, conversion, notation, bytes)? {
            Some(outcome) => Ok(outcome),
            None => self.scan_integer(scan, notation, conversion.width),
        }
    }

    fn scan_float_value(&mut self, scan: &mut Scan, conversion: &Conversion, bytes: u64) -> Step<Outcome<TermId>> {
        match self.scan_whole_number(scan, conversion, Notation::Float, bytes)? {
            Some(outcome) => Ok(outcome),
            None => self.scan_float(scan, conversion.width, 8 * bytes as u32),
        }
    }

    fn scan_whole_number(
        &mut self,
        scan: &Scan,
        conversion: &Conversion,
        notation: Notation,
        bytes: u64,
    ) -> Step<Option<Outcome<TermId>>> {
        let plain = matches!(scan.source, Source::Stream) && !scan.counting && !scan.at_end;
        if !plain || conversion.width.is_some() {
            return Ok(None);
        }
        let found = self.take_number(notation, 8 * bytes as u32)?;
        Ok(found.map(|found| match found {
            Found::End => Outcome::InputFailure,
            Found::Number(value) => Outcome::Matched(value),
            Found::NoNumber => Outcome::MatchingFailure,
        }))
    }

    fn scan_characters(&mut self, scan: &mut Scan, width: u64, target: Option<Value>) -> Step<Outcome<bool>> {
        for at in 0..width {
            match (self.scan_byte(scan)?, &target) {
                (Some(byte), Some(target)) => self.store_byte(target, at, byte)?,
                (Some(_), None) => {}
                (None, _) if at == 0 => return Ok(Outcome::InputFailure),
                (None, _) => break,
            }
        }
        Ok(Outcome::Matched(target.is_some()))
    }

    fn scan_word(&mut self, scan: &mut Scan, width: Option<u64>, target: Option<Value>) -> Step<Outcome<bool>> {
        let mut at = 0;
        while width.is_none_or(|width| at < width) {
            let Some(byte) = self.scan_byte(scan)? else {
                if at == 0 {
                    return Ok(Outcome::InputFailure);
                }
                break;
            };
            // White space before the word is skipped already.
            let is_space = self.is_space(byte);
            if at > 0 && self.holds(is_space)? {
                self.unscan(scan, Some(byte));
                break;
            }
            if let Some(target) = &target {
                self.store_byte(target, at, byte)?;
            }
            at += 1;
        }
        self.end_text(target, at)
    }

    fn scan_set(
        &mut self,
        scan: &mut Scan,
        ranges: &[(u8, u8)],
        width: Option<u64>,
        target: Option<Value>,
    ) -> Step<Outcome<bool>> {
        let mut at = 0;
        while width.is_none_or(|width| at < width) {
            let Some(byte) = self.scan_byte(scan)? else {
                if at == 0 {
                    return Ok(Outcome::InputFailure);
                }
                break;
            };
            let members: Vec<TermId> = ranges.iter().map(|&(low, high)| self.is_between(byte, low, high)).collect();
            let is_member = self.session.terms.disjunction(&members);
            if !self.holds(is_member)? {
                self.unscan(scan, Some(byte));
                break;
            }
            if let Some(target) = &target {
                self.store_byte(target, at, byte)?;
            }
            at += 1;
        }
        if at == 0 {
            return Ok(Outcome::MatchingFailure);
        }
        self.end_text(target, at)
    }

    fn end_text(&mut self, target: Option<Value>, at: u64) -> Step<Outcome<bool>> {
        if let Some(target) = &target {
            let end = self.session.terms.constant(0, 8);
            self.store_byte(target, at, end)?;
        }
        Ok(Outcome::Matched(target.is_some()))
    }

    /// `sscanf` looks for the end of its text before it reads any of it: behind an object without one it reads on.
    pub(crate) fn require_string(&mut self, text: &Value) -> Step<()> {
        if self.unites() {
            return Ok(());
        }
        let Spot::At(Pointer { object, offset }) = self.resolve(text, 1, Access::Read)? else { return Ok(()) };
        let Some((size, symbolic)) = self.memory.get(object).map(|object| (object.size, object.symbolic_size)) else {
            return Ok(());
        };
        let mut ended = self.session.terms.constant(0, 1);
        for at in offset..size.min(offset.saturating_add(LONGEST_TEXT)) {
            let byte = match (self.memory.read(self.session, object, at, 1), symbolic) {
                (Value::Bits(0), None) => return Ok(()),
                (Value::Bits(1..), _) => continue,
                (Value::Term(byte), _) => byte,
                (byte @ Value::Bits(0), Some(_)) => self.as_term(&byte, 8),
                // The reader stops there, if it comes so far.
                _ => return Ok(()),
            };
            let mut ends = self.is_byte(byte, 0);
            if let Some(size) = symbolic {
                let at = self.session.terms.constant(u128::from(at), 64);
                let within = self.session.terms.compare(CompareOp::Ult, at, size);
                ends = self.session.terms.and(ends, within);
            }
            ended = self.session.terms.or(ended, ends);
        }
        if self.holds(ended)? || size - offset > LONGEST_TEXT {
            return Ok(());
        }
        let end = symbolic.map_or(size, |term| self.evaluate(term) as u64);
        self.load_byte(text, end - offset).map(|_| ())
    }

    pub(crate) fn scan_byte(&mut self, scan: &mut Scan) -> Step<Option<TermId>> {
        if scan.at_end {
            return Ok(None);
        }
        let byte = match &mut scan.source {
            Source::Stream => self.take_byte()?,
            Source::Text { address, at } => {
                let (address, offset) = (*address, *at);
                let byte = self.load_byte(&address, offset)?;
                let is_end = self.is_byte(byte, 0);
                if self.holds(is_end)? {
                    None
                } else {
                    *at += 1;
                    Some(byte)
                }
            }
        };
        scan.at_end = byte.is_none();
        scan.taken += u64::from(byte.is_some());
        Ok(byte)
    }

    /// Puts back what was read last.
    pub(crate) fn unscan(&mut self, scan: &mut Scan, byte: Option<TermId>) {
        let Some(byte) = byte else { return };
        scan.taken -= 1;
        match &mut scan.source {
            Source::Stream => self.put_back(byte),
            Source::Text { at, .. } => *at -= 1,
        }
    }
}
