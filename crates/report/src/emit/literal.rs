//! Scalars as a person would write them in C.

use branchwise_program::types::{Type, TypeKind};

use crate::values::FloatValue;

/// A number without a sign; those that are not small as people write addresses and bits.
pub fn hexadecimal(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value:#x}") }
}

/// An integer of this type as a C expression without side effects.
pub fn integer(of: &Type, value: i128) -> String {
    match &of.kind {
        TypeKind::Enumeration { constants, .. } => {
            let named = constants.iter().find(|(_, constant)| *constant == value);
            named.map_or_else(|| unnamed_constant(of, value), |(name, _)| name.clone())
        }
        TypeKind::Integer { character: true, .. } => {
            character(of, value).unwrap_or_else(|| limit(of, value).unwrap_or_else(|| value.to_string()))
        }
        _ => number(of, value),
    }
}

/// C++ makes no enumeration of a number; there its type is known by its name alone.
fn unnamed_constant(of: &Type, value: i128) -> String {
    match of.spelling.starts_with("enum ") {
        true => number(of, value),
        false => format!("static_cast<{}>({})", of.spelling, number(of, value)),
    }
}

fn number(of: &Type, value: i128) -> String {
    let (bits, signed) = of.as_integer().unwrap_or((64, true));
    // In C its name is `_Bool`.
    if of.spelling == "bool" {
        return (value != 0).to_string();
    }
    if bits > 64 {
        return wide(value);
    }
    if let Some(name) = limit(of, value) {
        return name;
    }
    if signed || value <= i128::from(i32::MAX) {
        return value.to_string();
    }
    if is_bit_pattern(value) { format!("{value:#x}u") } else { format!("{value}u") }
}

/// C has no literals of 128 bits.
fn wide(value: i128) -> String {
    if let Ok(narrow) = i64::try_from(value)
        && narrow != i64::MIN
    {
        return narrow.to_string();
    }
    format!("(__int128)((unsigned __int128){:#x}u << 64 | {:#x}u)", (value >> 64) as u64, value as u64)
}

/// Large numbers that are one bit, or a run of ones from bit 0, read better in hexadecimal.
fn is_bit_pattern(value: i128) -> bool {
    value.count_ones() == 1 || (value + 1).count_ones() == 1
}

/// The name that `limits.h` has for the ends of the type's range.
fn limit(of: &Type, value: i128) -> Option<String> {
    let (bits, signed) = of.as_integer()?;
    let long_long = of.spelling.contains("long long");
    let name = match (bits, signed) {
        (8, true) => "SCHAR",
        (8, false) => "UCHAR",
        (16, true) => "SHRT",
        (16, false) => "USHRT",
        (32, true) => "INT",
        (32, false) => "UINT",
        (64, true) if long_long => "LLONG",
        (64, false) if long_long => "ULLONG",
        (64, true) => "LONG",
        (64, false) => "ULONG",
        _ => return None,
    };
    let (low, high) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    match value {
        _ if value == high => Some(format!("{name}_MAX")),
        _ if value == low && signed => Some(format!("{name}_MIN")),
        _ => None,
    }
}

/// `'a'`, `'\n'`; `unsigned char` is mostly used for numbers, so only letters become characters there.
fn character(of: &Type, value: i128) -> Option<String> {
    let byte = u8::try_from(value).ok().filter(u8::is_ascii)?;
    let plain = of.spelling == "char";
    let named = matches!(byte, b'\0' | b'\n' | b'\t' | b'\r');
    let shown = byte.is_ascii_alphabetic() || plain && (byte.is_ascii_graphic() || byte == b' ' || named);
    shown.then(|| format!("'{}'", escaped(byte, '\'')))
}

/// A string literal, or `None` when a character of it would not read well.
pub fn string(bytes: &[u8]) -> Option<String> {
    let readable = |byte: &u8| byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
    let text: String = bytes.iter().map(|byte| escaped(*byte, '"')).collect();
    // `??` could begin a trigraph under -std=c99.
    (bytes.iter().all(readable) && !text.contains("??")).then(|| format!("\"{text}\""))
}

/// More characters of one line are broken into several literals.
const LONGEST_LITERAL: usize = 90;

/// Any bytes as string literals that C joins, one for each line of the text.
pub fn lines_of_text(bytes: &[u8]) -> Vec<String> {
    let pieces = bytes.split_inclusive(|byte| *byte == b'\n').flat_map(|line| line.chunks(LONGEST_LITERAL));
    pieces.map(|piece| format!("\"{}\"", any_text(piece))).collect()
}

/// Any bytes as one expression.
pub fn bytes(bytes: &[u8]) -> String {
    lines_of_text(bytes).join(" ")
}

fn any_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            // Two of them could begin a trigraph.
            b'?' if text.ends_with('?') => text += "\\?",
            b'\n' | b'\t' | b'\r' | b' '..=b'~' => text += &escaped(*byte, '"'),
            // All three digits, so that a digit may follow.
            _ => text += &format!("\\{byte:03o}"),
        }
    }
    text
}

fn escaped(byte: u8, quote: char) -> String {
    match byte {
        b'\0' => "\\0".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        b'\\' => "\\\\".to_owned(),
        _ if char::from(byte) == quote => format!("\\{quote}"),
        _ => char::from(byte).to_string(),
    }
}

/// The shortest literal that gives exactly this value.
pub fn float(value: FloatValue) -> String {
    match value {
        FloatValue::Single(value) => special(f64::from(value)).unwrap_or_else(|| format!("{value:?}f")),
        FloatValue::Double(value) => special(value).unwrap_or_else(|| format!("{value:?}")),
        FloatValue::Extended { significand, sign_and_exponent } => extended(significand, sign_and_exponent),
    }
}

fn special(value: f64) -> Option<String> {
    match value {
        _ if value.is_nan() => Some("NAN".to_owned()),
        _ if value == f64::INFINITY => Some("INFINITY".to_owned()),
        _ if value == f64::NEG_INFINITY => Some("-INFINITY".to_owned()),
        _ => None,
    }
}

/// x87 extended: value = significand × 2^(exponent − 16383 − 63).
fn extended(significand: u64, sign_and_exponent: u16) -> String {
    let sign = if sign_and_exponent & 0x8000 != 0 { "-" } else { "" };
    let exponent = i32::from(sign_and_exponent & 0x7fff);
    match (exponent, significand) {
        (0x7fff, 0x8000_0000_0000_0000) => format!("{sign}INFINITY"),
        (0x7fff, _) => "NAN".to_owned(),
        (_, 0) => format!("{sign}0.0L"),
        _ => extended_number(sign, significand, exponent.max(1) - 16383 - 63),
    }
}

fn extended_number(sign: &str, significand: u64, exponent: i32) -> String {
    let shift = significand.trailing_zeros();
    let (digits, exponent) = (significand >> shift, exponent + shift as i32);
    let exact_as_double = digits < 1 << 53 && (-1000..900).contains(&exponent);
    if exact_as_double {
        return format!("{sign}{:?}L", digits as f64 * 2f64.powi(exponent));
    }
    format!("{sign}{digits:#x}p{exponent}L")
}

/// `SIGSEGV`; the number for signals that tests do not meet.
pub fn signal_name(number: i32) -> String {
    let name = match number {
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        _ => return number.to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer_type(spelling: &str, bits: u32, signed: bool) -> Type {
        let character = spelling.ends_with("char");
        let kind = TypeKind::Integer { bits, signed, character };
        Type { kind, spelling: spelling.to_owned(), size: u64::from(bits / 8), alignment: 1 }
    }

    #[test]
    fn integers_read_as_written_by_hand() {
        let int = integer_type("int", 32, true);
        assert_eq!(integer(&int, -1), "-1");
        assert_eq!(integer(&int, i128::from(i32::MIN)), "INT_MIN");
        let unsigned = integer_type("unsigned int", 32, false);
        assert_eq!(integer(&unsigned, 0xffff_ffff), "UINT_MAX");
        assert_eq!(integer(&unsigned, 0x8000_0000), "0x80000000u");
        assert_eq!(integer(&unsigned, 3_000_000_000), "3000000000u");
        assert_eq!(integer(&integer_type("long long", 64, true), i128::from(i64::MIN)), "LLONG_MIN");
        assert_eq!(integer(&integer_type("size_t", 64, false), i128::from(u64::MAX)), "ULONG_MAX");
    }

    #[test]
    fn characters_are_characters_where_that_reads_better() {
        let char_type = integer_type("char", 8, true);
        assert_eq!(integer(&char_type, 97), "'a'");
        assert_eq!(integer(&char_type, 10), "'\\n'");
        assert_eq!(integer(&char_type, 39), "'\\''");
        assert_eq!(integer(&char_type, -128), "SCHAR_MIN");
        assert_eq!(integer(&char_type, 1), "1");
        assert_eq!(integer(&integer_type("unsigned char", 8, false), 200), "200");
        assert_eq!(string(b"a \"b\"\n"), Some("\"a \\\"b\\\"\\n\"".to_owned()));
        assert_eq!(string(b"\x01"), None);
    }

    #[test]
    fn text_of_any_bytes_is_split_at_lines() {
        assert_eq!(lines_of_text(b"1 \"2\"\nend"), [r#""1 \"2\"\n""#, r#""end""#]);
        assert_eq!(lines_of_text(b"\x011\0\xff???"), [r#""\0011\000\377?\?\?""#]);
        assert_eq!(lines_of_text(&[b'a'; 100]).len(), 2);
    }

    #[test]
    fn floats_round_trip() {
        assert_eq!(float(FloatValue::Single(0.1)), "0.1f");
        assert_eq!(float(FloatValue::Double(1e300)), "1e300");
        assert_eq!(float(FloatValue::Double(-0.0)), "-0.0");
        assert_eq!(float(FloatValue::Double(f64::NAN)), "NAN");
        let one = FloatValue::Extended { significand: 1 << 63, sign_and_exponent: 16383 };
        assert_eq!(float(one), "1.0L");
        let odd = FloatValue::Extended { significand: u64::MAX, sign_and_exponent: 0x8000 | 16383 };
        assert_eq!(float(odd), "-0xffffffffffffffffp-63L");
    }
}
