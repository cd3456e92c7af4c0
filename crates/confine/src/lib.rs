//! Confinement of programs that nobody vouches for: files by Landlock, system calls by seccomp, and namespaces where the
//! system allows them.
//!
//! A [`Confinement`] says what a program may do; [`Confinement::start`] starts one so that it holds from its first
//! instruction on, dynamic loader and constructors included. The program inherits it to whatever it forks. It may confine
//! those further, with a [`TestDomain`] that it gets as two open files. [`Guard`] looks at what limits of the system do not
//! cover: memory of programs with sanitizers, and bytes in a folder.
//!
//! A [`ToolLaunch`] starts a compiler or another tool: it reads everything and starts programs, but writes only to its own
//! folders.
//!
//! Rules and filters are made before the new process is; between its beginning and `execve` there are system calls only.

mod calls;
mod confinement;
mod files;
mod layers;
mod start;
mod tool;
mod watch;

pub use confinement::{Confinement, Files, Launch, TestDomain};
pub use layers::{Layers, MissingLayer, Mode, Sandbox};
pub use start::Started;
pub use tool::{ToolDomain, ToolLaunch, ToolLimits, ToolPipes};
pub use watch::{Guard, processor_time};
