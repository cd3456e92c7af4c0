//! What a person sees on the terminal: progress while it runs, then a table and what is left to say.

mod progress;
mod summary;
mod table;

pub use progress::ProgressView;
pub use summary::summary;
pub use table::TableTime;

/// Whether output may carry colour.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Style {
    Plain,
    Colour,
}

impl Style {
    /// Colour on a terminal, unless `NO_COLOR` says otherwise (<https://no-color.org>: any value but the empty one).
    pub fn detect(is_terminal: bool, no_color: Option<&str>) -> Self {
        match no_color {
            None | Some("") if is_terminal => Style::Colour,
            _ => Style::Plain,
        }
    }

    fn paint(self, colour: Colour, text: &str) -> String {
        match self {
            Style::Plain => text.to_owned(),
            Style::Colour => format!("\x1b[{}m{text}\x1b[0m", colour.code()),
        }
    }
}

#[derive(Debug, Copy, Clone)]
enum Colour {
    Bold,
    Red,
    Green,
    Yellow,
}

impl Colour {
    fn code(self) -> u8 {
        match self {
            Colour::Bold => 1,
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
        }
    }
}
