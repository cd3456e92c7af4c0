//! Paths as text: `34+ 23- 5b+ 7:case 2`. Reports, drawings and comments of tests write them, and the command line reads
//! them.

use std::collections::HashMap;
use std::fmt;

use branchwise_program::map::{Event, Map, MarkerKind};
use branchwise_program::{FileId, Id, MarkerId};

/// The outcome of a switch without `default` that jumps past all labels.
const NO_LABEL: &str = "no label";
/// The outcome of a handler that takes an exception.
const CATCH: &str = "catch";

/// How paths name conditions and switches: by line, with a letter from the second of a line on, and with the file in front
/// where it is not the first of the map.
#[derive(Debug)]
pub struct Notation {
    names: HashMap<MarkerId, String>,
    markers: HashMap<String, MarkerId>,
    /// Of every switch, its ways out.
    labels: HashMap<MarkerId, Vec<String>>,
}

/// What is no outcome of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotationError {
    /// From here on.
    pub at: String,
    /// The outcomes of the condition or switch that is meant, where one is.
    pub outcomes: Vec<String>,
}

impl fmt::Display for NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' begins with no outcome of a condition or switch", self.at)?;
        match self.outcomes.is_empty() {
            true => Ok(()),
            false => write!(f, " (there is {})", self.outcomes.join(", ")),
        }
    }
}

impl Notation {
    pub fn of(map: &Map) -> Self {
        let mut notation = Notation { names: HashMap::new(), markers: HashMap::new(), labels: HashMap::new() };
        let mut on_line: HashMap<(FileId, u32), usize> = HashMap::new();
        for (id, marker) in map.markers.iter() {
            let before = on_line.entry((marker.place.file, marker.place.line)).or_default();
            let name = format!("{}{}{}", file_prefix(map, marker.place.file), marker.place.line, letter(*before));
            *before += 1;
            notation.markers.insert(name.clone(), id);
            notation.names.insert(id, name);
            match &marker.kind {
                MarkerKind::Condition { .. } => {}
                MarkerKind::Switch { labels, .. } => {
                    let texts = labels.iter().map(|label| label.text.as_str()).chain([NO_LABEL]);
                    notation.labels.insert(id, distinct(texts));
                }
                MarkerKind::Handler => {
                    notation.labels.insert(id, vec![CATCH.to_owned()]);
                }
            }
        }
        notation
    }

    /// A condition or switch.
    pub fn name(&self, marker: MarkerId) -> &str {
        self.names.get(&marker).map_or("?", String::as_str)
    }

    pub fn outcome(&self, event: Event) -> String {
        let name = self.name(event.marker);
        match self.labels.get(&event.marker) {
            Some(labels) => format!("{name}:{}", labels.get(event.outcome as usize).map_or(NO_LABEL, String::as_str)),
            None => format!("{name}{}", if event.outcome == 1 { '+' } else { '-' }),
        }
    }

    pub fn path(&self, events: &[Event]) -> String {
        events.iter().map(|&event| self.outcome(event)).collect::<Vec<_>>().join(" ")
    }

    /// At most this many outcomes, and `…` where there are more.
    pub fn beginning(&self, events: &[Event], most: usize) -> String {
        let more = if events.len() > most { " …" } else { "" };
        self.path(&events[..events.len().min(most)]) + more
    }

    /// Reads what [`Notation::path`] writes. Brackets of abstract nodes, with the values behind them, and `…` at the end
    /// say nothing of their own.
    pub fn read(&self, text: &str) -> Result<Vec<Event>, NotationError> {
        let mut events = Vec::new();
        let mut rest = skip_brackets(text);
        while !rest.is_empty() {
            let (event, length) = self.first(rest)?;
            events.push(event);
            rest = skip_brackets(&rest[length..]);
        }
        Ok(events)
    }

    /// The outcome with which a text begins, and its length there.
    fn first(&self, text: &str) -> Result<(Event, usize), NotationError> {
        let mut meant = None;
        for (end, _) in text.match_indices(['+', '-', ':']) {
            let Some(&marker) = self.markers.get(&text[..end]) else { continue };
            meant = Some(marker);
            let fits = |word: &String| text.starts_with(word.as_str()) && is_word_end(&text[word.len()..]);
            let ways = self.ways(marker);
            // Of labels that begin alike the longest is meant.
            let found = ways.iter().enumerate().filter(|(_, word)| fits(word)).max_by_key(|(_, word)| word.len());
            if let Some((outcome, word)) = found {
                return Ok((Event { marker, outcome: outcome as u32 }, word.len()));
            }
        }
        let outcomes = meant.map(|marker| self.ways(marker)).unwrap_or_default();
        Err(NotationError { at: text.trim_end().to_string(), outcomes })
    }

    fn ways(&self, marker: MarkerId) -> Vec<String> {
        let count = self.labels.get(&marker).map_or(2, Vec::len);
        (0..count).map(|outcome| self.outcome(Event { marker, outcome: outcome as u32 })).collect()
    }
}

/// Lines of the file under test need no name of a file.
fn file_prefix(map: &Map, file: FileId) -> String {
    if file.index() == 0 {
        return String::new();
    }
    let Some(path) = map.files.get(file).map(|file| &file.path) else { return String::new() };
    let same_name = map.files.values().filter(|other| other.path.file_name() == path.file_name()).count();
    match (path.file_name(), same_name) {
        (Some(name), 1) => format!("{}:", name.to_string_lossy()),
        _ => format!("{}:", path.display()),
    }
}

/// Texts on one line; what is there before gets a number.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let distinct = texts.map(|text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let count = known.entry(text.clone()).or_default();
        *count += 1;
        if *count == 1 { text } else { format!("{text}#{count}") }
    });
    distinct.collect()
}

/// Nothing for the first condition of a line, then b, c, …
fn letter(index: usize) -> String {
    match index {
        0 => String::new(),
        1..=25 => char::from(b'a' + index as u8).to_string(),
        _ => format!(".{index}"),
    }
}

fn skip_brackets(text: &str) -> &str {
    let mut rest = text;
    loop {
        let begin = rest.trim_start_matches(|c: char| c.is_whitespace() || "{}<…".contains(c));
        let behind = begin.trim_start_matches('>');
        let value = behind.strip_prefix(['+', '-']).filter(|_| behind.len() < begin.len());
        let next = value.unwrap_or(begin);
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

fn is_word_end(rest: &str) -> bool {
    rest.chars().next().is_none_or(|next| next.is_whitespace() || "{}<>…".contains(next))
}
