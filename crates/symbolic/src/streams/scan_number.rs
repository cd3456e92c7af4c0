//! Numbers read byte by byte: from strings, with a field width, or where bytes were looked at before.

use branchwise_constraints::{BinaryOp, TermId};

use crate::executor::{Executor, Step};
use crate::streams::float_text::parse_float;
use crate::streams::pieces::{Digits, Notation};
use crate::streams::scan::{Outcome, Scan};
use crate::value::Value;

/// Fewer digits than these fit into 63 bits in any case.
const MOST_DIGITS: [(u64, usize); 3] = [(8, 20), (10, 18), (16, 15)];

impl Executor<'_, '_> {
    /// An integer as a term of 64 bits.
    pub(crate) fn scan_integer(
        &mut self,
        scan: &mut Scan,
        notation: Notation,
        width: Option<u64>,
    ) -> Step<Outcome<TermId>> {
        let mut left = width.unwrap_or(u64::MAX);
        let Some(first) = self.scan_byte(scan)? else { return Ok(Outcome::InputFailure) };
        let mut byte = Some(first);
        let negative = self.byte_is(byte, b'-')?;
        if negative || self.byte_is(byte, b'+')? {
            left -= 1;
            byte = self.scan_byte(scan)?;
        }
        let mut digits = Vec::new();
        let base = self.scan_base(scan, notation, &mut byte, &mut left, &mut digits)?;
        while let (Some(digit), true) = (byte, left > 0) {
            let is_digit = self.is_digit_of(digit, digits_of(base));
            if !self.holds(is_digit)? {
                break;
            }
            digits.push(digit);
            left -= 1;
            byte = self.scan_byte(scan)?;
        }
        self.unscan(scan, byte);
        if digits.is_empty() {
            return Ok(Outcome::MatchingFailure);
        }
        let most = MOST_DIGITS.iter().find(|(of, _)| *of == base).map_or(0, |(_, most)| *most);
        if digits.len() > most {
            return self.unsupported(format!("a number of more than {most} digits read byte by byte"));
        }
        let magnitude = self.number_of(&digits, base);
        Ok(Outcome::Matched(if negative { self.session.terms.neg(magnitude) } else { magnitude }))
    }

    /// The base that the notation or a prefix says; a leading zero is a digit, the letter after it is none.
    fn scan_base(
        &mut self,
        scan: &mut Scan,
        notation: Notation,
        byte: &mut Option<TermId>,
        left: &mut u64,
        digits: &mut Vec<TermId>,
    ) -> Step<u64> {
        let base = match notation {
            Notation::Octal => return Ok(8),
            Notation::Hexadecimal => 16,
            Notation::AnyBase => 0,
            Notation::Signed | Notation::Unsigned | Notation::Float => return Ok(10),
        };
        if *left == 0 || !self.byte_is(*byte, b'0')? {
            return Ok(if base == 0 { 10 } else { base });
        }
        *left -= 1;
        digits.extend(*byte);
        *byte = self.scan_byte(scan)?;
        if *left > 0 && self.byte_is_letter(*byte, b'x')? {
            *left -= 1;
            *byte = self.scan_byte(scan)?;
            return Ok(16);
        }
        Ok(if base == 0 { 8 } else { base })
    }

    fn number_of(&mut self, digits: &[TermId], base: u64) -> TermId {
        let mut number = self.session.terms.constant(0, 64);
        let base = self.session.terms.constant(u128::from(base), 64);
        for &digit in digits {
            let value = self.digit_value(digit);
            number = self.session.terms.binary(BinaryOp::Mul, number, base);
            number = self.session.terms.binary(BinaryOp::Add, number, value);
        }
        number
    }

    /// What a digit stands for, in 64 bits.
    fn digit_value(&mut self, digit: TermId) -> TermId {
        let (is_decimal, is_lower) = (self.is_between(digit, b'0', b'9'), self.is_between(digit, b'a', b'f'));
        let terms = &mut self.session.terms;
        let [decimal, lower, upper] = [b'0', b'a' - 10, b'A' - 10].map(|zero| terms.constant(u128::from(zero), 8));
        let letter = terms.if_then_else(is_lower, lower, upper);
        let zero = terms.if_then_else(is_decimal, decimal, letter);
        let value = terms.binary(BinaryOp::Sub, digit, zero);
        terms.zero_extend(value, 64)
    }

    /// A float of this width in bits. Its bytes are made concrete.
    pub(crate) fn scan_float(&mut self, scan: &mut Scan, width: Option<u64>, bits: u32) -> Step<Outcome<TermId>> {
        let text = match self.scan_float_text(scan, width)? {
            Outcome::Matched(text) => text,
            Outcome::InputFailure => return Ok(Outcome::InputFailure),
            Outcome::MatchingFailure => return Ok(Outcome::MatchingFailure),
        };
        let mut bytes = Vec::with_capacity(text.len());
        for byte in text {
            bytes.push(self.concretise(&Value::Term(byte), 8)? as u8);
        }
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        if text.contains('x') {
            return self.unsupported("a hexadecimal floating-point number read byte by byte");
        }
        Ok(match parse_float(&text, bits) {
            Some(value) => Outcome::Matched(self.session.terms.constant(u128::from(value), bits)),
            None => Outcome::MatchingFailure,
        })
    }

    /// The bytes that belong to the number.
    fn scan_float_text(&mut self, scan: &mut Scan, width: Option<u64>) -> Step<Outcome<Vec<TermId>>> {
        let mut left = width.unwrap_or(u64::MAX);
        let Some(mut byte) = self.scan_byte(scan)? else { return Ok(Outcome::InputFailure) };
        left -= 1;
        let mut text = Vec::new();
        if self.byte_is_sign(byte)? {
            text.push(byte);
            match if left == 0 { None } else { self.scan_byte(scan)? } {
                Some(next) => byte = next,
                None => return Ok(Outcome::MatchingFailure),
            }
            left -= 1;
        }
        for (word, rest) in [(b"nan".as_slice(), b"".as_slice()), (b"inf", b"inity")] {
            if self.byte_is_letter(Some(byte), word[0])? {
                text.push(byte);
                return self.scan_float_word(scan, &word[1..], rest, left, text);
            }
        }
        self.scan_float_digits(scan, byte, left, text)
    }

    /// "nan", "inf" and "infinity" in any case, behind the first letter.
    fn scan_float_word(
        &mut self,
        scan: &mut Scan,
        word: &[u8],
        rest: &[u8],
        mut left: u64,
        mut text: Vec<TermId>,
    ) -> Step<Outcome<Vec<TermId>>> {
        for &letter in word {
            let byte = if left == 0 { None } else { self.scan_byte(scan)? };
            if !self.byte_is_letter(byte, letter)? {
                return Ok(Outcome::MatchingFailure);
            }
            text.extend(byte);
            left -= 1;
        }
        let Some((&first, others)) = rest.split_first() else { return Ok(Outcome::Matched(text)) };
        let byte = if left == 0 { None } else { self.scan_byte(scan)? };
        if !self.byte_is_letter(byte, first)? {
            self.unscan(scan, byte);
            return Ok(Outcome::Matched(text));
        }
        text.extend(byte);
        self.scan_float_word(scan, others, b"", left - 1, text)
    }

    fn scan_float_digits(
        &mut self,
        scan: &mut Scan,
        first: TermId,
        mut left: u64,
        mut text: Vec<TermId>,
    ) -> Step<Outcome<Vec<TermId>>> {
        let sign = text.len();
        let (mut dot, mut exponent, mut after_exponent) = (false, false, false);
        let mut byte = first;
        loop {
            let is_digit = self.is_between(byte, b'0', b'9');
            let takes = if self.holds(is_digit)? || after_exponent && self.byte_is_sign(byte)? {
                after_exponent = false;
                true
            } else if text.len() > sign && !exponent && self.byte_is_letter(Some(byte), b'e')? {
                (exponent, dot, after_exponent) = (true, true, true);
                true
            } else if !dot && self.byte_is(Some(byte), b'.')? {
                dot = true;
                true
            } else if text.len() == sign + 1 && !exponent && !dot && self.is_hexadecimal(text[sign], byte)? {
                return self.unsupported("a hexadecimal floating-point number read byte by byte");
            } else {
                false
            };
            if !takes {
                self.unscan(scan, Some(byte));
                break;
            }
            text.push(byte);
            match if left == 0 { None } else { self.scan_byte(scan)? } {
                Some(next) => byte = next,
                None => break,
            }
            left -= 1;
        }
        Ok(if text.len() == sign { Outcome::MatchingFailure } else { Outcome::Matched(text) })
    }

    fn is_hexadecimal(&mut self, zero: TermId, letter: TermId) -> Step<bool> {
        Ok(self.byte_is(Some(zero), b'0')? && self.byte_is_letter(Some(letter), b'x')?)
    }

    fn byte_is_sign(&mut self, byte: TermId) -> Step<bool> {
        Ok(self.byte_is(Some(byte), b'-')? || self.byte_is(Some(byte), b'+')?)
    }

    fn byte_is(&mut self, byte: Option<TermId>, value: u8) -> Step<bool> {
        let Some(byte) = byte else { return Ok(false) };
        let condition = self.is_byte(byte, value);
        self.holds(condition)
    }

    fn byte_is_letter(&mut self, byte: Option<TermId>, letter: u8) -> Step<bool> {
        let Some(byte) = byte else { return Ok(false) };
        let condition = self.is_letter(byte, letter);
        self.holds(condition)
    }
}

fn digits_of(base: u64) -> Digits {
    match base {
        8 => Digits::Octal,
        16 => Digits::Hexadecimal,
        _ => Digits::Decimal,
    }
}
