/* What is read from streams: numbers, words and lines. Standard input gives whole numbers, as `scanf` takes them. */
#include "streams.h"

#include <climits>
#include <limits>

extern "C" {
/* The stream that read a number from standard input last, where nobody looked yet whether the input ends behind it. */
const std::ios *__bw_end_not_looked_at;
/* How much was taken of what is no floating-point number differs from what `scanf` would take. */
bool __bw_place_is_lost;
}

namespace {

using std::ios_base;
using std::istream;

enum { MOST_CHARACTERS = 64 };

/* A number as it was written. */
struct written {
    unsigned long long magnitude;
    bool negative, found, too_large;
};

int base_of(ios_base::fmtflags flags) noexcept {
    auto base = flags & ios_base::basefield;
    if (base == ios_base::oct) return 8;
    if (base == ios_base::hex) return 16;
    return base == ios_base::dec ? 10 : 0;
}

int digit_of(int c, int base) noexcept {
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    else if (base == 16 && c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    else if (base == 16 && c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    return digit < base ? digit : -1;
}

void add_digit(written &number, int base, int digit) noexcept {
    unsigned long long most = ULLONG_MAX;
    if (number.magnitude > (most - (unsigned)digit) / (unsigned)base) number.too_large = true;
    else number.magnitude = number.magnitude * (unsigned)base + (unsigned)digit;
}

/* Where the base is open, `0` begins an octal number and `0x` a hexadecimal one. */
int settle_base(std::streambuf *from, int &c, int base, written &number) {
    if (base != 0 && base != 16) return base;
    if (c != '0') return base ? base : 10;
    number.found = true;
    c = from->snextc();
    if (c != 'x' && c != 'X') return base ? base : 8;
    number.found = false;
    c = from->snextc();
    return 16;
}

written read_digits(std::streambuf *from, int base, ios_base::iostate &state) {
    written number = {0, false, false, false};
    int c = from->sgetc();
    if (c == '-' || c == '+') {
        number.negative = c == '-';
        c = from->snextc();
    }
    base = settle_base(from, c, base, number);
    /* No number of so few digits is too large, whatever they are. */
    int digits = 0, safe = 15;
    for (int digit; (digit = digit_of(c, base)) >= 0; c = from->snextc()) {
        number.found = true;
        if (digits++ < safe) number.magnitude = number.magnitude * (unsigned)base + (unsigned)digit;
        else add_digit(number, base, digit);
    }
    if (c == EOF) state |= ios_base::eofbit;
    return number;
}

long long signed_of(const written &number, long long least, long long most, ios_base::iostate &state) noexcept {
    if (!number.found) return state |= ios_base::failbit, 0;
    unsigned long long limit = number.negative ? -(unsigned long long)least : (unsigned long long)most;
    if (number.too_large || number.magnitude > limit) {
        state |= ios_base::failbit;
        return number.negative ? least : most;
    }
    return number.negative ? (long long)-number.magnitude : (long long)number.magnitude;
}

unsigned long long unsigned_of(const written &number, unsigned long long most, ios_base::iostate &state) noexcept {
    if (!number.found) return state |= ios_base::failbit, 0;
    if (number.too_large || number.magnitude > most) return state |= ios_base::failbit, most;
    return number.negative ? -number.magnitude & most : number.magnitude;
}

/* ---- standard input ---- */

enum taken { NOTHING, NO_NUMBER, NUMBER };

/* A number as `scanf` takes it. Whether the input ends behind it is not asked before somebody wants to know. */
template <class T> taken take_number(istream &in, const char *format, T &number) {
    if (in.fail()) return in.setstate(ios_base::failbit), NOTHING;
    __bw_end_not_looked_at = nullptr;
    check_place();
    int found = scanf(format, &number);
    if (found == EOF) return in.setstate(ios_base::failbit | ios_base::eofbit), NOTHING;
    if (found == 0) in.setstate(ios_base::failbit);
    __bw_end_not_looked_at = &in;
    return found == 0 ? NO_NUMBER : NUMBER;
}

/* Behind a number: streams that throw at the end of the input do so now. */
istream &leave(istream &in, ios_base::iostate state) {
    if (in.exceptions() & ios_base::eofbit) state |= in.rdstate();
    if (state != ios_base::goodbit) in.setstate(state);
    return in;
}

bool gives_numbers(istream &in) { return is_standard_input(in.rdbuf()) && in.flags() & ios_base::skipws; }

/* ---- integers ---- */

template <class T> istream &read_signed(istream &in, T &to) {
    constexpr long long least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    ios_base::iostate state = ios_base::goodbit;
    if (gives_numbers(in) && base_of(in.flags()) == 10) {
        long long number = 0;
        taken found = take_number(in, "%lld", number);
        if (found == NO_NUMBER) to = 0;
        if (found != NUMBER) return in;
        /* The text of a number at the end of the widest type's range may have been that of one beyond. */
        bool at_end = sizeof(T) == sizeof(long long) && (number == least || number == most);
        if (at_end) __bw_unsupported("a number that a stream may have cut to the range of its type");
        if (number < least || number > most) state |= ios_base::failbit;
        to = (T)(number < least ? least : number > most ? most : number);
        return leave(in, state);
    }
    istream::sentry ready(in, false);
    if (!ready) return in;
    to = (T)signed_of(read_digits(in.rdbuf(), base_of(in.flags()), state), least, most, state);
    return leave(in, state);
}

template <class T> istream &read_unsigned(istream &in, T &to) {
    constexpr unsigned long long most = std::numeric_limits<T>::max();
    ios_base::iostate state = ios_base::goodbit;
    int base = base_of(in.flags());
    if (gives_numbers(in) && base != 0) {
        unsigned long long number = 0;
        taken found = take_number(in, base == 10 ? "%llu" : base == 16 ? "%llx" : "%llo", number);
        if (found == NO_NUMBER) to = 0;
        if (found != NUMBER) return in;
        bool at_end = sizeof(T) == sizeof(long long) && number == most;
        if (at_end) __bw_unsupported("a number that a stream may have cut to the range of its type");
        if (number > most) state |= ios_base::failbit;
        to = (T)(number > most ? most : number);
        return leave(in, state);
    }
    istream::sentry ready(in, false);
    if (!ready) return in;
    to = (T)unsigned_of(read_digits(in.rdbuf(), base, state), most, state);
    return leave(in, state);
}

/* ---- floating-point numbers ---- */

struct float_text {
    char characters[MOST_CHARACTERS];
    int length;

    void add(int c) noexcept {
        if (length + 1 >= MOST_CHARACTERS) __bw_unsupported("a floating-point number of more than 60 characters");
        characters[length++] = (char)c;
        characters[length] = 0;
    }
};

int add_digits(std::streambuf *from, int c, float_text &text, bool &any) {
    for (; c >= '0' && c <= '9'; c = from->snextc()) {
        text.add(c);
        any = true;
    }
    return c;
}

/* Digits with a point and an exponent; whether that is a number. */
bool read_float_text(std::streambuf *from, float_text &text, ios_base::iostate &state) {
    bool mantissa = false, exponent = false, has_exponent = false;
    int c = from->sgetc();
    if (c == '-' || c == '+') {
        text.add(c);
        c = from->snextc();
    }
    c = add_digits(from, c, text, mantissa);
    if (c == '.') {
        text.add(c);
        c = add_digits(from, from->snextc(), text, mantissa);
    }
    if (mantissa && (c == 'e' || c == 'E')) {
        has_exponent = true;
        text.add(c);
        c = from->snextc();
        if (c == '-' || c == '+') {
            text.add(c);
            c = from->snextc();
        }
        c = add_digits(from, c, text, exponent);
    }
    if (c == EOF) state |= ios_base::eofbit;
    return mantissa && (exponent || !has_exponent);
}

template <class T> istream &read_float(istream &in, T &to, const char *format) {
    constexpr T most = std::numeric_limits<T>::max();
    ios_base::iostate state = ios_base::goodbit;
    if (gives_numbers(in)) {
        T number = 0;
        taken found = take_number(in, format, number);
        if (found == NO_NUMBER) to = 0, __bw_place_is_lost = true;
        if (found != NUMBER) return in;
        /* Streams do not take "inf" and "nan" for numbers: that is the case before. */
        __bw_require(number >= -most && number <= most);
        to = number;
        return leave(in, state);
    }
    istream::sentry ready(in, false);
    if (!ready) return in;
    float_text text = {{0}, 0};
    T number = 0;
    if (!read_float_text(in.rdbuf(), text, state)) state |= ios_base::failbit;
    else sscanf(text.characters, format, &number);
    if (!(number >= -most && number <= most)) {
        state |= ios_base::failbit;
        number = number < 0 ? -most : most;
    }
    to = number;
    return leave(in, state);
}

}

namespace std {

template <> istream::sentry::sentry(istream &in, bool keeps_space) : _M_ok(false) {
    ios_base::iostate state = ios_base::goodbit;
    if (in.good()) {
        if (in.tie()) in.tie()->flush();
        if (!keeps_space && in.flags() & ios_base::skipws) {
            streambuf *from = in.rdbuf();
            if (is_standard_input(from)) check_place(), scanf(" ");
            int c = from->sgetc();
            while (!is_standard_input(from) && is_white(c)) c = from->snextc();
            if (c == EOF) state |= ios_base::eofbit;
        }
    }
    if (in.good() && state == ios_base::goodbit) _M_ok = true;
    else in.setstate(state | ios_base::failbit);
}

template <> istream &istream::operator>>(short &to) { return read_signed(*this, to); }
template <> istream &istream::operator>>(int &to) { return read_signed(*this, to); }
template <> template <> istream &istream::_M_extract(long &to) { return read_signed(*this, to); }
template <> template <> istream &istream::_M_extract(long long &to) { return read_signed(*this, to); }
template <> template <> istream &istream::_M_extract(unsigned short &to) { return read_unsigned(*this, to); }
template <> template <> istream &istream::_M_extract(unsigned &to) { return read_unsigned(*this, to); }
template <> template <> istream &istream::_M_extract(unsigned long &to) { return read_unsigned(*this, to); }
template <> template <> istream &istream::_M_extract(unsigned long long &to) { return read_unsigned(*this, to); }
template <> template <> istream &istream::_M_extract(float &to) { return read_float(*this, to, "%f"); }
template <> template <> istream &istream::_M_extract(double &to) { return read_float(*this, to, "%lf"); }
template <> template <> istream &istream::_M_extract(long double &) {
    __bw_unsupported("a long double from a stream");
}
template <> template <> istream &istream::_M_extract(void *&) { __bw_unsupported("an address from a stream"); }

/* 0 and 1; anything else is true, but wrong. */
template <> template <> istream &istream::_M_extract(bool &to) {
    if (flags() & boolalpha) __bw_unsupported("a word for a truth value from a stream");
    long number = 2;
    read_signed(*this, number);
    if (number == 2 && fail()) return *this;
    to = number != 0;
    if (number != 0 && number != 1) setstate(failbit);
    return *this;
}

/* ---- white space, words and lines ---- */

template <> istream &ws(istream &in) {
    streambuf *from = in.rdbuf();
    int c = from->sgetc();
    while (is_white(c)) c = from->snextc();
    if (c == EOF) in.setstate(ios_base::eofbit);
    return in;
}

template <> streamsize __copy_streambufs_eof(streambuf *from, streambuf *to, bool &ended) {
    streamsize count = 0;
    int c = from->sgetc();
    for (; c != EOF; c = from->snextc(), count++)
        if (to->sputc((char)c) == EOF) return ended = false, count;
    ended = true;
    return count;
}

/* Up to white space, or as many as the stream's width says. */
template <class Add> static ios_base::iostate read_word(istream &in, streamsize most, Add add) {
    streamsize count = 0;
    int c = in.rdbuf()->sgetc();
    for (; count < most && c != EOF && !is_white(c); c = in.rdbuf()->snextc()) {
        add((char)c);
        count++;
    }
    in.width(0);
    ios_base::iostate state = count == 0 ? ios_base::failbit : ios_base::goodbit;
    if (count < most && c == EOF) state |= ios_base::eofbit;
    return state;
}

template <> istream &operator>>(istream &in, string &to) {
    istream::sentry ready(in, false);
    if (!ready) return in;
    to.erase();
    streamsize most = in.width() > 0 ? in.width() : (streamsize)to.max_size();
    return leave(in, read_word(in, most, [&](char c) { to.push_back(c); }));
}

void __istream_extract(istream &in, char *to, streamsize room) {
    istream::sentry ready(in, false);
    if (!ready) return;
    streamsize most = in.width() > 0 && in.width() < room ? in.width() - 1 : room - 1;
    ios_base::iostate state = read_word(in, most, [&](char c) { *to++ = c; });
    *to = 0;
    leave(in, state);
}

template <> istream &getline(istream &in, string &to, char delimiter) {
    istream::sentry ready(in, true);
    if (!ready) return in;
    to.erase();
    bool any = false;
    int c;
    while ((c = in.rdbuf()->sbumpc()) != EOF) {
        any = true;
        if ((char)c == delimiter) return in;
        to.push_back((char)c);
    }
    return leave(in, any ? ios_base::eofbit : ios_base::eofbit | ios_base::failbit);
}

template <> istream &istream::getline(char *to, streamsize room, char delimiter) {
    _M_gcount = 0;
    sentry ready(*this, true);
    iostate state = goodbit;
    if (ready) {
        int c = rdbuf()->sgetc();
        for (; _M_gcount + 1 < room && c != EOF && (char)c != delimiter; c = rdbuf()->snextc()) {
            *to++ = (char)c;
            _M_gcount++;
        }
        if (c == EOF) state |= eofbit;
        else if ((char)c == delimiter) _M_gcount++, rdbuf()->sbumpc();
        else state |= failbit;
    }
    if (room > 0) *to = 0;
    if (_M_gcount == 0) state |= failbit;
    return leave(*this, state);
}

static istream &skip(istream &in, streamsize &count, streamsize most, int delimiter) {
    istream::sentry ready(in, true);
    if (!ready) return in;
    bool endless = most == numeric_limits<streamsize>::max();
    while (endless || count < most) {
        int c = in.rdbuf()->sbumpc();
        if (c == EOF) return leave(in, ios_base::eofbit);
        count++;
        if (delimiter != EOF && c == delimiter) break;
    }
    return in;
}

template <> istream &istream::ignore(streamsize most) { return skip(*this, _M_gcount = 0, most, EOF); }
template <> istream &istream::ignore(streamsize most, int delimiter) {
    return skip(*this, _M_gcount = 0, most, delimiter);
}

}
