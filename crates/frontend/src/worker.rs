//! Files are read in a process of their own, one for each file: what ends that process ends nothing else.
//!
//! A file may be nested so deeply that clang's library crashes, or want more memory or time than there is. The process is
//! confined with all that it starts, and writes only to one folder. It reads one request from standard input, and answers
//! on standard output. Between the two it may ask which other files the one under test is linked with.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use branchwise_program::map::Map;
use branchwise_tools::{Pipes, ToolFailure, ToolOutput, ToolRules, ToolRun, VARIABLE};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::kept::load_once;
use crate::load::{LoadError, LoadOptions, LoadedUnit, OwnedSource, load};
use crate::lower::Symbols;
use crate::neighbours::compile;
use crate::{Declarations, FrontendError, LinkedFile, Source, Toolchain};

/// The argument with which a program is to call [`worker_main`].
pub const WORKER: &str = "read-worker";

/// Deep syntax makes deep recursion; the memory is only reserved.
const STACK_BYTES: usize = 1 << 28;
/// Messages are no longer than this, whatever their first bytes say.
const LONGEST_MESSAGE: u64 = 1 << 32;

#[derive(Debug, Serialize, Deserialize)]
enum Request {
    Load {
        source: OwnedSource,
        options: LoadOptions,
        folder: PathBuf,
    },
    Map {
        source: OwnedSource,
    },
    /// The file is to be linked with others: compile it to `folder`.
    Compile {
        source: OwnedSource,
        folder: PathBuf,
        index: usize,
    },
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// A question: which files provide what these symbols lack?
    Needs(Symbols),
    Loaded(Box<LoadedUnit>),
    Map(Box<Map>),
    /// Nothing where it does not compile, of which its own reading tells.
    Compiled(Option<Symbols>),
    Failed(LoadError),
}

/// Reads files, each in a process of its own.
#[derive(Debug, Clone)]
pub struct Reader {
    program: PathBuf,
    toolchain: Toolchain,
}

impl Reader {
    /// Takes a program that calls [`worker_main`] where its one argument is [`WORKER`].
    pub fn new(program: &Path, toolchain: Toolchain) -> Reader {
        Reader { program: program.to_owned(), toolchain }
    }

    /// Reads a file. `needed` as in [`load`].
    pub fn load(
        &self,
        source: Source<'_>,
        options: LoadOptions,
        needed: impl Fn(&Symbols) -> Vec<LinkedFile> + Sync,
    ) -> Result<LoadedUnit, LoadError> {
        let path = source.path.to_owned();
        let source = OwnedSource::from(source);
        load_once(&self.toolchain, &source, &options, || {
            let folder = folder()?;
            let (source, options) = (source.clone(), options.clone());
            let request = Request::Load { source, options, folder: folder.path().to_owned() };
            match self.ask(&path, &request, folder.path(), &needed)? {
                Answer::Loaded(unit) => Ok(*unit),
                answer => Err(unexpected(&path, &answer)),
            }
        })
    }

    /// Reads the map of a file alone.
    pub fn map(&self, source: Source<'_>) -> Result<Map, LoadError> {
        let path = source.path.to_owned();
        let folder = folder()?;
        match self.ask(&path, &Request::Map { source: source.into() }, folder.path(), &|_| Vec::new())? {
            Answer::Map(map) => Ok(*map),
            answer => Err(unexpected(&path, &answer)),
        }
    }

    /// Compiles a file that others are linked with, to `folder`; nothing where that cannot be.
    pub(crate) fn compile(&self, source: &Source<'_>, folder: &Path, index: usize) -> Option<Symbols> {
        let request = Request::Compile { source: (*source).into(), folder: folder.to_owned(), index };
        match self.ask(source.path, &request, folder, &|_| Vec::new()) {
            Ok(Answer::Compiled(symbols)) => symbols,
            _ => None,
        }
    }

    fn ask(
        &self,
        path: &Path,
        request: &Request,
        folder: &Path,
        needed: &(impl Fn(&Symbols) -> Vec<LinkedFile> + Sync),
    ) -> Result<Answer, LoadError> {
        let mut run = ToolRun::new(&self.program);
        run.arg(WORKER).writes_to(folder);
        if let Some(cache) = std::env::var_os(VARIABLE).filter(|cache| !cache.is_empty()) {
            // Only test runs have one.
            run.writes_to(Path::new(&cache));
        }
        let (answer, ended) = run
            .converse(&self.toolchain.rules, |pipes| converse(pipes, request, needed))
            .map_err(|failure| self.not_run(path, failure))?;
        match answer {
            Ok(answer) if ended.status.success() => settle(path, answer),
            _ => Err(died(path, &ended)),
        }
    }

    fn not_run(&self, path: &Path, failure: ToolFailure) -> LoadError {
        match failure {
            ToolFailure::CannotStart(cause) => LoadError::Frontend(FrontendError::ToolFailed {
                tool: self.program.display().to_string(),
                cause: cause.to_string(),
            }),
            ToolFailure::Exceeded(excess) => exceeded(path, excess.to_string()),
        }
    }
}

fn folder() -> Result<tempfile::TempDir, LoadError> {
    let made = tempfile::Builder::new().prefix("reading-").tempdir();
    made.map_err(|cause| {
        FrontendError::ToolFailed { tool: "a temporary folder".into(), cause: cause.to_string() }.into()
    })
}

fn exceeded(path: &Path, why: String) -> LoadError {
    FrontendError::Exceeded { path: Some(path.to_owned()), why }.into()
}

fn unexpected(path: &Path, answer: &Answer) -> LoadError {
    LoadError::Ours { message: format!("reading {} ended strangely", path.display()), cause: format!("{answer:?}") }
}

/// Names the file in errors that do not know it.
fn settle(path: &Path, answer: Answer) -> Result<Answer, LoadError> {
    match answer {
        Answer::Failed(LoadError::Frontend(FrontendError::Exceeded { path: None, why })) => Err(exceeded(path, why)),
        Answer::Failed(error) => Err(error),
        answer => Ok(answer),
    }
}

/// The error of a process that ended without an answer.
fn died(path: &Path, ended: &ToolOutput) -> LoadError {
    let errors = String::from_utf8_lossy(&ended.stderr);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let how = match ended.status.signal() {
        _ if errors.contains("overflowed its stack") => "its stack was too small".to_owned(),
        Some(libc::SIGKILL) => "the system ended it".to_owned(),
        Some(signal) => format!("it ended with signal {signal}"),
        None => format!("it ended with {}: {last}", ended.status),
    };
    FrontendError::Crashed { path: path.to_owned(), how }.into()
}

fn converse(
    mut pipes: Pipes<'_>,
    request: &Request,
    needed: &impl Fn(&Symbols) -> Vec<LinkedFile>,
) -> io::Result<Answer> {
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    send(pipes.input().ok_or_else(gone)?, request)?;
    loop {
        match receive(&mut pipes)? {
            Answer::Needs(symbols) => send(pipes.input().ok_or_else(gone)?, &needed(&symbols))?,
            answer => return Ok(answer),
        }
    }
}

fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(io::Error::other)?;
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_MESSAGE {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    postcard::from_bytes(&bytes).map_err(io::Error::other)
}

/// The whole life of a process that reads one file.
pub fn worker_main() -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(serve);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let request = receive(&mut io::stdin().lock())?;
    let answer = catch_unwind(AssertUnwindSafe(|| answer(&request))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
        let message = "a fault of Branchwise ended the reading of a file".to_owned();
        Answer::Failed(LoadError::Ours { message, cause: said.unwrap_or_default() })
    });
    send(&mut io::stdout().lock(), &answer)
}

fn answer(request: &Request) -> Answer {
    let toolchain = match Toolchain::find() {
        Ok(toolchain) => toolchain.with_rules(ToolRules::inherited()),
        Err(error) => return Answer::Failed(error.into()),
    };
    match request {
        Request::Load { source, options, folder } => {
            match load(&toolchain, &source.borrowed(), options, folder, ask_for_linked) {
                Ok(unit) => Answer::Loaded(Box::new(unit)),
                Err(error) => Answer::Failed(error),
            }
        }
        Request::Map { source } => {
            match crate::analyse_declared(&toolchain, &source.borrowed(), &Declarations::new()) {
                Ok(unit) => Answer::Map(Box::new(unit.map)),
                Err(error) => Answer::Failed(error.into()),
            }
        }
        Request::Compile { source, folder, index } => {
            Answer::Compiled(compile(&toolchain, &source.borrowed(), folder, *index))
        }
    }
}

fn ask_for_linked(symbols: &Symbols) -> Result<Vec<LinkedFile>, LoadError> {
    let asked = send(&mut io::stdout().lock(), &Answer::Needs(symbols.clone()));
    asked.and_then(|()| receive(&mut io::stdin().lock())).map_err(|cause| LoadError::Ours {
        message: "the files to link with are not known".to_owned(),
        cause: cause.to_string(),
    })
}
