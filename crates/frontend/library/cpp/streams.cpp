/* std::cin, std::cout and std::cerr: what is read is standard input, what is printed nobody looks at. */
#include "runtime.h"

/* As libstdc++ lays them out: the part that is a virtual base stands behind the stream's own. */
struct ios {
    const void *const *table;
    long precision, width;
    int flags, exceptions, state;
    char rest[264 - 36];
};

struct istream {
    const void *const *table;
    long count;
    struct ios base;
};

struct ostream {
    const void *const *table;
    struct ios base;
};

enum { BAD = 1, END = 2, FAILED = 4 };

/* Distance to the virtual base, to the top, and no type: what the compiler's code reads of the tables. */
static const void *const __bw_istream_table[4] = {(const void *)16, nullptr, nullptr, nullptr};
static const void *const __bw_ostream_table[4] = {(const void *)8, nullptr, nullptr, nullptr};

#define FLAGS_OF_STREAMS 0x1002
extern "C" {
istream __bw_cin NAMED(_ZSt3cin) = {__bw_istream_table + 3, 0, {nullptr, 6, 0, FLAGS_OF_STREAMS, 0, 0, {0}}};
ostream __bw_cout NAMED(_ZSt4cout) = {__bw_ostream_table + 3, {nullptr, 6, 0, FLAGS_OF_STREAMS, 0, 0, {0}}};
ostream __bw_cerr NAMED(_ZSt4cerr) = {__bw_ostream_table + 3, {nullptr, 6, 0, FLAGS_OF_STREAMS, 0, 0, {0}}};
ostream __bw_clog NAMED(_ZSt4clog) = {__bw_ostream_table + 3, {nullptr, 6, 0, FLAGS_OF_STREAMS, 0, 0, {0}}};
}

static void fail(ios *base, int how) noexcept {
    base->state |= how;
    if (base->state & base->exceptions) __bw_unsupported("a stream that throws");
}

static bool is_ready(istream *stream) noexcept {
    if (stream->base.state == 0) return true;
    fail(&stream->base, FAILED);
    return false;
}

/* A number with room for every number that does not fit the type: those are stored as the nearest that does. */
static istream *read_number(istream *stream, long long least, long long most, long long *to) noexcept {
    *to = 0;
    if (!is_ready(stream)) return stream;
    long long number = 0;
    int found = scanf("%lld", &number);
    if (found != 1) fail(&stream->base, found == -1 ? FAILED | END : FAILED);
    else if (number < least) *to = least, fail(&stream->base, FAILED);
    else if (number > most) *to = most, fail(&stream->base, FAILED);
    else *to = number;
    return stream;
}

extern "C" {
istream *read_int(istream *stream, int *to) noexcept NAMED(_ZNSirsERi);
istream *read_int(istream *stream, int *to) noexcept {
    bool ready = stream->base.state == 0;
    long long number;
    istream *same = read_number(stream, -2147483647 - 1, 2147483647, &number);
    if (ready) *to = (int)number;
    return same;
}

istream *read_short(istream *stream, short *to) noexcept NAMED(_ZNSirsERs);
istream *read_short(istream *stream, short *to) noexcept {
    bool ready = stream->base.state == 0;
    long long number;
    istream *same = read_number(stream, -32768, 32767, &number);
    if (ready) *to = (short)number;
    return same;
}

bool stream_holds(const ios *base) noexcept NAMED(_ZNKSt9basic_iosIcSt11char_traitsIcEEcvbEv);
bool stream_holds(const ios *base) noexcept { return !(base->state & (BAD | FAILED)); }
bool stream_failed(const ios *base) noexcept NAMED(_ZNKSt9basic_iosIcSt11char_traitsIcEE4failEv);
bool stream_failed(const ios *base) noexcept { return base->state & (BAD | FAILED); }
bool stream_not(const ios *base) noexcept NAMED(_ZNKSt9basic_iosIcSt11char_traitsIcEEntEv);
bool stream_not(const ios *base) noexcept { return base->state & (BAD | FAILED); }

/* Whether the end was seen behind a number is not known before somebody looks. */
bool stream_ended(const ios *) noexcept NAMED(_ZNKSt9basic_iosIcSt11char_traitsIcEE3eofEv);
bool stream_ended(const ios *) noexcept { __bw_unsupported("eof() of a stream"); }
bool stream_good(const ios *) noexcept NAMED(_ZNKSt9basic_iosIcSt11char_traitsIcEE4goodEv);
bool stream_good(const ios *) noexcept { __bw_unsupported("good() of a stream"); }
void stream_clear(ios *base, int state) noexcept NAMED(_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate);
void stream_clear(ios *base, int state) noexcept { base->state = state; }

#define PRINTS(symbol, kind)                                                                                           \
    ostream *print_##symbol(ostream *stream, kind) noexcept NAMED(symbol);                                             \
    ostream *print_##symbol(ostream *stream, kind) noexcept { return stream; }
PRINTS(_ZNSolsEi, int)
PRINTS(_ZNSolsEj, unsigned)
PRINTS(_ZNSolsEl, long)
PRINTS(_ZNSolsEm, unsigned long)
PRINTS(_ZNSolsEx, long long)
PRINTS(_ZNSolsEy, unsigned long long)
PRINTS(_ZNSolsEs, short)
PRINTS(_ZNSolsEt, unsigned short)
PRINTS(_ZNSolsEb, bool)
PRINTS(_ZNSolsEd, double)
PRINTS(_ZNSolsEf, float)
PRINTS(_ZNSolsEPKv, const void *)
PRINTS(_ZNSo3putEc, char)
PRINTS(_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c, char)

/* The text is read, as the real one does. */
ostream *print_text(ostream *stream, const char *text) noexcept
    NAMED(_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc);
ostream *print_text(ostream *stream, const char *text) noexcept {
    if (!text) return fail(&stream->base, BAD), stream;
    while (*text) text++;
    return stream;
}
ostream *print_by(ostream *stream, ostream *(*manipulate)(ostream *)) NAMED(_ZNSolsEPFRSoS_E);
ostream *print_by(ostream *stream, ostream *(*manipulate)(ostream *)) { return manipulate(stream); }
ostream *end_line(ostream *stream) noexcept NAMED(_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_);
ostream *end_line(ostream *stream) noexcept { return stream; }
ostream *flush(ostream *stream) noexcept NAMED(_ZNSo5flushEv);
ostream *flush(ostream *stream) noexcept { return stream; }
ostream *flush_by(ostream *stream) noexcept NAMED(_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_);
ostream *flush_by(ostream *stream) noexcept { return stream; }

void begin_streams(void *) noexcept NAMED(_ZNSt8ios_base4InitC1Ev);
void begin_streams(void *) noexcept {}
void end_streams(void *) noexcept NAMED(_ZNSt8ios_base4InitD1Ev);
void end_streams(void *) noexcept {}
}
