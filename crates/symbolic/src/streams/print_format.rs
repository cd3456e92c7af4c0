//! The directives of a `printf` format.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Directive {
    Literal(Vec<u8>),
    Conversion(Conversion),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub flags: Flags,
    pub width: Option<Amount>,
    pub precision: Option<Amount>,
    pub kind: Kind,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub(crate) struct Flags {
    /// `-`
    pub left: bool,
    /// `+`
    pub plus: bool,
    pub space: bool,
    /// `#`
    pub alternate: bool,
    /// `0`
    pub zeros: bool,
}

/// A width or precision.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Amount {
    Given(u64),
    /// `*`
    Argument,
}

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer {
        signed: bool,
        base: u64,
        capitals: bool,
        bytes: u64,
    },
    Character,
    Text,
    /// The conversion's letter.
    Float(u8),
    /// `%p`
    Address,
    /// `%n`
    Count {
        bytes: u64,
    },
}

/// The directives of a format, or what of it is not supported.
pub(crate) fn parse(format: &[u8]) -> Result<Vec<Directive>, String> {
    let mut directives = Vec::new();
    let mut rest = format;
    while !rest.is_empty() {
        let literal = rest.iter().position(|&byte| byte == b'%').unwrap_or(rest.len());
        if literal > 0 {
            directives.push(Directive::Literal(rest[..literal].to_vec()));
            rest = &rest[literal..];
            continue;
        }
        if rest.starts_with(b"%%") {
            directives.push(Directive::Literal(vec![b'%']));
            rest = &rest[2..];
            continue;
        }
        let mut parser = Parser { rest: &rest[1..] };
        let conversion = parser.conversion();
        let length = rest.len() - parser.rest.len();
        let text = || String::from_utf8_lossy(&rest[..length]).into_owned();
        let conversion = conversion.ok_or_else(|| format!("the conversion '{}' of printf", text()))?;
        directives.push(Directive::Conversion(conversion));
        rest = &rest[length..];
    }
    Ok(directives)
}

struct Parser<'a> {
    rest: &'a [u8],
}

impl Parser<'_> {
    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn conversion(&mut self) -> Option<Conversion> {
        let flags = self.flags();
        let width = self.amount();
        let precision = if self.accept(b'.') { Some(self.amount().unwrap_or(Amount::Given(0))) } else { None };
        let size = self.size();
        let integer = |signed, base, capitals, size: Option<u64>| Kind::Integer {
            signed,
            base,
            capitals,
            bytes: size.unwrap_or(4),
        };
        let kind = match (self.next()?, size) {
            (b'd' | b'i', size) => integer(true, 10, false, size),
            (b'u', size) => integer(false, 10, false, size),
            (b'o', size) => integer(false, 8, false, size),
            (b'x', size) => integer(false, 16, false, size),
            (b'X', size) => integer(false, 16, true, size),
            (b'c', None) => Kind::Character,
            (b's', None) => Kind::Text,
            // `%lf` is `%f`; `%Lf` was no size.
            (letter @ (b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A'), None | Some(8)) => Kind::Float(letter),
            (b'p', None) => Kind::Address,
            (b'n', size) => Kind::Count { bytes: size.unwrap_or(4) },
            _ => return None,
        };
        Some(Conversion { flags, width, precision, kind })
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            let flag = match self.rest.first() {
                Some(b'-') => &mut flags.left,
                Some(b'+') => &mut flags.plus,
                Some(b' ') => &mut flags.space,
                Some(b'#') => &mut flags.alternate,
                Some(b'0') => &mut flags.zeros,
                _ => return flags,
            };
            *flag = true;
            self.rest = &self.rest[1..];
        }
    }

    fn amount(&mut self) -> Option<Amount> {
        if self.accept(b'*') {
            return Some(Amount::Argument);
        }
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        (digits > 0).then(|| Amount::Given(number.iter().fold(0, add)))
    }

    /// The size in bytes that a length modifier says.
    fn size(&mut self) -> Option<u64> {
        if self.accept(b'h') {
            return Some(if self.accept(b'h') { 1 } else { 2 });
        }
        if self.accept(b'l') {
            self.accept(b'l');
            return Some(8);
        }
        [b'q', b'j', b'z', b't'].into_iter().find(|&letter| self.accept(letter)).map(|_| 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_width_precision_and_size() {
        let parsed = parse(b"a%%b%-08.3lx").expect("the format is supported");
        let flags = Flags { left: true, zeros: true, ..Flags::default() };
        let kind = Kind::Integer { signed: false, base: 16, capitals: false, bytes: 8 };
        let (width, precision) = (Some(Amount::Given(8)), Some(Amount::Given(3)));
        assert_eq!(
            parsed,
            [
                Directive::Literal(b"a".to_vec()),
                Directive::Literal(b"%".to_vec()),
                Directive::Literal(b"b".to_vec()),
                Directive::Conversion(Conversion { flags, width, precision, kind }),
            ]
        );
    }

    #[test]
    fn what_is_not_supported_has_its_name() {
        assert_eq!(parse(b"x%m"), Err("the conversion '%m' of printf".to_string()));
        assert!(parse(b"%Lf").is_err() && parse(b"%ls").is_err() && parse(b"%").is_err() && parse(b"%1$d").is_err());
    }
}
