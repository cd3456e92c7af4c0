//! What no limit of the system covers: the memory of a group of processes, and the bytes that they keep in files.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What the processes below a started one may use together.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The started process.
    pub process: i32,
    /// Bytes of memory.
    pub memory: u64,
    /// The folder that they write to.
    pub folder: PathBuf,
    /// Bytes of files in it, or removed from it and still in use.
    pub files: u64,
    /// Bytes of the largest file that they can write.
    pub largest_file: u64,
    /// How many looks may find that the started process alone has too much: it may be removing what those below
    /// it have left.
    pub patience: u32,
}

/// Folders with longer paths count as too much: what is in them could soon not be seen any more.
const LONGEST_PATH: usize = 2048;

impl Guard {
    /// Ends the processes below the started one, or that one where it has none, if together they use too much.
    pub fn look(&mut self) {
        let below = descendants(self.process);
        let alone = below.is_empty();
        let users = if alone { vec![self.process] } else { below };
        if memory_of(&users) <= self.memory && self.file_bytes(&users) <= self.files {
            return;
        }
        match alone && self.patience > 0 {
            true => self.patience -= 1,
            false => users.iter().for_each(|&process| kill(process)),
        }
    }

    fn file_bytes(&self, users: &[i32]) -> u64 {
        let mut seen = HashSet::new();
        let Some(mut bytes) = bytes_below(&self.folder, &mut seen) else { return u64::MAX };
        let Ok(device) = fs::metadata(&self.folder).map(|folder| folder.dev()) else { return bytes };
        for file in users.iter().flat_map(|user| fs::read_dir(format!("/proc/{user}/fd"))).flatten().flatten() {
            let Ok(status) = fs::metadata(file.path()) else { continue };
            let removed = status.is_file() && status.nlink() == 0 && status.dev() == device;
            if removed && seen.insert((status.dev(), status.ino())) {
                bytes += status.blocks() * 512;
            }
        }
        let mapped: HashSet<u64> = users.iter().flat_map(|&user| removed_and_mapped(user, device)).collect();
        let unseen = mapped.into_iter().filter(|&inode| seen.insert((device, inode))).count();
        bytes.saturating_add(self.largest_file.saturating_mul(unseen as u64))
    }
}

/// Returns the numbers of files that a process has mapped and nobody can name any more. Their sizes stand nowhere that an
/// ordinary user may read.
fn removed_and_mapped(process: i32, device: u64) -> Vec<u64> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let device = format!("{major:02x}:{minor:02x}");
    let inode = |line: &str| {
        // Range, rights, offset, device, inode, name.
        let mut fields = line.strip_suffix(" (deleted)")?.split_whitespace().skip(3);
        fields.next().filter(|field| **field == device)?;
        fields.next()?.parse().ok()
    };
    maps.lines().filter_map(inode).collect()
}

fn kill(process: i32) {
    // SAFETY: only numbers go in. The process is a descendant of one that is not reaped yet.
    unsafe { libc::kill(process, libc::SIGKILL) };
}

/// Returns the size of everything in a folder; `None` where folders in it are nested too deep.
fn bytes_below(folder: &Path, seen: &mut HashSet<(u64, u64)>) -> Option<u64> {
    let mut waiting = vec![folder.to_owned()];
    let mut bytes = 0;
    while let Some(folder) = waiting.pop() {
        if folder.as_os_str().len() > LONGEST_PATH {
            return None;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(status) = entry.metadata() else { continue };
            if status.is_dir() {
                waiting.push(entry.path());
            }
            if seen.insert((status.dev(), status.ino())) {
                bytes += status.blocks() * 512;
            }
        }
    }
    Some(bytes)
}

fn memory_of(processes: &[i32]) -> u64 {
    // SAFETY: sysconf only reads.
    let page = u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    let resident = |process: &i32| {
        let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
        text.split(' ').nth(1)?.parse::<u64>().ok()
    };
    processes.iter().filter_map(resident).sum::<u64>() * page
}

/// Returns the ticks of the processor that a process, its children and theirs have taken. Those of a child that ended and
/// was waited for count for its parent.
pub fn processor_time(process: i32) -> u64 {
    descendants(process).into_iter().chain([process]).filter_map(ticks_of).sum()
}

fn ticks_of(process: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    // Behind the name: the state is field 3 of the whole, user time 14, system time 15, those of children 16 and 17.
    Some(rest.split_whitespace().skip(11).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
}

/// Returns the processes below this one: its children, theirs, and so on.
pub(crate) fn descendants(process: i32) -> Vec<i32> {
    let parents = parents();
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|(child, of)| *of == parent && *child != parent).map(|(child, _)| child));
        next += 1;
    }
    found.remove(0);
    found
}

/// Returns each process with its parent.
fn parents() -> Vec<(i32, i32)> {
    let parent = |process: i32| {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name, in parentheses, may contain anything.
        let (_, rest) = text.rsplit_once(')')?;
        Some((process, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).filter_map(parent).collect()
}
