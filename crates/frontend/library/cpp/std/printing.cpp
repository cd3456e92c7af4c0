/* Numbers that are printed to streams. */
#include "streams.h"

namespace {

enum { ROOM_FOR_INTEGER = 32, ROOM_FOR_FLOAT = 512 };

/* The place where fill characters stand that go behind a sign or a base. */
size_t length_of_prefix(const char *text) noexcept {
    if (text[0] == '+' || text[0] == '-') return 1;
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
}

bool put_fill(std::ostream &out, long count) {
    for (; count > 0; count--)
        if (out.rdbuf()->sputc(out.fill()) == EOF) return false;
    return true;
}

bool put_text(std::ostream &out, const char *text, long length) { return out.rdbuf()->sputn(text, length) == length; }

void put_number(std::ostream &out, const char *text, long length) {
    long missing = out.width() - length;
    out.width(0);
    auto adjust = out.flags() & std::ios_base::adjustfield;
    long before = 0;
    if (adjust == std::ios_base::left) before = length;
    else if (adjust == std::ios_base::internal) before = (long)length_of_prefix(text);
    bool done = put_text(out, text, before) && put_fill(out, missing) && put_text(out, text + before, length - before);
    if (!done) out.setstate(std::ios_base::badbit);
}

bool is_needless(std::ostream &out) {
    if (!is_printed(out.rdbuf())) return false;
    out.width(0);
    return true;
}

/* `%`, flags, then what the caller adds. */
char *begin_format(char *to, std::ios_base::fmtflags flags) noexcept {
    *to++ = '%';
    if (flags & std::ios_base::showpos) *to++ = '+';
    return to;
}

template <class T> void print_integer(std::ostream &out, T number, bool is_signed) {
    auto flags = out.flags();
    auto base = flags & std::ios_base::basefield;
    bool upper = flags & std::ios_base::uppercase;
    char format[8], text[ROOM_FOR_INTEGER];
    bool decimal = base != std::ios_base::oct && base != std::ios_base::hex;
    char *to = begin_format(format, decimal && is_signed ? flags : std::ios_base::fmtflags());
    if (!decimal && flags & std::ios_base::showbase) *to++ = '#';
    *to++ = 'l';
    *to++ = 'l';
    if (decimal) *to++ = is_signed ? 'd' : 'u';
    else if (base == std::ios_base::oct) *to++ = 'o';
    else *to++ = upper ? 'X' : 'x';
    *to = 0;
    put_number(out, text, snprintf(text, sizeof text, format, number));
}

/* With a precision, except where the number is written in hexadecimal digits. */
void print_float(std::ostream &out, double number) {
    auto flags = out.flags();
    auto kind = flags & std::ios_base::floatfield;
    bool upper = flags & std::ios_base::uppercase;
    char format[8], text[ROOM_FOR_FLOAT];
    char *to = begin_format(format, flags);
    if (flags & std::ios_base::showpoint) *to++ = '#';
    bool exact = kind == (std::ios_base::fixed | std::ios_base::scientific);
    if (!exact) *to++ = '.', *to++ = '*';
    if (exact) *to++ = upper ? 'A' : 'a';
    else if (kind == std::ios_base::fixed) *to++ = upper ? 'F' : 'f';
    else if (kind == std::ios_base::scientific) *to++ = upper ? 'E' : 'e';
    else *to++ = upper ? 'G' : 'g';
    *to = 0;
    int precision = (int)out.precision();
    int length = exact ? snprintf(text, sizeof text, format, number)
                       : snprintf(text, sizeof text, format, precision < 0 ? 6 : precision, number);
    if (length >= ROOM_FOR_FLOAT) __bw_unsupported("a number of more than 500 characters in a stream");
    put_number(out, text, length);
}

/* As the headers do it for every value. */
template <class Print> std::ostream &guarded(std::ostream &out, Print print) {
    std::ostream::sentry ready(out);
    if (ready && !is_needless(out)) print();
    return out;
}

}

namespace std {

#define PRINTS(type, wide, is_signed)                                                                                  \
    template <> template <> ostream &ostream::_M_insert(type number) {                                                 \
        return guarded(*this, [&] { print_integer(*this, (wide)number, is_signed); });                                 \
    }
PRINTS(long, long long, true)
PRINTS(unsigned long, unsigned long long, false)
PRINTS(long long, long long, true)
PRINTS(unsigned long long, unsigned long long, false)

template <> template <> ostream &ostream::_M_insert(bool holds) {
    return guarded(*this, [&] {
        if (!(flags() & boolalpha)) return print_integer(*this, (long long)holds, true);
        put_number(*this, holds ? "true" : "false", holds ? 4 : 5);
    });
}
template <> template <> ostream &ostream::_M_insert(double number) {
    return guarded(*this, [&] { print_float(*this, number); });
}
template <> template <> ostream &ostream::_M_insert(long double) {
    return guarded(*this, [] { __bw_unsupported("a long double in a stream"); });
}
template <> template <> ostream &ostream::_M_insert(const void *) {
    return guarded(*this, [] { __bw_unsupported("an address in a stream"); });
}

}
