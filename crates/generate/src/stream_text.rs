//! The text of a stream, from the pieces that a path took of it.

use branchwise_constraints::{TermId, Terms};
use branchwise_symbolic::{Notation, StreamPiece};

/// The bytes of a stream up to where the path stopped reading.
pub(crate) fn stream_text(pieces: &[StreamPiece], mut value: impl FnMut(TermId) -> u128, terms: &Terms) -> Vec<u8> {
    let parts: Vec<Part> = pieces
        .iter()
        .map(|piece| match *piece {
            StreamPiece::Byte(term) => Part::Byte(value(term) as u8),
            StreamPiece::Number { value: term, notation } => {
                Part::Number { bits: value(term) as u64, width: terms.width(term), notation }
            }
            StreamPiece::NoNumber(notation) => Part::NoNumber(notation),
            StreamPiece::Space => Part::Space,
        })
        .collect();
    text(&parts)
}

/// A piece with its value.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Part {
    Byte(u8),
    Number { bits: u64, width: u32, notation: Notation },
    NoNumber(Notation),
    Space,
}

fn text(parts: &[Part]) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let after_token = index > 0 && matches!(parts[index - 1], Part::Number { .. } | Part::NoNumber(_));
        let next = parts.get(index + 1).copied();
        match *part {
            Part::Byte(byte) => text.push(byte),
            Part::Space => text.push(b'\n'),
            Part::Number { bits, width, notation } => {
                text.extend(after_token.then_some(b' '));
                text.extend(number(bits, width, notation, next).into_bytes());
            }
            Part::NoNumber(notation) => {
                text.extend(after_token.then_some(b' '));
                text.extend(no_number(notation, next));
            }
        }
    }
    text
}

/// What a conversion takes without finding a number: nothing if the next byte cannot begin one; otherwise a sign that
/// nothing follows, or the beginning of a word.
fn no_number(notation: Notation, next: Option<Part>) -> &'static [u8] {
    match next {
        Some(Part::Byte(byte)) if !may_begin(byte, notation) => b"",
        Some(Part::Byte(_)) if notation == Notation::Float => b"ix",
        _ => b"-",
    }
}

/// Whether a conversion takes this byte, or skips it.
fn may_begin(byte: u8, notation: Notation) -> bool {
    let space = byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let of_notation = match notation {
        Notation::Hexadecimal => byte.is_ascii_hexdigit(),
        Notation::Float => byte.is_ascii_digit() || matches!(byte, b'.' | b'i' | b'I' | b'n' | b'N'),
        _ => byte.is_ascii_digit(),
    };
    space || of_notation || matches!(byte, b'+' | b'-')
}

/// The text of a number so that what follows is not part of it.
fn number(bits: u64, width: u32, notation: Notation, next: Option<Part>) -> String {
    let next = match next {
        Some(Part::Byte(byte)) => Some(byte.to_ascii_lowercase()),
        _ => None,
    };
    let signed = ((bits << (64 - width)) as i64) >> (64 - width);
    let text = match notation {
        Notation::Signed | Notation::AnyBase => signed.to_string(),
        Notation::Unsigned => bits.to_string(),
        Notation::Octal => format!("{bits:o}"),
        Notation::Hexadecimal => format!("{bits:x}"),
        Notation::Float if width == 32 => float(f32::from_bits(bits as u32), next),
        Notation::Float => float(f64::from_bits(bits), next),
    };
    let prefixed = matches!(notation, Notation::AnyBase | Notation::Hexadecimal);
    if prefixed && text == "0" && next == Some(b'x') { "00".to_string() } else { text }
}

/// What the two widths of floats have in common here.
trait Real: std::fmt::Display + std::fmt::LowerExp + Copy {
    fn wide(self) -> f64;
}

impl Real for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn wide(self) -> f64 {
        self
    }
}

/// The shortest text that reads back as this value.
fn float<T: Real>(value: T, next: Option<u8>) -> String {
    let wide = value.wide();
    let sign = if wide.is_sign_negative() { "-" } else { "" };
    if wide.is_nan() {
        return format!("{sign}nan");
    }
    if wide.is_infinite() {
        return format!("{sign}{}", if next == Some(b'i') { "infinity" } else { "inf" });
    }
    let magnitude = wide.abs();
    let in_range = magnitude == 0.0 || (1e-5..1e16).contains(&magnitude);
    // With an exponent, only a digit could go on with it.
    if in_range && !matches!(next, Some(b'.' | b'e' | b'x')) { format!("{value}") } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[Part]) -> String {
        String::from_utf8_lossy(&text(parts)).into_owned()
    }

    fn integer(value: i32) -> Part {
        Part::Number { bits: u64::from(value as u32), width: 32, notation: Notation::Signed }
    }

    fn real(value: f64) -> Part {
        Part::Number { bits: value.to_bits(), width: 64, notation: Notation::Float }
    }

    #[test]
    fn numbers_are_kept_apart() {
        assert_eq!(written(&[integer(-5), integer(7), Part::Byte(b'x')]), "-5 7x");
        assert_eq!(written(&[integer(1), Part::Space]), "1\n");
        let zero = Part::Number { bits: 0, width: 32, notation: Notation::Hexadecimal };
        assert_eq!(written(&[zero, Part::Byte(b'x')]), "00x");
    }

    #[test]
    fn what_is_no_number() {
        let none = Part::NoNumber(Notation::Signed);
        assert_eq!(written(&[none]), "-");
        assert_eq!(written(&[none, Part::Byte(b'q')]), "q");
        assert_eq!(written(&[none, Part::Byte(b'\n')]), "-\n");
        assert_eq!(written(&[integer(3), none, none, integer(4)]), "3 - - 4");
        assert_eq!(written(&[Part::NoNumber(Notation::Float), Part::Byte(b'5')]), "ix5");
    }

    #[test]
    fn floats_do_not_run_into_what_follows() {
        assert_eq!(written(&[real(1.5)]), "1.5");
        assert_eq!(written(&[real(2.0), Part::Byte(b'e')]), "2e0e");
        assert_eq!(written(&[real(1e300), real(-0.0)]), "1e300 -0");
        assert_eq!(written(&[real(f64::INFINITY), Part::Byte(b'I')]), "infinityI");
    }
}
