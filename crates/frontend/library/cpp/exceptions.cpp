/* Exceptions, type information and casts of the Itanium C++ ABI. What `lower/exceptions.rs` makes of throwing calls looks
 * at `__bw_unwinding`. */
#include "runtime.h"

struct type {
    const void *const *table;
    const char *name;
};

struct single_base : type {
    const type *base;
};

struct base_entry {
    const type *base;
    long offset_flags;
};

struct many_bases : type {
    unsigned flags, count;
    base_entry bases[1];
};

struct pointer_type : type {
    unsigned flags;
    const type *pointee;
};

/* The tables of type_info's classes are only compared: their addresses say what a type is. */
#define TABLE(symbol) extern "C" const void *const symbol[8] = {nullptr}
TABLE(_ZTVN10__cxxabiv117__class_type_infoE);
TABLE(_ZTVN10__cxxabiv120__si_class_type_infoE);
TABLE(_ZTVN10__cxxabiv121__vmi_class_type_infoE);
TABLE(_ZTVN10__cxxabiv119__pointer_type_infoE);
TABLE(_ZTVN10__cxxabiv123__fundamental_type_infoE);
TABLE(_ZTVN10__cxxabiv116__enum_type_infoE);
TABLE(_ZTVN10__cxxabiv120__function_type_infoE);
TABLE(_ZTVN10__cxxabiv117__array_type_infoE);
TABLE(_ZTVN10__cxxabiv129__pointer_to_member_type_infoE);

#define FUNDAMENTAL(letter)                                                                                            \
    extern "C" const type _ZTI##letter = {_ZTVN10__cxxabiv123__fundamental_type_infoE + 2, #letter};                   \
    extern "C" const pointer_type _ZTIP##letter = {                                                                    \
        {_ZTVN10__cxxabiv119__pointer_type_infoE + 2, "P" #letter}, 0, &_ZTI##letter};                                 \
    extern "C" const pointer_type _ZTIPK##letter = {                                                                   \
        {_ZTVN10__cxxabiv119__pointer_type_infoE + 2, "PK" #letter}, 1, &_ZTI##letter};
FUNDAMENTAL(v)
FUNDAMENTAL(b)
FUNDAMENTAL(c)
FUNDAMENTAL(a)
FUNDAMENTAL(h)
FUNDAMENTAL(s)
FUNDAMENTAL(t)
FUNDAMENTAL(i)
FUNDAMENTAL(j)
FUNDAMENTAL(l)
FUNDAMENTAL(m)
FUNDAMENTAL(x)
FUNDAMENTAL(y)
FUNDAMENTAL(f)
FUNDAMENTAL(d)
FUNDAMENTAL(w)

static bool is_kind(const type *of, const void *const *table) noexcept { return of->table == table + 2; }

static bool same(const type *left, const type *right) noexcept {
    if (left == right || left->name == right->name) return true;
    const char *a = left->name, *b = right->name;
    /* Names that begin with a star are compared by address. */
    if (*a == '*') return false;
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}

enum { MOST_FOUND = 16 };

/* The places of an object at which a base of some type lies. */
struct places {
    const char *at[MOST_FOUND];
    bool open[MOST_FOUND];
    int count;
};

static void note(places *found, const char *at, bool open) noexcept {
    for (int i = 0; i < found->count; i++)
        if (found->at[i] == at) {
            found->open[i] |= open;
            return;
        }
    if (found->count == MOST_FOUND) __bw_unsupported("a class with more than 16 bases of one type");
    found->at[found->count] = at;
    found->open[found->count++] = open;
}

/* All bases of type `wanted` in an object of type `of`; `open`: the way there is public. */
static void find(const type *of, const char *at, const type *wanted, bool open, places *found) noexcept {
    if (same(of, wanted)) return note(found, at, open);
    if (is_kind(of, _ZTVN10__cxxabiv120__si_class_type_infoE))
        return find(static_cast<const single_base *>(of)->base, at, wanted, open, found);
    if (!is_kind(of, _ZTVN10__cxxabiv121__vmi_class_type_infoE)) return;
    const many_bases *many = static_cast<const many_bases *>(of);
    for (unsigned i = 0; i < many->count; i++) {
        const base_entry *entry = many->bases + i;
        long offset = entry->offset_flags >> 8;
        /* The place of a virtual base stands in the object's table. */
        if (entry->offset_flags & 1) offset = *(const long *)(*(const char *const *)at + offset);
        find(entry->base, at + offset, wanted, open && (entry->offset_flags & 2), found);
    }
}

static bool is_class(const type *of) noexcept {
    return is_kind(of, _ZTVN10__cxxabiv117__class_type_infoE) || is_kind(of, _ZTVN10__cxxabiv120__si_class_type_infoE) ||
           is_kind(of, _ZTVN10__cxxabiv121__vmi_class_type_infoE);
}

/* Whether an object of type `of` can be seen as a `wanted`, and where. */
static bool upcast(const type *of, const char *at, const type *wanted, const char **result) noexcept {
    places found;
    found.count = 0;
    find(of, at, wanted, true, &found);
    if (found.count != 1 || !found.open[0]) return false;
    *result = found.at[0];
    return true;
}

static bool catches(const type *wanted, const type *thrown, void *object, void **adjusted) noexcept {
    const char *at = (const char *)object;
    *adjusted = object;
    bool pointers = is_kind(thrown, _ZTVN10__cxxabiv119__pointer_type_infoE);
    if (pointers) *adjusted = *(void **)object;
    if (same(wanted, thrown)) return true;
    if (pointers && is_kind(wanted, _ZTVN10__cxxabiv119__pointer_type_infoE)) {
        const pointer_type *to = static_cast<const pointer_type *>(wanted);
        const pointer_type *from = static_cast<const pointer_type *>(thrown);
        if (from->flags & ~to->flags & 7) return false;
        if (same(to->pointee, from->pointee) || same(to->pointee, &_ZTIv)) return true;
        if (!is_class(to->pointee) || !is_class(from->pointee) || !*adjusted) return false;
        at = (const char *)*adjusted;
        if (!upcast(from->pointee, at, to->pointee, &at)) return false;
        *adjusted = (void *)at;
        return true;
    }
    if (!is_class(wanted) || !is_class(thrown) || !upcast(thrown, at, wanted, &at)) return false;
    *adjusted = (void *)at;
    return true;
}

/* Stands before the thrown object. */
struct exception {
    const type *thrown;
    void (*destroy)(void *);
    void *adjusted;
    exception *caught_before;
    long handlers;
    long unused;
};

extern "C" int __bw_unwinding = 0;
extern "C" exception *__bw_thrown;
extern "C" exception *__bw_caught;
extern "C" int __bw_uncaught;
exception *__bw_thrown = nullptr;
exception *__bw_caught = nullptr;
int __bw_uncaught = 0;

struct selected {
    exception *thrown;
    long number;
};

extern "C" {

[[noreturn]] void terminate_now() noexcept NAMED(_ZSt9terminatev);
void terminate_now() noexcept { __bw_terminate(__bw_uncaught); }

/* Which clause of a landing pad takes the exception that has arrived there; 0: none, it only cleans up. */
selected __bw_select(const type *const *clauses, const int *numbers, int count) noexcept {
    exception *thrown = __bw_thrown;
    __bw_unwinding = 0;
    for (int i = 0; i < count; i++) {
        if (numbers[i] < 0) __bw_unsupported("an exception specification with types");
        if (!clauses[i]) {
            thrown->adjusted = is_kind(thrown->thrown, _ZTVN10__cxxabiv119__pointer_type_infoE) ? *(void **)(thrown + 1)
                                                                                            : (void *)(thrown + 1);
            return {thrown, numbers[i]};
        }
        void *adjusted;
        if (catches(clauses[i], thrown->thrown, thrown + 1, &adjusted)) {
            thrown->adjusted = adjusted;
            return {thrown, numbers[i]};
        }
    }
    return {thrown, 0};
}

void __bw_resume(exception *thrown) noexcept {
    __bw_thrown = thrown;
    __bw_unwinding = 1;
}

void *__cxa_allocate_exception(size_t size) noexcept {
    exception *made = (exception *)__bw_allocate(sizeof(exception) + size, 16, 0);
    made->handlers = 0;
    return made + 1;
}

void __cxa_free_exception(void *object) noexcept { __bw_release((exception *)object - 1); }

/* Returns, unlike the real one: the caller looks at `__bw_unwinding`. */
void __cxa_throw(void *object, const type *thrown, void (*destroy)(void *)) {
    exception *made = (exception *)object - 1;
    made->thrown = thrown;
    made->destroy = destroy;
    __bw_uncaught++;
    __bw_resume(made);
    __bw_throws();
}

void *__cxa_get_exception_ptr(exception *thrown) noexcept { return thrown->adjusted; }

void *__cxa_begin_catch(exception *thrown) noexcept {
    thrown->handlers = (thrown->handlers < 0 ? -thrown->handlers : thrown->handlers) + 1;
    if (__bw_caught != thrown) {
        thrown->caught_before = __bw_caught;
        __bw_caught = thrown;
    }
    __bw_uncaught--;
    __bw_handles();
    return thrown->adjusted;
}

void __cxa_end_catch() {
    exception *caught = __bw_caught;
    if (!caught) return;
    if (caught->handlers < 0) {
        /* Thrown again: it lives on. */
        if (++caught->handlers == 0) __bw_caught = caught->caught_before;
        return;
    }
    if (--caught->handlers == 0) {
        __bw_caught = caught->caught_before;
        if (caught->destroy) caught->destroy(caught + 1);
        __bw_release(caught);
    }
}

/* A caller handles an exception, or one is on its way through a caller. */
static int called_meanwhile() noexcept { return __bw_otherwise("no-exception-meanwhile"); }

void __cxa_rethrow() {
    exception *caught = __bw_caught;
    if (!caught) {
        if (called_meanwhile()) __bw_unsupported("an exception that is thrown again and that a caller handles");
        terminate_now();
    }
    caught->handlers = -caught->handlers;
    __bw_uncaught++;
    __bw_resume(caught);
    __bw_throws();
}

int uncaught_exceptions_now() noexcept NAMED(_ZSt19uncaught_exceptionsv);
int uncaught_exceptions_now() noexcept {
    int uncaught = __bw_uncaught;
    while (called_meanwhile()) uncaught++;
    return uncaught;
}
bool uncaught_exception_now() noexcept NAMED(_ZSt18uncaught_exceptionv);
bool uncaught_exception_now() noexcept { return __bw_uncaught > 0 || called_meanwhile(); }

[[noreturn]] void __cxa_pure_virtual() noexcept { __bw_pure_virtual(); }
[[noreturn]] void __cxa_deleted_virtual() noexcept { __bw_pure_virtual(); }

void *__dynamic_cast(const void *object, const type *from, const type *to, ptrdiff_t) noexcept {
    const long *table = *(const long *const *)object;
    const char *whole = (const char *)object + table[-2];
    const type *dynamic = (const type *)table[-1];
    places targets, upwards;
    targets.count = upwards.count = 0;
    find(dynamic, whole, to, true, &targets);
    const char *below = nullptr;
    int holding = 0;
    for (int i = 0; i < targets.count; i++) {
        places inside;
        inside.count = 0;
        find(to, targets.at[i], from, true, &inside);
        for (int j = 0; j < inside.count; j++)
            if (inside.at[j] == object && inside.open[j]) below = targets.at[i], holding++;
    }
    if (holding == 1) return (void *)below;
    find(dynamic, whole, from, true, &upwards);
    bool open = false;
    for (int i = 0; i < upwards.count; i++)
        if (upwards.at[i] == object) open = upwards.open[i];
    return open && targets.count == 1 && targets.open[0] ? (void *)targets.at[0] : nullptr;
}

bool same_type_now(const type *left, const type *right) noexcept NAMED(_ZNKSt9type_infoeqERKS_);
bool same_type_now(const type *left, const type *right) noexcept { return same(left, right); }

/* ---- objects that begin and end with the program, or when they are first reached ---- */

int __cxa_guard_acquire(uint64_t *guard) noexcept { return *(char *)guard == 0; }
void __cxa_guard_release(uint64_t *guard) noexcept { *(char *)guard = 1; }
void __cxa_guard_abort(uint64_t *) noexcept {}

struct ending {
    void (*destroy)(void *);
    void *object;
};

enum { MOST_ENDINGS = 64 };
static ending __bw_own_endings[MOST_ENDINGS];
static int __bw_own_ending_count;

static void end_last() noexcept {
    ending last = __bw_own_endings[--__bw_own_ending_count];
    last.destroy(last.object);
}

/* What every file that includes <iostream> leaves for the end: nothing happens then. */
void end_streams(void *) noexcept NAMED(_ZNSt8ios_base4InitD1Ev);

int __cxa_atexit(void (*destroy)(void *), void *object, void *) noexcept {
    if (destroy == end_streams) return 0;
    if (__bw_own_ending_count == MOST_ENDINGS) __bw_unsupported("more than 64 objects that end with the program");
    __bw_own_endings[__bw_own_ending_count++] = {destroy, object};
    return atexit(end_last);
}
}
