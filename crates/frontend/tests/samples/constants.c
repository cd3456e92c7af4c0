/* What the compiler folds has no outcomes. */
#include <stddef.h>
enum { OFF, ON };
struct two { int a, b; };
static const int fixed = 3;
#define DEBUG 0
#define LOG(x) do { if (DEBUG) y += (x); } while (0)

int constants(int x, int y)
{
    const int local = 1;
    if (ON) y++;
    if (OFF || x) y++;
    if (x && OFF) y++;
    if (1 || x) y++;
    if (fixed && local) y++;
    if (sizeof(int) == 4 && sizeof(long) == 8) y++;
    if (sizeof(int) == 4) y++; else y--;
    if (0 * x) y++;
    if ((x++, 1)) y++;
    if ((void *)0) y++;
    if (NULL) y++;
    if (!0 && !x) y++;
    if (1 ? x : y) y++;
    if ((1 ? 0 : 1)) y++;
    if ("text") y++;
    if (&y) y++;
    if (constants) y++;
    if (1.5 > 1.0) y++;
    if (0.0) y++;
    if ('a' == 97 || x) y++;
    y += DEBUG ? 1 : 2;
    y += DEBUG && x;
    LOG(x && y);
    do { y++; } while (0);
    do { y++; if (y > 4) break; } while (1);
    while (0) y++;
    while (ON) { if (x++ > 5) break; }
    for (; 1;) { if (x++ > 6) break; }
    for (;;) { if (x++ > 7) break; }
    if (0) { if (x) y++; }
    if (__builtin_constant_p(3)) y++;
    if (__builtin_constant_p(x)) y++;
    if (offsetof(struct two, b) > 2) y++;
    return y && 1;
}
