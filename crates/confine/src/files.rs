//! Files, by Landlock.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
    make_bitflags, path_beneath_rules,
};

use crate::layers::SCOPES;
use crate::{Files, Layers};

/// The first version with rules for connections.
const CONNECTIONS: u32 = 4;

/// Returns a set of rules for `landlock_restrict_self`; nothing where there is no Landlock.
pub(crate) fn rules(layers: Layers, files: &Files) -> io::Result<Option<OwnedFd>> {
    let abi = ABI::from(layers.landlock as i32);
    rules_on(layers, files, AccessFs::from_all(abi))
}

/// Returns rules for everything but reading.
pub(crate) fn rules_on_writing(layers: Layers, files: &Files) -> io::Result<Option<OwnedFd>> {
    let abi = ABI::from(layers.landlock as i32);
    rules_on(layers, files, AccessFs::from_all(abi) & !make_bitflags!(AccessFs::{ReadFile | ReadDir}))
}

fn rules_on(layers: Layers, files: &Files, known: BitFlags<AccessFs>) -> io::Result<Option<OwnedFd>> {
    if layers.landlock == 0 {
        return Ok(None);
    }
    let made = handled(layers, known).and_then(|rules| allow(rules, files, known));
    made.map(Option::from).map_err(io::Error::other)
}

/// Forbids everything that is not allowed later.
fn handled(layers: Layers, known: BitFlags<AccessFs>) -> Result<RulesetCreated, landlock::RulesetError> {
    let abi = ABI::from(layers.landlock as i32);
    let mut rules = Ruleset::default().handle_access(known)?;
    if layers.landlock >= CONNECTIONS {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if layers.landlock >= SCOPES {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    rules.create()
}

fn allow(
    rules: RulesetCreated,
    files: &Files,
    known: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    let results = make_bitflags!(AccessFs::{ReadFile | WriteFile | MakeReg | Truncate});
    let devices = make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate | IoctlDev});
    let not_in_folders = make_bitflags!(AccessFs::{Execute | MakeChar | MakeBlock | MakeSock | IoctlDev});
    let allowed: [(&[PathBuf], BitFlags<AccessFs>); 5] = [
        (&files.readable, read & known),
        (&files.executable, make_bitflags!(AccessFs::{ReadFile | Execute}) & known),
        (&files.writable, known & !not_in_folders),
        (&files.results, results & known),
        (&files.devices, devices & known),
    ];
    allowed.into_iter().try_fold(rules, |rules, (paths, rights)| rules.add_rules(path_beneath_rules(paths, rights)))
}
