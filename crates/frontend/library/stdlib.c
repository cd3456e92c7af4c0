/* stdlib.h without what allocates; also assert.h, signal.h, setjmp.h and locale.h as far as they can be models. */
#include "memory.h"

/* ---- numbers from text ---- */

static int is_space(char c) { return (c == ' ') | ((unsigned char)(c - '\t') < 5); }

/* The value of a digit, or 36 if it is none. */
static unsigned digit_value(char c, unsigned base) {
    unsigned decimal = (unsigned char)(c - '0');
    if (decimal < 10) return decimal;
    if (base <= 10) return 36;
    unsigned letter = (unsigned char)((c | 0x20) - 'a');
    return letter < 26 ? letter + 10 : 36;
}

struct number {
    unsigned long long magnitude;
    /* Behind the last digit; null where there is none. */
    const char *end;
    int negative, too_large;
};

/* Twelve digits of base 36 fit into 64 bits, so only longer numbers are checked: each check may be a path of its own. */
enum { DIGITS_THAT_FIT = 12 };

static struct number parse_digits(const char *s, unsigned base) {
    struct number number = {0, 0, 0, 0};
    for (int count = 1;; count++, s++) {
        unsigned digit = digit_value(*s, base);
        if (digit >= base) return number;
        number.end = s + 1;
        if (count <= DIGITS_THAT_FIT) {
            number.magnitude = number.magnitude * base + digit;
            continue;
        }
        unsigned long long product, sum;
        if (number.too_large || __builtin_mul_overflow(number.magnitude, (unsigned long long)base, &product) ||
            __builtin_add_overflow(product, (unsigned long long)digit, &sum))
            number.too_large = 1;
        else
            number.magnitude = sum;
    }
}

static struct number parse_number(const char *s, int base) {
    while (is_space(*s)) s++;
    int negative = *s == '-';
    if (negative || *s == '+') s++;
    /* The prefix counts only if a digit follows; otherwise its 0 is the number. */
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && digit_value(s[2], 16) < 16) {
        s += 2;
        base = 16;
    }
    if (base == 0) base = *s == '0' ? 8 : 10;
    struct number number = parse_digits(s, base);
    number.negative = negative;
    return number;
}

static int is_base(int base) {
    if (base == 0 || (base >= 2 && base <= 36)) return 1;
    *__errno_location() = EINVAL;
    return 0;
}

static long long out_of_range(long long limit) {
    *__errno_location() = ERANGE;
    return limit;
}

MODEL long long strtoll(const char *s, char **end, int base) {
    if (!is_base(base)) return 0;
    struct number number = parse_number(s, base);
    if (end) *end = (char *)(number.end ? number.end : s);
    unsigned long long most = (unsigned long long)LLONG_MAX + number.negative;
    if (number.too_large || number.magnitude > most) return out_of_range(number.negative ? LLONG_MIN : LLONG_MAX);
    return (long long)(number.negative ? -number.magnitude : number.magnitude);
}

MODEL unsigned long long strtoull(const char *s, char **end, int base) {
    if (!is_base(base)) return 0;
    struct number number = parse_number(s, base);
    if (end) *end = (char *)(number.end ? number.end : s);
    if (number.too_large) return (unsigned long long)out_of_range((long long)ULLONG_MAX);
    return number.negative ? -number.magnitude : number.magnitude;
}

MODEL long strtol(const char *s, char **end, int base) { return strtoll(s, end, base); }
MODEL unsigned long strtoul(const char *s, char **end, int base) { return strtoull(s, end, base); }
MODEL intmax_t strtoimax(const char *s, char **end, int base) { return strtoll(s, end, base); }
MODEL uintmax_t strtoumax(const char *s, char **end, int base) { return strtoull(s, end, base); }
MODEL long __isoc23_strtol(const char *s, char **end, int base) { return strtoll(s, end, base); }
MODEL long long __isoc23_strtoll(const char *s, char **end, int base) { return strtoll(s, end, base); }
MODEL unsigned long __isoc23_strtoul(const char *s, char **end, int base) { return strtoull(s, end, base); }
MODEL unsigned long long __isoc23_strtoull(const char *s, char **end, int base) { return strtoull(s, end, base); }
MODEL int atoi(const char *s) { return (int)strtoll(s, 0, 10); }
MODEL long atol(const char *s) { return strtoll(s, 0, 10); }
MODEL long long atoll(const char *s) { return strtoll(s, 0, 10); }

/* ---- floating-point numbers from text ---- */

static const double __bw_powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                            1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct decimal {
    long long digits, exponent;
    const char *end;
};

/* Digits with a point among them. */
static struct decimal parse_mantissa(const char *s) {
    struct decimal decimal = {0, 0, 0};
    int point = 0, significant = 0;
    for (;; s++) {
        unsigned digit = (unsigned char)(*s - '0');
        if (digit < 10) {
            significant += significant || digit;
            if (significant > 15) __bw_unsupported("a floating-point number of more than 15 digits in a text");
            decimal.digits = decimal.digits * 10 + digit;
            decimal.exponent -= point;
            decimal.end = s + 1;
        } else if (*s == '.' && !point) {
            point = 1;
            if (decimal.end) decimal.end = s + 1;
        } else {
            return decimal;
        }
    }
}

/* The exponent counts only if a digit follows. */
static void parse_exponent(struct decimal *decimal) {
    const char *s = decimal->end;
    if ((*s | 0x20) != 'e') return;
    s++;
    int negative = *s == '-';
    if (negative || *s == '+') s++;
    struct number exponent = parse_digits(s, 10);
    if (!exponent.end) return;
    if (exponent.too_large || exponent.magnitude > 1000) __bw_unsupported("an exponent above 1000 in a text");
    decimal->exponent += negative ? -(long long)exponent.magnitude : (long long)exponent.magnitude;
    decimal->end = exponent.end;
}

/* Up to 15 digits and up to 10^22 are exact as double, so one operation rounds correctly. */
static double decimal_value(const struct decimal *decimal) {
    if (!decimal->digits) return 0;
    if (decimal->exponent < -22 || decimal->exponent > 22) __bw_unsupported("a power of ten above 22 in a text");
    double digits = (double)decimal->digits;
    return decimal->exponent < 0 ? digits / __bw_powers_of_ten[-decimal->exponent]
                                 : digits * __bw_powers_of_ten[decimal->exponent];
}

static int is_letter(char c, char letter) { return (c | 0x20) == letter; }

static double parse_double(const char *s, const char **end) {
    while (is_space(*s)) s++;
    int negative = *s == '-';
    if (negative || *s == '+') s++;
    if ((is_letter(s[0], 'i') && is_letter(s[1], 'n') && is_letter(s[2], 'f')) ||
        (is_letter(s[0], 'n') && is_letter(s[1], 'a') && is_letter(s[2], 'n')))
        __bw_unsupported("infinity or nan in a text");
    if (s[0] == '0' && is_letter(s[1], 'x')) __bw_unsupported("a hexadecimal floating-point number in a text");
    struct decimal decimal = parse_mantissa(s);
    if (!decimal.end) return 0;
    parse_exponent(&decimal);
    *end = decimal.end;
    double value = decimal_value(&decimal);
    return negative ? -value : value;
}

MODEL double strtod(const char *s, char **end) {
    const char *behind = s;
    double value = parse_double(s, &behind);
    if (end) *end = (char *)behind;
    return value;
}

MODEL double atof(const char *s) { return strtod(s, 0); }

/* ---- arithmetic ---- */

typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;

MODEL int abs(int x) { return x < 0 ? -x : x; }
MODEL long labs(long x) { return x < 0 ? -x : x; }
MODEL long long llabs(long long x) { return x < 0 ? -x : x; }
MODEL intmax_t imaxabs(intmax_t x) { return x < 0 ? -x : x; }
MODEL div_t div(int x, int y) { return (div_t){x / y, x % y}; }
MODEL ldiv_t ldiv(long x, long y) { return (ldiv_t){x / y, x % y}; }
MODEL lldiv_t lldiv(long long x, long long y) { return (lldiv_t){x / y, x % y}; }

/* ---- sorting and searching ---- */

/* Merge sort, comparing the same elements in the same order as glibc's, so that a comparison function of the user's
 * sees the same calls. */
static void merge_sort(char *base, size_t count, size_t size, comparison compare, char *room) {
    if (count <= 1) return;
    size_t left_count = count / 2, right_count = count - left_count;
    char *left = base, *right = base + left_count * size, *to = room;
    merge_sort(left, left_count, size, compare, room);
    merge_sort(right, right_count, size, compare, room);
    while (left_count && right_count) {
        if (compare(left, right) <= 0) {
            __builtin_memmove(to, left, size);
            left += size, left_count--;
        } else {
            __builtin_memmove(to, right, size);
            right += size, right_count--;
        }
        to += size;
    }
    if (left_count) __builtin_memmove(to, left, left_count * size);
    __builtin_memmove(base, room, (count - right_count) * size);
}

/* A call that an allocation which may fail does not concern. */
MODEL void qsort(void *base, size_t count, size_t size, comparison compare) {
    if (count <= 1 || !size) return;
    char room[count * size];
    merge_sort(base, count, size, compare, room);
}

MODEL void *bsearch(const void *key, const void *base, size_t count, size_t size, comparison compare) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *element = (const char *)base + middle * size;
        int order = compare(key, element);
        if (order == 0) return (void *)element;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return 0;
}

/* ---- the end of the program ---- */

/* exit() only reads these: where nothing calls atexit(), they are constant. */
enum { MOST_HANDLERS = 64 };
static void (*__bw_exit_handlers[MOST_HANDLERS])(void);
static int __bw_exit_handler_count;
static void (*__bw_quick_exit_handlers[MOST_HANDLERS])(void);
static int __bw_quick_exit_handler_count;

MODEL int atexit(void (*handler)(void)) {
    if (__bw_exit_handler_count == MOST_HANDLERS) __bw_unsupported("more than 64 calls of atexit()");
    __bw_exit_handlers[__bw_exit_handler_count++] = handler;
    return 0;
}

MODEL int at_quick_exit(void (*handler)(void)) {
    if (__bw_quick_exit_handler_count == MOST_HANDLERS) __bw_unsupported("more than 64 calls of at_quick_exit()");
    __bw_quick_exit_handlers[__bw_quick_exit_handler_count++] = handler;
    return 0;
}

MODEL _Noreturn void exit(int status) {
    for (int i = __bw_exit_handler_count; i > 0; i--) __bw_exit_handlers[i - 1]();
    _exit(status);
}

MODEL _Noreturn void quick_exit(int status) {
    for (int i = __bw_quick_exit_handler_count; i > 0; i--) __bw_quick_exit_handlers[i - 1]();
    _Exit(status);
}

MODEL _Noreturn void __chk_fail(void) { abort(); }
MODEL _Noreturn void __stack_chk_fail(void) { abort(); }

MODEL _Noreturn void __assert(const char *assertion, const char *file, int line) {
    __assert_fail(assertion, file, (unsigned)line, 0);
}

/* ---- signal.h ---- */

typedef void (*signal_handler)(int);
enum { SIGILL = 4, SIGABRT = 6, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGSEGV = 11, SIGSTOP = 19, MOST_SIGNALS = 64 };
static signal_handler __bw_signal_handlers[MOST_SIGNALS + 1];

MODEL signal_handler signal(int number, signal_handler handler) {
    if (number < 1 || number > MOST_SIGNALS || number == SIGKILL || number == SIGSTOP || number == 32 || number == 33) {
        *__errno_location() = EINVAL;
        return (signal_handler)-1;
    }
    int fault = number == SIGILL || number == SIGABRT || number == SIGBUS || number == SIGFPE || number == SIGSEGV;
    if (fault && handler) __bw_unsupported("a handler for the signal of a fault");
    signal_handler before = __bw_signal_handlers[number];
    __bw_signal_handlers[number] = handler;
    return before;
}

MODEL int raise(int number) {
    if (number < 1 || number > MOST_SIGNALS) __bw_unsupported("raise() of a signal that does not exist");
    signal_handler handler = __bw_signal_handlers[number];
    if (!handler && number == SIGABRT) abort();
    if (!handler) __bw_unsupported("raise() of a signal without a handler");
    if (handler != (signal_handler)1) handler(number);
    return 0;
}

/* ---- setjmp.h: the first return is exact; the second is not done ---- */

/* Bytes of a jmp_buf and of a sigjmp_buf. */
enum { JUMP_STATE = 200 };

static int first_return(void *state) {
    if (__bw_jumps_back(state, JUMP_STATE)) __bw_unsupported("a second return of setjmp()");
    return 0;
}

MODEL int _setjmp(void *state) { return first_return(state); }
MODEL int setjmp(void *state) { return first_return(state); }
MODEL int __sigsetjmp(void *state, int mask) { return (void)mask, first_return(state); }
MODEL _Noreturn void longjmp(void *state, int value) { (void)state, (void)value, __bw_unsupported("longjmp()"); }
MODEL _Noreturn void _longjmp(void *state, int value) { (void)state, (void)value, __bw_unsupported("longjmp()"); }
MODEL _Noreturn void siglongjmp(void *state, int value) { (void)state, (void)value, __bw_unsupported("siglongjmp()"); }

/* ---- locale.h: the native runs have LC_ALL=C ---- */

static char __bw_locale_name[] = "C";

MODEL char *setlocale(int category, const char *name) {
    if (category < 0 || category > 12) return 0;
    int plain = !name || !name[0] || (name[0] == 'C' && !name[1]);
    if (!plain) __bw_unsupported("setlocale() of another locale than \"C\"");
    return __bw_locale_name;
}
