/* ctype.h in the "C" locale, as glibc lays it out: its macros look into tables for -128 (a negative char) to 255. */
#include "library.h"

enum {
    UPPER = 0x100, LOWER = 0x200, ALPHA = 0x400, DIGIT = 0x800, XDIGIT = 0x1000, SPACE = 0x2000,
    PRINT = 0x4000, GRAPH = 0x8000, BLANK = 0x1, CNTRL = 0x2, PUNCT = 0x4, ALNUM = 0x8
};

#define BETWEEN(c, low, high) ((c) >= (low) && (c) <= (high))
#define IS_UPPER(c) BETWEEN(c, 'A', 'Z')
#define IS_LOWER(c) BETWEEN(c, 'a', 'z')
#define IS_ALPHA(c) (IS_UPPER(c) || IS_LOWER(c))
#define IS_DIGIT(c) BETWEEN(c, '0', '9')
#define IS_GRAPH(c) BETWEEN(c, '!', '~')

#define CLASSES(c) \
    ((IS_UPPER(c) ? UPPER : 0) | (IS_LOWER(c) ? LOWER : 0) | (IS_ALPHA(c) ? ALPHA : 0) | (IS_DIGIT(c) ? DIGIT : 0) | \
     (IS_DIGIT(c) || BETWEEN(c, 'A', 'F') || BETWEEN(c, 'a', 'f') ? XDIGIT : 0) | \
     ((c) == ' ' || BETWEEN(c, '\t', '\r') ? SPACE : 0) | (BETWEEN(c, ' ', '~') ? PRINT : 0) | \
     (IS_GRAPH(c) ? GRAPH : 0) | ((c) == ' ' || (c) == '\t' ? BLANK : 0) | \
     (BETWEEN(c, 0, 31) || (c) == 127 ? CNTRL : 0) | (IS_GRAPH(c) && !IS_ALPHA(c) && !IS_DIGIT(c) ? PUNCT : 0) | \
     (IS_ALPHA(c) || IS_DIGIT(c) ? ALNUM : 0))
#define TO_LOWER(c) (IS_UPPER(c) ? (c) + ('a' - 'A') : (c))
#define TO_UPPER(c) (IS_LOWER(c) ? (c) - ('a' - 'A') : (c))

#define EACH_4(f, c) f(c), f(c + 1), f(c + 2), f(c + 3)
#define EACH_16(f, c) EACH_4(f, c), EACH_4(f, c + 4), EACH_4(f, c + 8), EACH_4(f, c + 12)
#define EACH_64(f, c) EACH_16(f, c), EACH_16(f, c + 16), EACH_16(f, c + 32), EACH_16(f, c + 48)
#define EACH_256(f, c) EACH_64(f, c), EACH_64(f, c + 64), EACH_64(f, c + 128), EACH_64(f, c + 192)

/* Negative characters below EOF have the value of the same byte. */
#define AS_BYTE(c) ((c) == -1 ? -1 : (c) & 0xff)
#define CLASSES_OF(c) CLASSES((c))
#define TO_LOWER_OF(c) TO_LOWER((c))
#define TO_UPPER_OF(c) TO_UPPER((c))

static const unsigned short __bw_classes[384] = {
    EACH_64(CLASSES_OF, -128), EACH_64(CLASSES_OF, -64), EACH_256(CLASSES_OF, 0)};
static const int __bw_to_lower[384] = {EACH_64(AS_BYTE, -128), EACH_64(AS_BYTE, -64), EACH_256(TO_LOWER_OF, 0)};
static const int __bw_to_upper[384] = {EACH_64(AS_BYTE, -128), EACH_64(AS_BYTE, -64), EACH_256(TO_UPPER_OF, 0)};
static const unsigned short *const __bw_classes_of_zero = __bw_classes + 128;
static const int *const __bw_to_lower_of_zero = __bw_to_lower + 128;
static const int *const __bw_to_upper_of_zero = __bw_to_upper + 128;

MODEL const unsigned short **__ctype_b_loc(void) { return (const unsigned short **)&__bw_classes_of_zero; }
MODEL const int **__ctype_tolower_loc(void) { return (const int **)&__bw_to_lower_of_zero; }
MODEL const int **__ctype_toupper_loc(void) { return (const int **)&__bw_to_upper_of_zero; }
MODEL size_t __ctype_get_mb_cur_max(void) { return 1; }

MODEL int isalnum(int c) { return __bw_classes[c + 128] & ALNUM; }
MODEL int isalpha(int c) { return __bw_classes[c + 128] & ALPHA; }
MODEL int isblank(int c) { return __bw_classes[c + 128] & BLANK; }
MODEL int iscntrl(int c) { return __bw_classes[c + 128] & CNTRL; }
MODEL int isdigit(int c) { return __bw_classes[c + 128] & DIGIT; }
MODEL int isgraph(int c) { return __bw_classes[c + 128] & GRAPH; }
MODEL int islower(int c) { return __bw_classes[c + 128] & LOWER; }
MODEL int isprint(int c) { return __bw_classes[c + 128] & PRINT; }
MODEL int ispunct(int c) { return __bw_classes[c + 128] & PUNCT; }
MODEL int isspace(int c) { return __bw_classes[c + 128] & SPACE; }
MODEL int isupper(int c) { return __bw_classes[c + 128] & UPPER; }
MODEL int isxdigit(int c) { return __bw_classes[c + 128] & XDIGIT; }
MODEL int isascii(int c) { return (c & ~0x7f) == 0; }
MODEL int toascii(int c) { return c & 0x7f; }

MODEL int tolower(int c) { return c >= -128 && c < 256 ? __bw_to_lower[c + 128] : c; }
MODEL int toupper(int c) { return c >= -128 && c < 256 ? __bw_to_upper[c + 128] : c; }
