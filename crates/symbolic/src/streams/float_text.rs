//! Floats as text: what `strtod` reads and what `printf` writes.

/// The bits of the number at the start of a text in lower case, as `strtod` (64 bits) or `strtof` (32 bits) reads it;
/// `None` if there is none.
pub(crate) fn parse_float(text: &str, bits: u32) -> Option<u64> {
    let number = number_prefix(text)?;
    Some(if bits == 32 {
        let value: f32 = number.parse().ok()?;
        u64::from(if value.is_nan() { 0x7fc0_0000 | u32::from(text.starts_with('-')) << 31 } else { value.to_bits() })
    } else {
        let value: f64 = number.parse().ok()?;
        if value.is_nan() { 0x7ff8_0000_0000_0000 | u64::from(text.starts_with('-')) << 63 } else { value.to_bits() }
    })
}

/// The longest start of a text that is a number.
fn number_prefix(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    if let Some(word) = ["infinity", "inf", "nan"].into_iter().find(|word| text[sign..].starts_with(word)) {
        return Some(&text[..sign + word.len()]);
    }
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    if bytes.get(end) == Some(&b'e') {
        let exponent_sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + exponent_sign);
        if exponent > 0 {
            end += 1 + exponent_sign + exponent;
        }
    }
    Some(&text[..end])
}

/// The magnitude of a value as a conversion writes it (`f`, `e`, `g`, `a` or their capitals), without sign and padding.
/// `alternate`: the flag `#`.
pub(crate) fn magnitude_text(value: f64, conversion: u8, precision: Option<u64>, alternate: bool) -> String {
    let value = value.abs();
    let text = if value.is_nan() {
        "nan".to_string()
    } else if value.is_infinite() {
        "inf".to_string()
    } else {
        let digits = precision.unwrap_or(6) as usize;
        match conversion.to_ascii_lowercase() {
            b'f' => fixed(value, digits, alternate),
            b'e' => scientific(value, digits, alternate),
            b'g' => general(value, digits.max(1), alternate),
            _ => hexadecimal(value, precision.map(|digits| digits as usize), alternate),
        }
    };
    if conversion.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
}

fn fixed(value: f64, digits: usize, alternate: bool) -> String {
    let point = if alternate && digits == 0 { "." } else { "" };
    format!("{value:.digits$}{point}")
}

fn scientific(value: f64, digits: usize, alternate: bool) -> String {
    let (mantissa, exponent) = rounded(value, digits);
    let point = if alternate && digits == 0 { "." } else { "" };
    format!("{mantissa}{point}e{exponent:+03}")
}

/// A mantissa with this many digits behind the point, and its exponent.
fn rounded(value: f64, digits: usize) -> (String, i32) {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_string(), exponent.parse().unwrap_or(0))
}

fn general(value: f64, digits: usize, alternate: bool) -> String {
    let (_, exponent) = rounded(value, digits - 1);
    let in_fixed = exponent >= -4 && (exponent as i64) < digits as i64;
    let text = if in_fixed {
        fixed(value, (digits as i64 - 1 - i64::from(exponent)) as usize, alternate)
    } else {
        scientific(value, digits - 1, alternate)
    };
    if alternate {
        return text;
    }
    let (mantissa, exponent) = text.split_once('e').map_or((text.as_str(), None), |(left, right)| (left, Some(right)));
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    exponent.map_or(mantissa.to_string(), |exponent| format!("{mantissa}e{exponent}"))
}

fn hexadecimal(value: f64, precision: Option<usize>, alternate: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let (biased, mut fraction) = ((bits >> FRACTION) as i32, bits & ((1 << FRACTION) - 1));
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let mut whole = u64::from(biased != 0);
    let mut digits = 13;
    if let Some(precision) = precision.filter(|&precision| precision < 13) {
        let dropped = 4 * (13 - precision) as u32;
        let all = whole << FRACTION | fraction;
        let (kept, rest, half) = (all >> dropped, all & ((1 << dropped) - 1), 1u64 << (dropped - 1));
        let kept = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
        digits = precision;
        whole = kept >> (4 * precision);
        fraction = kept & ((1u64 << (4 * precision)) - 1);
    }
    let mut text = if digits == 0 { String::new() } else { format!("{fraction:0digits$x}") };
    match precision {
        None => text.truncate(text.trim_end_matches('0').len()),
        Some(precision) => text.extend(std::iter::repeat_n('0', precision.saturating_sub(13))),
    }
    let point = if alternate || !text.is_empty() { "." } else { "" };
    format!("0x{whole}{point}{text}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_printf_writes() {
        let text = |value, conversion, precision| magnitude_text(value, conversion, precision, false);
        assert_eq!(text(2.5, b'f', Some(0)), "2");
        assert_eq!(text(0.125, b'f', Some(2)), "0.12");
        assert_eq!(text(1e-7, b'e', None), "1.000000e-07");
        assert_eq!(text(1.5e150, b'E', Some(0)), "2E+150");
        assert_eq!(text(100_000.0, b'g', None), "100000");
        assert_eq!(text(1_000_000.0, b'g', None), "1e+06");
        assert_eq!(text(0.0001, b'g', None), "0.0001");
        assert_eq!(text(3.0, b'a', None), "0x1.8p+1");
        assert_eq!(text(0.0, b'a', None), "0x0p+0");
        assert_eq!(text(f64::INFINITY, b'G', None), "INF");
    }

    #[test]
    fn as_strtod_reads() {
        let read = |text| parse_float(text, 64).map(f64::from_bits);
        assert_eq!(read("1e"), Some(1.0));
        assert_eq!(read("1.5e+2x"), Some(150.0));
        assert_eq!(read("-.5"), Some(-0.5));
        assert_eq!(read("."), None);
        assert_eq!(read("-infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(parse_float("-nan", 32), Some(0xffc0_0000));
    }
}
