//! The directives of a `scanf` format.

use crate::streams::pieces::Notation;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Directive {
    /// Any amount of white space.
    Space,
    /// Exactly this byte.
    Literal(u8),
    /// `%%`: white space, then a percent sign.
    Percent,
    Conversion(Conversion),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub kind: Kind,
    /// `*`: converted, but not stored.
    pub suppressed: bool,
    pub width: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer {
        notation: Notation,
        bytes: u64,
    },
    Float {
        bytes: u64,
    },
    /// `%c`
    Characters,
    /// `%s`
    Word,
    /// `%[…]`: ranges of bytes.
    Set(Vec<(u8, u8)>),
    /// `%n`
    Count {
        bytes: u64,
    },
}

/// The directives of a format, or what of it is not supported.
pub(crate) fn parse(format: &[u8]) -> Result<Vec<Directive>, String> {
    let mut parser = Parser { format, at: 0 };
    let mut directives = Vec::new();
    while let Some(byte) = parser.next() {
        let directive = match byte {
            b'%' => parser.conversion()?,
            space if is_space(space) => Directive::Space,
            other => Directive::Literal(other),
        };
        directives.push(directive);
    }
    Ok(directives)
}

pub(crate) fn is_space(byte: u8) -> bool {
    byte == b' ' || (b'\t'..=b'\r').contains(&byte)
}

struct Parser<'a> {
    format: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn conversion(&mut self) -> Result<Directive, String> {
        let start = self.at - 1;
        let suppressed = self.accept(b'*');
        let width = self.number();
        let size = self.size();
        let unknown = |parser: &Parser<'_>| {
            let text = String::from_utf8_lossy(&parser.format[start..parser.at]).into_owned();
            format!("the conversion '{text}' of scanf")
        };
        let kind = match (self.next(), size) {
            (Some(b'%'), None) => return Ok(Directive::Percent),
            (Some(b'd'), size) => integer(Notation::Signed, size),
            (Some(b'i'), size) => integer(Notation::AnyBase, size),
            (Some(b'u'), size) => integer(Notation::Unsigned, size),
            (Some(b'o'), size) => integer(Notation::Octal, size),
            (Some(b'x' | b'X'), size) => integer(Notation::Hexadecimal, size),
            (Some(b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G'), None) => Kind::Float { bytes: 4 },
            (Some(b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G'), Some(Size::Long)) => Kind::Float { bytes: 8 },
            (Some(b'c'), None) => Kind::Characters,
            (Some(b's'), None) => Kind::Word,
            (Some(b'['), None) => Kind::Set(self.set().ok_or_else(|| unknown(self))?),
            (Some(b'n'), size) => Kind::Count { bytes: integer_bytes(size) },
            _ => return Err(unknown(self)),
        };
        Ok(Directive::Conversion(Conversion { kind, suppressed, width }))
    }

    /// A field width; 0 is none.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        (number > 0).then_some(number)
    }

    fn size(&mut self) -> Option<Size> {
        match self.peek()? {
            b'h' => {
                self.at += 1;
                Some(if self.accept(b'h') { Size::Char } else { Size::Short })
            }
            b'l' => {
                self.at += 1;
                Some(if self.accept(b'l') { Size::Other } else { Size::Long })
            }
            b'q' | b'j' | b'z' | b't' | b'L' => {
                self.at += 1;
                Some(Size::Other)
            }
            _ => None,
        }
    }

    /// What follows `%[`, to its end.
    fn set(&mut self) -> Option<Vec<(u8, u8)>> {
        let negated = self.accept(b'^');
        let mut members = [false; 256];
        let first = self.at;
        loop {
            let low = self.next()?;
            if low == b']' && self.at > first + 1 {
                break;
            }
            let high = match (self.peek(), self.format.get(self.at + 1)) {
                (Some(b'-'), Some(&high)) if high != b']' && high >= low => {
                    self.at += 2;
                    high
                }
                _ => low,
            };
            members[usize::from(low)..=usize::from(high)].fill(true);
        }
        if negated {
            members.iter_mut().for_each(|member| *member = !*member);
        }
        Some(ranges(&members))
    }
}

/// Length modifiers; `Other` ones mean 8 bytes.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Size {
    Char,
    Short,
    Long,
    Other,
}

fn integer(notation: Notation, size: Option<Size>) -> Kind {
    Kind::Integer { notation, bytes: integer_bytes(size) }
}

fn integer_bytes(size: Option<Size>) -> u64 {
    match size {
        None => 4,
        Some(Size::Char) => 1,
        Some(Size::Short) => 2,
        Some(Size::Long | Size::Other) => 8,
    }
}

fn ranges(members: &[bool; 256]) -> Vec<(u8, u8)> {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in (0..=255u8).filter(|&byte| members[usize::from(byte)]) {
        match ranges.last_mut() {
            Some((_, high)) if *high + 1 == byte => *high = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(format: &str) -> Vec<Kind> {
        let directives = parse(format.as_bytes()).expect("the format is supported");
        directives
            .into_iter()
            .filter_map(|directive| match directive {
                Directive::Conversion(conversion) => Some(conversion.kind),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn sizes_and_notations() {
        let integer = |notation, bytes| Kind::Integer { notation, bytes };
        assert_eq!(
            kinds("%d%hhu%lx%lli%zo%lf%f"),
            [
                integer(Notation::Signed, 4),
                integer(Notation::Unsigned, 1),
                integer(Notation::Hexadecimal, 8),
                integer(Notation::AnyBase, 8),
                integer(Notation::Octal, 8),
                Kind::Float { bytes: 8 },
                Kind::Float { bytes: 4 },
            ]
        );
    }

    #[test]
    fn sets() {
        assert_eq!(kinds("%[]a-c]"), [Kind::Set(vec![(b']', b']'), (b'a', b'c')])]);
        assert_eq!(kinds("%[^]\n]"), [Kind::Set(vec![(0, 9), (11, b'\\'), (b'^', 255)])]);
        assert_eq!(kinds("%[a-]"), [Kind::Set(vec![(b'-', b'-'), (b'a', b'a')])]);
        assert!(parse(b"%[abc").is_err());
    }

    #[test]
    fn what_is_not_supported_has_its_name() {
        assert_eq!(parse(b"%Lf"), Err("the conversion '%Lf' of scanf".to_string()));
        assert_eq!(parse(b"%p"), Err("the conversion '%p' of scanf".to_string()));
        assert!(parse(b"%ms").is_err() && parse(b"%ls").is_err() && parse(b"%").is_err());
    }
}
