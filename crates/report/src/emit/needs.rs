//! What the statements of tests need around them. No header that declares functions is included: one of them could have
//! the name, but not the type, of something in the file under test.

use std::collections::BTreeSet;

/// A header without functions, or a helper, in the order in which they are written.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// `INT_MAX` and the like.
    Limits,
    /// `NULL` and `size_t`.
    StandardDefinitions,
    /// `NAN` and `INFINITY`.
    SpecialFloats,
    IsNan,
    IsNegativeZero,
    SameText,
    SameBytes,
    Copy,
    Heap,
    StandardInput,
}

pub type Needs = BTreeSet<Need>;

/// Functions of the C library that [`text`] and the runners call, by the symbols that the linker knows.
pub const SYMBOLS: [&str; 14] = [
    "_exit", "abort", "alarm", "dup2", "fflush", "fileno", "fork", "fwrite", "malloc", "mmap", "printf", "rewind",
    "tmpfile", "waitpid",
];

/// The lines that provide all of these.
pub fn text(needs: &Needs) -> String {
    let mut needs = needs.clone();
    // A helper may need another line itself.
    let uses_size = |need: &Need| matches!(need, Need::SameBytes | Need::Copy | Need::Heap | Need::StandardInput);
    if needs.iter().any(uses_size) {
        needs.insert(Need::StandardDefinitions);
    }
    let mut text = if needs.is_empty() { String::new() } else { "\n".to_owned() };
    text.extend(needs.iter().map(|need| provided(*need)));
    text
}

fn provided(need: Need) -> &'static str {
    match need {
        Need::Limits => "#include <limits.h>\n",
        Need::StandardDefinitions => "#include <stddef.h>\n",
        Need::SpecialFloats => SPECIAL_FLOATS,
        Need::IsNan => "#define branchwise_is_nan(number) ((number) != (number))\n",
        Need::IsNegativeZero => {
            "#define branchwise_is_negative_zero(number) ((number) == 0 && __builtin_signbit(number))\n"
        }
        Need::SameText => SAME_TEXT,
        Need::SameBytes => SAME_BYTES,
        Need::Copy => COPY,
        Need::Heap => HEAP,
        Need::StandardInput => STANDARD_INPUT,
    }
}

const SPECIAL_FLOATS: &str = "\
#ifndef NAN
#define NAN __builtin_nanf(\"\")
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
";

const SAME_TEXT: &str = "
static int branchwise_same_text(const char *left, const char *right)
{
    while (*left && *left == *right) {
        left++;
        right++;
    }
    return *left == *right;
}
";

const SAME_BYTES: &str = "
static int branchwise_same_bytes(const void *left, const void *right, size_t size)
{
    const unsigned char *left_bytes = left, *right_bytes = right;
    size_t at = 0;
    while (at < size && left_bytes[at] == right_bytes[at])
        at++;
    return at == size;
}
";

const COPY: &str = "
static void branchwise_copy(void *to, const void *from, size_t size)
{
    unsigned char *to_bytes = to;
    const unsigned char *from_bytes = from;
    while (size-- > 0)
        *to_bytes++ = *from_bytes++;
}
";

const HEAP: &str = "
extern void *branchwise_malloc(size_t size) __asm__(\"malloc\");
extern void branchwise_abort(void) __asm__(\"abort\");

/* A copy that the function under test may free. */
static void *branchwise_heap(const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    unsigned char *memory = branchwise_malloc(size);
    size_t at;
    if (!memory)
        branchwise_abort();
    for (at = 0; at < size; at++)
        memory[at] = from[at];
    return memory;
}
";

const STANDARD_INPUT: &str = "
extern void *branchwise_tmpfile(void) __asm__(\"tmpfile\");
extern size_t branchwise_fwrite(const void *from, size_t size, size_t count, void *stream) __asm__(\"fwrite\");
extern void branchwise_rewind(void *stream) __asm__(\"rewind\");
extern int branchwise_fileno(void *stream) __asm__(\"fileno\");
extern int branchwise_dup2(int from, int to) __asm__(\"dup2\");
extern void branchwise_leave(int status) __asm__(\"_exit\");

/* What the program reads from standard input, to its end. Each test that reads runs in a process of its own, so what
   an earlier one left unread is not there. */
static void branchwise_standard_input(const char *text, size_t size)
{
    void *file = branchwise_tmpfile();
    if (!file || branchwise_fwrite(text, 1, size, file) != size)
        branchwise_leave(2);
    branchwise_rewind(file);
    if (branchwise_dup2(branchwise_fileno(file), 0) != 0)
        branchwise_leave(2);
}
";
