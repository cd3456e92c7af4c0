//! Reads the names of symbols and sections of an ELF object file: 64 bits, little-endian, which is what clang makes on the machines that
//! the harness supports.

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Symbols {
    /// Strong definitions with external linkage.
    pub defined: Vec<String>,
    pub undefined: Vec<String>,
}

const SECTION_IS_SYMBOL_TABLE: u32 = 2;
const SECTION_IS_EXECUTABLE: u64 = 4;
const UNDEFINED_SECTION: u16 = 0;
const BIND_GLOBAL: u8 = 1;

/// `None` when the bytes are not such a file.
pub(crate) fn read_symbols(file: &[u8]) -> Option<Symbols> {
    let mut symbols = Symbols::default();
    if let Some((table, names)) = symbol_table(file)? {
        for symbol in table.chunks_exact(24) {
            symbols.add(symbol, names)?;
        }
    }
    Some(symbols)
}

/// The symbols of a file and their names, if it has any.
fn symbol_table(file: &[u8]) -> Option<Option<(&[u8], &[u8])>> {
    let sections = Sections::of(file)?;
    let Some(table) = sections.all().find(|section| section.kind == SECTION_IS_SYMBOL_TABLE) else { return Some(None) };
    let names = sections.section(table.link as usize)?.bytes(file)?;
    Some(Some((table.bytes(file)?, names)))
}

/// A section as other sections see it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedSection {
    /// Several sections may share it.
    pub name: String,
    pub holds_code: bool,
}

/// Returns a file's sections in their order.
pub(crate) fn named_sections(file: &[u8]) -> Option<Vec<NamedSection>> {
    let sections = Sections::of(file)?;
    let texts = sections.section(half(file, 0x3e)? as usize)?.bytes(file)?;
    let named = |section: Section| {
        let name = name_at(texts, section.name as usize)?;
        Some(NamedSection { name, holds_code: section.flags & SECTION_IS_EXECUTABLE != 0 })
    };
    sections.all().map(named).collect()
}

/// The address of a function of an executable that is loaded where it was linked to be.
pub(crate) fn address_of(file: &[u8], wanted: &[&str]) -> Option<u64> {
    let (table, names) = symbol_table(file)??;
    let is_wanted = |symbol: &[u8]| {
        let name = u32_at(symbol, 0).and_then(|at| name_at(names, at as usize));
        name.is_some_and(|name| wanted.contains(&name.as_str())) && half(symbol, 6) != Some(UNDEFINED_SECTION)
    };
    table.chunks_exact(24).find(|symbol| is_wanted(symbol)).and_then(|symbol| word(symbol, 8))
}

impl Symbols {
    fn add(&mut self, symbol: &[u8], names: &[u8]) -> Option<()> {
        let bind = symbol[4] >> 4;
        let section = half(symbol, 6)?;
        let name = name_at(names, u32_at(symbol, 0)? as usize)?;
        if name.is_empty() {
            return Some(());
        }
        if section == UNDEFINED_SECTION {
            self.undefined.push(name);
        } else if bind == BIND_GLOBAL {
            self.defined.push(name);
        }
        Some(())
    }
}

/// The table of a file's sections.
struct Sections<'f> {
    file: &'f [u8],
    at: usize,
    size: usize,
    count: usize,
}

impl<'f> Sections<'f> {
    fn of(file: &'f [u8]) -> Option<Sections<'f>> {
        if !file.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let at = word(file, 0x28)? as usize;
        let count = match half(file, 0x3c)? {
            // More than 65,279 sections: the number stands in the size of section 0.
            0 => word(file, at.checked_add(0x20)?)? as usize,
            count => count as usize,
        };
        Some(Sections { file, at, size: half(file, 0x3a)? as usize, count })
    }

    fn section(&self, index: usize) -> Option<Section> {
        Section::read(self.file, self.at.checked_add(index.checked_mul(self.size)?)?)
    }

    fn all(&self) -> impl Iterator<Item = Section> {
        (0..self.count).map_while(|index| self.section(index))
    }
}

struct Section {
    name: u32,
    kind: u32,
    flags: u64,
    link: u32,
    offset: usize,
    size: usize,
}

impl Section {
    fn read(file: &[u8], at: usize) -> Option<Section> {
        Some(Section {
            name: u32_at(file, at)?,
            kind: u32_at(file, at.checked_add(4)?)?,
            flags: word(file, at.checked_add(8)?)?,
            offset: word(file, at.checked_add(0x18)?)? as usize,
            size: word(file, at.checked_add(0x20)?)? as usize,
            link: u32_at(file, at.checked_add(0x28)?)?,
        })
    }

    fn bytes<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        file.get(self.offset..self.offset.checked_add(self.size)?)
    }
}

fn name_at(names: &[u8], at: usize) -> Option<String> {
    let tail = names.get(at..)?;
    let length = tail.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(&tail[..length]).into_owned())
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_and_damaged_files_are_refused_without_a_panic() {
        assert_eq!(read_symbols(b""), None);
        assert_eq!(read_symbols(b"!<arch>\n"), None);
        let mut damaged = b"\x7fELF\x02\x01".to_vec();
        damaged.resize(64, 0xff);
        let _ = (read_symbols(&damaged), named_sections(&damaged));
    }
}
