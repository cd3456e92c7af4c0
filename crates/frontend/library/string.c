/* string.h and strings.h in the "C" locale. */
#include "library.h"

MODEL size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}
