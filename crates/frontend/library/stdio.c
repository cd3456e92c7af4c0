/* Of stdio.h, what can be said in terms of the functions that the executor knows by name (symbolic/src/streams). */
#include "memory.h"

typedef void stream;

int fgetc(stream *from);
int vsnprintf(char *to, size_t room, const char *format, va_list arguments);

/* ---- lines of any length ---- */

/* What the C library allocates for itself fails in no test. */
static void *allocated_inside(void *before, size_t size) {
    if (__bw_otherwise("allocation-succeeds")) return 0;
    return before ? __bw_resize(before, size) : __bw_allocate(size, 16, UNINITIALISED);
}

/* As the C library does it: 120 bytes first, then twice as many. */
MODEL ptrdiff_t getdelim(char **line, size_t *room, int delimiter, stream *from) {
    size_t length = 0;
    int c;
    if (!*line || !*room) {
        *room = 120;
        *line = allocated_inside(0, *room);
        if (!*line) return -1;
    }
    while ((c = fgetc(from)) != -1) {
        if (length + 2 > *room) {
            char *moved = allocated_inside(*line, 2 * *room);
            if (!moved) return -1;
            *line = moved;
            *room *= 2;
        }
        (*line)[length++] = (char)c;
        if (c == delimiter) break;
    }
    if (!length) return -1;
    (*line)[length] = 0;
    return (ptrdiff_t)length;
}

MODEL ptrdiff_t getline(char **line, size_t *room, stream *from) { return getdelim(line, room, '\n', from); }

/* ---- text of any length ---- */

MODEL int vasprintf(char **to, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(0, 0, format, again);
    va_end(again);
    *to = allocated_inside(0, (size_t)length + 1);
    if (!*to) return -1;
    return vsnprintf(*to, (size_t)length + 1, format, arguments);
}

MODEL int asprintf(char **to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

/* ---- files that are opened by name: none is there to read ---- */

/* Null. */
stream *__bw_open_for_reading(void);
/* A stream whose contents nobody looks at. */
stream *__bw_open_for_writing(void);

enum { STREAM_ENOENT = 2 };

/* For the streams of C++; where a unit calls fopen(), that is a stub. */
stream *__bw_open_file(const char *name, const char *mode) {
    for (size_t i = 0; mode[i]; i++)
        if (mode[i] == '+' && mode[0] != 'r') __bw_unsupported("fopen of a file for writing and reading");
    if (mode[0] != 'r' && name[0]) return __bw_open_for_writing();
    *__errno_location() = STREAM_ENOENT;
    return __bw_open_for_reading();
}
