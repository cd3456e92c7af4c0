//! `printf` and `sprintf`.
//!
//! What is printed is not observed, so numbers are not turned into characters there: their arguments are checked, and
//! where the program looks at the result, the number of characters is a term. Only `sprintf` makes the characters; then
//! how many digits a number has is decided.

use branchwise_constraints::{BinaryOp, CompareOp, TermId};

use crate::executor::{Executor, Step};
use crate::streams::arguments::Arguments;
use crate::streams::float_text::magnitude_text;
use crate::streams::print_format::{Amount, Conversion, Directive, Flags, Kind, parse};
use crate::value::Value;

/// What one directive prints.
pub(crate) enum Printed {
    /// Known characters.
    Known(Vec<u8>),
    Character {
        byte: TermId,
        field: Field,
    },
    Text {
        address: Value,
        field: Field,
    },
    Integer {
        value: TermId,
        form: IntegerForm,
        field: Field,
    },
    /// `%n`: where the number of characters before it goes.
    Count {
        address: Value,
        bytes: u64,
    },
    /// `%p`
    Address,
    /// A float that is not known, and the letter of its conversion.
    Float {
        value: TermId,
        letter: u8,
        field: Field,
    },
}

#[derive(Debug, Copy, Clone)]
pub(crate) struct Field {
    pub flags: Flags,
    pub width: u64,
    pub precision: Option<u64>,
}

#[derive(Debug, Copy, Clone)]
pub(crate) struct IntegerForm {
    pub signed: bool,
    pub base: u64,
    pub capitals: bool,
}

impl Executor<'_, '_> {
    /// What a format and its arguments print.
    pub(crate) fn printed(&mut self, format: &Value, mut arguments: Arguments) -> Step<Vec<Printed>> {
        let format = self.known_text(format, "a format of printf")?;
        let directives = match parse(&format) {
            Ok(directives) => directives,
            Err(what) => return self.unsupported(what),
        };
        let mut printed = Vec::with_capacity(directives.len());
        for directive in directives {
            printed.push(match directive {
                Directive::Literal(bytes) => Printed::Known(bytes),
                Directive::Conversion(conversion) => self.converted(&conversion, &mut arguments)?,
            });
        }
        Ok(printed)
    }

    fn converted(&mut self, conversion: &Conversion, arguments: &mut Arguments) -> Step<Printed> {
        let field = self.field(conversion, arguments)?;
        Ok(match conversion.kind {
            Kind::Integer { signed, base, capitals, bytes } => {
                let width = if bytes == 8 { 64 } else { 32 };
                let value = self.next_argument(arguments, width)?;
                let value = self.as_term(&value, width);
                let terms = &mut self.session.terms;
                let value = terms.extract(value, 0, 8 * bytes as u32);
                let value = if signed { terms.sign_extend(value, 64) } else { terms.zero_extend(value, 64) };
                Printed::Integer { value, form: IntegerForm { signed, base, capitals }, field }
            }
            Kind::Character => {
                let value = self.next_argument(arguments, 32)?;
                let value = self.as_term(&value, 32);
                Printed::Character { byte: self.session.terms.extract(value, 0, 8), field }
            }
            Kind::Text => {
                let address = self.next_argument(arguments, 64)?;
                if self.decide_null(&address)? {
                    return Ok(Printed::Known(null_text(field)));
                }
                Printed::Text { address, field }
            }
            Kind::Float(letter) => {
                let value = self.next_float(arguments)?;
                Printed::Float { value: self.as_term(&value, 64), letter, field }
            }
            Kind::Address => {
                self.next_argument(arguments, 64)?;
                Printed::Address
            }
            Kind::Count { bytes } => Printed::Count { address: self.next_argument(arguments, 64)?, bytes },
        })
    }

    fn field(&mut self, conversion: &Conversion, arguments: &mut Arguments) -> Step<Field> {
        let mut flags = conversion.flags;
        let mut width = 0;
        if let Some(amount) = conversion.width {
            let given = self.amount(amount, arguments)?;
            flags.left |= given < 0;
            width = given.unsigned_abs();
        }
        let mut precision = None;
        if let Some(amount) = conversion.precision {
            // A negative precision is none.
            precision = u64::try_from(self.amount(amount, arguments)?).ok();
        }
        Ok(Field { flags, width, precision })
    }

    fn amount(&mut self, amount: Amount, arguments: &mut Arguments) -> Step<i64> {
        match amount {
            Amount::Given(number) => Ok(number.min(i64::MAX as u64) as i64),
            Amount::Argument => {
                let value = self.next_argument(arguments, 32)?;
                Ok(i64::from(self.concretise(&value, 32)? as i32))
            }
        }
    }

    /// Prints where nobody looks. `Some`: the number of characters (32 bits), where it is asked for.
    pub(crate) fn print_nowhere(&mut self, printed: Vec<Printed>, asked: bool) -> Step<Option<TermId>> {
        let counts = asked || printed.iter().any(|part| matches!(part, Printed::Count { .. }));
        let mut total = self.session.terms.constant(0, 64);
        for part in printed {
            match part {
                Printed::Text { ref address, field } if !counts => {
                    self.text_length(address, field.precision)?;
                }
                _ if !counts => {}
                Printed::Count { address, bytes } => {
                    let count = self.session.terms.extract(total, 0, 8 * bytes as u32);
                    let count = self.term_value(count);
                    self.write(&address, bytes, count)?;
                }
                part => {
                    let length = self.length(part)?;
                    total = self.session.terms.add(total, length);
                }
            }
        }
        Ok(counts.then(|| self.session.terms.extract(total, 0, 32)))
    }

    /// How many characters one part has, in 64 bits.
    fn length(&mut self, part: Printed) -> Step<TermId> {
        match part {
            Printed::Known(bytes) => Ok(self.session.terms.constant(bytes.len() as u128, 64)),
            Printed::Character { field, .. } => Ok(self.session.terms.constant(u128::from(field.width.max(1)), 64)),
            Printed::Text { address, field } => {
                let length = self.text_length(&address, field.precision)?;
                Ok(self.at_least(length, field.width))
            }
            Printed::Integer { value, form, field } => Ok(self.integer_length(value, form, field)),
            Printed::Float { value, letter, field } => {
                let text = self.float_characters(value, letter, field)?;
                Ok(self.session.terms.constant(text.len() as u128, 64))
            }
            Printed::Address => self.unsupported("the characters that printf makes of an address"),
            Printed::Count { .. } => Ok(self.session.terms.constant(0, 64)),
        }
    }

    fn at_least(&mut self, length: TermId, width: u64) -> TermId {
        let width = self.session.terms.constant(u128::from(width), 64);
        let is_less = self.session.terms.compare(CompareOp::Ult, length, width);
        self.session.terms.if_then_else(is_less, width, length)
    }

    /// A sum over the powers of the base instead of a decision for each length.
    fn integer_length(&mut self, value: TermId, form: IntegerForm, field: Field) -> TermId {
        let (is_negative, magnitude) = self.magnitude(value, form.signed);
        let mut digits = self.session.terms.constant(1, 64);
        for power in powers(form.base).skip(1) {
            let power = self.session.terms.constant(u128::from(power), 64);
            let reaches = self.session.terms.compare(CompareOp::Ule, power, magnitude);
            let one = self.session.terms.zero_extend(reaches, 64);
            digits = self.session.terms.add(digits, one);
        }
        let zero = self.session.terms.constant(0, 64);
        let is_zero = self.session.terms.compare(CompareOp::Eq, magnitude, zero);
        let is_not_zero = self.session.terms.not(is_zero);
        if field.precision == Some(0) {
            digits = self.session.terms.if_then_else(is_zero, zero, digits);
        }
        if field.flags.alternate && form.base == 8 {
            // A zero in front, unless there is one.
            let none = self.session.terms.compare(CompareOp::Eq, digits, zero);
            let needs = self.session.terms.or(is_not_zero, none);
            let needs = self.session.terms.zero_extend(needs, 64);
            digits = self.session.terms.add(digits, needs);
        }
        let mut length = self.at_least(digits, field.precision.unwrap_or(0));
        if field.flags.alternate && form.base == 16 {
            let prefix = self.session.terms.constant(2, 64);
            let prefix = self.session.terms.if_then_else(is_not_zero, prefix, zero);
            length = self.session.terms.add(length, prefix);
        }
        if form.signed {
            let always = self.session.terms.boolean(field.flags.plus || field.flags.space);
            let sign = self.session.terms.or(always, is_negative);
            let sign = self.session.terms.zero_extend(sign, 64);
            length = self.session.terms.add(length, sign);
        }
        self.at_least(length, field.width)
    }

    /// Whether a number of 64 bits is negative, and its absolute value.
    fn magnitude(&mut self, value: TermId, signed: bool) -> (TermId, TermId) {
        let zero = self.session.terms.constant(0, 64);
        if !signed {
            return (self.session.terms.boolean(false), value);
        }
        let is_negative = self.session.terms.compare(CompareOp::Slt, value, zero);
        let negated = self.session.terms.neg(value);
        (is_negative, self.session.terms.if_then_else(is_negative, negated, value))
    }

    /// The characters that are printed, each of 8 bits; how many there are is decided.
    pub(crate) fn characters(&mut self, printed: Vec<Printed>) -> Step<Vec<TermId>> {
        let mut all = Vec::new();
        for part in printed {
            match part {
                Printed::Known(bytes) => all.extend(self.constants(&bytes)),
                Printed::Character { byte, field } => {
                    let padded = self.padded(vec![byte], field);
                    all.extend(padded);
                }
                Printed::Text { address, field } => {
                    let text = self.text_characters(&address, field.precision)?;
                    let padded = self.padded(text, field);
                    all.extend(padded);
                }
                Printed::Integer { value, form, field } => {
                    let text = self.integer_characters(value, form, field)?;
                    all.extend(text);
                }
                Printed::Float { value, letter, field } => {
                    let text = self.float_characters(value, letter, field)?;
                    all.extend(self.constants(&text));
                }
                Printed::Address => return self.unsupported("the characters that printf makes of an address"),
                Printed::Count { address, bytes } => self.write(&address, bytes, Value::Bits(all.len() as u64))?,
            }
        }
        Ok(all)
    }

    fn constants(&mut self, bytes: &[u8]) -> Vec<TermId> {
        bytes.iter().map(|&byte| self.session.terms.constant(u128::from(byte), 8)).collect()
    }

    fn padded(&mut self, mut text: Vec<TermId>, field: Field) -> Vec<TermId> {
        let missing = (field.width as usize).saturating_sub(text.len());
        let blank = self.session.terms.constant(u128::from(b' '), 8);
        let padding = std::iter::repeat_n(blank, missing);
        if field.flags.left {
            text.extend(padding);
            text
        } else {
            padding.chain(text).collect()
        }
    }

    fn text_characters(&mut self, address: &Value, most: Option<u64>) -> Step<Vec<TermId>> {
        let mut text = Vec::new();
        while most.is_none_or(|most| (text.len() as u64) < most) {
            let byte = self.load_byte(address, text.len() as u64)?;
            let is_end = self.is_byte(byte, 0);
            if self.holds(is_end)? {
                break;
            }
            text.push(byte);
        }
        Ok(text)
    }

    fn integer_characters(&mut self, value: TermId, form: IntegerForm, field: Field) -> Step<Vec<TermId>> {
        let (is_negative, magnitude) = self.magnitude(value, form.signed);
        let is_negative = self.holds(is_negative)?;
        let zero = self.session.terms.constant(0, 64);
        let is_zero = self.session.terms.compare(CompareOp::Eq, magnitude, zero);
        let mut digits = Vec::new();
        if field.precision != Some(0) || !self.holds(is_zero)? {
            digits = self.digits(magnitude, form)?;
        }
        let missing = field.precision.unwrap_or(0).saturating_sub(digits.len() as u64);
        let nought = self.session.terms.constant(u128::from(b'0'), 8);
        let mut text = vec![nought; missing as usize];
        text.extend(digits);
        let mut prefix = Vec::new();
        if field.flags.alternate
            && form.base == 8
            && text.first() != Some(&nought)
            && (text.is_empty() || !self.holds(is_zero)?)
        {
            text.insert(0, nought);
        }
        if field.flags.alternate && form.base == 16 && !self.holds(is_zero)? {
            prefix = self.constants(if form.capitals { b"0X" } else { b"0x" });
        }
        let sign: &[u8] = match (form.signed, is_negative, field.flags.plus, field.flags.space) {
            (false, ..) | (true, false, false, false) => b"",
            (true, true, ..) => b"-",
            (true, false, true, _) => b"+",
            (true, false, false, true) => b" ",
        };
        let mut whole = self.constants(sign);
        whole.extend(prefix);
        if field.flags.zeros && !field.flags.left && field.precision.is_none() {
            let missing = (field.width as usize).saturating_sub(whole.len() + text.len());
            whole.extend(std::iter::repeat_n(nought, missing));
        }
        whole.extend(text);
        Ok(self.padded(whole, field))
    }

    fn digits(&mut self, magnitude: TermId, form: IntegerForm) -> Step<Vec<TermId>> {
        let powers: Vec<u64> = powers(form.base).collect();
        let mut count = 1;
        while count < powers.len() {
            let power = self.session.terms.constant(u128::from(powers[count]), 64);
            let reaches = self.session.terms.compare(CompareOp::Ule, power, magnitude);
            if !self.holds(reaches)? {
                break;
            }
            count += 1;
        }
        Ok((0..count).rev().map(|place| self.digit(magnitude, powers[place], form)).collect())
    }

    fn digit(&mut self, magnitude: TermId, power: u64, form: IntegerForm) -> TermId {
        let terms = &mut self.session.terms;
        let (power, base) = (terms.constant(u128::from(power), 64), terms.constant(u128::from(form.base), 64));
        let quotient = terms.binary(BinaryOp::UDiv, magnitude, power);
        let digit = terms.binary(BinaryOp::URem, quotient, base);
        let digit = terms.extract(digit, 0, 8);
        let letter_zero = if form.capitals { b'A' - 10 } else { b'a' - 10 };
        let (nought, letter, ten) =
            (terms.constant(u128::from(b'0'), 8), terms.constant(u128::from(letter_zero), 8), terms.constant(10, 8));
        let is_decimal = terms.compare(CompareOp::Ult, digit, ten);
        let zero = terms.if_then_else(is_decimal, nought, letter);
        terms.add(digit, zero)
    }

    /// A float is made concrete.
    fn float_characters(&mut self, value: TermId, letter: u8, field: Field) -> Step<Vec<u8>> {
        let value = self.term_value(value);
        let value = f64::from_bits(self.concretise(&value, 64)?);
        let text = magnitude_text(value, letter, field.precision, field.flags.alternate);
        let sign = match (value.is_sign_negative(), field.flags.plus, field.flags.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        };
        let missing = (field.width as usize).saturating_sub(sign.len() + text.len());
        Ok(if field.flags.left {
            format!("{sign}{text}{}", " ".repeat(missing))
        } else if field.flags.zeros && value.is_finite() {
            // The prefix of a hexadecimal number stays in front.
            let prefix = if letter.eq_ignore_ascii_case(&b'a') { 2 } else { 0 };
            format!("{sign}{}{}{}", &text[..prefix], "0".repeat(missing), &text[prefix..])
        } else {
            format!("{}{sign}{text}", " ".repeat(missing))
        }
        .into_bytes())
    }
}

/// What glibc prints for a null pointer, if there is room for it.
fn null_text(field: Field) -> Vec<u8> {
    let text: &str = if field.precision.is_none_or(|precision| precision >= 6) { "(null)" } else { "" };
    let width = field.width as usize;
    if field.flags.left { format!("{text:<width$}") } else { format!("{text:>width$}") }.into_bytes()
}

/// 1, the base, its square and so on, as far as 64 bits go.
fn powers(base: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1u64), move |power| power.checked_mul(base))
}
