//! Functions of the C library that the execution knows by name, and the names of all others as people write them.

use std::borrow::Cow;

use cpp_demangle::{DemangleOptions, Symbol};

/// The name of a function as its source has it, without parameters, where its symbol is of C++.
pub fn readable(symbol: &str) -> Cow<'_, str> {
    let parsed = symbol.starts_with("_Z").then(|| Symbol::new(symbol).ok()).flatten();
    let options = DemangleOptions::new().no_params().no_return_type();
    match parsed.and_then(|parsed| parsed.demangle(&options).ok()) {
        Some(name) => Cow::Owned(name.replace("std::__cxx11::", "std::")),
        None => Cow::Borrowed(symbol),
    }
}

/// What the symbol of a function template's instance says that it returns, and its parameters in parentheses.
pub fn signature(symbol: &str) -> Option<(String, String)> {
    let parsed = Symbol::new(symbol).ok()?;
    let full = parsed.demangle(&DemangleOptions::new()).ok()?.replace("std::__cxx11::", "std::");
    let (result, parameters) = full.split_once(&*readable(symbol))?;
    Some((result.trim().to_owned(), parameters.to_owned()))
}

/// What reads and writes streams, sorted: part of `stdio.h`, and `read`.
const STREAM_FUNCTIONS: [&str; 67] = [
    "_IO_getc",
    "_IO_putc",
    "__isoc99_fscanf",
    "__isoc99_scanf",
    "__isoc99_sscanf",
    "__isoc99_vfscanf",
    "__isoc99_vscanf",
    "__isoc99_vsscanf",
    "clearerr",
    "clearerr_unlocked",
    "dprintf",
    "fclose",
    "feof",
    "feof_unlocked",
    "ferror",
    "ferror_unlocked",
    "fflush",
    "fflush_unlocked",
    "fgetc",
    "fgetc_unlocked",
    "fgets",
    "fgets_unlocked",
    "fprintf",
    "fputc",
    "fputc_unlocked",
    "fputs",
    "fputs_unlocked",
    "fread",
    "fread_unlocked",
    "fscanf",
    "fseek",
    "fseeko",
    "fseeko64",
    "ftell",
    "ftello",
    "ftello64",
    "fwrite",
    "fwrite_unlocked",
    "getc",
    "getc_unlocked",
    "getchar",
    "getchar_unlocked",
    "gets",
    "perror",
    "printf",
    "putc",
    "putc_unlocked",
    "putchar",
    "putchar_unlocked",
    "puts",
    "read",
    "rewind",
    "scanf",
    "setbuf",
    "setlinebuf",
    "setvbuf",
    "snprintf",
    "sprintf",
    "sscanf",
    "ungetc",
    "vfprintf",
    "vfscanf",
    "vprintf",
    "vscanf",
    "vsnprintf",
    "vsprintf",
    "vsscanf",
];

/// Whether the execution knows what this function does to streams.
pub fn is_stream_function(name: &str) -> bool {
    STREAM_FUNCTIONS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_cpp_are_shown_as_written() {
        assert_eq!(readable("_ZNSt12out_of_rangeC1EPKc"), "std::out_of_range::out_of_range");
        assert_eq!(readable("strlen"), "strlen");
    }

    #[test]
    fn names_are_sorted_to_be_found() {
        assert!(STREAM_FUNCTIONS.is_sorted());
        assert!(STREAM_FUNCTIONS.iter().all(|name| is_stream_function(name)) && !is_stream_function("fopen"));
    }
}
