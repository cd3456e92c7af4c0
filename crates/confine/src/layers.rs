//! Which layers this machine has, and what is done where one is missing.

use std::fmt;
use std::sync::OnceLock;

use crate::start;

/// How a user wants programs to be confined.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Only with the layers that carry the guarantees.
    Require,
    /// With the best that the machine has.
    Auto,
    /// Not at all.
    Off,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Require => "require",
            Mode::Auto => "auto",
            Mode::Off => "off",
        }
    }
}

/// The layers that a program is confined with.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Layers {
    /// The version of Landlock, which guards files; 0 without it.
    pub landlock: u32,
    /// System calls are filtered by seccomp.
    pub filter: bool,
    /// User, process, network and IPC namespaces come on top.
    pub namespaces: bool,
}

/// The first version of Landlock that lets files move between folders only where they may.
const LEAST_LANDLOCK: u32 = 2;
/// The first version of Landlock that forbids truncating.
pub(crate) const TRUNCATING: u32 = 3;
/// The first version of Landlock that forbids signals to others, and abstract sockets of theirs.
pub(crate) const SCOPES: u32 = 6;
/// Landlock of Linux 6.1, which Debian 12 has.
const OLD_LANDLOCK: u32 = 2;

impl Layers {
    pub const NONE: Layers = Layers { landlock: 0, filter: false, namespaces: false };

    /// Returns what works here. It is tried once for each process.
    pub fn of_this_machine() -> Layers {
        static FOUND: OnceLock<Layers> = OnceLock::new();
        *FOUND.get_or_init(|| Layers {
            landlock: landlock_version(),
            filter: has_filters(),
            namespaces: start::namespaces_work(),
        })
    }

    /// Returns the part of these that Linux 6.1 has in a container.
    pub fn as_on_an_old_kernel(self) -> Layers {
        Layers { landlock: self.landlock.min(OLD_LANDLOCK), namespaces: false, ..self }
    }

    /// Returns the layers without which a guarantee does not hold.
    pub fn missing(self) -> Vec<MissingLayer> {
        let landlock = (self.landlock < LEAST_LANDLOCK).then_some(MissingLayer::Landlock);
        landlock.into_iter().chain((!self.filter).then_some(MissingLayer::Filter)).collect()
    }

    /// Returns the layer that guards files, for a person.
    pub fn files(self) -> String {
        if self.landlock == 0 { "none".to_owned() } else { format!("Landlock {}", self.landlock) }
    }

    /// Returns the layer that guards system calls, for a person.
    pub fn calls(self) -> &'static str {
        if self.filter { "seccomp" } else { "none" }
    }

    /// Returns the kinds of namespaces in use.
    pub fn namespace_kinds(self) -> &'static [&'static str] {
        if self.namespaces { &["user", "pid", "net", "ipc"] } else { &[] }
    }
}

/// A layer that carries guarantees and is not there.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum MissingLayer {
    Landlock,
    Filter,
}

impl MissingLayer {
    /// Returns what a user can do about it.
    pub fn hint(self) -> &'static str {
        match self {
            MissingLayer::Landlock => {
                "Landlock needs Linux 5.19 or later with 'landlock' in /sys/kernel/security/lsm (boot parameter lsm=landlock,…)"
            }
            MissingLayer::Filter => "seccomp needs a kernel with CONFIG_SECCOMP_FILTER",
        }
    }
}

impl fmt::Display for MissingLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MissingLayer::Landlock => "Landlock",
            MissingLayer::Filter => "seccomp",
        })
    }
}

/// The user's wish, and the layers that fulfil it here.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Sandbox {
    pub mode: Mode,
    pub layers: Layers,
}

impl Sandbox {
    /// Chooses among the layers of a machine. The error has what is required and missing.
    pub fn new(mode: Mode, machine: Layers) -> Result<Sandbox, Vec<MissingLayer>> {
        let layers = if mode == Mode::Off { Layers::NONE } else { machine };
        match (mode, layers.missing()) {
            (Mode::Require, missing) if !missing.is_empty() => Err(missing),
            _ => Ok(Sandbox { mode, layers }),
        }
    }

    /// Returns the best that this machine has.
    pub fn auto() -> Sandbox {
        Sandbox { mode: Mode::Auto, layers: Layers::of_this_machine() }
    }

    /// Returns a sentence where guarantees do not hold.
    pub fn shortfall(self) -> Option<String> {
        let missing: Vec<String> = self.layers.missing().iter().map(MissingLayer::to_string).collect();
        match self.mode {
            Mode::Off => Some("tests ran without confinement (--sandbox off)".to_owned()),
            _ if missing.is_empty() => None,
            _ => Some(format!("tests ran without {}, see docs/reliability.md", missing.join(" and "))),
        }
    }
}

fn landlock_version() -> u32 {
    const ASK_VERSION: libc::c_int = 1;
    // SAFETY: this asks for the version; no memory is read.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, ASK_VERSION) };
    u32::try_from(version).unwrap_or(0)
}

fn has_filters() -> bool {
    const ASK_FOR_ACTION: libc::c_uint = 2;
    let errno_action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the pointer is to a number that lives until the call returns.
    unsafe { libc::syscall(libc::SYS_seccomp, ASK_FOR_ACTION, 0u32, &raw const errno_action) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Layers = Layers { landlock: 7, filter: true, namespaces: true };

    #[test]
    fn an_old_kernel_has_the_layers_that_carry_guarantees() {
        let old = NEW.as_on_an_old_kernel();
        assert_eq!(old, Layers { landlock: 2, filter: true, namespaces: false });
        assert_eq!(old.missing(), []);
        assert!(Sandbox::new(Mode::Require, old).is_ok());
    }

    #[test]
    fn what_is_required_and_missing_is_an_error_and_else_told() {
        let without = Layers { landlock: 1, ..NEW };
        assert_eq!(Sandbox::new(Mode::Require, without), Err(vec![MissingLayer::Landlock]));
        let auto = Sandbox::new(Mode::Auto, without).expect("auto takes what there is");
        assert_eq!(auto.shortfall().as_deref(), Some("tests ran without Landlock, see docs/reliability.md"));
        assert_eq!(Sandbox::new(Mode::Auto, NEW).map(Sandbox::shortfall), Ok(None));
        let off = Sandbox::new(Mode::Off, NEW).expect("off needs nothing");
        assert_eq!(off.layers, Layers::NONE);
        assert!(off.shortfall().is_some());
    }
}
