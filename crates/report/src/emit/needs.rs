//! What the statements of tests need around them. No header that declares functions is included: one of them could have
//! the name, but not the type, of something in the file under test.

use std::collections::BTreeSet;

use branchwise_replay::REGISTERS;

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
    Stream,
    /// What [`Need::Registers`] calls where a page is taken.
    GiveUp,
    Registers,
    /// `std::istringstream` and the like.
    StringStreams,
    LimitedOutput,
    BrokenInput,
}

impl Need {
    /// What an object of a class needs that is no class of the program.
    pub fn of_class(class: &str) -> Option<Need> {
        match class {
            "branchwise_limited" => Some(Need::LimitedOutput),
            "branchwise_broken" => Some(Need::BrokenInput),
            _ => None,
        }
    }
}

pub type Needs = BTreeSet<Need>;

/// Functions of the C library that [`text`] and the runners call, by the symbols that the linker knows.
pub const SYMBOLS: [&str; 20] = [
    "_exit",
    "abort",
    "alarm",
    "dup2",
    "fflush",
    "fgetc",
    "fileno",
    "fopencookie",
    "fork",
    "fwrite",
    "malloc",
    "mmap",
    "mprotect",
    "munmap",
    "printf",
    "rewind",
    "setvbuf",
    "sigaction",
    "tmpfile",
    "waitpid",
];

/// The lines that provide all of these.
pub fn text(needs: &Needs) -> String {
    let mut needs = needs.clone();
    // A helper may need another line itself.
    let uses_size =
        |need: &Need| matches!(need, Need::SameBytes | Need::Copy | Need::Heap | Need::StandardInput | Need::Stream);
    if needs.iter().any(uses_size) {
        needs.insert(Need::StandardDefinitions);
    }
    if needs.contains(&Need::Registers) {
        needs.extend([Need::StandardDefinitions, Need::GiveUp]);
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
        Need::Stream => STREAM,
        Need::GiveUp => "\nextern void branchwise_give_up(void) __asm__(\"abort\");\n",
        Need::Registers => REGISTERS,
        Need::StringStreams => "#include <sstream>\n",
        Need::LimitedOutput => LIMITED_OUTPUT,
        Need::BrokenInput => BROKEN_INPUT,
    }
}

const LIMITED_OUTPUT: &str = "
/* A buffer of a stream with room for so many characters. */
struct branchwise_limited : std::streambuf {
    char room[16];
    explicit branchwise_limited(int characters) { setp(room, room + characters % 16); }
};
";

const BROKEN_INPUT: &str = "
/* A buffer of a stream from which reading fails behind its text. */
struct branchwise_broken : std::stringbuf {
    explicit branchwise_broken(const std::string &text) : std::stringbuf(text) {}
    int_type underflow() override {
        const int_type next = std::stringbuf::underflow();
        if (traits_type::eq_int_type(next, traits_type::eof())) throw 0;
        return next;
    }
};
";

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
    const unsigned char *left_bytes = (const unsigned char *)left, *right_bytes = (const unsigned char *)right;
    size_t at = 0;
    while (at < size && left_bytes[at] == right_bytes[at])
        at++;
    return at == size;
}
";

const COPY: &str = "
static void branchwise_copy(void *to, const void *from, size_t size)
{
    unsigned char *to_bytes = (unsigned char *)to;
    const unsigned char *from_bytes = (const unsigned char *)from;
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
    const unsigned char *from = (const unsigned char *)bytes;
    unsigned char *memory = (unsigned char *)branchwise_malloc(size);
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

const STREAM: &str = "
/* A stream that the function under test gets: what can be read from it, and what happens at its ends. */
struct branchwise_stream {
    const char *text;
    size_t size;
    int reading_fails; /* behind the text, where otherwise the end is */
    int at_end;        /* an earlier call has come to the end, or to the error there */
    int writing_fails; /* when there is no room left */
    size_t room;
    int closing_fails;
    size_t at;
};

struct branchwise_stream_functions {
    long (*read)(void *stream, char *to, size_t most);
    long (*write)(void *stream, const char *from, size_t size);
    int (*seek)(void *stream, long *offset, int whence);
    int (*close)(void *stream);
};

extern void *branchwise_malloc(size_t size) __asm__(\"malloc\");
extern void branchwise_abort(void) __asm__(\"abort\");
extern void *branchwise_open(void *stream, const char *mode, struct branchwise_stream_functions functions)
    __asm__(\"fopencookie\");
extern int branchwise_set_buffer(void *file, char *buffer, int mode, size_t size) __asm__(\"setvbuf\");
extern int branchwise_get(void *file) __asm__(\"fgetc\");

static long branchwise_stream_read(void *cookie, char *to, size_t most)
{
    struct branchwise_stream *stream = (struct branchwise_stream *)cookie;
    size_t taken = 0;
    if (stream->at >= stream->size)
        return stream->reading_fails ? -1 : 0;
    while (taken < most && stream->at < stream->size)
        to[taken++] = stream->text[stream->at++];
    return (long)taken;
}

static long branchwise_stream_write(void *cookie, const char *from, size_t size)
{
    struct branchwise_stream *stream = (struct branchwise_stream *)cookie;
    (void)from;
    if (stream->writing_fails && size > stream->room)
        size = stream->room;
    stream->room -= size;
    stream->at += size;
    return (long)size;
}

static int branchwise_stream_seek(void *cookie, long *offset, int whence)
{
    struct branchwise_stream *stream = (struct branchwise_stream *)cookie;
    long from = whence == 0 ? 0 : whence == 1 ? (long)stream->at : (long)stream->size;
    if (from + *offset < 0)
        return -1;
    *offset += from;
    stream->at = (size_t)*offset;
    return 0;
}

static int branchwise_stream_close(void *cookie)
{
    const struct branchwise_stream *stream = (const struct branchwise_stream *)cookie;
    return stream->closing_fails ? -1 : 0;
}

static FILE *branchwise_stream(struct branchwise_stream given)
{
    const struct branchwise_stream_functions functions = {branchwise_stream_read, branchwise_stream_write,
                                                          branchwise_stream_seek, branchwise_stream_close};
    struct branchwise_stream *stream = (struct branchwise_stream *)branchwise_malloc(sizeof *stream);
    void *file = stream ? branchwise_open(stream, \"r+\", functions) : NULL;
    if (!file || branchwise_set_buffer(file, NULL, 2 /* unbuffered */, 0) != 0)
        branchwise_abort();
    *stream = given;
    if (given.at_end)
        (void)branchwise_get(file);
    return (FILE *)file;
}
";
