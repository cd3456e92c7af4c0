//! Files that an earlier run has read, for test runs, which read the same files again and again.
//!
//! The cache has two entries for a file. One, for the request and the file itself, names the files that it includes; the
//! other, for the contents of all of them, is what was read. Only a header that newly stands before another one in the
//! folders of headers goes unnoticed.

use branchwise_tools::{Cache, KeyBuilder, line_markers};

use crate::Toolchain;
use crate::load::{LoadError, LoadOptions, LoadedUnit, OwnedSource};

/// Variables by which clang looks for headers.
const HEADER_VARIABLES: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];

/// Takes a file from the cache, or reads it and keeps it there.
pub(crate) fn load_once(
    toolchain: &Toolchain,
    source: &OwnedSource,
    options: &LoadOptions,
    read: impl FnOnce() -> Result<LoadedUnit, LoadError>,
) -> Result<LoadedUnit, LoadError> {
    // A file that others are linked with depends on them too.
    let cache = toolchain.cache().filter(|_| options.provided.is_empty());
    let Some((cache, request)) = cache.and_then(|cache| Some((cache, request_key(toolchain, source, options)?))) else {
        return read();
    };
    if let Some(unit) = find(cache, &request) {
        return Ok(unit);
    }
    let unit = read()?;
    // It may have changed while it was read.
    let is_as_before = || Some(request_key(toolchain, source, options)?.finish() == request.clone().finish());
    if is_as_before() == Some(true) {
        store(cache, request, &unit);
    }
    Ok(unit)
}

fn request_key(toolchain: &Toolchain, source: &OwnedSource, options: &LoadOptions) -> Option<KeyBuilder> {
    let key = KeyBuilder::new("file that was read").with(env!("HOW_FILES_ARE_READ"));
    let key = key.with(postcard::to_allocvec(source).ok()?).with(postcard::to_allocvec(options).ok()?);
    let here = std::env::current_dir().ok()?;
    let key = key.with(here.as_os_str().as_encoded_bytes()).with_file(&source.path);
    let variables = HEADER_VARIABLES.map(|name| std::env::var(name).unwrap_or_default());
    Some(key.with_all(variables).with_installed(&toolchain.clang))
}

fn find(cache: &Cache, request: &KeyBuilder) -> Option<LoadedUnit> {
    let files = cache.find_text(&request.clone().finish())?;
    let files = std::str::from_utf8(&files).ok()?;
    let unit = cache.find_text(&request.clone().with_sources_of(files).finish())?;
    postcard::from_bytes(&unit).ok()
}

fn store(cache: &Cache, request: KeyBuilder, unit: &LoadedUnit) {
    let files = line_markers(&unit.unit.marked);
    if let Ok(bytes) = postcard::to_allocvec(unit) {
        cache.store_text(&request.clone().with_sources_of(&files).finish(), &bytes);
        cache.store_text(&request.finish(), files.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::load::load;

    #[test]
    fn a_file_is_read_once_until_it_or_a_header_changes() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("writable");
        let toolchain = Toolchain::find().expect("clang-19").with_cache(Cache::new(folder.path().join("cache")));
        let source = OwnedSource {
            path: folder.path().join("unit.c"),
            flags: Vec::new(),
            set_statics: false,
            instances: Vec::new(),
        };
        let options = LoadOptions::default();
        let readings = Cell::new(0);
        let functions = |options: &LoadOptions| {
            let read = || {
                readings.set(readings.get() + 1);
                load(&toolchain, &source.borrowed(), options, Path::new(folder.path()), |_| Ok(Vec::new()))
            };
            let unit = load_once(&toolchain, &source, options, read).expect("it is read");
            unit.unit.map.functions.values().map(|function| function.name.clone()).collect::<Vec<_>>()
        };
        write("names.h", "#define NAME first\n");
        write("unit.c", "#include \"names.h\"\nint NAME(int x) { return x > 0; }\n");
        assert_eq!([functions(&options), functions(&options)], [["first"], ["first"]]);
        assert_eq!(readings.get(), 1);
        write("names.h", "#define NAME second\n");
        assert_eq!(functions(&options), ["second"]);
        write("unit.c", "#include \"names.h\"\nint NAME(int x) { return x > 0; }\nvoid more(void) {}\n");
        assert_eq!(functions(&options), ["second", "more"]);
        assert_eq!(readings.get(), 3);
        assert_eq!(functions(&LoadOptions { relations: true, ..options.clone() }), ["second", "more"]);
        assert_eq!(readings.get(), 4, "another request is another entry");
    }
}
