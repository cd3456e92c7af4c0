/* Functions of another file, and a piece of a function in another file. */
#include "parts/limits.h"
#include "parts/more.c"

int table(int x, int y)
{
    switch (x) {
    case 1:
        x += limited(y);
#include "parts/table.inc"
    case 12:
        x--;
    }
    return x && more(y) && positive(x);
}
