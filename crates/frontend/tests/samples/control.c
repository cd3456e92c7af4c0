/* Every kind of control flow. */
#include <stdlib.h>

struct node { int value; struct node *next; };

int length(const struct node *list)
{
    int n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

int loops(int n)
{
    int i, j, sum = 0;
    for (i = 0, j = n; i < j && sum < 1000; i++, j--) {
        if (i == 3)
            continue;
        if (j == 4)
            break;
        sum += i * j;
    }
    while (n-- > 0)
        ;
    do {
        sum -= 3;
        if (sum == 7)
            continue;
    } while (sum > 0 && n);
    for (;;) {
        if (sum++ > 10)
            break;
    }
    for (int k = 0;; k++)
        if (k > 3)
            return sum;
}

int jumps(int n)
{
    int i = 0;
again:
    i++;
    if (i < n)
        goto again;
    if (n < 0)
        goto inside;
    while (i > 0) {
    inside:
        i--;
        if (i == 5)
            goto done;
    }
    for (;;)
        goto done;
done:
    return i;
}

int switches(int x, unsigned char c, long long big)
{
    int r = 0;
    switch (x) {
        r = 99;
    default:
        r = 1;
    case 1:
    case 2:
        r += 2;
        break;
    case 3 ... 5:
        if (r)
            r++;
        else
            return r;
    case -1:
        switch (c) {
        case 'a':
            r = 10;
            break;
        case 'b':
            continue_here:
            r = 20;
        }
        break;
    }
    switch (big) {
    case 0x100000000LL:
        r++;
    }
    while (x-- > 0) {
        switch (x & 3) {
        case 0:
            continue;
        case 1:
            r++;
            break;
        default:
            goto continue_here;
        }
    }
    switch (x)
        case 7:
            r++;
    return r;
}

void duff(char *to, const char *from, int count)
{
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0: do { *to++ = *from++;
    case 3:      *to++ = *from++;
    case 2:      *to++ = *from++;
    case 1:      *to++ = *from++;
            } while (--n > 0);
    }
}

enum color { RED, GREEN = 5, BLUE };

int colors(enum color c, _Bool flag)
{
    switch (c) {
    case RED: return 1;
    case GREEN: return 2;
    case BLUE: return 3;
    }
    switch (flag) {
    case 0: return 4;
    case 1: return 5;
    }
    return 0;
}

int computed(int x)
{
    static void *table[] = { &&zero, &&one };
    if (x < 0 || x > 1)
        exit(1);
    goto *table[x];
zero:
    return 0;
one:
    return 1;
}

_Noreturn void fatal(int code) { exit(code ? code : 1); }

int after_return(int x)
{
    if (x > 0)
        fatal(x);
    return 1;
    if (x)
        return 2;
unused_label:
    return x ? 3 : 4;
}

int empty(void) { while (1) { } }
int empty_goto(void) { here: goto here; }
void nothing(void) { }
int label_last(int x) { while (x > 0) { x--; if (x == 3) goto next; x--; next: ; } return x; }
int dangling(int a, int b) { if (a) if (b) return 1; else return 2; return 3; }
