//! From the front end's two texts to two executables, and a third one for findings.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use branchwise_program::library::{self, Native, readable};
use branchwise_program::map::{Language, Map};
use branchwise_program::usage::ONLY_NATIVE;

use branchwise_tools::{Key, KeyBuilder, LARGEST_FILE, ToolRun, make_executable, read_ordinary, write_new};

use crate::elf::{NamedSection, Symbols, named_sections, read_symbols};
use crate::objects::{driver_table, missing_variables};
use crate::sanitize::{LaterSources, Sanitizers};
use crate::tools::error_text;
use crate::{ReplayError, Tools};

/// The harness's runtime for each kind of build, compiled when this crate was built.
/// The part of the runtime that makes memory at fixed addresses. Emitted tests contain it too.
pub const REGISTERS: &str = include_str!("registers.c");
const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));
const RUNTIME_WITH_PROFILE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime-profile.o"));
const RUNTIME_WITH_COUNTING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime-counting.o"));
const RUNTIME_FOR_MEMORY_SANITIZER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime-memory.o"));
/// The function of the runtime that stands for all that no test may call.
const REFUSED: &str = "__bw_refuse";

/// What the front end gives for one translation unit.
#[derive(Debug, Copy, Clone)]
pub struct Sources<'a> {
    /// Preprocessed code with marker calls and drivers.
    pub marked: &'a str,
    /// The user's file, included, and the same drivers.
    pub plain: &'a str,
    /// As the user compiles the file.
    pub flags: &'a [String],
    pub language: Language,
    pub map: &'a Map,
    /// Other files that it is linked with.
    pub others: &'a [OtherObject],
}

/// The object of another file of the user's, and the names in it that must not be what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherObject {
    pub path: PathBuf,
    pub renamed: BTreeMap<String, String>,
}

/// The name of the unmarked text; part of the profile's name of every static function.
pub(crate) fn plain_name(language: Language) -> &'static str {
    match language {
        Language::C => "plain.c",
        Language::Cpp => "plain.cpp",
    }
}

#[derive(Debug)]
pub(crate) struct Executables {
    /// Reports markers.
    pub marked: PathBuf,
    /// Counts for llvm-cov.
    pub plain: PathBuf,
    /// What no file defines.
    pub missing: Vec<String>,
}

/// `drivers` in the order of the table through which the native side calls them.
pub(crate) fn build_executables(
    tools: &Tools,
    sources: &Sources,
    drivers: &[String],
    folder: &Path,
) -> Result<Executables, ReplayError> {
    let variant = |kind| Variant { tools, sources, drivers, folder, kind };
    let (marked, plain) = std::thread::scope(|scope| {
        let plain = scope.spawn(|| variant(Kind::Plain).build());
        (variant(Kind::Marked).build(), plain.join())
    });
    let plain = plain.map_err(|_| ReplayError::Harness { message: "its build stopped unexpectedly".to_string() })?;
    let (marked, plain) = (marked?, plain?);
    Ok(Executables { marked: marked.executable, plain: plain.executable, missing: marked.unresolved })
}

/// The marked text once more, with sanitizers.
pub(crate) fn build_sanitized(
    tools: &Tools,
    sources: &LaterSources,
    sanitizers: Sanitizers,
    folder: &Path,
) -> Result<PathBuf, ReplayError> {
    let LaterSources { marked, flags, language, drivers, others, allowed, .. } = sources;
    let added = match sanitizers {
        Sanitizers::Usual => SANITIZER_FLAGS,
        Sanitizers::Memory => MEMORY_SANITIZER_FLAGS,
        Sanitizers::Leaks => LEAK_SANITIZER_FLAGS,
    };
    let flags: Vec<String> = flags.iter().cloned().chain(added.map(String::from)).collect();
    let map = Map { allowed_calls: allowed.clone(), ..Map::default() };
    let sources = Sources { marked, plain: "", flags: &flags, language: *language, map: &map, others };
    let variant = Variant { tools, sources: &sources, drivers, folder, kind: Kind::Sanitized(sanitizers) };
    Ok(variant.build()?.executable)
}

/// The plain text without counters of coverage, for counting instructions.
pub(crate) fn build_counting(tools: &Tools, sources: &LaterSources, folder: &Path) -> Result<PathBuf, ReplayError> {
    let LaterSources { marked, plain, flags, language, drivers, others, allowed } = sources;
    let map = Map { allowed_calls: allowed.clone(), ..Map::default() };
    let sources = Sources { marked, plain, flags, language: *language, map: &map, others };
    Ok(Variant { tools, sources: &sources, drivers, folder, kind: Kind::Counting }.build()?.executable)
}

/// Sanitizers go on after what is undefined, so that one run shows all of it.
const SANITIZER_FLAGS: [&str; 2] =
    ["-fsanitize=address,undefined,float-cast-overflow", "-fsanitize-recover=undefined,float-cast-overflow"];
const MEMORY_SANITIZER_FLAGS: [&str; 2] = ["-fsanitize=memory", "-fsanitize-recover=memory"];
/// Where it finds an allocation by the frames of its callers.
const LEAK_SANITIZER_FLAGS: [&str; 2] = ["-fsanitize=leak", "-fno-omit-frame-pointer"];

#[derive(Debug, Copy, Clone, PartialEq, Eq)]
enum Kind {
    Marked,
    Plain,
    Sanitized(Sanitizers),
    Counting,
}

/// One of the builds.
#[derive(Debug, Copy, Clone)]
struct Variant<'a> {
    tools: &'a Tools,
    sources: &'a Sources<'a>,
    drivers: &'a [String],
    folder: &'a Path,
    kind: Kind,
}

impl<'a> Variant<'a> {
    fn build(self) -> Result<Linked, ReplayError> {
        let executable = self.executable();
        let Some(cache) = &self.tools.cache else { return self.make() };
        let (key, unresolved) = (self.key(), self.folder.join(format!("{}-unresolved.txt", self.name())));
        if cache.fetch(&key, self.folder) {
            let names = read(&unresolved)?;
            let names = String::from_utf8_lossy(&names);
            return Ok(Linked { executable, unresolved: names.lines().map(str::to_owned).collect() });
        }
        let linked = self.make()?;
        write(&unresolved, linked.unresolved.join("\n"))?;
        cache.store(&key, &[executable, unresolved]);
        Ok(linked)
    }

    /// Returns the name of the executable in the cache: everything that it is made from.
    fn key(self) -> Key {
        let Sources { marked, plain, flags, language, others, map } = *self.sources;
        let key = KeyBuilder::new("harness").with(env!("HOW_HARNESSES_ARE_BUILT")).with_all(&map.allowed_calls);
        let key = key.with(self.name()).with(format!("{language:?}"));
        let here = std::env::current_dir().unwrap_or_default();
        let key = key.with(here.as_os_str().as_encoded_bytes());
        let key = key.with(marked).with(plain).with_all(flags).with_all(self.drivers).with(self.runtime());
        let tools = [&self.tools.clang, &self.tools.objcopy].map(PathBuf::as_path);
        let key = tools.into_iter().fold(key, KeyBuilder::with_installed).with_sources_of(marked);
        others.iter().fold(key, |key, other| key.with_file(&other.path).with(format!("{:?}", other.renamed))).finish()
    }

    fn make(self) -> Result<Linked, ReplayError> {
        let unit = self.compile_unit()?;
        let mut objects = self.separate_symbols(&unit)?;
        objects.push(self.write_object("runtime", self.runtime())?);
        objects.push(self.write_object("drivers", &driver_table(self.drivers)?)?);
        let linked = self.link(&objects)?;
        if linked.unresolved.is_empty() {
            return Ok(linked);
        }
        objects.push(self.write_missing(&linked.unresolved)?);
        Ok(Linked { unresolved: linked.unresolved, ..self.link(&objects)? })
    }

    fn name(self) -> &'static str {
        match self.kind {
            Kind::Marked => "marked",
            Kind::Plain => "plain",
            Kind::Sanitized(Sanitizers::Usual) => "sanitized",
            Kind::Sanitized(Sanitizers::Leaks) => "leaks",
            Kind::Sanitized(Sanitizers::Memory) => "memory",
            Kind::Counting => "counting",
        }
    }

    fn compile_unit(self) -> Result<PathBuf, ReplayError> {
        let (text, file, language, what) = match (self.kind, self.sources.language) {
            (Kind::Plain, Language::C) => (self.sources.plain, plain_name(Language::C).to_string(), "c", "code"),
            (Kind::Plain, Language::Cpp) => (self.sources.plain, plain_name(Language::Cpp).to_string(), "c++", "code"),
            (Kind::Counting, Language::C) => (self.sources.plain, "counted.c".to_string(), "c", "code"),
            (Kind::Counting, Language::Cpp) => (self.sources.plain, "counted.cpp".to_string(), "c++", "code"),
            (_, Language::C) => (self.sources.marked, format!("{}.i", self.name()), "cpp-output", "marked code"),
            (_, Language::Cpp) => (self.sources.marked, format!("{}.ii", self.name()), "c++-cpp-output", "marked code"),
        };
        let source = self.folder.join(file);
        let object = self.folder.join(format!("{}.o", self.name()));
        match self.kind {
            Kind::Marked => write(&source, text.replace(ONLY_NATIVE, ""))?,
            Kind::Plain | Kind::Counting | Kind::Sanitized(_) => write(&source, text)?,
        }
        let mut command = ToolRun::new(&self.tools.clang);
        // Ours come last, so that they win over the user's -O2 or -Werror.
        command.args(self.sources.flags).args(["-O0", "-w", "-fno-lto", "-Wno-error", "-Qunused-arguments"]);
        // The sanitizers that write stacks know lines from there alone.
        let stacks = matches!(self.kind, Kind::Sanitized(Sanitizers::Memory | Sanitizers::Leaks));
        command.arg(if stacks { "-gline-tables-only" } else { "-g0" });
        if self.kind == Kind::Plain {
            command.args(["-fprofile-instr-generate", "-fcoverage-mapping"]);
            // Lets children count into shared memory, where counts survive whatever ends the child.
            command.args(["-mllvm", "-runtime-counter-relocation"]);
        }
        command.args(["-x", language, "-c"]).arg(&source).arg("-o").arg(&object);
        command.writes_to(self.folder);
        compile(self.tools, what, &command)?;
        Ok(object)
    }

    fn runtime(self) -> &'static [u8] {
        match self.kind {
            Kind::Plain => RUNTIME_WITH_PROFILE,
            Kind::Counting => RUNTIME_WITH_COUNTING,
            Kind::Sanitized(Sanitizers::Memory) => RUNTIME_FOR_MEMORY_SANITIZER,
            Kind::Marked | Kind::Sanitized(Sanitizers::Usual | Sanitizers::Leaks) => RUNTIME,
        }
    }

    fn write_object(self, name: &str, bytes: &[u8]) -> Result<PathBuf, ReplayError> {
        let path = self.folder.join(format!("{}-{name}.o", self.name()));
        write(&path, bytes)?;
        Ok(path)
    }

    fn executable(self) -> PathBuf {
        self.folder.join(format!("{}-tests", self.name()))
    }

    /// Renames what the unit and the files that it is linked with define (`main`, or a `malloc` or `memcpy` of their own),
    /// so that it cannot replace what the harness or the C library calls, and leads their allocations to ours, which know
    /// input objects and the limits of the models. Returns all objects.
    fn separate_symbols(self, unit: &Path) -> Result<Vec<PathBuf>, ReplayError> {
        let none = BTreeMap::new();
        let mut parts = vec![Part::of(unit.to_owned(), &none)?];
        let defined: HashSet<_> = parts[0].symbols.defined.iter().collect();
        if let Some(driver) = self.drivers.iter().find(|driver| !defined.contains(driver)) {
            return Err(ReplayError::MissingDriver { driver: driver.clone() });
        }
        for (index, other) in self.sources.others.iter().enumerate() {
            let object = self.folder.join(format!("{}-other-{index}.o", self.name()));
            write(&object, read(&other.path)?)?;
            parts.push(Part::of(object, &other.renamed)?);
        }
        let defined: BTreeSet<String> = parts.iter().flat_map(Part::defined).collect();
        for (index, part) in parts.iter().enumerate() {
            let names = self.folder.join(format!("{}-symbols-{index}.txt", self.name()));
            write(&names, part.renamings(&defined, &self.sources.map.allowed_calls))?;
            let mut command = ToolRun::new(&self.tools.objcopy);
            command.arg(crate::tools::joined("--redefine-syms=", &names)).arg(&part.object);
            let sections = self.folder.join(format!("{}-sections-{index}.txt", self.name()));
            write(&sections, part.section_renamings())?;
            command.arg(crate::tools::joined("@", &sections));
            self.tools.succeed("llvm-objcopy", command.writes_to(self.folder))?;
        }
        Ok(parts.into_iter().map(|part| part.object).collect())
    }

    /// Storage for what other files would define. A variable of theirs can then be an input; a call to a function of
    /// theirs ends the test with SIGSEGV, because this memory is not executable.
    fn write_missing(self, names: &[String]) -> Result<PathBuf, ReplayError> {
        self.write_object("missing", &missing_variables(names)?)
    }

    /// A static program forks faster. The sanitizers need a dynamic one, and some libraries exist as such only; and the
    /// static library of mathematics treats errors in another way than the dynamic one, which is what programs are usually
    /// linked with: what needs it is linked dynamically.
    fn link(self, objects: &[PathBuf]) -> Result<Linked, ReplayError> {
        let executable = self.executable();
        if !self.sanitized() {
            let bare = self.link_command_without_mathematics("-static", objects, &executable);
            let without = self.linked(&bare, &executable)?;
            if without.as_ref().is_ok_and(|linked| linked.unresolved.is_empty()) {
                return without.map_err(|message| ReplayError::Link { message });
            }
            let with = self.linked(&self.link_command("-static", objects, &executable), &executable)?;
            if let (Ok(without), Ok(with)) = (without, with)
                && without.unresolved.len() == with.unresolved.len()
            {
                return Ok(with);
            }
        }
        let dynamic = self.linked(&self.link_command("-no-pie", objects, &executable), &executable)?;
        dynamic.map_err(|message| ReplayError::Link { message })
    }

    fn link_command(self, mode: &str, objects: &[PathBuf], executable: &Path) -> ToolRun<'a> {
        let mut command = self.link_command_without_mathematics(mode, objects, executable);
        command.arg("-lm");
        command
    }

    fn link_command_without_mathematics(self, mode: &str, objects: &[PathBuf], executable: &Path) -> ToolRun<'a> {
        let mut command = ToolRun::new(&self.tools.clang);
        if self.sources.language == Language::Cpp {
            command.arg("--driver-mode=g++");
        }
        if self.kind == Kind::Plain {
            command.arg("-fprofile-instr-generate");
        }
        command.args([mode, "-w", "-Qunused-arguments"]);
        // A unit uses functions and variables of other files: what is not there must not stop the build.
        command.args(["-Wl,--warn-unresolved-symbols", "-Wl,--no-demangle"]).args(objects);
        command.args(self.sources.flags.iter().filter(|flag| is_link_flag(flag)));
        command.arg("-o").arg(executable).writes_to(self.folder);
        command
    }

    /// Runs the linker; its words if it fails.
    fn linked(self, command: &ToolRun<'_>, executable: &Path) -> Result<Result<Linked, String>, ReplayError> {
        let output = self.tools.output_of("clang", command)?;
        let message = error_text(&output);
        if !output.status.success() {
            return Ok(Err(message));
        }
        // A confined linker cannot do it.
        make_executable(executable).map_err(ReplayError::io("make the harness executable"))?;
        Ok(Ok(Linked { executable: executable.to_owned(), unresolved: unresolved_names(&message) }))
    }

    fn sanitized(self) -> bool {
        is_sanitized(self.sources.flags)
    }
}

pub(crate) fn is_sanitized(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with("-fsanitize="))
}

fn is_link_flag(flag: &str) -> bool {
    ["-l", "-L", "-Wl,", "-fsanitize=", "-pthread", "--sysroot", "--target="].iter().any(|head| flag.starts_with(head))
}

struct Linked {
    executable: PathBuf,
    /// What no object and no library defines.
    unresolved: Vec<String>,
}

/// From the linker's warnings: GNU ld quotes the name between ` and ', lld writes it after a colon.
fn unresolved_names(warnings: &str) -> Vec<String> {
    let name_in = |line: &str| {
        let quoted = line.split_once("undefined reference to `").and_then(|(_, rest)| rest.split_once('\''));
        let listed = || line.split_once("undefined symbol: ").map(|(_, name)| name);
        quoted.map(|(name, _)| name).or_else(listed).map(|name| name.trim().to_string())
    };
    let mut names: Vec<_> = warnings.lines().filter_map(name_in).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The object of one file.
struct Part<'a> {
    object: PathBuf,
    symbols: Symbols,
    sections: Vec<NamedSection>,
    renamed: &'a BTreeMap<String, String>,
}

impl<'a> Part<'a> {
    fn of(object: PathBuf, renamed: &'a BTreeMap<String, String>) -> Result<Part<'a>, ReplayError> {
        let bytes = read(&object)?;
        let read = read_symbols(&bytes).zip(named_sections(&bytes)).ok_or_else(|| ReplayError::Compile {
            what: "code",
            message: "the compiler's output is not a 64-bit ELF object; other targets cannot be replayed".to_string(),
        });
        let (symbols, sections) = read?;
        Ok(Part { object, symbols, sections, renamed })
    }

    /// What it is to define.
    fn defined(&self) -> impl Iterator<Item = String> {
        self.symbols.defined.iter().map(|name| self.renamed.get(name).unwrap_or(name).clone())
    }

    /// Returns arguments for llvm-objcopy, a line each. The runtime calls constructors in the test's own process, and its
    /// filter knows the user's code by its section (`filter_calls` in `runtime.c`).
    fn section_renamings(&self) -> String {
        let mut lines = BTreeSet::new();
        for NamedSection { name, holds_code } in &self.sections {
            if is_list_of_constructors(name) {
                lines.insert(format!("--rename-section={}=bw_constructors\n", quoted(name)));
            } else if *holds_code && !is_shared_with_the_system(name) {
                lines.insert(format!("--rename-section={}=bw_code\n", quoted(name)));
            }
        }
        lines.into_iter().collect()
    }

    /// Lines `OLD NEW` as llvm-objcopy reads them. `defined`: what any of the files defines; `allowed`: functions that
    /// act on the world and yet run.
    fn renamings(&self, defined: &BTreeSet<String>, allowed: &BTreeSet<String>) -> String {
        let mut lines = String::new();
        let both = self.symbols.defined.iter().map(|name| (name, false));
        for (old, undefined) in both.chain(self.symbols.undefined.iter().map(|name| (name, true))) {
            let name = self.renamed.get(old).unwrap_or(old);
            // Reserved names are the compiler's (profile, sanitizers) or ours.
            if defined.contains(name) && !name.starts_with("__") {
                lines.push_str(&format!("{old} __bw_user_{name}\n"));
            } else if undefined
                && library::row(name).is_some_and(|row| row.native == Native::Harness)
                && !allows(allowed, name)
            {
                lines.push_str(&format!("{old} __bw_{name}\n"));
            } else if undefined && library::is_worldly(name) && !allows(allowed, name) {
                lines.push_str(&format!("{old} {REFUSED}\n"));
            } else if old != name {
                lines.push_str(&format!("{old} {name}\n"));
            }
        }
        lines
    }
}

/// Tells whether the linker makes one function of this section's code and that of the C library's start files.
fn is_shared_with_the_system(section: &str) -> bool {
    matches!(section, ".init" | ".fini")
}

/// Returns a name as a file of arguments has it.
fn quoted(name: &str) -> String {
    name.chars().flat_map(|letter| ['\\', letter]).collect()
}

/// Whether a section lists what the user's code does before `main`. Priorities up to 100 are those of the compiler: sanitizers
/// prepare themselves there. The compiler writes the lists in the order of the priorities.
fn is_list_of_constructors(section: &str) -> bool {
    let priority = section.strip_prefix(".init_array.").and_then(|number| number.parse::<u32>().ok());
    section == ".init_array" || priority.is_some_and(|priority| priority > 100)
}

/// Whether the user allows a function with this symbol to run.
fn allows(allowed: &BTreeSet<String>, symbol: &str) -> bool {
    allowed.contains(symbol) || !allowed.is_empty() && allowed.contains(&*readable(symbol))
}

fn compile(tools: &Tools, what: &'static str, command: &ToolRun<'_>) -> Result<(), ReplayError> {
    let output = tools.output_of("clang", command)?;
    match output.status.success() {
        true => Ok(()),
        false => Err(ReplayError::Compile { what, message: error_text(&output) }),
    }
}

/// Reads what the compiler made. A link that it put there is not followed.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ReplayError> {
    read_ordinary(path, LARGEST_FILE).map_err(ReplayError::io(format!("read '{}'", path.display())))
}

/// Writes a new file where the compiler may have put something else.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), ReplayError> {
    write_new(path, text).map_err(ReplayError::io(format!("write '{}'", path.display())))
}
