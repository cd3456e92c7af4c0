//! Small object files that the harness is linked with and that no compiler has to make.

use object::write::{Object, Relocation, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SymbolFlags,
};
use object::{SymbolKind, SymbolScope};

use crate::ReplayError;

/// Room for a variable that another file would define; its true size is not in the object file.
pub const MISSING_BYTES: u64 = 1 << 16;
const POINTER_BYTES: u64 = 8;

/// Returns an object that defines `__bw_drivers`: the addresses of these functions, in order, then a null pointer.
pub(crate) fn driver_table(drivers: &[String]) -> Result<Vec<u8>, ReplayError> {
    let mut object = new_object();
    let section = object.section_id(StandardSection::ReadOnlyDataWithRel);
    let bytes = vec![0; (drivers.len() + 1) * POINTER_BYTES as usize];
    let start = object.append_section_data(section, &bytes, POINTER_BYTES);
    let table = symbol("__bw_drivers", SymbolKind::Data, SymbolSection::Section(section));
    object.add_symbol(Symbol { value: start, size: bytes.len() as u64, ..table });
    for (index, driver) in drivers.iter().enumerate() {
        let driver = object.add_symbol(symbol(driver, SymbolKind::Unknown, SymbolSection::Undefined));
        let flags = RelocationFlags::Generic {
            kind: RelocationKind::Absolute,
            encoding: RelocationEncoding::Generic,
            size: POINTER_BYTES as u8 * 8,
        };
        let offset = start + index as u64 * POINTER_BYTES;
        object.add_relocation(section, Relocation { offset, symbol: driver, addend: 0, flags }).map_err(unwritable)?;
    }
    finished(&mut object)
}

/// Returns an object with storage for what no file defines. A variable can then be an input; a call to a function ends
/// the test with SIGSEGV, because this memory is not executable.
pub(crate) fn missing_variables(names: &[String]) -> Result<Vec<u8>, ReplayError> {
    let mut object = new_object();
    for name in names {
        let variable = symbol(name, SymbolKind::Data, SymbolSection::Common);
        object.add_common_symbol(variable, MISSING_BYTES, 64);
    }
    finished(&mut object)
}

fn new_object() -> Object<'static> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    // Without this section the linker makes the stack executable.
    object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), object::SectionKind::Note);
    object
}

fn symbol(name: &str, kind: SymbolKind, section: SymbolSection) -> Symbol {
    Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: 0,
        kind,
        scope: SymbolScope::Dynamic,
        weak: false,
        section,
        flags: SymbolFlags::None,
    }
}

fn finished(object: &mut Object<'_>) -> Result<Vec<u8>, ReplayError> {
    object.write().map_err(unwritable)
}

fn unwritable(error: object::write::Error) -> ReplayError {
    ReplayError::Link { message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::read_symbols;

    #[test]
    fn the_table_defines_one_name_and_uses_the_drivers() {
        let table = driver_table(&["one".to_owned(), "two".to_owned()]).expect("an object");
        let symbols = read_symbols(&table).expect("an ELF file");
        assert_eq!(
            (symbols.defined, symbols.undefined),
            (vec!["__bw_drivers".into()], vec!["one".into(), "two".into()])
        );
    }

    #[test]
    fn a_table_without_drivers_has_its_end() {
        let table = driver_table(&[]).expect("an object");
        assert_eq!(read_symbols(&table).expect("an ELF file").defined, ["__bw_drivers"]);
    }
}
