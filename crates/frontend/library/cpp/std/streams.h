/* Streams of C++: what is the same in the library's headers is taken from there (buffers, texts in memory, unformatted
 * input and output); what asks a locale is written here for the classic one. */
#ifndef BRANCHWISE_STREAMS_H
#define BRANCHWISE_STREAMS_H

#include "std.h"

#include <cstdio>
#include <istream>
#include <ostream>
#include <sstream>
#include <string>
#include <system_error>

extern "C" {
/* Goes on only with inputs for which this holds: others are told of in another way. */
void __bw_require(bool holds) noexcept;
}

/* A buffer object that exists before any constructor runs, laid out as the library's. */
struct standing_buffer {
    const void *const *table;
    void *areas[6];
    void *locale;
};
static_assert(sizeof(standing_buffer) == sizeof(std::streambuf));

extern "C" {
extern standing_buffer __bw_standard_input;
extern standing_buffer __bw_printed;
extern const std::ios *__bw_end_not_looked_at;
extern bool __bw_place_is_lost;
}

static inline void check_place() {
    if (__bw_place_is_lost) __bw_unsupported("what follows in standard input where no floating-point number was found");
}

static inline bool is_standard_input(const std::streambuf *buffer) {
    return (const void *)buffer == &__bw_standard_input;
}

/* Nobody looks at what is written there. */
static inline bool is_printed(const std::streambuf *buffer) { return (const void *)buffer == &__bw_printed; }

static inline bool is_white(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

namespace std {

/* ---- members that ask a locale in the headers, or do more than here ---- */

template <> void basic_ios<char>::init(streambuf *buffer);
template <> void basic_ios<char>::_M_cache_locale(const locale &);
template <> locale basic_ios<char>::imbue(const locale &);
template <> char basic_ios<char>::widen(char c) const;
template <> char basic_ios<char>::narrow(char c, char otherwise) const;
template <> ios_base::iostate basic_ios<char>::rdstate() const;
template <> bool basic_ios<char>::fail() const;
template <> void basic_ios<char>::clear(iostate state);
template <> void basic_ios<char>::setstate(iostate state);

template <> istream::sentry::sentry(istream &in, bool keeps_space);
template <> istream &ws(istream &in);
template <> istream &istream::operator>>(short &to);
template <> istream &istream::operator>>(int &to);
template <> template <> istream &istream::_M_extract(unsigned short &to);
template <> template <> istream &istream::_M_extract(unsigned &to);
template <> template <> istream &istream::_M_extract(long &to);
template <> template <> istream &istream::_M_extract(unsigned long &to);
template <> template <> istream &istream::_M_extract(long long &to);
template <> template <> istream &istream::_M_extract(unsigned long long &to);
template <> template <> istream &istream::_M_extract(bool &to);
template <> template <> istream &istream::_M_extract(float &to);
template <> template <> istream &istream::_M_extract(double &to);
template <> template <> istream &istream::_M_extract(long double &to);
template <> template <> istream &istream::_M_extract(void *&to);

template <> template <> ostream &ostream::_M_insert(long number);
template <> template <> ostream &ostream::_M_insert(unsigned long number);
template <> template <> ostream &ostream::_M_insert(long long number);
template <> template <> ostream &ostream::_M_insert(unsigned long long number);
template <> template <> ostream &ostream::_M_insert(bool holds);
template <> template <> ostream &ostream::_M_insert(double number);
template <> template <> ostream &ostream::_M_insert(long double number);
template <> template <> ostream &ostream::_M_insert(const void *address);

}

#endif
