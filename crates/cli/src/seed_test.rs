//! The file of `--seed-test`: an input, one `name = integer` a line.

use std::path::Path;

use branchwise_tools::{LARGEST_TEXT, read_text};

use crate::error::CliError;

/// Empty lines, and what follows `#`, say nothing.
pub fn read(path: &Path) -> Result<Vec<(String, i128)>, CliError> {
    let cannot_read = |cause| CliError::input(format!("cannot read {}", path.display())).with_cause(cause);
    let text = read_text(path, LARGEST_TEXT).map_err(cannot_read)?;
    let mut values = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let said = line.split('#').next().unwrap_or_default().trim();
        if said.is_empty() {
            continue;
        }
        let value = parse(said).ok_or_else(|| {
            let place = format!("{}:{}", path.display(), number + 1);
            CliError::input(format!("{place}: '{said}' gives no input a value")).with_hint("write `name = integer`")
        })?;
        values.push(value);
    }
    Ok(values)
}

fn parse(said: &str) -> Option<(String, i128)> {
    let (name, value) = said.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let (negative, digits) = value.strip_prefix('-').map_or((false, value), |digits| (true, digits));
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    (!name.is_empty()).then(|| (name.to_string(), if negative { -magnitude } else { magnitude }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_and_an_integer() {
        assert_eq!(parse("a[1] = -2"), Some(("a[1]".to_string(), -2)));
        assert_eq!(parse("*p=0x10"), Some(("*p".to_string(), 16)));
        assert_eq!(parse("x"), None);
        assert_eq!(parse("= 3"), None);
        assert_eq!(parse("x = 1.5"), None);
    }
}
