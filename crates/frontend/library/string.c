/* string.h and strings.h in the "C" locale. */
#include "library.h"
#include "memory.h"

/* Without a branch, as every branch on an input is a path of its own. */
static unsigned char lower_case(unsigned char c) { return c + (((unsigned char)(c - 'A') < 26) << 5); }

/* ---- bytes ---- */

MODEL void *memcpy(void *to, const void *from, size_t n) {
    __builtin_memmove(to, from, n);
    return to;
}

MODEL void *memmove(void *to, const void *from, size_t n) {
    __builtin_memmove(to, from, n);
    return to;
}

MODEL void *mempcpy(void *to, const void *from, size_t n) {
    __builtin_memmove(to, from, n);
    return (char *)to + n;
}

MODEL void bcopy(const void *from, void *to, size_t n) { __builtin_memmove(to, from, n); }

MODEL void *memset(void *to, int c, size_t n) {
    __builtin_memset(to, c, n);
    return to;
}

MODEL void bzero(void *to, size_t n) { __builtin_memset(to, 0, n); }

MODEL void explicit_bzero(void *to, size_t n) { __builtin_memset(to, 0, n); }

MODEL int memcmp(const void *left, const void *right, size_t n) {
    const unsigned char *l = left, *r = right;
    for (size_t i = 0; i < n; i++)
        if (l[i] != r[i]) return l[i] - r[i];
    return 0;
}

MODEL int bcmp(const void *left, const void *right, size_t n) { return memcmp(left, right, n); }

MODEL void *memchr(const void *s, int c, size_t n) {
    const unsigned char *bytes = s;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == (unsigned char)c) return (void *)(bytes + i);
    return 0;
}

MODEL void *rawmemchr(const void *s, int c) {
    const unsigned char *bytes = s;
    while (*bytes != (unsigned char)c) bytes++;
    return (void *)bytes;
}

MODEL void *memrchr(const void *s, int c, size_t n) {
    const unsigned char *bytes = s;
    while (n--)
        if (bytes[n] == (unsigned char)c) return (void *)(bytes + n);
    return 0;
}

MODEL void *memccpy(void *to, const void *from, int c, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < n; i++) {
        t[i] = f[i];
        if (f[i] == (unsigned char)c) return t + i + 1;
    }
    return 0;
}

MODEL void *memmem(const void *text, size_t n, const void *part, size_t m) {
    const char *t = text;
    if (m > n) return 0;
    for (size_t i = 0; i <= n - m; i++)
        if (memcmp(t + i, part, m) == 0) return (void *)(t + i);
    return 0;
}

/* ---- lengths and copies ---- */

MODEL size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

MODEL size_t strnlen(const char *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

MODEL char *stpcpy(char *to, const char *from) {
    while ((*to = *from)) to++, from++;
    return to;
}

MODEL char *strcpy(char *to, const char *from) {
    stpcpy(to, from);
    return to;
}

MODEL char *stpncpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    while (i < n && from[i]) to[i] = from[i], i++;
    char *end = to + i;
    while (i < n) to[i++] = 0;
    return end;
}

MODEL char *strncpy(char *to, const char *from, size_t n) {
    stpncpy(to, from, n);
    return to;
}

MODEL char *strcat(char *to, const char *from) {
    stpcpy(to + strlen(to), from);
    return to;
}

MODEL char *strncat(char *to, const char *from, size_t n) {
    char *end = to + strlen(to);
    size_t i = 0;
    while (i < n && from[i]) end[i] = from[i], i++;
    end[i] = 0;
    return to;
}

/* ---- comparison ---- */

MODEL int strcmp(const char *left, const char *right) {
    const unsigned char *l = (const unsigned char *)left, *r = (const unsigned char *)right;
    for (;; l++, r++) {
        if (*l != *r) return *l - *r;
        if (!*l) return 0;
    }
}

MODEL int strncmp(const char *left, const char *right, size_t n) {
    const unsigned char *l = (const unsigned char *)left, *r = (const unsigned char *)right;
    for (; n; n--, l++, r++) {
        if (*l != *r) return *l - *r;
        if (!*l) return 0;
    }
    return 0;
}

MODEL int strcoll(const char *left, const char *right) { return strcmp(left, right); }

MODEL size_t strxfrm(char *to, const char *from, size_t n) {
    size_t length = strlen(from);
    if (n) stpncpy(to, from, n <= length ? n : length + 1);
    return length;
}

MODEL int strcasecmp(const char *left, const char *right) {
    const unsigned char *l = (const unsigned char *)left, *r = (const unsigned char *)right;
    if (l == r) return 0;
    for (;; l++, r++) {
        if (lower_case(*l) != lower_case(*r)) return lower_case(*l) - lower_case(*r);
        if (!*l) return 0;
    }
}

MODEL int strncasecmp(const char *left, const char *right, size_t n) {
    const unsigned char *l = (const unsigned char *)left, *r = (const unsigned char *)right;
    if (l == r) return 0;
    for (; n; n--, l++, r++) {
        if (lower_case(*l) != lower_case(*r)) return lower_case(*l) - lower_case(*r);
        if (!*l) return 0;
    }
    return 0;
}

/* ---- search ---- */

MODEL char *strchrnul(const char *s, int c) {
    while (*s && *s != (char)c) s++;
    return (char *)s;
}

MODEL char *strchr(const char *s, int c) {
    for (;; s++) {
        if (*s == (char)c) return (char *)s;
        if (!*s) return 0;
    }
}

MODEL char *strrchr(const char *s, int c) {
    const char *last = 0;
    for (;; s++) {
        if (*s == (char)c) last = s;
        if (!*s) return (char *)last;
    }
}

MODEL char *index(const char *s, int c) { return strchr(s, c); }

MODEL char *rindex(const char *s, int c) { return strrchr(s, c); }

/* Whether `s` begins with `part`; looks at no more of `s` than that takes. */
static int begins_with(const char *s, const char *part) {
    while (*part)
        if (*s++ != *part++) return 0;
    return 1;
}

MODEL char *strstr(const char *s, const char *part) {
    for (;; s++) {
        if (begins_with(s, part)) return (char *)s;
        if (!*s) return 0;
    }
}

static int begins_with_letters(const char *s, const char *part) {
    while (*part)
        if (lower_case((unsigned char)*s++) != lower_case((unsigned char)*part++)) return 0;
    return 1;
}

MODEL char *strcasestr(const char *s, const char *part) {
    for (;; s++) {
        if (begins_with_letters(s, part)) return (char *)s;
        if (!*s) return 0;
    }
}

MODEL size_t strspn(const char *s, const char *accept) {
    size_t n = 0;
    while (s[n] && strchr(accept, s[n])) n++;
    return n;
}

MODEL size_t strcspn(const char *s, const char *reject) {
    size_t n = 0;
    while (s[n] && !strchr(reject, s[n])) n++;
    return n;
}

MODEL char *strpbrk(const char *s, const char *accept) {
    s += strcspn(s, accept);
    return *s ? (char *)s : 0;
}

/* ---- tokens ---- */

MODEL char *strtok_r(char *s, const char *separators, char **rest) {
    if (!s) s = *rest;
    s += strspn(s, separators);
    if (!*s) {
        *rest = s;
        return 0;
    }
    char *end = s + strcspn(s, separators);
    *rest = *end ? end + 1 : end;
    *end = 0;
    return s;
}

static char *__bw_strtok_rest;

MODEL char *strtok(char *s, const char *separators) { return strtok_r(s, separators, &__bw_strtok_rest); }

MODEL char *strsep(char **rest, const char *separators) {
    char *s = *rest;
    if (!s) return 0;
    char *end = s + strcspn(s, separators);
    *rest = *end ? end + 1 : 0;
    *end = 0;
    return s;
}

/* ---- copies on the heap ---- */

MODEL char *strndup(const char *s, size_t most) {
    size_t n = strnlen(s, most);
    char *copy = heap_object(n + 1, UNINITIALISED);
    if (!copy) return 0;
    __builtin_memmove(copy, s, n);
    copy[n] = 0;
    return copy;
}

MODEL char *strdup(const char *s) { return strndup(s, strlen(s)); }

MODEL char *__strdup(const char *s) { return strndup(s, strlen(s)); }

/* ---- what _FORTIFY_SOURCE calls: a copy beyond `room` bytes is stopped ---- */

static void check_room(size_t n, size_t room) {
    if (n > room) __chk_fail();
}

MODEL void *__memcpy_chk(void *to, const void *from, size_t n, size_t room) {
    check_room(n, room);
    return memcpy(to, from, n);
}

MODEL void *__memmove_chk(void *to, const void *from, size_t n, size_t room) {
    check_room(n, room);
    return memmove(to, from, n);
}

MODEL void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room) {
    check_room(n, room);
    return mempcpy(to, from, n);
}

MODEL void *__memset_chk(void *to, int c, size_t n, size_t room) {
    check_room(n, room);
    return memset(to, c, n);
}

MODEL char *__strcpy_chk(char *to, const char *from, size_t room) {
    check_room(strlen(from) + 1, room);
    return strcpy(to, from);
}

MODEL char *__stpcpy_chk(char *to, const char *from, size_t room) {
    check_room(strlen(from) + 1, room);
    return stpcpy(to, from);
}

MODEL char *__strncpy_chk(char *to, const char *from, size_t n, size_t room) {
    check_room(n, room);
    return strncpy(to, from, n);
}

MODEL char *__strcat_chk(char *to, const char *from, size_t room) {
    check_room(strlen(to) + strlen(from) + 1, room);
    return strcat(to, from);
}

MODEL char *__strncat_chk(char *to, const char *from, size_t n, size_t room) {
    check_room(strlen(to) + strnlen(from, n) + 1, room);
    return strncat(to, from, n);
}
