/* Conditions inside expressions. */
#include <stdbool.h>

struct pair { int first, second; };

static int twice(int x) { return 2 * x; }

int values(int a, int b, int c)
{
    int v = a || b;
    int w = !(a && b), n = !a, lone = a < b;
    int list[3] = { a && b, a ? b : c, [2] = a || c };
    struct pair p = { .first = a && c, .second = a ?: b };
    struct pair q = (struct pair){ b || c, 3 };
    v += list[a && b ? 1 : 0];
    v += twice(a && b) + twice(a ? twice(b) : c);
    v = (a, b && c);
    v = a && b || c && !(a || !b);
    v += ((a ? b : c) > 1) ? 10 : 20;
    v += a ? b ? 1 : 2 : c ? 3 : 4;
    v += (a ?: b) ?: c;
    v += (a && b) ?: (b || c) ?: a;
    v = v ? : w;
    if (a ?: b) v++;
    if (twice(a && b) > twice(b || c)) v++;
    if ((v = a) && (w = b, w > 3)) v++;
    if (!(!(a > b))) v++;
    if (!a && !(b || !c)) v++;
    if (((a)) || ((b && (c)))) v++;
    while (({ int t = a--; t > 0 && b; })) v++;
    v += ({ if (a > 3) v = 1; else v = 2; v; });
    if (__builtin_expect(!!(a > b), 0)) v++;
    if (__builtin_expect(a && b, 1)) v++;
    if (a
        &&
        b /* comment */
        // another
        || c) v++;
    for (int i = (a && b); i < (c ? 3 : 4); i += a ? 1 : 2) v++;
    switch (a ? b : c) { case 1: v++; default: v--; }
    switch (a ?: b) { case 1: v++; }
    switch (twice(a && c)) { case 2: v = 3; }
    return v && w || n && lone && p.first + q.second;
}

double floats(double x, float y) { return x > 0.5 && y ? x : y; }
int pointers(int *p, const char *s, int (*f)(int)) { return p && s && *s && f && f(*p) > 0; }
bool booleans(bool a, bool b) { return a != b && !a; }
int bits(struct { unsigned x : 3; } *s) { return s->x ? 1 : s->x ?: 2; }
unsigned long unevaluated(int x, int y)
{
    __typeof__(x && y) t = sizeof(x || y);
    char array[x && y ? 3 : 4];
    static int once = 1 || 0;
    _Static_assert(sizeof(int) == 4 && 1, "int");
    enum { LOCAL = 1 && 2 };
    return sizeof array + t + once + _Alignof(int) + __builtin_choose_expr(0, x && y, x || y) + LOCAL;
}
