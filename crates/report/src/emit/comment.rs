//! Comments of the emitted code.

/// Lines longer than this are broken where that is easy.
pub const WIDTH: usize = 110;

/// Text as it may stand in a C comment.
pub fn harmless(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}

/// Breaks a long statement after commas outside of quotes; what follows is indented.
pub fn wrapped(line: &str, indent: &str) -> String {
    let mut text = indent.to_owned();
    let mut width = indent.len();
    for piece in pieces(line) {
        let length = piece.chars().count();
        if width + length > WIDTH && width > indent.len() + 4 {
            text.truncate(text.trim_end().len());
            text += &format!("\n{indent}    ");
            width = indent.len() + 4;
        }
        text += piece;
        width += length;
    }
    text
}

/// The line cut behind every `, ` and `; ` that is not inside a string or character literal.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut quote, mut escaped) = (0, None, false);
    let bytes = line.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == *byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b' ') if at > start && matches!(bytes[at - 1], b',' | b';') => {
                pieces.push(&line[start..=at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&line[start..]);
    pieces
}
