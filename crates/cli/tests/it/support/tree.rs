//! The files of a folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Returns the texts of all files of a folder and of those in it, by their path below it.
pub fn texts(folder: &Path) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            texts.extend(self::texts(&entry.path()).into_iter().map(|(path, text)| (format!("{name}/{path}"), text)));
        } else {
            texts.insert(name, fs::read_to_string(entry.path()).expect("a text"));
        }
    }
    texts
}
