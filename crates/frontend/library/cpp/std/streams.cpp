/* The state of streams, their buffers, and the streams that every program has. */
#include "streams.h"

#include <iomanip>

namespace branchwise {

/* Byte by byte, as it comes. */
struct input_buffer : std::streambuf {
    int underflow() override;
    int uflow() override;
    int pbackfail(int c) override;
    std::streamsize xsgetn(char *to, std::streamsize count) override;
};

int input_buffer::underflow() {
    check_place();
    int c = getchar();
    return c == EOF ? c : ungetc(c, stdin);
}
int input_buffer::uflow() {
    check_place();
    return getchar();
}
int input_buffer::pbackfail(int c) {
    if (c == EOF) __bw_unsupported("a character of standard input that is to be read again");
    return ungetc(c, stdin);
}
std::streamsize input_buffer::xsgetn(char *to, std::streamsize count) {
    check_place();
    std::streamsize done = 0;
    for (int c; done < count && (c = getchar()) != EOF; done++) to[done] = (char)c;
    return done;
}

struct printed_buffer : std::streambuf {
    int overflow(int c) override;
    std::streamsize xsputn(const char *text, std::streamsize count) override;
};

int printed_buffer::overflow(int c) { return c == EOF ? 0 : c; }
std::streamsize printed_buffer::xsputn(const char *, std::streamsize count) { return count; }

/* What went wrong with a stream. */
struct stream_category final : std::error_category {
    const char *name() const noexcept override;
    std::string message(int code) const override;
};

const char *stream_category::name() const noexcept { return "iostream"; }
std::string stream_category::message(int code) const { return code == 1 ? "iostream error" : "Unknown error"; }

}

namespace {

/* As libstdc++ lays them out: the part that is a virtual base stands behind the stream's own. */
struct standing_ios {
    const void *const *table;
    long precision, width;
    int flags, exceptions, state;
    void *callbacks;
    void *words[18];
    int word_count;
    void *word, *locale, *tie;
    char fill;
    bool has_fill;
    void *buffer, *facets[3];
};
static_assert(sizeof(standing_ios) == sizeof(std::ios));

struct standing_istream {
    const void *const *table;
    long count;
    standing_ios base;
};
static_assert(sizeof(standing_istream) == sizeof(std::istream));

struct standing_ostream {
    const void *const *table;
    standing_ios base;
};
static_assert(sizeof(standing_ostream) == sizeof(std::ostream));

}

#define NAMED(symbol) __asm__(#symbol)
#define STATE(flags, buffer, tie)                                                                                      \
    {nullptr, 6, 0, flags, 0, 0, nullptr, {}, 8, nullptr, nullptr, tie, ' ', true, buffer, {}}

extern "C" {
extern const void *const table_of_istream[] NAMED(_ZTVSi);
extern const void *const table_of_ostream[] NAMED(_ZTVSo);
extern const void *const table_of_input_buffer[] NAMED(_ZTVN10branchwise12input_bufferE);
extern const void *const table_of_stream_category[] NAMED(_ZTVN10branchwise15stream_categoryE);
extern const void *const table_of_printed_buffer[] NAMED(_ZTVN10branchwise14printed_bufferE);

standing_buffer __bw_standard_input = {table_of_input_buffer + 2, {}, nullptr};
extern const void *const *const __bw_stream_category;
const void *const *const __bw_stream_category = table_of_stream_category + 2;
standing_buffer __bw_printed = {table_of_printed_buffer + 2, {}, nullptr};

/* Decimal numbers, white space skipped; errors are written at once. */
enum { PLAIN = 0x1002, AT_ONCE = 0x3002 };
standing_ostream __bw_cout NAMED(_ZSt4cout) = {table_of_ostream + 3, STATE(PLAIN, &__bw_printed, nullptr)};
standing_ostream __bw_cerr NAMED(_ZSt4cerr) = {table_of_ostream + 3, STATE(AT_ONCE, &__bw_printed, &__bw_cout)};
standing_ostream __bw_clog NAMED(_ZSt4clog) = {table_of_ostream + 3, STATE(PLAIN, &__bw_printed, nullptr)};
standing_istream __bw_cin NAMED(_ZSt3cin) = {table_of_istream + 3, 0, STATE(PLAIN, &__bw_standard_input, &__bw_cout)};
}

namespace std {

/* ---- the classic locale is the only one ---- */

locale::locale() noexcept : _M_impl(nullptr) {}
locale::locale(const locale &) noexcept : _M_impl(nullptr) {}
locale::~locale() noexcept {}
const locale &locale::operator=(const locale &) noexcept { return *this; }

extern "C" {
void *__bw_classic_locale;
}
const locale &locale::classic() { return *(const locale *)&__bw_classic_locale; }

/* ---- state ---- */

ios_base::ios_base() noexcept
    : _M_precision(0), _M_width(0), _M_flags(), _M_exception(), _M_streambuf_state(), _M_callbacks(nullptr),
      _M_word_zero(), _M_local_word(), _M_word_size(_S_local_word_size), _M_word(_M_local_word) {}
ios_base::~ios_base() {}
void ios_base::_M_init() noexcept {
    _M_precision = 6;
    _M_width = 0;
    _M_flags = skipws | dec;
}
ios_base::Init::Init() {}
ios_base::Init::~Init() {}
bool ios_base::sync_with_stdio(bool) { return true; }

/* Nothing can be registered with a stream, and its own words are few. */
void ios_base::register_callback(event_callback, int) { __bw_unsupported("a function that is registered with a stream"); }
void ios_base::_M_call_callbacks(event) noexcept {}
void ios_base::_M_dispose_callbacks() noexcept {}
ios_base::_Words &ios_base::_M_grow_words(int, bool) { __bw_unsupported("more than eight words of a stream"); }
void ios_base::_M_move(ios_base &from) noexcept {
    _M_precision = from._M_precision;
    _M_width = from._M_width;
    _M_flags = from._M_flags;
    _M_exception = from._M_exception;
    _M_streambuf_state = from._M_streambuf_state;
    for (int i = 0; i < _S_local_word_size; i++) _M_local_word[i] = from._M_local_word[i];
}
void ios_base::_M_swap(ios_base &with) noexcept {
    swap(_M_precision, with._M_precision);
    swap(_M_width, with._M_width);
    swap(_M_flags, with._M_flags);
    swap(_M_exception, with._M_exception);
    swap(_M_streambuf_state, with._M_streambuf_state);
    for (int i = 0; i < _S_local_word_size; i++) swap(_M_local_word[i], with._M_local_word[i]);
}

template <> void basic_ios<char>::init(streambuf *buffer) {
    _M_init();
    _M_ctype = nullptr;
    _M_num_put = nullptr;
    _M_num_get = nullptr;
    _M_fill = ' ';
    _M_fill_init = true;
    _M_tie = nullptr;
    _M_exception = goodbit;
    _M_streambuf = buffer;
    _M_streambuf_state = buffer ? goodbit : badbit;
}
template <> void basic_ios<char>::_M_cache_locale(const locale &) {}
template <> locale basic_ios<char>::imbue(const locale &) { return locale(); }
template <> char basic_ios<char>::widen(char c) const { return c; }
template <> char basic_ios<char>::narrow(char c, char) const { return c; }

template <> ios_base::iostate basic_ios<char>::rdstate() const {
    if (is_standard_input(_M_streambuf) && __bw_end_not_looked_at == this) {
        __bw_end_not_looked_at = nullptr;
        if (feof(stdin)) const_cast<ios *>(this)->_M_streambuf_state |= eofbit;
    }
    return _M_streambuf_state;
}
template <> bool basic_ios<char>::fail() const { return (_M_streambuf_state & (badbit | failbit)) != 0; }
template <> void basic_ios<char>::clear(iostate state) {
    if (is_standard_input(_M_streambuf) && __bw_end_not_looked_at == this) __bw_end_not_looked_at = nullptr;
    _M_streambuf_state = rdbuf() ? state : state | badbit;
    if (_M_exception & _M_streambuf_state) __throw_ios_failure("basic_ios::clear");
}
template <> void basic_ios<char>::setstate(iostate state) {
    bool not_looked_at = is_standard_input(_M_streambuf) && __bw_end_not_looked_at == this;
    clear(_M_streambuf_state | state);
    if (not_looked_at) __bw_end_not_looked_at = this;
}

/* ---- streams that throw ---- */

_V2::error_category::~error_category() {}
__cow_string _V2::error_category::_M_message(int) const { return __cow_string(); }
error_condition _V2::error_category::default_error_condition(int code) const noexcept {
    return error_condition(code, *this);
}
bool _V2::error_category::equivalent(int code, const error_condition &condition) const noexcept {
    return default_error_condition(code) == condition;
}
bool _V2::error_category::equivalent(const error_code &code, int condition) const noexcept {
    return *this == code.category() && code.value() == condition;
}
system_error::~system_error() noexcept {}

const error_category &iostream_category() noexcept { return *(const error_category *)&__bw_stream_category; }

ios_base::failure::failure(const string &what) : system_error(io_errc::stream, what) {}
ios_base::failure::failure(const string &what, const error_code &code) : system_error(code, what) {}
ios_base::failure::failure(const char *what, const error_code &code) : system_error(code, what) {}
ios_base::failure::~failure() noexcept {}
const char *ios_base::failure::what() const noexcept { return runtime_error::what(); }
void __throw_ios_failure(const char *what) { throw ios_base::failure(what); }

/* ---- what headers define ---- */

template class basic_ios<char>;
template class basic_streambuf<char>;
template class basic_istream<char>;
template class basic_ostream<char>;
template class basic_iostream<char>;
template class basic_stringbuf<char>;
template class basic_istringstream<char>;
template class basic_ostringstream<char>;
template class basic_stringstream<char>;
template istream &operator>>(istream &, char &);
template istream &operator>>(istream &, unsigned char &);
template istream &operator>>(istream &, signed char &);
template ostream &endl(ostream &);
template ostream &ends(ostream &);
template ostream &flush(ostream &);
template ostream &operator<<(ostream &, char);
template ostream &operator<<(ostream &, unsigned char);
template ostream &operator<<(ostream &, signed char);
template ostream &operator<<(ostream &, const char *);
template ostream &operator<<(ostream &, const unsigned char *);
template ostream &operator<<(ostream &, const signed char *);
template ostream &__ostream_insert(ostream &, const char *, streamsize);
template ostream &operator<<(ostream &, const string &);
template istream &getline(istream &, string &);
#define MANIPULATES(type)                                                                                              \
    template ostream &operator<<(ostream &, type);                                                                     \
    template istream &operator>>(istream &, type);
MANIPULATES(_Setfill<char>)
MANIPULATES(_Setiosflags)
MANIPULATES(_Resetiosflags)
MANIPULATES(_Setbase)
MANIPULATES(_Setprecision)
MANIPULATES(_Setw)

/* In C++20 these have a name of their own. */
#define TEXT_OF(type, symbol)                                                                                          \
    string text_of_##type(const type *from) NAMED(symbol);                                                             \
    string text_of_##type(const type *from) { return from->str(); }
TEXT_OF(stringbuf, _ZNKRSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE3strEv)
TEXT_OF(istringstream, _ZNKRSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEE3strEv)
TEXT_OF(ostringstream, _ZNKRSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEE3strEv)
TEXT_OF(stringstream, _ZNKRSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv)

}
