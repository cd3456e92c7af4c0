//! Files that are given together: what one of them calls in another is there to be called.
//!
//! Each file is compiled once on its own, to bitcode for the executor and to an object for the native runs. A name that one
//! file defines is provided to all others; one that several define is nobody's but their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::lower::{Symbols, symbols};
use crate::preprocess::{calls_of_own, clean_flags, preprocess};
use crate::{FrontendError, Reader, Source, Toolchain, language, language_of};

/// All files of a run.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// In the order of the sources; `None` for one that does not compile, of which its own analysis tells.
    files: Vec<Option<Neighbour>>,
    /// Which file defines a name that no other defines.
    providers: BTreeMap<String, usize>,
    /// Names that several files define, by the files.
    shared: BTreeMap<Vec<usize>, BTreeSet<String>>,
    /// Where bitcode and objects are.
    _folder: Option<TempDir>,
}

#[derive(Debug)]
struct Neighbour {
    path: PathBuf,
    flags: Vec<String>,
    bitcode: PathBuf,
    object: PathBuf,
    symbols: Symbols,
}

/// Another file that the one under test needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedFile {
    /// As the user named it, with the user's flags.
    pub path: PathBuf,
    pub flags: Vec<String>,
    pub bitcode: PathBuf,
    pub object: PathBuf,
    /// Names that it must not have as they are, and what they are instead.
    pub renamed: BTreeMap<String, String>,
    /// Those of them that it defines and others define as well.
    pub own: BTreeSet<String>,
}

impl Neighbours {
    /// Compiles all files, some at a time. One file has no neighbours and costs nothing.
    pub fn read(reader: &Reader, sources: &[Source<'_>], jobs: usize) -> Result<Neighbours, FrontendError> {
        if sources.len() < 2 {
            return Ok(Neighbours::default());
        }
        let failed =
            |cause: std::io::Error| FrontendError::ToolFailed { tool: "the linking".into(), cause: cause.to_string() };
        let folder = tempfile::tempdir().map_err(failed)?;
        let next = AtomicUsize::new(0);
        let files = Mutex::new((0..sources.len()).map(|_| None).collect::<Vec<_>>());
        std::thread::scope(|scope| {
            for _ in 0..jobs.clamp(1, sources.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(source) = sources.get(index) else { break };
                        let compiled = neighbour(reader, source, folder.path(), index);
                        files.lock().unwrap_or_else(PoisonError::into_inner)[index] = compiled;
                    }
                });
            }
        });
        let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Neighbours { _folder: Some(folder), ..Neighbours::of(files) })
    }

    fn of(files: Vec<Option<Neighbour>>) -> Neighbours {
        let mut definers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            for name in file.iter().flat_map(|file| &file.symbols.defined) {
                definers.entry(name).or_default().push(index);
            }
        }
        let mut neighbours = Neighbours::default();
        for (name, definers) in definers {
            match definers.as_slice() {
                // What a program begins with is called by nobody else, and the tests have one of their own.
                &[definer] if name != "main" => drop(neighbours.providers.insert(name.to_owned(), definer)),
                _ => drop(neighbours.shared.entry(definers).or_default().insert(name.to_owned())),
            }
        }
        Neighbours { files, ..neighbours }
    }

    /// What the user should know: which names are not linked, because several files define them.
    pub fn notes(&self) -> Vec<String> {
        let several = self.shared.iter().filter(|(definers, _)| definers.len() > 1);
        let path = |index: &usize| self.files[*index].as_ref().map(|file| file.path.display().to_string());
        several
            .map(|(definers, names)| {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let paths: Vec<String> = definers.iter().filter_map(path).collect();
                format!("not linked, because several files define it: {} ({})", names.join(", "), paths.join(", "))
            })
            .collect()
    }

    /// The names that others define for the file with this number.
    pub fn provided_to(&self, index: usize) -> BTreeSet<String> {
        self.providers.iter().filter(|(_, provider)| **provider != index).map(|(name, _)| name.clone()).collect()
    }

    /// The files that a unit of the file with this number needs, directly or through others. `provided`: what it
    /// takes from others at all.
    pub fn needed(&self, index: usize, unit: &Symbols, provided: &BTreeSet<String>) -> Vec<LinkedFile> {
        let mut needed = BTreeSet::new();
        let mut open: Vec<&String> = unit.undefined.intersection(provided).collect();
        while let Some(name) = open.pop() {
            let Some(&provider) = self.providers.get(name).filter(|provider| **provider != index) else { continue };
            if needed.insert(provider) {
                open.extend(self.files[provider].iter().flat_map(|file| &file.symbols.undefined));
            }
        }
        needed.into_iter().filter_map(|other| self.linked(other, index, unit)).collect()
    }

    fn linked(&self, other: usize, index: usize, unit: &Symbols) -> Option<LinkedFile> {
        let file = self.files[other].as_ref()?;
        let is_own = |name: &&String| self.providers.get(*name) != Some(&other);
        let own: BTreeSet<String> = file.symbols.defined.iter().filter(is_own).cloned().collect();
        let mut renamed: BTreeMap<String, String> =
            own.iter().map(|name| (name.clone(), format!("branchwise_file{other}_{name}"))).collect();
        // The unit has something else of that name: a static function, or a stub that the user asked for.
        for name in file.symbols.defined.union(&file.symbols.undefined) {
            let provider = self.providers.get(name).filter(|provider| **provider != index);
            if provider.is_some() && (unit.defined.contains(name) || unit.internal.contains(name)) {
                renamed.insert(name.clone(), format!("branchwise_other_{name}"));
            }
        }
        Some(LinkedFile {
            path: file.path.clone(),
            flags: file.flags.clone(),
            bitcode: file.bitcode.clone(),
            object: file.object.clone(),
            renamed,
            own,
        })
    }
}

fn neighbour(reader: &Reader, source: &Source<'_>, folder: &Path, index: usize) -> Option<Neighbour> {
    // Each file has a folder of its own, so that none can change what is made of another.
    let folder = folder.join(index.to_string());
    std::fs::create_dir(&folder).ok()?;
    let symbols = reader.compile(source, &folder, index)?;
    let [bitcode, object] = outputs(&folder, index);
    Some(Neighbour { path: source.path.to_owned(), flags: source.flags.to_vec(), bitcode, object, symbols })
}

fn outputs(folder: &Path, index: usize) -> [PathBuf; 2] {
    ["bc", "o"].map(|ending| folder.join(format!("{index}.{ending}")))
}

/// Compiles a file to bitcode and to an object in `folder`; nothing where it does not compile.
pub(crate) fn compile(toolchain: &Toolchain, source: &Source<'_>, folder: &Path, index: usize) -> Option<Symbols> {
    let symbols = compile_with(toolchain, source, folder, index, &[])?;
    match calls_of_own(symbols.defined.iter().map(String::as_str)).as_slice() {
        [] => Some(symbols),
        own => compile_with(toolchain, source, folder, index, own),
    }
}

/// The same with further flags.
fn compile_with(
    toolchain: &Toolchain,
    source: &Source<'_>,
    folder: &Path,
    index: usize,
    flags: &[String],
) -> Option<Symbols> {
    let [bitcode, object] = outputs(folder, index);
    let to = |path: &Path| path.display().to_string();
    let language = language_of(source.path);
    let mut arguments = clean_flags(source.flags);
    arguments.extend_from_slice(flags);
    let path = std::path::absolute(source.path).ok()?;
    let text = preprocess(toolchain, &path, language, &arguments).ok()?;
    let preprocessed = folder.join(format!("{index}.i"));
    std::fs::write(&preprocessed, text).ok()?;
    arguments.extend(["-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-w"].map(String::from));
    arguments.extend(["-Qunused-arguments", "-emit-llvm", "-c", "-x"].map(String::from));
    arguments.extend([language::preprocessed(language).into(), to(&preprocessed), "-o".into(), to(&bitcode)]);
    let assemble = ["-w", "-c", "-x", "ir", &to(&bitcode), "-o", &to(&object)].map(String::from);
    for arguments in [arguments.as_slice(), &assemble] {
        toolchain.run_writing(arguments, folder).ok().filter(|output| output.status.success())?;
    }
    symbols(&bitcode).ok()
}
