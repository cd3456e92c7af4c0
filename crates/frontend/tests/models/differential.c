/* Compares every model (model_NAME) with the C library's function on random and edge inputs. Prints what differs and
 * how many comparisons were made of each function. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#undef strdup
#undef strndup

enum { ROUNDS = 20000, ROOM = 64 };

/* ---- the primitives that the models expect of the executor ---- */

int model___bw_allocation_fails(void) { return 0; }
int model___bw_otherwise(const char *name) { return (void)name, 0; }
int model___bw_jumps_back(void *state, size_t bytes) { return (void)state, (void)bytes, 0; }
void *model___bw_allocate(size_t size, size_t alignment, int zero) {
    void *object = alignment > 16 ? aligned_alloc(alignment, size) : malloc(size);
    if (object && zero) memset(object, 0, size);
    return object;
}
int model_fgetc(void *from) { return fgetc(from); }
int model_vsnprintf(char *to, size_t room, const char *format, va_list arguments) {
    return vsnprintf(to, room, format, arguments);
}
void *model___bw_open_for_reading(void) { return NULL; }
void *model___bw_open_for_writing(void) { return tmpfile(); }
void model___bw_release(void *object) { free(object); }
void *model___bw_resize(void *object, size_t size) { return realloc(object, size); }
void model___bw_unsupported(const char *what) { printf("unsupported: %s\n", what), exit(3); }
void model_abort(void) { abort(); }
void model__exit(int status) { _exit(status); }
void model__Exit(int status) { _exit(status); }
void model___assert_fail(void) { abort(); }
int *model___errno_location(void);

/* ---- bookkeeping ---- */

static int failures;
static const char *current;
static long compared;

static void begin(const char *name) {
    if (current) printf("%s %ld\n", current, compared);
    current = name, compared = 0;
}

static void same(const char *what, long long model, long long library) {
    compared++;
    if (model == library || failures > 20) return;
    failures++;
    printf("DIFFERENT %s: %s: model %lld, library %lld\n", current, what, model, library);
}

#define SAME(model, library) same(#model, (long long)(model), (long long)(library))

static uint64_t state = 88172645463325252ull;
static unsigned random_below(unsigned limit) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 33) % limit;
}

/* Few different characters, so that equal ones meet; some of them of the other case, negative or separators. */
static char random_character(void) {
    static const char characters[] = "aabAB, ;0129xX+-\t\x80\xff";
    return characters[random_below(sizeof characters - 1)];
}

static void random_text(char *to, int most) {
    int length = (int)random_below((unsigned)most + 1);
    for (int i = 0; i < length; i++) to[i] = random_character();
    to[length] = 0;
}

/* The position of a result in its text; -1 for null. */
static long position(const void *found, const void *in) { return found ? (const char *)found - (const char *)in : -1; }

static char a[ROOM], b[ROOM], c[ROOM], d[ROOM];
static void random_texts(void) {
    for (int i = 0; i < ROOM; i++) a[i] = b[i] = random_character();
    random_text(a, 12), random_text(b, 3);
    memcpy(c, a, ROOM), memcpy(d, b, ROOM);
}

/* ---- string.h ---- */

#define EACH(name) for (int round = (begin(#name), 0); round < ROUNDS && (random_texts(), 1); round++)

size_t model_strlen(const char *), model_strnlen(const char *, size_t), model_strspn(const char *, const char *);
size_t model_strcspn(const char *, const char *), model_strxfrm(char *, const char *, size_t);
int model_strcmp(const char *, const char *), model_strncmp(const char *, const char *, size_t);
int model_strcoll(const char *, const char *), model_strcasecmp(const char *, const char *);
int model_strncasecmp(const char *, const char *, size_t), model_memcmp(const void *, const void *, size_t);
int model_bcmp(const void *, const void *, size_t);
char *model_strchr(const char *, int), *model_strrchr(const char *, int), *model_strchrnul(const char *, int);
char *model_index(const char *, int), *model_rindex(const char *, int), *model_strpbrk(const char *, const char *);
char *model_strstr(const char *, const char *), *model_strcasestr(const char *, const char *);
void *model_memchr(const void *, int, size_t), *model_memrchr(const void *, int, size_t);
void *model_rawmemchr(const void *, int), *model_memmem(const void *, size_t, const void *, size_t);
void *model_memccpy(void *, const void *, int, size_t), *model_memcpy(void *, const void *, size_t);
void *model_memmove(void *, const void *, size_t), *model_mempcpy(void *, const void *, size_t);
void *model_memset(void *, int, size_t);
void model_bcopy(const void *, void *, size_t), model_bzero(void *, size_t), model_explicit_bzero(void *, size_t);
char *model_strcpy(char *, const char *), *model_strncpy(char *, const char *, size_t), *model_stpcpy(char *, const char *);
char *model_stpncpy(char *, const char *, size_t), *model_strcat(char *, const char *);
char *model_strncat(char *, const char *, size_t), *model_strtok(char *, const char *);
char *model_strtok_r(char *, const char *, char **), *model_strsep(char **, const char *);
char *model_strdup(const char *), *model_strndup(const char *, size_t), *model___strdup(const char *);
char *model_strerror(int);
void *model___memcpy_chk(void *, const void *, size_t, size_t), *model___memmove_chk(void *, const void *, size_t, size_t);
void *model___mempcpy_chk(void *, const void *, size_t, size_t), *model___memset_chk(void *, int, size_t, size_t);
char *model___strcpy_chk(char *, const char *, size_t), *model___stpcpy_chk(char *, const char *, size_t);
char *model___strncpy_chk(char *, const char *, size_t, size_t), *model___strcat_chk(char *, const char *, size_t);
char *model___strncat_chk(char *, const char *, size_t, size_t);

#define SIZE(name) EACH(name) SAME(model_##name(a), name(a));
#define TWO_TEXTS(name) EACH(name) SAME(model_##name(a, b), name(a, b));
#define FIND(name) \
    EACH(name) { char k = random_character(); SAME(position(model_##name(a, k), a), position(name(a, k), a)); \
                 SAME(position(model_##name(a, 0), a), position(name(a, 0), a)); }
#define FIND_TEXT(name) EACH(name) SAME(position(model_##name(a, b), a), position(name(a, b), a));

static void compare_searches(void) {
    SIZE(strlen) TWO_TEXTS(strspn) TWO_TEXTS(strcspn) FIND(strchr) FIND(strrchr) FIND(strchrnul) FIND(index) FIND(rindex)
    FIND_TEXT(strpbrk) FIND_TEXT(strstr) FIND_TEXT(strcasestr)
    EACH(strnlen) { size_t n = random_below(16); SAME(model_strnlen(a, n), strnlen(a, n)); }
    EACH(memchr) { int k = random_character(); size_t n = random_below(16); SAME(position(model_memchr(a, k, n), a), position(memchr(a, k, n), a)); }
    EACH(memrchr) { int k = random_character(); size_t n = random_below(16); SAME(position(model_memrchr(a, k, n), a), position(memrchr(a, k, n), a)); }
    EACH(rawmemchr) { a[20] = 'a'; SAME(position(model_rawmemchr(a, 'a'), a), position(rawmemchr(a, 'a'), a)); }
    EACH(memmem) { size_t n = random_below(16), m = random_below(4); SAME(position(model_memmem(a, n, b, m), a), position(memmem(a, n, b, m), a)); }
}

#define COMPARE(name) EACH(name) { SAME(model_##name(a, b), name(a, b)); b[0] = a[0]; if (*a) b[1] = a[1]; SAME(model_##name(a, b), name(a, b)); SAME(model_##name(a, c), name(a, c)); }
#define COMPARE_MOST(name) \
    EACH(name) { size_t n = random_below(16); memcpy(b, a, random_below(6)); \
                 SAME(model_##name(a, b, n), name(a, b, n)); SAME(model_##name(a, c, n), name(a, c, n)); }

static void compare_comparisons(void) {
    COMPARE(strcmp) COMPARE(strcoll) COMPARE(strcasecmp)
    COMPARE_MOST(strncmp) COMPARE_MOST(strncasecmp) COMPARE_MOST(memcmp)
    EACH(bcmp) { size_t n = random_below(16); memcpy(b, a, random_below(20)); SAME(!model_bcmp(a, b, n), !bcmp(a, b, n)); }
}

/* Both work on copies of the same buffer; result and buffer must be the same. */
#define COPY(name, call_model, call) \
    EACH(name) { size_t n = random_below(20); int k = random_character(); (void)n, (void)k; \
                 SAME(position(call_model, a), position(call, c)); SAME(memcmp(a, c, ROOM), 0); }

static void compare_copies(void) {
    COPY(memcpy, model_memcpy(a, b, n), memcpy(c, b, n))
    COPY(memmove, model_memmove(a + 3, a, n), memmove(c + 3, c, n))
    COPY(mempcpy, model_mempcpy(a, b, n), mempcpy(c, b, n))
    COPY(memccpy, model_memccpy(a, b, k, n), memccpy(c, b, k, n))
    COPY(memset, model_memset(a, k, n), memset(c, k, n))
    COPY(bcopy, (model_bcopy(a, a + 2, n), a), (bcopy(c, c + 2, n), c))
    COPY(bzero, (model_bzero(a, n), a), (bzero(c, n), c))
    COPY(explicit_bzero, (model_explicit_bzero(a, n), a), (explicit_bzero(c, n), c))
    COPY(strcpy, model_strcpy(a, b), strcpy(c, b))
    COPY(stpcpy, model_stpcpy(a, b), stpcpy(c, b))
    COPY(strncpy, model_strncpy(a, b, n), strncpy(c, b, n))
    COPY(stpncpy, model_stpncpy(a, b, n), stpncpy(c, b, n))
    COPY(strcat, model_strcat(a, b), strcat(c, b))
    COPY(strncat, model_strncat(a, b, n), strncat(c, b, n))
    COPY(strxfrm, a + model_strxfrm(a, b, n), c + strxfrm(c, b, n))
    COPY(__memcpy_chk, model___memcpy_chk(a, b, n, ROOM), memcpy(c, b, n))
    COPY(__memmove_chk, model___memmove_chk(a + 3, a, n, ROOM), memmove(c + 3, c, n))
    COPY(__mempcpy_chk, model___mempcpy_chk(a, b, n, ROOM), mempcpy(c, b, n))
    COPY(__memset_chk, model___memset_chk(a, k, n, ROOM), memset(c, k, n))
    COPY(__strcpy_chk, model___strcpy_chk(a, b, ROOM), strcpy(c, b))
    COPY(__stpcpy_chk, model___stpcpy_chk(a, b, ROOM), stpcpy(c, b))
    COPY(__strncpy_chk, model___strncpy_chk(a, b, n, ROOM), strncpy(c, b, n))
    COPY(__strcat_chk, model___strcat_chk(a, b, ROOM), strcat(c, b))
    COPY(__strncat_chk, model___strncat_chk(a, b, n, ROOM), strncat(c, b, n))
}

static void compare_tokens(void) {
    EACH(strtok) {
        char *left = model_strtok(a, b), *right = strtok(c, b);
        for (int i = 0; i < 8 && (SAME(position(left, a), position(right, c)), right); i++) {
            SAME(strcmp(left, right), 0);
            random_text(b, 3);
            left = model_strtok(NULL, b), right = strtok(NULL, b);
        }
        SAME(memcmp(a, c, ROOM), 0);
    }
    EACH(strtok_r) {
        char *left_rest, *right_rest, *left = model_strtok_r(a, b, &left_rest), *right = strtok_r(c, b, &right_rest);
        for (int i = 0; i < 8 && (SAME(position(left, a), position(right, c)), right); i++) {
            SAME(left_rest - a, right_rest - c);
            left = model_strtok_r(NULL, b, &left_rest), right = strtok_r(NULL, b, &right_rest);
        }
        SAME(memcmp(a, c, ROOM), 0);
    }
    EACH(strsep) {
        char *left_rest = a, *right_rest = c, *left, *right;
        do {
            left = model_strsep(&left_rest, b), right = strsep(&right_rest, b);
            SAME(position(left, a), position(right, c));
            SAME(position(left_rest, a), position(right_rest, c));
        } while (right);
        SAME(memcmp(a, c, ROOM), 0);
    }
}

static void compare_heap_copies(void) {
    EACH(strdup) { char *left = model_strdup(a); SAME(strcmp(left, a), 0); free(left); }
    EACH(__strdup) { char *left = model___strdup(a); SAME(strcmp(left, a), 0); free(left); }
    EACH(strndup) {
        size_t n = random_below(16);
        char *left = model_strndup(a, n), *right = strndup(a, n);
        SAME(strcmp(left, right), 0);
        free(left), free(right);
    }
    begin("strerror");
    for (int i = -3; i < 150; i++) SAME(strcmp(model_strerror(i), strerror(i)), 0);
    SAME(strcmp(model_strerror(INT_MIN), strerror(INT_MIN)), 0);
}

/* ---- ctype.h ---- */

const unsigned short **model___ctype_b_loc(void);
const int **model___ctype_tolower_loc(void), **model___ctype_toupper_loc(void);
size_t model___ctype_get_mb_cur_max(void);
int model_isalnum(int), model_isalpha(int), model_isblank(int), model_iscntrl(int), model_isdigit(int), model_isgraph(int);
int model_islower(int), model_isprint(int), model_ispunct(int), model_isspace(int), model_isupper(int), model_isxdigit(int);
int model_isascii(int), model_toascii(int), model_tolower(int), model_toupper(int);

#define CHARACTER(name) begin(#name); for (int i = -128; i < 256; i++) SAME(model_##name(i), (name)(i));

static void compare_characters(void) {
    CHARACTER(isalnum) CHARACTER(isalpha) CHARACTER(isblank) CHARACTER(iscntrl) CHARACTER(isdigit) CHARACTER(isgraph)
    CHARACTER(islower) CHARACTER(isprint) CHARACTER(ispunct) CHARACTER(isspace) CHARACTER(isupper) CHARACTER(isxdigit)
    CHARACTER(isascii) CHARACTER(toascii) CHARACTER(tolower) CHARACTER(toupper)
    SAME(model_tolower(1000), (tolower)(1000));
    SAME(model_toupper(-1000), (toupper)(-1000));
    begin("__ctype_b_loc");
    for (int i = -128; i < 256; i++) SAME((*model___ctype_b_loc())[i], (*__ctype_b_loc())[i]);
    begin("__ctype_tolower_loc");
    for (int i = -128; i < 256; i++) SAME((*model___ctype_tolower_loc())[i], (*__ctype_tolower_loc())[i]);
    begin("__ctype_toupper_loc");
    for (int i = -128; i < 256; i++) SAME((*model___ctype_toupper_loc())[i], (*__ctype_toupper_loc())[i]);
    begin("__ctype_get_mb_cur_max");
    SAME(model___ctype_get_mb_cur_max(), MB_CUR_MAX);
}

/* ---- stdlib.h ---- */

long model_strtol(const char *, char **, int), model_atol(const char *);
long long model_strtoll(const char *, char **, int), model_atoll(const char *);
unsigned long model_strtoul(const char *, char **, int);
unsigned long long model_strtoull(const char *, char **, int);
intmax_t model_strtoimax(const char *, char **, int);
uintmax_t model_strtoumax(const char *, char **, int);
int model_atoi(const char *);
double model_strtod(const char *, char **), model_atof(const char *);

/* Spaces, a sign, a prefix, digits of which some are none of the base. */
static void random_number(char *to) {
    static const char *const heads[] = {"", " ", "\t\n -", "+", "-", "0x", "-0X", "0", "+0x", "--", "x"};
    static const char *const limits[] = {"9223372036854775807", "9223372036854775808", "18446744073709551615",
                                         "18446744073709551616", "7fffffffffffffff", "8000000000000000", "99999999999999999999999"};
    strcpy(to, heads[random_below(11)]);
    if (random_below(4) == 0) {
        strcat(to, limits[random_below(7)]);
        return;
    }
    int length = (int)random_below(random_below(2) ? 4 : 24);
    char *end = to + strlen(to);
    for (int i = 0; i < length; i++) *end++ = "0123456789012789abfzZ."[random_below(random_below(3) ? 10 : 22)];
    *end = 0;
}

#define INTEGER(name) \
    begin(#name); \
    for (int round = 0; round < ROUNDS; round++) { \
        static const int bases[] = {0, 2, 8, 10, 10, 10, 16, 36, 1, 37, -1}; \
        int base = bases[random_below(11)]; \
        char *left_end = a, *right_end = a; \
        random_number(a); \
        errno = *model___errno_location() = 0; \
        SAME(model_##name(a, &left_end, base), name(a, &right_end, base)); \
        SAME(left_end, right_end); \
        SAME(*model___errno_location() == ERANGE, errno == ERANGE); \
        SAME(model_##name(a, NULL, base), name(a, NULL, base)); \
    }
#define PLAIN_INTEGER(name) begin(#name); for (int round = 0; round < ROUNDS; round++) { random_number(a); SAME(model_##name(a), name(a)); }

static void compare_numbers(void) {
    INTEGER(strtol) INTEGER(strtoll) INTEGER(strtoul) INTEGER(strtoull) INTEGER(strtoimax) INTEGER(strtoumax)
    PLAIN_INTEGER(atoi) PLAIN_INTEGER(atol) PLAIN_INTEGER(atoll)
}

static void random_decimal(char *to) {
    static const char *const heads[] = {"", " ", "-", "+", "\t+"};
    static const char *const tails[] = {"", "e", "e3", "E-4", "e+2", "e-", "y", " ", "e07", "f"};
    sprintf(to, "%s%u", heads[random_below(5)], random_below(random_below(2) ? 100 : 100000000));
    if (random_below(3)) sprintf(to + strlen(to), ".%0*u", (int)random_below(4), random_below(1000));
    if (!random_below(9)) strcpy(to, random_below(2) ? "." : "-.5");
    strcat(to, tails[random_below(10)]);
}

static void compare_decimals(void) {
    begin("strtod");
    for (int round = 0; round < ROUNDS; round++) {
        char *left_end, *right_end;
        random_decimal(a);
        double left = model_strtod(a, &left_end), right = strtod(a, &right_end);
        SAME(memcmp(&left, &right, sizeof left), 0);
        SAME(left_end, right_end);
    }
    begin("atof");
    for (int round = 0; round < ROUNDS; round++) {
        random_decimal(a);
        double left = model_atof(a), right = atof(a);
        SAME(memcmp(&left, &right, sizeof left), 0);
    }
}

int model_abs(int);
long model_labs(long);
long long model_llabs(long long);
intmax_t model_imaxabs(intmax_t);
div_t model_div(int, int);
ldiv_t model_ldiv(long, long);
lldiv_t model_lldiv(long long, long long);

#define ARITHMETIC(name, type) \
    begin(#name); \
    for (int round = 0; round < ROUNDS; round++) { type x = (type)random_below(1000) - 500; SAME(model_##name(x), name(x)); }
#define DIVISION(name, type) \
    begin(#name); \
    for (int round = 0; round < ROUNDS; round++) { \
        type x = (type)random_below(1000) - 500, y = (type)random_below(50) + 1; \
        if (round & 1) y = -y; \
        SAME(model_##name(x, y).quot, name(x, y).quot); \
        SAME(model_##name(x, y).rem, name(x, y).rem); \
    }

static void compare_arithmetic(void) {
    ARITHMETIC(abs, int) ARITHMETIC(labs, long) ARITHMETIC(llabs, long long) ARITHMETIC(imaxabs, intmax_t)
    DIVISION(div, int) DIVISION(ldiv, long) DIVISION(lldiv, long long)
}

/* The comparisons themselves must be the same, in the same order: the user's function may have branches. */
void model_qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *model_bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
static uint64_t calls;
static int compare_shorts(const void *left, const void *right) {
    short l = *(const short *)left, r = *(const short *)right;
    calls = calls * 1000003 + (uint64_t)(l * 77 + r);
    return l / 4 - r / 4;
}
struct large { short key; char rest[46]; };

static void compare_sorting(void) {
    short left[40], right[40];
    struct large left_large[12], right_large[12];
    begin("qsort");
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = random_below(41);
        for (size_t i = 0; i < n; i++) left[i] = right[i] = (short)random_below(60);
        calls = 0, model_qsort(left, n, sizeof *left, compare_shorts);
        uint64_t model_calls = calls;
        calls = 0, qsort(right, n, sizeof *right, compare_shorts);
        SAME(memcmp(left, right, n * sizeof *left), 0);
        SAME(model_calls, calls);
        n = random_below(13);
        memset(left_large, 0, sizeof left_large), memset(right_large, 0, sizeof right_large);
        for (size_t i = 0; i < n; i++) left_large[i].key = right_large[i].key = (short)random_below(20);
        calls = 0, model_qsort(left_large, n, sizeof *left_large, compare_shorts);
        model_calls = calls;
        calls = 0, qsort(right_large, n, sizeof *right_large, compare_shorts);
        SAME(memcmp(left_large, right_large, sizeof left_large), 0);
        SAME(model_calls, calls);
    }
    begin("bsearch");
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = random_below(41);
        for (size_t i = 0; i < n; i++) left[i] = (short)random_below(60);
        qsort(left, n, sizeof *left, compare_shorts);
        short key = (short)random_below(60);
        calls = 0;
        long found = position(model_bsearch(&key, left, n, sizeof *left, compare_shorts), left);
        uint64_t model_calls = calls;
        calls = 0;
        SAME(found, position(bsearch(&key, left, n, sizeof *left, compare_shorts), left));
        SAME(model_calls, calls);
    }
}

/* ---- allocation: what fails, and what is in the object ---- */

void *model_malloc(size_t), *model_calloc(size_t, size_t), *model_realloc(void *, size_t), *model_memalign(size_t, size_t);
void *model_reallocarray(void *, size_t, size_t), *model_aligned_alloc(size_t, size_t);
void model_free(void *), model_cfree(void *);
int model_posix_memalign(void **, size_t, size_t);

static void compare_allocation(void) {
    begin("malloc");
    SAME(model_malloc(SIZE_MAX), NULL);
    SAME(*model___errno_location(), ENOMEM);
    void *empty = model_malloc(0);
    SAME(empty != NULL, malloc(0) != NULL);
    begin("free");
    model_free(empty), model_free(NULL), SAME(0, 0);
    begin("cfree");
    model_cfree(NULL), SAME(0, 0);
    begin("calloc");
    SAME(model_calloc(SIZE_MAX / 2, 4), NULL);
    char *zero = model_calloc(3, 5);
    for (int i = 0; i < 15; i++) SAME(zero[i], 0);
    begin("realloc");
    strcpy(zero, "kept");
    zero = model_realloc(zero, 400);
    SAME(strcmp(zero, "kept"), 0);
    SAME(model_realloc(zero, SIZE_MAX / 2), NULL);
    SAME(model_realloc(zero, 0), realloc(malloc(4), 0));
    zero = model_realloc(NULL, 3);
    SAME(zero != NULL, 1);
    begin("reallocarray");
    SAME(model_reallocarray(zero, SIZE_MAX, 3), NULL);
    SAME((zero = model_reallocarray(zero, 3, 3)) != NULL, 1);
    begin("aligned_alloc");
    SAME((uintptr_t)model_aligned_alloc(256, 512) % 256, 0);
    begin("memalign");
    SAME((uintptr_t)model_memalign(64, 128) % 64, 0);
    begin("posix_memalign");
    void *to = NULL;
    SAME(model_posix_memalign(&to, 3, 8), posix_memalign(&to, 3, 8));
    SAME(model_posix_memalign(&to, 4, 8), posix_memalign(&to, 4, 8));
    SAME(model_posix_memalign(&to, 64, 64), 0);
    SAME((uintptr_t)to % 64, 0);
}

/* ---- the rest ---- */

void (*model_signal(int, void (*)(int)))(int);
int model_raise(int), model__setjmp(void *), model_setjmp(void *), model___sigsetjmp(void *, int);
char *model_setlocale(int, const char *);
static int raised;
static void handler(int number) { raised = raised * 10 + number; }

static void compare_the_rest(void) {
    begin("signal");
    static const int numbers[] = {SIGUSR1, SIGINT, 0, -1, 65, SIGKILL, SIGSTOP, SIGUSR1};
    /* What a shell starts in the background begins with it ignored. */
    signal(SIGINT, SIG_DFL);
    for (int i = 0; i < 8; i++) SAME((intptr_t)model_signal(numbers[i], handler), (intptr_t)signal(numbers[i], handler));
    begin("raise");
    raised = 0, model_raise(SIGINT);
    int model_raised = raised;
    raised = 0, raise(SIGINT);
    SAME(model_raised, raised);
    begin("setlocale");
    SAME(strcmp(model_setlocale(LC_ALL, NULL), setlocale(LC_ALL, NULL)), 0);
    SAME(strcmp(model_setlocale(LC_ALL, ""), setlocale(LC_ALL, "C")), 0);
    SAME(model_setlocale(99, "C"), setlocale(99, "C"));
    char buffer[1024];
    begin("setjmp"), SAME(model_setjmp(buffer), 0);
    begin("_setjmp"), SAME(model__setjmp(buffer), 0);
    begin("__sigsetjmp"), SAME(model___sigsetjmp(buffer, 1), 0);
}

double model_modf(double, double *), model_frexp(double, int *), model_ldexp(double, int);
float model_modff(float, float *), model_frexpf(float, int *);

static long long bits_of(double value) {
    long long bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? -1 : bits;
}

/* Any bits, every second time near one. */
static double some_double(void) {
    uint64_t bits = (uint64_t)mrand48() << 32 ^ (uint32_t)mrand48();
    double value;
    memcpy(&value, &bits, sizeof value);
    static const double edges[] = {0.0, -0.0, 1.0, -1.0, 0.5, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 1.0 / 0.0, -1.0 / 0.0};
    switch (mrand48() & 3) {
    case 0: return edges[(uint32_t)mrand48() % 10];
    case 1: return (double)mrand48() / 1024;
    default: return value;
    }
}

static void compare_floats(void) {
    begin("modf");
    for (int round = 0; round < ROUNDS; round++) {
        double x = some_double(), model_whole, whole;
        SAME(bits_of(model_modf(x, &model_whole)), bits_of(modf(x, &whole)));
        SAME(bits_of(model_whole), bits_of(whole));
    }
    begin("modff");
    for (int round = 0; round < ROUNDS; round++) {
        float y = (float)some_double(), model_whole, whole;
        SAME(bits_of(model_modff(y, &model_whole)), bits_of(modff(y, &whole)));
        SAME(bits_of(model_whole), bits_of(whole));
    }
    begin("frexp");
    for (int round = 0; round < ROUNDS; round++) {
        double x = some_double();
        int model_power = 7, power = 7;
        SAME(bits_of(model_frexp(x, &model_power)), bits_of(frexp(x, &power)));
        SAME(model_power, power);
    }
    begin("frexpf");
    for (int round = 0; round < ROUNDS; round++) {
        float y = (float)some_double();
        int model_power = 7, power = 7;
        SAME(bits_of(model_frexpf(y, &model_power)), bits_of(frexpf(y, &power)));
        SAME(model_power, power);
    }
    begin("ldexp");
    for (int round = 0; round < ROUNDS; round++) {
        double x = some_double();
        int power = round & 7 ? (int)(mrand48() % 2400) : (int)mrand48();
        errno = *model___errno_location() = 0;
        SAME(bits_of(model_ldexp(x, power)), bits_of(ldexp(x, power)));
        SAME(*model___errno_location(), errno);
    }
}

int main(void) {
    compare_searches();
    compare_comparisons();
    compare_copies();
    compare_tokens();
    compare_heap_copies();
    compare_characters();
    compare_numbers();
    compare_decimals();
    compare_floats();
    compare_arithmetic();
    compare_sorting();
    compare_allocation();
    compare_the_rest();
    begin(NULL);
    return failures != 0;
}
