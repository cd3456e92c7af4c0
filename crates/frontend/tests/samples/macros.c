/* Conditions in the bodies and in the arguments of macros, nested macros, and macros of another file. */
#include <assert.h>
#include <stddef.h>
#include "parts/limits.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CLAMP(x, low, high) MIN(MAX(x, low), high)
#define CHECK(condition) do { if (!(condition)) return -1; } while (0)
#define UNLESS(condition) if (!(condition))
#define BOTH(a, b) ((a) && (b))
#define EITHER(a, b) ((b) || (a))
#define FOR_EACH(i, n) for (int i = 0; i < (n); i++)
#define CASE(value, result) case value: return result
#define NOTHING
#define JOIN(a, b) a##b
#define MULTI(x)          \
    do {                  \
        if ((x) > 1 &&    \
            (x) < 100)    \
            total += (x); \
        else              \
            total--;      \
    } while (0)
#define DEFINE(name, op) static int name(int a, int b) { if (a op b) return a; return b && a; }
#define IS_SMALL small(x)
#define TWICE(x) x x

DEFINE(greater, >)
DEFINE(less, <)

static int small(int x) { return x < SMALL_LIMIT && x > -SMALL_LIMIT; }

int clamp(int x, int low, int high) { return CLAMP(x, low, high); }

int arguments(int x, int y)
{
    int total = 0;
    CHECK(x > 0 && y > 0);
    UNLESS(BOTH(x > 1, EITHER(y > 2, x == y))) total++;
    UNLESS(x) UNLESS(y) total++;
    FOR_EACH(i, x && y ? 3 : 4) total += i;
    MULTI(x);
    MULTI(total ? x : y);
    assert(total > 0 || x);
    assert(MIN(x, y) < 100);
    TWICE(if (x) total++;)
    if (IS_SMALL && IN_RANGE(x, 0, 10)) total NOTHING ++;
    if (JOIN(to, tal) > 3) total = 0;
    switch (MAX(x, 3)) {
        CASE(3, 1);
        CASE(4, 2);
    default:
        break;
    }
    return LIMITED(total) + greater(x, y) + less(x, y);
}

int null(int *p) { return p == NULL ? 0 : IF_NOT_NULL(p, *p); }
