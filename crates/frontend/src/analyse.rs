//! One translation unit from the user's file to the map and the marked text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use branchwise_program::map::{
    CAST, DecisionKind, Function, Input, InputOrigin, Language, Map, NEW, NoDriver, Parameter, THROW, UnorderedCalls,
    Variable,
};
use branchwise_program::usage::ONLY_NATIVE;
use branchwise_program::{FunctionId, IdVec, MarkerId, TypeId};

use clang_sys::{CXCursor_Constructor, CXCursor_FunctionDecl};

use crate::aliasing::aliasing;
use crate::assembly;
use crate::callees::Callees;
use crate::cfg::{Builder, Flow, never_returns};
use crate::clang::{self, ClangType, Cursor, ParsedUnit};
use crate::classes;
use crate::columns::{self, Point, UserColumns};
use crate::conditions::Conditions;
use crate::containers;
use crate::coverage::{self, FunctionRegions};
use crate::ctypes::Types;
use crate::dataflow;
use crate::derived::Derived;
use crate::drivers::{self, Driven};
use crate::functions::{Named, befriended_by, flattened, is_method, qualified, user_functions};
use crate::hierarchy::hierarchy;
use crate::inputs::{self, Globals, Mentions};
use crate::instances::{self, Instance};
use crate::language::{self, NO_ACCESS_CONTROL, language_of};
use crate::lower::library::may_call_back;
use crate::macros::MacroTable;
use crate::marking::{self, Dialect, Insertion};
use crate::observers;
use crate::places::{self, Files, Views};
use crate::plan::{Plan, Shared, plan};
use crate::preconditions::{self, Checks};
use crate::preprocess::{calls_of_own, clean_flags, coverage_dump, freestanding, preprocess, preprocess_from};
use crate::probes;
use crate::replaceable::{inline_functions, is_interposable};
use crate::stubs::{self, Undefined, Written};
use crate::syntax::{SyntaxId, SyntaxTree};
use crate::taken_for::TakenFor;
use crate::unmarked::Unmarked;
use crate::unsequenced;
use crate::usage::{Given, Questions, UsableConstructors, Workshop, usage};
use crate::{Declarations, FrontendError, Source, Toolchain, Unit};

/// Deeply nested code makes deep recursion, in libclang and here; the memory is only reserved.
const STACK_BYTES: usize = 1 << 29;

pub(crate) fn analyse(
    toolchain: &Toolchain,
    source: &Source<'_>,
    declarations: &Declarations,
    provided: &BTreeSet<String>,
    relations: bool,
) -> Result<Unit, FrontendError> {
    let cannot_read =
        |cause: std::io::Error| FrontendError::CannotRead { path: source.path.to_owned(), cause: cause.to_string() };
    std::fs::File::open(source.path).map_err(cannot_read)?;
    let absolute = source.path.canonicalize().map_err(cannot_read)?;
    if absolute.is_dir() {
        return Err(cannot_read(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
    }
    let flags = clean_flags(source.flags);
    let language = language_of(source.path);
    let preprocessed = preprocess(toolchain, source.path, language, &flags)?;
    let mut job = Job {
        toolchain,
        path: source.path,
        absolute,
        flags,
        language,
        preprocessed,
        declarations,
        provided,
        set_statics: source.set_statics,
        instances: source.instances.to_vec(),
        instance_lines: Vec::new(),
        instance_places: Vec::new(),
        headers: "",
        relations,
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || job.run());
        let failed = |cause: String| FrontendError::ToolFailed { tool: "the analysis".into(), cause };
        let thread = thread.map_err(|cause| failed(cause.to_string()))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A line of its own between the user's text and what is included behind it.
const BEHIND_FILE: &str = "__bw_start_of_headers";

struct Job<'a> {
    toolchain: &'a Toolchain,
    path: &'a Path,
    absolute: PathBuf,
    flags: Vec<String>,
    language: Language,
    /// The user's text, and behind it the functions that check preconditions.
    preprocessed: String,
    declarations: &'a Declarations,
    /// Names that other files define for this one.
    provided: &'a BTreeSet<String>,
    set_statics: bool,
    /// Instances of templates that the user names or that the program uses, and the lines that declare them here.
    instances: Vec<String>,
    instance_lines: Vec<Option<String>>,
    /// Where the bodies of their templates begin, where that is known.
    instance_places: Vec<Option<coverage::LineColumn>>,
    /// Lines that include what tests need and the user's file may not.
    headers: &'static str,
    /// Comparisons have probes.
    relations: bool,
}

impl Job<'_> {
    fn run(&mut self) -> Result<Unit, FrontendError> {
        clang::load_library()?;
        // The original first: its error messages speak of the file that the user knows.
        let original = ParsedUnit::parse(self.path, None, &self.parse_flags(language::written(self.language)))?;
        let checks = self.checks(&original)?;
        self.preprocessed.push_str(&checks.preprocessed);
        if self.language == Language::Cpp {
            let functions = user_functions(&original.root().children());
            self.include_streams(&functions)?;
            self.instance_lines = instances::declarations(&self.instances, |line| self.compiles(line));
            self.add_used_instances(&functions)?;
            self.preprocessed += &instances::block(&self.instance_lines);
        }
        let name = PathBuf::from("branchwise-preprocessed.i");
        let preprocessed = self.parse_flags(language::preprocessed(self.language));
        let marked = ParsedUnit::parse(&name, Some(&self.preprocessed), &preprocessed)?;
        let (declarations, original_declarations) = (marked.root().children(), original.root().children());
        let functions = user_functions(&declarations);
        let regions = self.coverage(&functions)?;
        let declarations = match self.language {
            Language::C => declarations,
            Language::Cpp => flattened(&declarations),
        };
        let classes = classes::defined(&marked.root().children());
        let own =
            functions.iter().filter(|function| function.cursor.is_definition()).map(|function| function.name.as_str());
        let own_calls = calls_of_own(own.chain(self.provided.iter().map(String::as_str)));
        let mut unit = UnitBuilder {
            job: self,
            own_calls,
            files: Files::default(),
            types: Types::new(self.taken_for(&functions)),
            map: Map::default(),
            macros: MacroTable::of_unit(original.root()),
            globals: Globals::of_unit(&declarations, self.set_statics, self.provided),
            insertions: Vec::new(),
            points: Vec::new(),
            stubs: String::new(),
            drivers: IdVec::new(),
            checks,
            declarations: &declarations,
            classes: &classes,
            callees: Callees::of_unit(&functions, &marked.root().children()),
            derived: Derived::default(),
            class_text: String::new(),
            instances: instances::declared(&self.instances, &self.instance_places, &marked.root().children()),
            questions: Questions::of_unit(&declarations),
            usable: UsableConstructors::new(),
            in_assembly: assembly::defined_names(&declarations, &self.preprocessed),
        };
        unit.derived = Derived::of_unit(&classes, &mut unit.types, &mut unit.map.feeds, |text| self.compiles(text));
        // The main file is the first of the map even if a header defines the first function.
        unit.files.id(self.path);
        let bodies = self.pair_bodies(&functions, &user_functions(&original_declarations), &regions);
        unit.add_functions(&bodies, &regions);
        unit.map.classes = hierarchy(&marked.root().children(), &unit.callees, &mut unit.files);
        unit.add_stubs(&declarations);
        Ok(unit.finish(&bodies))
    }

    /// In C++ conversions have other rules, and tests make objects of classes in other ways.
    fn taken_for<'u>(&self, functions: &[Named<'u>]) -> TakenFor<'u> {
        match self.language {
            Language::C => TakenFor::of_functions(functions.iter().map(|function| function.cursor)),
            Language::Cpp => TakenFor::default(),
        }
    }

    /// Tests give streams over strings for others.
    fn include_streams(&mut self, functions: &[Named<'_>]) -> Result<(), FrontendError> {
        if functions.iter().any(|function| containers::takes_stream(function.cursor)) {
            self.headers = containers::STRING_STREAMS;
            let text = format!("{}{BEHIND_FILE}\n{}", self.include(), self.headers);
            self.preprocessed += &preprocess_from(self.toolchain, &text, BEHIND_FILE, self.language, &self.flags)?;
        }
        Ok(())
    }

    /// The preconditions of the unit's functions, as far as they compile.
    fn checks(&self, original: &ParsedUnit) -> Result<Checks, FrontendError> {
        let functions = user_functions(&original.root().children());
        let include = self.include();
        let context = preconditions::Context {
            toolchain: self.toolchain,
            include: &include,
            flags: &self.flags,
            parse_flags: &self.parse_flags(language::written(self.language)),
            language: self.language,
        };
        preconditions::checks(&context, &functions, self.declarations)
    }

    fn parse_flags(&self, language: &str) -> Vec<String> {
        let mut flags = self.flags.clone();
        flags.extend(["-w", "-ferror-limit=0", "-x", language].map(String::from));
        flags
    }

    /// The instances that the program uses come behind those that the user names.
    fn add_used_instances(&mut self, functions: &[Named<'_>]) -> Result<(), FrontendError> {
        if !instances::has_templates(functions) {
            return Ok(());
        }
        let regions = self.coverage(functions)?;
        let used = instances::used(functions, &regions, &self.instances);
        let first = self.instances.len();
        let lines = instances::declarations_of_used(first, &used, |line| self.compiles(line));
        self.instance_places = vec![None; first];
        self.instance_places.extend(used.iter().map(|used| used.at));
        self.instances.extend(used.into_iter().map(|used| used.text));
        self.instance_lines.extend(lines);
        Ok(())
    }

    fn coverage(&self, functions: &[Named<'_>]) -> Result<HashMap<String, FunctionRegions>, FrontendError> {
        let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
        let kept = match self.language {
            Language::C => drivers::keep_alive(&names),
            Language::Cpp => self.kept_instances(functions),
        };
        let dump = |text: &str| coverage_dump(self.toolchain, text, &self.preprocessed, self.language, &self.flags);
        // What only tests use must not be in the way of everything else.
        let dumped = dump(&(self.include() + &kept)).or_else(|_| dump(&self.include()))?;
        Ok(coverage::parse_dump(&dumped))
    }

    /// Makes the compiler emit the instances of templates that only tests use.
    fn kept_instances(&self, functions: &[Named<'_>]) -> String {
        let named = instances::kept(&self.instances, &self.instance_lines);
        let cursors: Vec<Cursor<'_>> = functions.iter().map(|function| function.cursor).collect();
        let lines = instances::of_parameters(&cursors).into_iter().map(|class| format!("template class {class};\n"));
        named + &lines.filter(|line| self.compiles(line)).collect::<String>()
    }

    fn prelude(&self) -> &'static str {
        match self.language {
            Language::C => drivers::PRELUDE,
            Language::Cpp => drivers::CPP_PRELUDE,
        }
    }

    fn pair_bodies<'u>(
        &self,
        functions: &[Named<'u>],
        originals: &[Named<'u>],
        regions: &HashMap<String, FunctionRegions>,
    ) -> Vec<Body<'u>> {
        let by_name: HashMap<&str, Cursor<'u>> =
            originals.iter().map(|function| (function.name.as_str(), function.cursor)).collect();
        let body = |function: &Named<'u>| {
            let original = by_name.get(function.name.as_str()).copied();
            let body = self.body(function, original, BTreeSet::new())?;
            let whole = body.conditions_that_are_wholes(&self.preprocessed, regions);
            if whole.is_empty() { Some(body) } else { self.body(function, original, whole) }
        };
        functions.iter().filter_map(body).collect()
    }

    fn body<'u>(&self, function: &Named<'u>, original: Option<Cursor<'u>>, whole: BTreeSet<u32>) -> Option<Body<'u>> {
        let unmarked = Unmarked::of(function, &self.preprocessed);
        // A function of nobody's text is no unit; what a method calls is of use for others.
        if unmarked == Some(Unmarked::Defaulted) && !is_method(function.cursor.kind()) {
            return None;
        }
        let read = |function: Cursor<'u>, whole: BTreeSet<u32>| match unmarked {
            Some(_) => SyntaxTree::without_code(function),
            None => SyntaxTree::with_nodes_around(function, whole),
        };
        let mut tree = read(function.cursor, whole.clone())?;
        if self.language == Language::Cpp {
            tree.note_constant_conditions(&self.preprocessed);
        }
        let original = original.and_then(|original| {
            let copy = read(original, whole)?;
            tree.matches(&copy).then_some((original, copy))
        });
        Some(Body {
            function: function.cursor,
            name: function.name.clone(),
            tree,
            original,
            unmarked,
            is_kept: function.keeper.is_some(),
        })
    }

    /// Whether the text can stand behind the unit's.
    fn compiles(&self, behind: &str) -> bool {
        let text = format!("{}{}{behind}", self.prelude(), self.preprocessed);
        let flags = self.parse_flags(language::preprocessed(self.language));
        ParsedUnit::parse(Path::new("branchwise-stubs.i"), Some(&text), &flags).is_ok()
    }

    /// Which of these drivers the compiler complains about where they stand behind the unit and `classes`, and what it says
    /// first.
    fn refused(&self, classes: &str, drivers: &[String]) -> BTreeMap<usize, String> {
        let before = format!("{}{}\n{classes}\n", self.prelude(), self.preprocessed);
        let flags = self.parse_flags(language::preprocessed(self.language));
        let name = "branchwise-drivers.i";
        let parsed = ParsedUnit::parse(Path::new(name), Some(&(before.clone() + &drivers.concat())), &flags);
        let Err(FrontendError::DoesNotCompile { messages, .. }) = parsed else { return BTreeMap::new() };
        let first = before.lines().count();
        let (mut ends, mut line) = (Vec::new(), first);
        for text in drivers {
            line += text.lines().count();
            ends.push(line);
        }
        let place = |message: &str| {
            let wrong = message.strip_prefix(name)?.strip_prefix(':')?.split(':').next()?.parse::<usize>().ok()?;
            let at = (wrong > first).then(|| ends.partition_point(|&end| end < wrong));
            Some((at.filter(|&at| at < drivers.len())?, complaint(message)))
        };
        let mut refused = BTreeMap::new();
        for (at, complaint) in messages.lines().filter_map(place) {
            refused.entry(at).or_insert(complaint);
        }
        refused
    }

    fn include(&self) -> String {
        let path = self.absolute.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        format!("#include \"{path}\"\n")
    }
}

/// What a message of the compiler says, without its place.
fn complaint(message: &str) -> String {
    message.split_once(" error: ").map_or(message, |(_, text)| text).trim_end_matches('.').to_owned()
}

fn dialect(language: Language, function: Cursor<'_>, is_kept: bool, text: &str) -> Dialect {
    let start = clang::file_offset(function.start()) as usize;
    let name = clang::file_offset(function.location()) as usize;
    match language {
        Language::C => Dialect::C,
        // What it gives may be a constant.
        Language::Cpp if is_kept => Dialect::Constexpr,
        Language::Cpp if text.get(start..name).is_some_and(|head| head.contains("constexpr")) => Dialect::Constexpr,
        Language::Cpp => Dialect::Cpp,
    }
}

/// Whether its name alone is a pointer to it for everybody.
fn can_be_pointed_to(function: Cursor<'_>, name: &str) -> bool {
    !function.is_cpp()
        || function.kind() == CXCursor_FunctionDecl
            && !name.contains(['(', '#'])
            && observers::is_open(function)
            && befriended_by(function).is_none()
}

fn without_native_lines(driver: &str) -> String {
    let kept = driver.split_inclusive('\n').filter(|line| !line.trim_start().starts_with(ONLY_NATIVE));
    kept.collect()
}

/// What the unit calls of the library and does not define itself, where the model calls nothing of the unit.
fn closed_functions(map: &Map) -> BTreeSet<String> {
    let called = map.functions.values().flat_map(|function| &function.calls).filter_map(|call| call.callee.clone());
    let closed = |name: &String| [THROW, NEW, CAST].contains(&name.as_str()) || !may_call_back(name);
    let known = |name: &String| map.function_named(name).is_none() && !map.freestanding.has(name);
    called.filter(|name| known(name) && closed(name)).collect()
}

/// A function in both views.
struct Body<'u> {
    function: Cursor<'u>,
    name: String,
    tree: SyntaxTree<'u>,
    /// The function and its tree in the original file, if they match.
    original: Option<(Cursor<'u>, SyntaxTree<'u>)>,
    /// Then the trees hold nothing.
    unmarked: Option<Unmarked>,
    /// A lambda outside functions.
    is_kept: bool,
}

impl Body<'_> {
    /// Where its block begins and ends in the user's file.
    fn place(&self) -> Option<(coverage::LineColumn, coverage::LineColumn)> {
        let (_, tree) = self.original.as_ref()?;
        let body = tree[SyntaxTree::BODY].cursor;
        let (start, end) = (clang::expansion_location(body.start()), clang::expansion_location(body.end()));
        Some(((start.line, start.column), (end.line, end.column)))
    }

    /// In templates, the conditions with connectives that llvm-cov counts as a whole too: in an instance they have temporary
    /// objects to end.
    fn conditions_that_are_wholes(&self, text: &str, regions: &HashMap<String, FunctionRegions>) -> BTreeSet<u32> {
        let Some((_, original)) = self.original.as_ref().filter(|_| instances::is_template(self.function)) else {
            return BTreeSet::new();
        };
        let symbols = self.symbols(regions);
        let Some(merged) = FunctionRegions::merged(symbols.iter().filter_map(|symbol| regions.get(symbol))) else {
            return BTreeSet::new();
        };
        let place = |id: SyntaxId| {
            let start = clang::expansion_location(original[id].cursor.start());
            (start.line, start.column)
        };
        let sites = Conditions::find(&self.tree, text).decisions;
        let sites = sites.iter().filter(|site| site.kind != DecisionKind::Value && site.leaves.len() > 1);
        let whole = sites.filter(|site| {
            let there = site.leaves.iter().filter(|leaf| place(**leaf) == place(site.root)).count();
            merged.branches_at(place(site.root)) == there + 1
        });
        whole.map(|site| site.root.0).collect()
    }

    /// Its names in the object code, the one that llvm-cov knows first: instances of a template, and the variants of
    /// constructors and destructors.
    fn symbols(&self, regions: &HashMap<String, FunctionRegions>) -> Vec<String> {
        let own = self.function.mangled().trim_start_matches('\u{1}').to_owned();
        if !self.function.is_cpp() {
            return vec![own];
        }
        let there = |(_, known): &(&String, &FunctionRegions)| {
            self.place().is_some_and(|(start, end)| known.has_body_at(start, end))
        };
        let mut symbols: Vec<String> = regions.iter().filter(there).map(|(symbol, _)| symbol.clone()).collect();
        symbols.sort();
        let is_unknown = symbols.is_empty();
        let variants: Vec<String> = symbols.iter().chain([&own]).flat_map(|symbol| variants(symbol)).collect();
        symbols.extend(variants);
        let mut seen = BTreeSet::new();
        symbols.retain(|symbol| !symbol.is_empty() && seen.insert(symbol.clone()));
        // The mapping may not know a constructor that nobody calls; it is emitted for a base then.
        if is_unknown && self.function.kind() == CXCursor_Constructor {
            symbols.sort_by_key(|symbol| !symbol.contains(OF_BASE));
        }
        symbols
    }
}

/// In the symbol of a constructor: it makes the part of an object that is a base.
const OF_BASE: &str = "C2E";

/// A constructor is compiled for complete objects and for bases, a destructor also for `delete`.
fn variants(symbol: &str) -> Vec<String> {
    let kinds = [["C1", "C2", "C2"], ["D0", "D1", "D2"]];
    let mut variants = vec![symbol.to_owned()];
    for kinds in kinds {
        for kind in kinds {
            for (at, _) in symbol.match_indices(kind) {
                let (before, after) = (&symbol[..at], &symbol[at + 2..]);
                variants.extend(kinds.iter().map(|other| format!("{before}{other}{after}")));
            }
        }
    }
    variants
}

struct UnitBuilder<'a, 'u> {
    job: &'a Job<'a>,
    /// Flags for functions of the library that the unit or other files define.
    own_calls: Vec<String>,
    files: Files,
    types: Types<'u>,
    map: Map,
    macros: MacroTable,
    globals: Globals<'u>,
    insertions: Vec<Insertion>,
    points: Vec<Point>,
    /// Definitions of what nobody defines.
    stubs: String,
    /// By function; empty where it cannot be called.
    drivers: IdVec<FunctionId, String>,
    checks: Checks,
    /// Of the marked unit.
    declarations: &'a [Cursor<'u>],
    /// Those that tests can make objects of.
    classes: &'a [Cursor<'u>],
    callees: Callees,
    questions: Questions<'u>,
    derived: Derived,
    /// Definitions of generated classes.
    class_text: String,
    instances: Vec<Instance<'a, 'u>>,
    usable: UsableConstructors<'u>,
    /// What assembly outside functions defines.
    in_assembly: BTreeSet<String>,
}

impl<'u> UnitBuilder<'_, 'u> {
    fn add_functions(&mut self, bodies: &[Body<'u>], regions: &HashMap<String, FunctionRegions>) {
        let mut mentions: HashMap<String, Mentions> =
            bodies.iter().map(|body| (body.function.usr(), self.globals.mentions(&body.tree))).collect();
        self.add_mentions_of_checks(bodies, &mut mentions);
        for body in bodies {
            let globals = self.global_inputs(&mentions, body);
            let symbols = body.symbols(regions);
            let instances = || symbols.iter().filter_map(|symbol| regions.get(symbol));
            // In C macros put several regions at one place.
            let merged = (self.job.language == Language::Cpp).then(|| FunctionRegions::merged(instances())).flatten();
            let (plan, flow) = self.analyse_body(body, merged.as_ref().or_else(|| instances().next()));
            self.add_function(body, symbols, globals, plan, flow);
        }
    }

    /// What the preconditions of a function look at counts as looked at by the function.
    fn add_mentions_of_checks(&self, bodies: &[Body<'u>], mentions: &mut HashMap<String, Mentions>) {
        let checks: HashMap<String, Cursor<'u>> = self
            .declarations
            .iter()
            .filter(|cursor| cursor.is_definition())
            .map(|&cursor| (cursor.spelling(), cursor))
            .filter(|(name, _)| preconditions::is_check(name))
            .collect();
        for body in bodies {
            let name = body.name.clone();
            let trees = (0..self.checks.usable(&name))
                .filter_map(|number| checks.get(&preconditions::check_name(&name, number)))
                .filter_map(|&check| SyntaxTree::of_function(check));
            for tree in trees {
                let more = self.globals.mentions(&tree);
                let known = mentions.entry(body.function.usr()).or_default();
                known.globals.extend(more.globals);
                known.functions.extend(more.functions);
            }
        }
    }

    fn global_inputs(&self, mentions: &HashMap<String, Mentions>, body: &Body<'u>) -> Vec<Cursor<'u>> {
        let numbers: BTreeSet<usize> = match self.job.language {
            Language::C => inputs::close_over_calls(mentions, &body.function.usr()),
            // A program begins with what its variables are initialised to.
            Language::Cpp if body.name == "main" => BTreeSet::new(),
            // Calls need not be visible in the text.
            Language::Cpp => mentions.values().flat_map(|own| own.globals.iter().copied()).collect(),
        };
        numbers.into_iter().map(|number| self.globals.variables[number]).collect()
    }

    fn analyse_body(&mut self, body: &Body<'u>, regions: Option<&FunctionRegions>) -> (Plan, Flow) {
        let text = &self.job.preprocessed;
        let original = body.original.as_ref().map(|(_, tree)| tree);
        let views = Views { tree: &body.tree, original, preprocessed: text };
        let conditions = Conditions::find(&body.tree, text);
        let function = self.map.functions.next_id();
        let mut shared = Shared { files: &mut self.files, markers: &mut self.map.markers, macros: &self.macros };
        let plan = plan(function, &views, &conditions, regions, &mut shared);
        let dialect = dialect(self.job.language, body.function, body.is_kept, text);
        self.insertions.extend(marking::insertions(&body.tree, &conditions, &plan, text, dialect));
        let sites = probes::sites(&body.tree, &plan, self.job.relations);
        self.insertions.extend(probes::insertions(&body.tree, &sites, self.map.probes.next_id()));
        let user_function = body.original.as_ref().map(|(function, _)| *function);
        self.points.extend(columns::head_points(&mut self.files, body.function, user_function));
        self.points.extend(columns::points(&views, &mut self.files));
        let (start, end) = self.extent(body);
        let implicit = match self.job.language {
            Language::C => BTreeSet::new(),
            Language::Cpp => self.callees.implicit(body.function, &body.tree),
        };
        let implicit = match body.unmarked {
            Some(_) => self.callees.anywhere_in(body.function),
            None => implicit,
        };
        let builder = Builder::new(&views, &plan, &mut self.files, &mut self.map.markers, &self.callees);
        let flow = builder.build(&body.name, start, end, implicit);
        let accesses = dataflow::accesses(body.function, &body.tree, &flow.owners, flow.cfg.entry);
        self.map.accesses.insert(function, accesses);
        let placed = (&self.map.markers, flow.calls.as_slice());
        for probe in probes::probes(&views, &mut self.files, &sites, function, placed) {
            self.map.probes.push(probe);
        }
        (plan, flow)
    }

    /// Where the function's name and its closing brace stand.
    fn extent(&mut self, body: &Body<'u>) -> (branchwise_program::map::Place, branchwise_program::map::Place) {
        let Some((function, _)) = &body.original else {
            let place = places::presumed_place(&mut self.files, body.function);
            return (place, place);
        };
        let start = places::location_place(&mut self.files, clang::file_location(function.location()));
        let mut end = places::location_place(&mut self.files, clang::file_location(function.end()));
        // The extent ends behind the brace.
        end.column = end.column.saturating_sub(1).max(1);
        (start, end)
    }

    fn add_function(
        &mut self,
        body: &Body<'u>,
        mut symbols: Vec<String>,
        globals: Vec<Cursor<'u>>,
        plan: Plan,
        flow: Flow,
    ) {
        let function = body.function;
        let (place, end) = self.extent(body);
        let name = body.name.clone();
        let number = self.map.functions.next_id();
        let preconditions = self.checks.usable(&name);
        let mut driven = Driven {
            number: number.0,
            name: &name,
            result: function.result_type(),
            globals: &globals,
            preconditions,
            function,
        };
        let shop = Workshop {
            classes: self.classes,
            derived: &self.derived.names,
            instances: &self.instances,
            sees_owners: self.questions.sees_owners(function),
            left_open: self.questions.left_open(function),
            variables: self.questions.variables(function),
            opens_classes: self.job.flags.iter().any(|flag| flag == NO_ACCESS_CONTROL),
            usable: &mut self.usable,
            types: &mut self.types,
            feeds: &mut self.map.feeds,
        };
        let made = match body.unmarked.and_then(Unmarked::why_untested) {
            Some(why) => Err(NoDriver::Unwatched(why.to_owned())),
            None if body.is_kept => Err(NoDriver::Hidden("a lambda has no name: what calls it is tested".to_owned())),
            None => function.is_cpp().then(|| usage(function, shop)).transpose(),
        };
        if let Ok(Some((_, _, result))) = &made {
            driven.result = *result;
        }
        let returned = driven.result;
        let text = match &made {
            Ok(Some((usage, given, _))) => drivers::cpp_driver(&driven, usage, given).map_err(NoDriver::Lacking),
            Ok(None) => drivers::driver(&driven).map_err(NoDriver::Lacking),
            Err(why) => Err(why.clone()),
        };
        let driver = text.as_ref().map(|_| drivers::driver_name(number.0)).map_err(NoDriver::clone);
        self.drivers.push(text.unwrap_or_default());
        let restricted = function.arguments().into_iter().filter(|parameter| parameter.clang_type().is_restrict());
        let restricted: BTreeSet<String> = restricted.map(|parameter| parameter.spelling()).collect();
        if !restricted.is_empty() {
            self.map.restricted.insert(number, restricted);
        }
        let pairs = unsequenced::pairs(function).into_iter();
        self.map.unordered_calls.extend(pairs.map(|pair| UnorderedCalls {
            function: number,
            symbols: pair.symbols,
            text: pair.text,
        }));
        let type_id = self.types.id(function.clang_type());
        if can_be_pointed_to(function, &name) {
            self.types.functions.insert(name.clone(), type_id);
        }
        let driver = driver
            .and_then(|driver| self.checks.complaint(&name).map_or(Ok(driver), |why| Err(NoDriver::Lacking(why))));
        self.map.domains.extend(self.checks.domains.get(&name).map(|domain| (number, domain.clone())));
        let (usage, parameters) = match made {
            Ok(Some((usage, given, _))) => (Some(usage), self.given(&given)),
            _ => (None, self.parameters(function)),
        };
        let inputs = self.inputs(&parameters, &globals);
        let markers: Vec<MarkerId> = plan.markers;
        let result = self.result(function, returned);
        self.map.functions.push(Function {
            symbol: if symbols.is_empty() { String::new() } else { symbols.remove(0) },
            variants: symbols,
            place,
            end,
            language: self.job.language,
            internal: function.has_internal_linkage(),
            variadic: function.is_variadic(),
            result,
            usage,
            parameters,
            inputs,
            driver,
            markers,
            decisions: plan.decisions,
            cfg: flow.cfg,
            loops: flow.loops,
            calls: flow.calls,
            name,
        });
    }

    /// Definitions for what the unit uses and nobody defines. One that the compiler refuses (a type of a prototype's
    /// own scope) is left out, and a call of that function is not supported.
    fn add_stubs(&mut self, declarations: &[Cursor<'u>]) {
        let text = &self.job.preprocessed;
        let mut undefined =
            stubs::undefined_functions(declarations, &mut self.types, |function| never_returns(function, text));
        undefined.retain(|function| !self.is_defined_elsewhere(&function.symbol));
        let mut pointed = stubs::pointed_functions(&self.types);
        if self.job.language == Language::Cpp {
            self.types.spell_truth("bool");
        }
        let (map, types) = (&self.map, &self.types);
        let mut written = Written::of(&undefined, &pointed, map, types);
        if !written.stubs.is_empty() && !self.job.compiles(&written.text) {
            let compiles = |functions: &[Undefined], pointed: &[TypeId]| {
                self.job.compiles(&Written::of(functions, pointed, map, types).text)
            };
            undefined.retain(|function| compiles(std::slice::from_ref(function), &[]));
            pointed.retain(|&type_id| compiles(&[], &[type_id]));
            written = Written::of(&undefined, &pointed, map, types);
        }
        (self.map.feeds, self.map.callables, self.map.stubs) = (written.feeds, written.callables, written.stubs);
        let of_streams = if self.job.headers.is_empty() { "" } else { containers::STREAM_BUFFERS };
        self.class_text = self.derived.text() + of_streams;
        self.stubs = written.text + &self.class_text;
        self.map.stubs.append(&mut self.derived.stubs);
        self.map.derived_classes = std::mem::take(&mut self.derived.classes);
        self.add_variables();
    }

    /// The table of what stubs can change. Threads have variables of their own in other places.
    fn add_variables(&mut self) {
        if self.map.stubs.is_empty() {
            return;
        }
        let common = |global: &&Cursor<'u>| !global.has_internal_linkage() && !global.is_thread_local();
        for global in self.globals.variables.iter().filter(common) {
            let type_id = self.types.of_variable(*global);
            let symbol = global.mangled().trim_start_matches('\u{1}').to_owned();
            self.map.variables.push(Variable { name: qualified(*global), symbol, type_id });
        }
    }

    /// In C++ what a test cannot look at counts as nothing.
    fn result(&mut self, function: Cursor<'u>, returned: ClangType<'u>) -> TypeId {
        match function.is_cpp() {
            true => match drivers::observable_result(returned) {
                Some(value) => self.types.id(value),
                None => self.types.void(),
            },
            false => self.types.id(returned),
        }
    }

    fn given(&mut self, given: &[Given<'u>]) -> Vec<Parameter> {
        let parameter = |value: &Given<'u>| Parameter {
            name: value.name.clone(),
            type_id: self.types.parameter_id(value.declared),
        };
        given.iter().map(parameter).collect()
    }

    fn parameters(&mut self, function: Cursor<'u>) -> Vec<Parameter> {
        let parameter =
            |cursor: Cursor<'u>| Parameter { name: cursor.spelling(), type_id: self.types.of_parameter(cursor) };
        function.arguments().into_iter().map(parameter).collect()
    }

    fn inputs(&mut self, parameters: &[Parameter], globals: &[Cursor<'u>]) -> Vec<Input> {
        let mut inputs = Vec::new();
        for (index, parameter) in parameters.iter().enumerate() {
            let name = match parameter.name.is_empty() {
                true => format!("arg{}", index + 1),
                false => parameter.name.clone(),
            };
            inputs.push(Input { name, type_id: parameter.type_id, origin: InputOrigin::Parameter(index) });
        }
        for global in globals {
            let type_id = match drivers::unknown_length(*global) {
                Some(elements) => self.types.array_of(global.clang_type().canonical().element(), elements),
                None => self.types.of_variable(*global),
            };
            inputs.push(Input { name: qualified(*global), type_id, origin: InputOrigin::Global });
        }
        inputs
    }

    /// A class may forbid what a driver does with its objects, and a type may have no name there, in ways that only the
    /// compiler knows: what it complains about is dropped, first what only looks at objects, until it complains no more.
    fn drop_refused_drivers(&mut self) {
        while self.job.language == Language::Cpp {
            let standing: Vec<FunctionId> =
                self.map.functions.ids().filter(|&id| !self.drivers[id].is_empty()).collect();
            let native = |&id: &FunctionId| self.drivers[id].replace(ONLY_NATIVE, "");
            let texts: Vec<String> = standing.iter().map(native).collect();
            let refused = self.job.refused(&self.class_text, &texts);
            if refused.is_empty() {
                return;
            }
            for (at, complaint) in refused {
                let id = standing[at];
                let function = &mut self.map.functions[id];
                match function.usage.as_mut().filter(|usage| !usage.observers.is_empty()) {
                    Some(usage) => {
                        usage.observers.clear();
                        self.drivers[id] = without_native_lines(&self.drivers[id]);
                    }
                    None => {
                        let why = format!("the compiler refuses a test that calls it: {complaint}");
                        function.driver = Err(NoDriver::Lacking(why));
                        self.drivers[id].clear();
                    }
                }
            }
        }
    }

    fn finish(mut self, bodies: &[Body<'u>]) -> Unit {
        self.drop_refused_drivers();
        let drivers = self.driver_text(bodies);
        let job = self.job;
        marking::sort(&mut self.insertions);
        let columns = UserColumns::new(&job.preprocessed, &self.insertions, std::mem::take(&mut self.points));
        let marked = marking::apply(&job.preprocessed, &self.insertions);
        // The first line marker names the unit; the others keep the generated lines apart from the user's.
        let first = job.preprocessed.lines().next().unwrap_or_default();
        let generated = "# 1 \"<branchwise>\"";
        let marked = format!("{first}\n{generated}\n{}{marked}\n{generated}\n{drivers}", job.prelude());
        let plain = format!("{}{}{}{}{drivers}", job.include(), job.headers, job.prelude(), self.checks.text);
        let undefined: Vec<Cursor<'u>> = self.undefined_variables().collect();
        let tentative = self.declarations.iter().filter(|one| drivers::defines_variable(**one));
        let tentative: BTreeSet<String> = tentative.map(|one| one.spelling()).collect();
        let typed = |global: Cursor<'u>| {
            let type_id = self.types.id(global.clang_type());
            drivers::undefined_variable(global, type_id, tentative.contains(&global.spelling()))
        };
        self.map.undefined_variables = undefined.into_iter().map(typed).collect();
        self.map.freestanding = freestanding(&job.flags);
        self.map.closed_functions = closed_functions(&self.map);
        self.map.opens_files = job.language == Language::Cpp && job.preprocessed.contains("class basic_filebuf");
        self.map.nameable_classes = observers::nameable(self.classes);
        self.map.inline_functions = inline_functions(job.language, &job.flags, self.declarations);
        self.map.is_interposable = is_interposable(&job.flags);
        self.map.aliasing = aliasing(job.language, &job.flags, &job.preprocessed);
        self.types.name_unnamed(self.declarations);
        self.map.files = self.files.table;
        self.map.types = self.types.table;
        let flags = job.flags.iter().chain(&self.own_calls).cloned().collect();
        Unit { map: self.map, marked, plain, columns, flags, language: job.language }
    }

    /// Tells whether another given file, or assembly of this one, defines a symbol.
    fn is_defined_elsewhere(&self, symbol: &str) -> bool {
        self.job.provided.contains(symbol) || self.in_assembly.contains(symbol)
    }

    /// The variables that another file defines. A static variable without an initial value is defined here all the same.
    fn undefined_variables(&self) -> impl Iterator<Item = Cursor<'u>> {
        let undefined = |global: &Cursor<'u>| global.definition().is_none() && !global.has_internal_linkage();
        let provided = |global: &Cursor<'u>| self.is_defined_elsewhere(&global.spelling());
        self.globals.variables.iter().copied().filter(move |global| undefined(global) && !provided(global))
    }

    fn driver_text(&self, bodies: &[Body<'u>]) -> String {
        let mut text = self.stubs.clone();
        for global in self.undefined_variables() {
            text += &drivers::tentative_definition(global);
        }
        text += &drivers::variable_table(&self.map);
        for (body, (id, function)) in bodies.iter().zip(self.map.functions.iter()) {
            if body.function.is_inline() && self.job.language == Language::C {
                text += &drivers::extern_declaration(&function.name);
            }
            text += &self.drivers[id];
        }
        text
    }
}
