//! Output that the program does not look at: a call that only writes numbers and fixed text, and whose result nobody
//! reads, changes nothing that a test observes.

use branchwise_program::RegisterId;

use crate::executor::Executor;
use crate::value::Value;

/// Longer texts are not looked through.
const LONGEST_TEXT: u64 = 4096;

impl Executor<'_, '_> {
    /// Whether a call of this function does nothing but print.
    pub(crate) fn prints_only(&mut self, name: &str, arguments: &[Value], outs: &[RegisterId]) -> bool {
        if !matches!(name, "printf" | "puts" | "putchar") {
            return false;
        }
        let function = self.frame().function;
        if outs.iter().any(|&out| self.code.functions[function].reads(out)) {
            return false;
        }
        match (name, arguments) {
            ("printf", [format, ..]) => self.text(format).is_some_and(|text| prints_numbers(&text)),
            ("puts", [text]) => self.text(text).is_some(),
            ("putchar", [_]) => true,
            _ => false,
        }
    }

    /// The bytes up to a zero, if all of them are known.
    fn text(&mut self, value: &Value) -> Option<Vec<u8>> {
        let Value::Pointer(start) = value else { return None };
        let mut text = Vec::new();
        for offset in start.offset..start.offset.checked_add(LONGEST_TEXT)? {
            let object = self.memory.get(start.object)?;
            if offset >= object.size {
                return None;
            }
            match self.memory.read(self.session, start.object, offset, 1) {
                Value::Bits(0) => return Some(text),
                Value::Bits(byte) => text.push(byte as u8),
                _ => return None,
            }
        }
        None
    }
}

/// Whether a format has conversions of numbers only: no strings, which may lie anywhere, and nothing that is stored.
fn prints_numbers(format: &[u8]) -> bool {
    let mut rest = format.iter();
    while rest.by_ref().any(|&byte| byte == b'%') {
        let conversion = rest.by_ref().find(|byte| !b"-+ #0123456789.*hlLqjzt'".contains(byte));
        if !conversion.is_some_and(|byte| b"diouxXcfFeEgGaAp%".contains(byte)) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_of_numbers_are_told_from_others() {
        for format in ["plain", "%d\n", "100%%", "%-8.3lf and %c%lld", "%*d"] {
            assert!(prints_numbers(format.as_bytes()), "{format}");
        }
        for format in ["%s", "%d %s", "%n", "%", "%5", "%m"] {
            assert!(!prints_numbers(format.as_bytes()), "{format}");
        }
    }
}
