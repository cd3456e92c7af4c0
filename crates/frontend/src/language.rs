//! Which language a file is in, and what that means for clang.

use std::path::Path;

use branchwise_program::map::Language;

/// Endings of C++ files; headers among them are analysed as files of their own.
const CPP_ENDINGS: [&str; 9] = ["cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx", "CPP"];

/// The flag of clang and GCC with which tests may call private and protected methods.
pub const NO_ACCESS_CONTROL: &str = "-fno-access-control";

/// By the ending of its name, as compilers decide it.
pub fn language_of(path: &Path) -> Language {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| CPP_ENDINGS.contains(&ending)) { Language::Cpp } else { Language::C }
}

/// What follows `-x` for the user's text.
pub(crate) fn written(language: Language) -> &'static str {
    match language {
        Language::C => "c",
        Language::Cpp => "c++",
    }
}

/// What follows `-x` for text after preprocessing.
pub(crate) fn preprocessed(language: Language) -> &'static str {
    match language {
        Language::C => "cpp-output",
        Language::Cpp => "c++-cpp-output",
    }
}
