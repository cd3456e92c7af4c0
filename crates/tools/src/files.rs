//! Files in folders that others write to, such as a compiler that a hostile file may have taken over.
//!
//! Whoever writes to a folder may put a link into it that leads to any file of the user. These functions follow no link and
//! wait for no pipe. They look at the last part of the path only: the folder itself must be out of others' reach.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The most that a source file may hold.
pub const LARGEST_SOURCE: u64 = 512 << 20;
/// The most that a text may hold which a person writes for Branchwise: configuration, inputs, paths.
pub const LARGEST_TEXT: u64 = 64 << 20;

/// Writes a new file in place of what has the name.
pub fn write_new(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    file.write_all(bytes.as_ref())
}

/// Returns the contents of an ordinary file of at most so many bytes.
pub fn read_ordinary(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_ordinary(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    within(bytes, most)
}

/// Opens an ordinary file to write behind its end, and makes it where there is nothing.
pub fn append_ordinary(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    ordinary(options.append(true).create(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?)
}

/// Makes a folder where there is none. A link to a folder is none.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(_) if fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) => Ok(()),
        made => made,
    }
}

/// Lets the user read, write and run an ordinary file, and nobody else.
pub fn make_executable(path: &Path) -> io::Result<()> {
    open_ordinary(path)?.set_permissions(Permissions::from_mode(0o700))
}

/// The same as [`read_ordinary`] for a file that the user names: links to it are followed.
pub fn read_limited(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, libc::O_NONBLOCK)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    within(bytes, most)
}

/// Returns the text of what the user names: a file, a pipe or a device.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    String::from_utf8(within(bytes, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

fn open_ordinary(path: &Path) -> io::Result<File> {
    open(path, libc::O_NOFOLLOW | libc::O_NONBLOCK)
}

fn open(path: &Path, flags: i32) -> io::Result<File> {
    ordinary(OpenOptions::new().read(true).custom_flags(flags).open(path)?)
}

fn ordinary(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file")),
    }
}

fn within(bytes: Vec<u8>, most: u64) -> io::Result<Vec<u8>> {
    match bytes.len() as u64 <= most {
        true => Ok(bytes),
        false => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_replaced_and_not_followed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "canary").expect("writable");
        fs::set_permissions(&target, Permissions::from_mode(0o640)).expect("its mode can be set");
        symlink(&target, &link).expect("a link can be made");
        assert!(read_ordinary(&link, 100).is_err());
        assert!(make_executable(&link).is_err());
        assert!(append_ordinary(&link).is_err() && make_folder(&link).is_err());
        assert_eq!(read_limited(&link, 100).expect("links of the user are followed"), b"canary");
        write_new(&link, "new").expect("the link can be replaced");
        assert_eq!(fs::read(&target).expect("it is there"), b"canary");
        assert_eq!(fs::metadata(&target).expect("it is there").permissions().mode() & 0o777, 0o640);
        assert_eq!(read_ordinary(&link, 100).expect("now it is a file"), b"new");
        make_executable(&link).expect("now it is a file");
        assert_eq!(fs::metadata(&link).expect("it is there").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn devices_and_large_files_are_not_read() {
        assert!(read_limited(Path::new("/dev/zero"), 100).is_err());
        assert!(read_text(Path::new("/dev/zero"), 100).is_err());
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("file");
        write_new(&file, "12345").expect("writable");
        assert!(read_limited(&file, 5).is_ok() && read_limited(&file, 4).is_err());
        assert!(read_ordinary(&file, 5).is_ok() && read_ordinary(&file, 4).is_err());
    }
}
