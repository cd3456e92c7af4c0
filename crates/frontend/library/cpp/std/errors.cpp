/* The exception classes of the standard library, and the functions by which headers throw them. */
#include "std.h"

#include <cstdarg>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <typeinfo>

namespace {

enum { MOST_ARGUMENTS = 4 };

/* The text of an exception, shared by its copies. One with numbers in it is printed when somebody asks for it: printing
 * a number that is not known yet would make as many paths as it may have digits. */
struct message {
    long owners;
    char *text;
    const char *format;
    size_t arguments[MOST_ARGUMENTS];
};

message *message_of(const char *text, size_t length) noexcept {
    message *made = (message *)__bw_allocate(sizeof(message), 16, 0);
    made->owners = 1;
    made->format = nullptr;
    made->text = (char *)__bw_allocate(length + 1, 16, 0);
    for (size_t i = 0; i < length; i++) made->text[i] = text[i];
    made->text[length] = 0;
    return made;
}

message *formatted(const char *format, va_list arguments) noexcept {
    message *made = (message *)__bw_allocate(sizeof(message), 16, 0);
    made->owners = 1;
    made->format = format;
    made->text = nullptr;
    int count = 0;
    for (const char *at = format; *at; at++) {
        if (*at != '%') continue;
        if (*++at == '%') continue;
        if (count == MOST_ARGUMENTS) __bw_unsupported("an exception of the library with more than four arguments");
        made->arguments[count++] = va_arg(arguments, size_t);
    }
    return made;
}

size_t length_of(const char *text) noexcept {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

enum { MOST_DIGITS = 20 };

char *print_text(char *to, const char *text) noexcept {
    while (*text) *to++ = *text++;
    return to;
}

char *print_number(char *to, size_t number) noexcept {
    char digits[MOST_DIGITS];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count) *to++ = digits[--count];
    return to;
}

/* `%s`, `%zu` and `%%` are all that headers use. */
char *print_message(char *to, const message *from) noexcept {
    int next = 0;
    for (const char *at = from->format; *at; at++) {
        if (*at != '%') *to++ = *at;
        else if (*++at == '%') *to++ = '%';
        else if (*at == 's') to = print_text(to, (const char *)from->arguments[next++]);
        else if (*at++ == 'z') to = print_number(to, from->arguments[next++]);
        else __bw_unsupported("an exception of the library with an unknown directive");
    }
    *to = 0;
    return to;
}

size_t room_for(const message *from) noexcept {
    size_t room = length_of(from->format) + 1;
    int next = 0;
    for (const char *at = from->format; *at; at++) {
        if (*at != '%' || *++at == '%') continue;
        room += *at == 's' ? length_of((const char *)from->arguments[next]) : (size_t)MOST_DIGITS;
        next++;
    }
    return room;
}

const char *text_of(message *shown) noexcept {
    if (!shown->text) {
        shown->text = (char *)__bw_allocate(room_for(shown), 16, 0);
        print_message(shown->text, shown);
    }
    return shown->text;
}

void leave(message *left) noexcept {
    if (--left->owners) return;
    if (left->text) __bw_release(left->text);
    __bw_release(left);
}

}

namespace std {

/* ---- texts ---- */

static message *&message_in(const __cow_string &from) noexcept { return *(message **)&from; }

__cow_string::__cow_string() { message_in(*this) = message_of("", 0); }
__cow_string::__cow_string(const std::string &text) { message_in(*this) = message_of(text.data(), text.size()); }
__cow_string::__cow_string(const char *text, size_t length) { message_in(*this) = message_of(text, length); }
__cow_string::__cow_string(const __cow_string &other) noexcept {
    message_in(*this) = message_in(other);
    message_in(*this)->owners++;
}
__cow_string::__cow_string(__cow_string &&other) noexcept : __cow_string((const __cow_string &)other) {}
__cow_string &__cow_string::operator=(const __cow_string &other) noexcept {
    message *before = message_in(*this);
    message_in(*this) = message_in(other);
    message_in(*this)->owners++;
    leave(before);
    return *this;
}
__cow_string &__cow_string::operator=(__cow_string &&other) noexcept { return *this = (const __cow_string &)other; }
__cow_string::~__cow_string() { leave(message_in(*this)); }

/* ---- classes ---- */

exception::~exception() noexcept {}
const char *exception::what() const noexcept { return "std::exception"; }

#define WITHOUT_TEXT(name, text)                                                                                       \
    name::~name() noexcept {}                                                                                          \
    const char *name::what() const noexcept { return text; }
WITHOUT_TEXT(bad_exception, "std::bad_exception")
WITHOUT_TEXT(bad_alloc, "std::bad_alloc")
WITHOUT_TEXT(bad_array_new_length, "std::bad_array_new_length")
WITHOUT_TEXT(bad_cast, "std::bad_cast")
WITHOUT_TEXT(bad_typeid, "std::bad_typeid")
WITHOUT_TEXT(bad_function_call, "bad_function_call")
WITHOUT_TEXT(bad_weak_ptr, "bad_weak_ptr")

#define WITH_TEXT(name)                                                                                                \
    name::name(const string &text) : _M_msg(text) {}                                                                   \
    name::name(const char *text) : _M_msg(text, length_of(text)) {}                                                    \
    name::name(const name &other) noexcept : exception(other), _M_msg(other._M_msg) {}                                 \
    name::name(name &&other) noexcept : exception(other), _M_msg(other._M_msg) {}                                      \
    name &name::operator=(const name &other) noexcept { return _M_msg = other._M_msg, *this; }                         \
    name &name::operator=(name &&other) noexcept { return _M_msg = other._M_msg, *this; }                              \
    name::~name() noexcept {}                                                                                          \
    const char *name::what() const noexcept { return text_of(message_in(_M_msg)); }
WITH_TEXT(logic_error)
WITH_TEXT(runtime_error)

#define DERIVED(name, base)                                                                                            \
    name::name(const string &text) : base(text) {}                                                                     \
    name::name(const char *text) : base(text) {}                                                                       \
    name::~name() noexcept {}
DERIVED(domain_error, logic_error)
DERIVED(invalid_argument, logic_error)
DERIVED(length_error, logic_error)
DERIVED(out_of_range, logic_error)
DERIVED(range_error, runtime_error)
DERIVED(overflow_error, runtime_error)
DERIVED(underflow_error, runtime_error)

/* ---- how headers throw them ---- */

#define THROWS(name)                                                                                                   \
    void __throw_##name() { throw name(); }
THROWS(bad_exception)
THROWS(bad_alloc)
THROWS(bad_array_new_length)
THROWS(bad_cast)
THROWS(bad_typeid)
THROWS(bad_function_call)

#define THROWS_WITH_TEXT(name)                                                                                         \
    void __throw_##name(const char *text) { throw name(text); }
THROWS_WITH_TEXT(logic_error)
THROWS_WITH_TEXT(domain_error)
THROWS_WITH_TEXT(invalid_argument)
THROWS_WITH_TEXT(length_error)
THROWS_WITH_TEXT(out_of_range)
THROWS_WITH_TEXT(runtime_error)
THROWS_WITH_TEXT(range_error)
THROWS_WITH_TEXT(overflow_error)
THROWS_WITH_TEXT(underflow_error)

void __throw_out_of_range_fmt(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message *text = formatted(format, arguments);
    va_end(arguments);
    out_of_range thrown("");
    /* Behind the pointer to the table lies the message. */
    message *&inside = ((message **)&thrown)[1];
    leave(inside);
    inside = text;
    throw thrown;
}

}
