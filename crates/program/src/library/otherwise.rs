//! What functions of the C library may do that no test brings about: the assumptions which exclude it.

use std::collections::BTreeMap;

use super::left_open::{Fixed, LeftOpen, fixed};
use super::{Model, row};
use crate::assumption::KnownAssumption;
use crate::assumption::catalogue::{
    ALLOCATION_SUCCEEDS, INPUT_DOES_NOT_FAIL, INPUT_ENDS_ONCE, LOCALE_IS_C, NO_HUGE_ALLOCATION, OUTPUT_SUCCEEDS,
    READS_ARE_WHOLE,
};
use crate::code::{Callee, Code, Function};
use crate::{CodeFunctionId, Program};

/// What is to know of a call of a library function beside its model.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct LibraryCall {
    /// Its result may be another one where this does not hold.
    pub result: Option<KnownAssumption>,
    pub errno: Errno,
    /// How much of its result the standard fixes; `None`: all.
    pub fixed: Option<Fixed>,
}

/// How a call leaves `errno`.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Errno {
    /// As it was, or as the model says.
    AsModelled,
    /// The standard lets it change even where the call succeeds; tests do not see that.
    MayChange,
    /// It tells of errors, which the model does not.
    TellsErrors,
}

/// The results of these depend on the locale.
const OF_LOCALE: &[&str] = &[
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__ctype_get_mb_cur_max",
    "isalnum",
    "isalpha",
    "isblank",
    "iscntrl",
    "isgraph",
    "islower",
    "isprint",
    "ispunct",
    "isspace",
    "isupper",
    "tolower",
    "toupper",
    "strcoll",
    "strxfrm",
    "strcasecmp",
    "strncasecmp",
    "strcasestr",
];

/// Functions of `math.h` that never tell an error, without the ending of their type.
const WITHOUT_ERRORS: &[&str] = &["floor", "ceil", "trunc", "round", "rint", "nearbyint", "roundeven", "cbrt"];

/// The standard says what these do to `errno`, or they do not come back.
const KEEPS_ERRNO: &[&str] = &[
    "__errno_location",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "strtoimax",
    "strtoumax",
    "strtof",
    "strtod",
    "strtold",
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "longjmp",
    "_longjmp",
    "siglongjmp",
];

const READING: &[&str] = &[
    "getchar", "getc", "fgetc", "fgets", "gets", "fread", "scanf", "fscanf", "vscanf", "vfscanf", "getline",
    "getdelim", "feof", "ferror", "read",
];
const WRITING: &[&str] = &[
    "printf", "fprintf", "vprintf", "vfprintf", "dprintf", "puts", "fputs", "putchar", "putc", "fputc", "fwrite",
    "fflush", "fclose", "ferror", "perror",
];
const ALLOCATING: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "strdup",
    "strndup",
];
const ALLOCATING_INSIDE: &[&str] = &["getline", "getdelim", "asprintf", "vasprintf"];

/// The assumption on which the result of a function rests whatever it is given.
pub fn of_result(name: &str) -> Option<KnownAssumption> {
    OF_LOCALE.contains(&name).then_some(LOCALE_IS_C)
}

/// How a function of the library leaves `errno`.
pub fn errno(name: &str) -> Errno {
    match row(name) {
        None => Errno::AsModelled,
        Some(_) if KEEPS_ERRNO.contains(&name) => Errno::AsModelled,
        Some(row) if row.model == Model::Term && !is_one_of(WITHOUT_ERRORS, name) => Errno::TellsErrors,
        Some(_) => Errno::MayChange,
    }
}

/// All assumptions that exclude something which a function may do, beside `errno` after a success.
pub fn excluded(name: &str) -> Vec<KnownAssumption> {
    let groups: [(&[&str], KnownAssumption); 7] = [
        (READING, INPUT_DOES_NOT_FAIL),
        (&["read"], READS_ARE_WHOLE),
        (&["read", "clearerr", "rewind"], INPUT_ENDS_ONCE),
        (WRITING, OUTPUT_SUCCEEDS),
        (ALLOCATING, NO_HUGE_ALLOCATION),
        (ALLOCATING_INSIDE, ALLOCATION_SUCCEEDS),
        (ALLOCATING_INSIDE, NO_HUGE_ALLOCATION),
    ];
    let plain = name.trim_end_matches("_unlocked");
    let listed = groups.into_iter().filter(|(names, _)| names.contains(&plain)).map(|(_, known)| known);
    of_result(name).into_iter().chain(listed).collect()
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.contains(&name) || name.strip_suffix('f').is_some_and(|name| names.contains(&name))
}

impl Program {
    /// Returns the library functions whose calls are more than their models.
    pub fn library_calls(&self, open: &LeftOpen) -> BTreeMap<CodeFunctionId, LibraryCall> {
        let asks = looks_at_errno(&self.code);
        let known = |(id, function): (CodeFunctionId, &Function)| {
            let modelled = function.library || function.is_declaration();
            let errno = if asks { errno(&function.name) } else { Errno::AsModelled };
            let fixed = fixed(&function.name).filter(|_| open.is_asked(id));
            let call = LibraryCall { result: of_result(&function.name), errno, fixed };
            let is_more = call.result.is_some() || errno != Errno::AsModelled || fixed.is_some();
            (modelled && is_more).then_some((id, call))
        };
        self.code.functions.iter().filter_map(known).collect()
    }
}

/// Tells whether code that is no model asks for `errno`.
pub fn looks_at_errno(code: &Code) -> bool {
    let Some(errno) = code.function_named("__errno_location") else { return false };
    code.functions
        .values()
        .filter(|function| !function.library)
        .any(|function| function.calls().any(|call| call.callee == Callee::Direct(errno)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_endings_are_of_one_kind() {
        assert_eq!((of_result("toupper"), of_result("isdigit")), (Some(LOCALE_IS_C), None));
        assert_eq!((errno("sqrt"), errno("floorf")), (Errno::TellsErrors, Errno::MayChange));
        assert_eq!((errno("strtol"), errno("my_own")), (Errno::AsModelled, Errno::AsModelled));
        assert_eq!(excluded("fread_unlocked"), [INPUT_DOES_NOT_FAIL]);
        assert_eq!(excluded("strlen"), []);
    }

    #[test]
    fn what_is_listed_has_a_row() {
        let lists = [OF_LOCALE, KEEPS_ERRNO, READING, WRITING, ALLOCATING, ALLOCATING_INSIDE, WITHOUT_ERRORS];
        let without: Vec<&&str> = lists.into_iter().flatten().filter(|name| row(name).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
    }
}
