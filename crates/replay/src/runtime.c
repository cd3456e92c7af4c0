/* The native side of a replay: runs every test of a batch in a forked child over the loaded unit.
 *
 * The batch (argv[1]) is a file of 64-bit words written by batch.rs; results leave through standard output as words;
 * profiles go to files whose names begin with argv[2]; tests run in the folder argv[3], which is emptied after each.
 * Whoever starts this confines it, with all that runs before main. A test is confined once more, by the Landlock rules that
 * are open as argv[4] and the filter of system calls in the file argv[5]; what a sanitizer finds in it goes to the file
 * argv[6] (-1: nothing).
 * Marker log, outputs and profile counters lie in shared memory, so a child needs no cooperation to be observed: what
 * it did before a crash, an endless loop or a SIGKILL is there. User symbols are renamed before linking (compile.rs), so
 * nothing here can be replaced by a function of the user's with the same name.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define MAGIC 0x31797061706c7762ull

enum { FLAG_DETAILS = 1, FLAG_PROFILE_PER_GROUP = 2, FLAG_STATE = 4, FLAG_OTHER_FILLING = 8, FLAG_FIND_LEAKS = 16 };
/* Outputs with numbers that no input has. */
enum { OUTPUT_THREW = 1u << 30, OUTPUT_OBSERVED };
enum { TAG_TEST = 1, TAG_GROUP = 2, TAG_END = 3, TAG_FAILURE = 4, TAG_STARTED = 5 };
enum { END_RETURNED, END_EXITED, END_SIGNAL, END_TIME_LIMIT, END_REJECTED };
enum { CHANGE_VARIABLE, CHANGE_ERRNO, CHANGE_ARGUMENT };
enum { KIND_OUTPUT, KIND_OBJECT, KIND_STREAM };
enum { STREAM_READING_FAILS = 1, STREAM_AT_END = 2, STREAM_LIMITED = 4, STREAM_CLOSING_FAILS = 8 };
/* Beside the number of an object, where the number of a function could stand. */
#define STREAM_POINTER (1ull << 32)
enum { FAILURE_NONE, FAILURE_REGION, FAILURE_OUTPUT, FAILURE_FORK, FAILURE_BATCH, FAILURE_MEMORY, FAILURE_PROFILE, FAILURE_FOLDER, FAILURE_STREAM, FAILURE_CONFINEMENT };

struct header {
    uint64_t magic, flags, milliseconds, memory_bytes, log_entries, output_bytes;
    uint64_t region_base, region_bytes, object_count, group_count, feed_count, change_count;
};

struct group {
    uint64_t only_record, record, test_count;
};

struct test {
    uint64_t call_count, object_count, stream_count, feed_count, change_count;
    const uint64_t *calls, *objects, *streams, *feeds, *changes, *standard_input, *registers;
};

/* The call being made: its inputs. */
struct call {
    uint64_t driver, input_count;
    const uint64_t *inputs;
};

struct entry {
    uint32_t marker, is_switch;
    int64_t value;
};

struct shared {
    uint64_t returned, failure, truncated, rejected, log_count, output_words;
};

extern void (*const __bw_drivers[])(void);
/* What function pointers may point to; a unit without any has no table. */
extern void *const __bw_callables[] __attribute__((weak));
/* The variables that stubs can change; the same. */
extern void *const __bw_variables[] __attribute__((weak));

static const struct header *header;
static struct test test;
static struct call call;
/* By feed: how many of its values were taken. */
static uint64_t *feed_taken;
/* By change: how many calls of its stub were made. */
static uint64_t *calls_made;
static struct shared *shared;
static struct entry *log_entries;
static uint64_t *outputs;
static size_t shared_bytes;
static unsigned char *freed;
/* By object: the stream that it is. */
static FILE **streams;
static int results;
/* Open files, or -1. */
static int rules_of_tests, filter_of_tests, reports;

/* ---- what the unit calls ---- */

static inline void record(uint32_t marker, uint32_t kind, int64_t value) {
    /* What the C library runs before main has no log. */
    if (!shared) return;
    uint64_t at = shared->log_count;
    if (at >= header->log_entries) {
        shared->truncated = 1;
        return;
    }
    log_entries[at] = (struct entry){marker, kind, value};
    shared->log_count = at + 1;
}

int __bw_condition(unsigned marker, int value) {
    record(marker, 0, value != 0);
    return value != 0;
}

/* What an assumption excludes does not happen in a test. */
int __bw_otherwise(const char *name) {
    (void)name;
    return 0;
}

void __bw_switch(unsigned marker, long long value) { record(marker, 1, value); }

int __bw_probe(unsigned probe, int value) {
    record(probe, 2, value);
    return value;
}

/* What a program does before main, done in the child, where it can be observed. */
typedef void (*constructor)(int, char **, char **);
extern const constructor __start_bw_constructors[] __attribute__((weak));
extern const constructor __stop_bw_constructors[] __attribute__((weak));

void __bw_start(void) {
    static int started;
    static char *arguments[] = {"tests", NULL};
    if (started) return;
    started = 1;
    for (const constructor *next = __start_bw_constructors; next < __stop_bw_constructors; next++) (*next)(1, arguments, environ);
}

/* Only the prediction asks. */
void __bw_objects_begin(void) {}
void __bw_objects_end(void) {}
void __bw_objects_called(const char *class_name) { (void)class_name; }
void __bw_objects_constructed(const char *class_name) { (void)class_name; }
void __bw_objects_left_out(const char *method) { (void)method; }
/* Feeds end sequences with their zeros. */
int __bw_objects_more_calls(unsigned made) { return (void)made, 1; }
int __bw_objects_more_elements(unsigned added) { return (void)added, 1; }
int __bw_objects_share(const char *argument, const char *other) { return (void)argument, (void)other, 1; }
int __bw_objects_owners(const char *argument) { return (void)argument, 1; }
int __bw_objects_lasting_owners(const char *argument) { return (void)argument, 1; }
int __bw_objects_past(const char *stream) { return (void)stream, 1; }

static void fail(uint64_t why) {
    shared->failure = why;
    _exit(1);
}

static const uint64_t *skip_bytes(const uint64_t *words, uint64_t size) { return words + (size + 7) / 8; }

/* A blob is its size, its bytes, then the offsets and numbers of the functions and streams that are pointed to in it. */
static const uint64_t *skip_blob(const uint64_t *at) {
    at = skip_bytes(at + 1, *at);
    return at + 1 + 2 * *at;
}

static void copy_blob(void *where, const uint64_t *at) {
    memcpy(where, at + 1, *at);
    const uint64_t *pointers = skip_bytes(at + 1, *at);
    for (uint64_t i = 0; i < pointers[0]; i++) {
        uint64_t number = pointers[2 + 2 * i];
        const void *target = number & STREAM_POINTER ? (void *)streams[(uint32_t)number] : __bw_callables[number];
        memcpy((char *)where + pointers[1 + 2 * i], &target, sizeof target);
    }
}

void __bw_input(void *where, unsigned index) {
    const uint64_t *at = call.inputs;
    if (index >= call.input_count) fail(FAILURE_BATCH);
    for (unsigned i = 0; i < index; i++) at = skip_blob(at);
    copy_blob(where, at);
}

/* Only the prediction asks. */
void __bw_outside(void) {}
void __bw_left_alone(const volatile void *where, unsigned long written) { (void)where, (void)written; }

/* The next value of a feed, and zeros after the last. */
void __bw_feed(void *where, unsigned feed, unsigned long size) {
    const uint64_t *at = test.feeds;
    memset(where, 0, size);
    if (feed >= test.feed_count) return;
    for (unsigned i = 0; i < feed; i++) {
        uint64_t values = *at++;
        while (values--) at = skip_blob(at);
    }
    uint64_t values = *at++;
    if (feed_taken[feed] >= values) return;
    for (uint64_t i = 0; i < feed_taken[feed]; i++) at = skip_blob(at);
    feed_taken[feed]++;
    copy_blob(where, at);
}

/* A write of a stub to something that no feed is for. */
struct change {
    uint64_t calls_before, kind, number, offset_count, size;
    const uint64_t *offsets;
    const char *stub, *bytes;
};

static const uint64_t *read_change(const uint64_t *at, struct change *change) {
    change->calls_before = at[0], change->kind = at[1], change->number = at[2], change->offset_count = at[3];
    change->offsets = at + 4;
    at += 4 + change->offset_count;
    change->stub = (const char *)(at + 1);
    at = skip_bytes(at + 1, *at);
    change->size = *at;
    change->bytes = (const char *)(at + 1);
    return skip_bytes(at + 1, *at);
}

static char *changed_place(const struct change *change, const void *const *arguments) {
    const uint64_t *offset = change->offsets;
    if (change->kind == CHANGE_ERRNO) return (char *)&errno;
    if (change->kind == CHANGE_VARIABLE) return (char *)__bw_variables[change->number] + *offset;
    char *place = (char *)arguments[change->number];
    for (uint64_t i = 1; i < change->offset_count; i++) place = *(char **)(place + *offset++);
    return place + *offset;
}

/* A stub changes what the test says, by way of its arguments too. */
void __bw_act(const char *stub, const void *const *arguments) {
    const uint64_t *at = test.changes;
    struct change change;
    for (uint64_t i = 0; i < test.change_count; i++) {
        at = read_change(at, &change);
        if (strcmp(change.stub, stub) == 0 && calls_made[i]++ == change.calls_before)
            memcpy(changed_place(&change, arguments), change.bytes, change.size);
    }
}

void __bw_act_again(const char *stub, const void *const *arguments) { __bw_act(stub, arguments); }

/* A test says how often; here, it may. */
int __bw_may_call(void) { return 1; }

/* How many of its variable arguments a stub has to look at for that; `named`: how many others it has. */
unsigned long __bw_looks_at(const char *stub, unsigned long named) {
    const uint64_t *at = test.changes;
    unsigned long most = 0;
    struct change change;
    for (uint64_t i = 0; i < test.change_count; i++) {
        at = read_change(at, &change);
        if (strcmp(change.stub, stub) == 0 && calls_made[i] == change.calls_before && change.kind == CHANGE_ARGUMENT
            && change.number >= named && change.number - named + 1 > most)
            most = change.number - named + 1;
    }
    return most;
}

/* Stands for what acts on the world outside of a test, or reads from it, and has no stub. */
void __bw_refuse(void) {
    signal(SIGSYS, SIG_DFL);
    raise(SIGSYS);
    _exit(1);
}

static void branchwise_give_up(void) { __bw_refuse(); }
#include "registers.c"

/* A precondition that does not hold: the test is none. */
void __bw_assume(int holds) {
    if (holds) return;
    shared->rejected = 1;
    _exit(1);
}

static void put_output(uint64_t kind, uint64_t index, const void *from, uint64_t size) {
    uint64_t used = shared->output_words, words = 3 + (size + 7) / 8;
    if (words > header->output_bytes / 8 - used) fail(FAILURE_OUTPUT);
    uint64_t *to = outputs + used;
    to[0] = kind, to[1] = index, to[2] = size;
    if (size) to[words - 1] = 0;
    if (size) memcpy(to + 3, from, size);
    shared->output_words = used + words;
}

/* ---- C++: what a call threw, and what its objects show afterwards ---- */

/* Those of the runtime library of C++. */
extern const void *const *__cxa_current_exception_type(void) __attribute__((weak));
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status) __attribute__((weak));

enum { LONGEST_NAME = 256 };

/* The call under test threw: an output with the name of what it threw. */
void __bw_threw(void) {
    const void *const *type = __cxa_current_exception_type ? __cxa_current_exception_type() : NULL;
    const char *name = type ? type[1] : "";
    if (*name == '*') name++;
    char *readable = *name && __cxa_demangle ? __cxa_demangle(name, NULL, NULL, NULL) : NULL;
    if (!readable) name = "";
    size_t size = strlen(readable ? readable : name);
    put_output(KIND_OUTPUT, OUTPUT_THREW, readable ? readable : name, size < LONGEST_NAME ? size : 0);
    free(readable);
}

int __bw_observing(void) { return (header->flags & FLAG_STATE) != 0; }

/* A part of what the expression with this number shows. What there is no room for is left out. */
void __bw_observed(unsigned number, const void *from, unsigned long size) {
    if (3 + (size + 7) / 8 <= header->output_bytes / 8 - shared->output_words)
        put_output(KIND_OUTPUT, OUTPUT_OBSERVED + number, from, size);
}

/* Memory that nobody writes shows by differing between two runs. */
static int filling(void) { return header->flags & FLAG_OTHER_FILLING ? 0xa5 : 0x5a; }

void __bw_fill(void *room, unsigned long size) {
    if (__bw_observing()) memset(room, filling(), size);
}

/* The part of the stack where the frame of the driver will be. */
static __attribute__((noinline)) void fill_stack(void) {
    char room[1 << 14];
    memset(room, filling(), sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

void __bw_output(const void *from, unsigned index, unsigned long size) { put_output(KIND_OUTPUT, index, from, size); }

/* ---- objects: each flush against a page that nobody may touch ---- */

static void protect(uint64_t address, uint64_t size, int how) {
    uint64_t first = address & ~(PAGE - 1), end = (address + size + PAGE - 1) & ~(PAGE - 1);
    if (end > first && size && mprotect((void *)first, end - first, how) != 0) fail(FAILURE_REGION);
}

static void place_objects(void) {
    const uint64_t *at = test.objects;
    for (uint64_t i = 0; i < test.object_count; i++) {
        protect(at[0], at[1], PROT_READ | PROT_WRITE);
        copy_blob((void *)at[0], at + 1);
        at = skip_blob(at + 1);
    }
}

/* ---- streams: what can be read from them, and what happens at their ends ---- */

struct stream {
    const char *bytes;
    uint64_t size, at, flags, room;
};

/* What fails leaves errno alone: the prediction knows nothing of it. */
static ssize_t stream_read(void *cookie, char *to, size_t most) {
    struct stream *stream = cookie;
    uint64_t left = stream->size - stream->at;
    if (!left) return stream->flags & STREAM_READING_FAILS ? -1 : 0;
    if (left > most) left = most;
    memcpy(to, stream->bytes + stream->at, left);
    stream->at += left;
    return (ssize_t)left;
}

static ssize_t stream_write(void *cookie, const char *from, size_t size) {
    struct stream *stream = cookie;
    (void)from;
    if ((stream->flags & STREAM_LIMITED) && size > stream->room) size = stream->room;
    stream->room -= size;
    stream->at += size;
    return (ssize_t)size;
}

static int stream_seek(void *cookie, off64_t *offset, int whence) {
    struct stream *stream = cookie;
    uint64_t from = whence == SEEK_CUR ? stream->at : whence == SEEK_END ? stream->size : 0;
    if ((int64_t)from + *offset < 0) return -1;
    *offset += (int64_t)from;
    stream->at = (uint64_t)*offset;
    return 0;
}

static int stream_close(void *cookie) { return ((struct stream *)cookie)->flags & STREAM_CLOSING_FAILS ? -1 : 0; }

static void open_streams(void) {
    const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    const uint64_t *at = test.streams;
    for (uint64_t i = 0; i < test.stream_count; i++) {
        struct stream *stream = calloc(1, sizeof *stream);
        if (!stream) fail(FAILURE_STREAM);
        *stream = (struct stream){.flags = at[1], .room = at[2], .size = at[3], .bytes = (const char *)(at + 4)};
        FILE *file = fopencookie(stream, "r+", functions);
        if (!file || setvbuf(file, NULL, _IONBF, 0) != 0) fail(FAILURE_STREAM);
        if (stream->flags & STREAM_AT_END) fgetc(file);
        streams[at[0]] = file;
        at = skip_bytes(at + 4, at[3]);
    }
}

/* ---- files that a program opens by name: none is there to read, and nobody keeps what is written ---- */

/* The library of C++ opens its files by this name, which nothing else here uses. */
FILE *fopen64(const char *name, const char *mode) {
    if (*mode == 'r' || !*name) {
        errno = ENOENT;
        return NULL;
    }
    int nowhere = dup(1);
    return nowhere < 0 ? NULL : fdopen(nowhere, "w");
}

static void dump_streams(void) {
    const uint64_t *at = test.streams;
    for (uint64_t i = 0; i < test.stream_count; i++) {
        put_output(KIND_STREAM, at[0], &streams[at[0]], sizeof *streams);
        at = skip_bytes(at + 4, at[3]);
    }
}

static void dump_objects(void) {
    const uint64_t *at = test.objects;
    for (uint64_t i = 0; i < test.object_count; i++) {
        if (!freed[i]) put_output(KIND_OBJECT, i, (const void *)at[0], at[1]);
        at = skip_blob(at + 1);
    }
}

static int is_input_memory(const void *pointer) {
    return (uint64_t)pointer - header->region_base < header->region_bytes;
}

/* Finds the object that begins at `pointer`; anything else handed to free() aborts, as the C library would. */
static const uint64_t *live_object(const void *pointer, uint64_t *index) {
    const uint64_t *at = test.objects;
    for (uint64_t i = 0; i < test.object_count; i++) {
        if (at[0] == (uint64_t)pointer && !freed[i]) {
            *index = i;
            return at;
        }
        at = skip_blob(at + 1);
    }
    abort();
}

/* ---- the unit's dynamic memory, by the rules of the models ---- */

/* Larger requests fail, here and in the models (frontend/library/memory.c). */
#define LARGEST_ALLOCATION ((size_t)256 << 20)

/* The feed that says which allocations fail; a unit whose allocations never do has none. */
extern const unsigned __bw_allocation_feed __attribute__((weak));

static int allocation_fails(size_t size) {
    unsigned char fails = size > LARGEST_ALLOCATION;
    if (!fails && &__bw_allocation_feed) __bw_feed(&fails, __bw_allocation_feed, 1);
    if (fails) errno = ENOMEM;
    return fails;
}

void *__bw_malloc(size_t size) { return allocation_fails(size) ? NULL : malloc(size); }

void *__bw_calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    return allocation_fails(bytes) ? NULL : calloc(count, size);
}

void *__bw_aligned_alloc(size_t alignment, size_t size) {
    return allocation_fails(size) ? NULL : aligned_alloc(alignment, size);
}

void *__bw_memalign(size_t alignment, size_t size) {
    return allocation_fails(size) ? NULL : memalign(alignment, size);
}

int __bw_posix_memalign(void **to, size_t alignment, size_t size) {
    int fits = alignment && !(alignment & (alignment - 1)) && alignment % sizeof(void *) == 0;
    return fits && allocation_fails(size) ? ENOMEM : posix_memalign(to, alignment, size);
}

char *__bw_strdup(const char *text) { return allocation_fails(strlen(text) + 1) ? NULL : strdup(text); }

char *__bw_strndup(const char *text, size_t most) {
    return allocation_fails(strnlen(text, most) + 1) ? NULL : strndup(text, most);
}

/* An input object may be given back like memory of malloc(); later use of it traps. */
void __bw_free(void *pointer) {
    uint64_t index;
    if (!is_input_memory(pointer)) {
        free(pointer);
        return;
    }
    const uint64_t *object = live_object(pointer, &index);
    protect(object[0], object[1], PROT_NONE);
    freed[index] = 1;
}

/* `delete` and `delete[]` of C++, which a sanitizer tells apart from free(). */
extern void delete_object(void *) __asm__("_ZdlPv") __attribute__((weak));
extern void delete_array(void *) __asm__("_ZdaPv") __attribute__((weak));

static void give_back(void *pointer, void (*delete)(void *)) {
    if (is_input_memory(pointer) || !delete) __bw_free(pointer);
    else delete(pointer);
}

void __bw__ZdlPv(void *pointer) { give_back(pointer, delete_object); }
void __bw__ZdaPv(void *pointer) { give_back(pointer, delete_array); }
void __bw__ZdlPvm(void *pointer, size_t size) { (void)size, give_back(pointer, delete_object); }
void __bw__ZdaPvm(void *pointer, size_t size) { (void)size, give_back(pointer, delete_array); }

void *__bw_realloc(void *pointer, size_t size) {
    uint64_t index;
    if (pointer && !size) {
        __bw_free(pointer);
        return NULL;
    }
    if (allocation_fails(size)) return NULL;
    if (!is_input_memory(pointer)) return realloc(pointer, size);
    const uint64_t *object = live_object(pointer, &index);
    void *moved = malloc(size);
    if (moved) {
        memcpy(moved, pointer, size < object[1] ? size : object[1]);
        __bw_free(pointer);
    }
    return moved;
}

void *__bw_reallocarray(void *pointer, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    return __bw_realloc(pointer, bytes);
}

/* ---- results ---- */

static void send_bytes(const void *from, size_t size) {
    const char *at = from;
    while (size) {
        ssize_t sent = write(results, at, size);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(2);
        at += sent;
        size -= (size_t)sent;
    }
}

static void send_tag(uint64_t tag) { send_bytes(&tag, sizeof tag); }

static void give_up(uint64_t why) {
    uint64_t words[2] = {TAG_FAILURE, why};
    send_bytes(words, sizeof words);
    _exit(1);
}

static void send_result(uint64_t end, uint64_t detail) {
    uint64_t details = header->flags & FLAG_DETAILS, log_count = shared->log_count, words = shared->output_words;
    /* A wild write of the unit may have hit the counts; never believe them beyond what there is. */
    if (log_count > header->log_entries) log_count = header->log_entries;
    if (words > header->output_bytes / 8) words = 0;
    if (!details) log_count = words = 0;
    if (end != END_RETURNED) words = 0;
    uint64_t head[6] = {TAG_TEST, end, detail, shared->truncated, log_count, words};
    send_bytes(head, sizeof head);
    send_bytes(log_entries, log_count * sizeof *log_entries);
    send_bytes(outputs, words * 8);
}

/* ---- one test ---- */

/* Removes what it can of the current folder. Returns the name of a folder that is not empty, or "". */
static const char *clear_entries(void) {
    static char full[256];
    DIR *folder = opendir(".");
    full[0] = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (unlink(entry->d_name) != 0 && rmdir(entry->d_name) != 0 && errno == ENOTEMPTY)
            strcpy(full, entry->d_name);
    }
    if (folder) closedir(folder);
    return full;
}

/* Files that a test makes must not be there for the next one. Folders may be nested deeper than any path can say. */
static void clear_folder(void) {
    for (long depth = 0; depth >= 0;) {
        const char *full = clear_entries();
        if (*full && chdir(full) == 0) depth++;
        else if (*full || depth-- == 0 || chdir("..") != 0) break;
    }
}

/* Variables that the unit forgets to initialise must not show what an earlier test left on the stack. */
static __attribute__((noinline)) void scrub_stack(void) {
    volatile uint64_t area[4096];
    for (int i = 0; i < 4096; i++) area[i] = 0;
}

static void prepare_profile(void);

#ifndef BW_COUNT
static void be_counted(void) {}
static const uint64_t counted_instructions = 0;
#endif

/* Not a pipe: its writer would have to be a process of its own when there is much to write. */
static void provide_standard_input(void) {
    const char *bytes = (const char *)(test.standard_input + 1);
    uint64_t left = *test.standard_input;
    if (!left) return;
    int file = memfd_create("stdin", MFD_CLOEXEC);
    if (file < 0) fail(FAILURE_MEMORY);
    while (left) {
        ssize_t written = write(file, bytes, left);
        if (written <= 0) fail(FAILURE_MEMORY);
        bytes += written;
        left -= (uint64_t)written;
    }
    if (lseek(file, 0, SEEK_SET) != 0 || dup2(file, 0) != 0) fail(FAILURE_MEMORY);
    close(file);
}

/* Each has an address, the size of its values (0: what stands there at first) and these. */
static void place_registers(void) {
    const uint64_t *at = test.registers;
    uint64_t registers = *at++;
    while (registers--) {
        if (at[1]) branchwise_register(at[0], at + 4, at[1], at[2]);
        else branchwise_memory(at[0], at + 4, at[3]);
        at = skip_bytes(at + 4, at[3]);
    }
}

/* Only what the last call hands out is observed. */
static void make_calls(void) {
    const uint64_t *at = test.calls;
    for (uint64_t i = 0; i < test.call_count; i++) {
        call = (struct call){.driver = at[0], .input_count = at[1], .inputs = at + 2};
        at += 2;
        for (uint64_t input = 0; input < call.input_count; input++) at = skip_blob(at);
        shared->output_words = 0;
        if (__bw_observing()) fill_stack();
        __bw_drivers[call.driver]();
    }
}

/* Those of the leak sanitizer. */
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
extern void __lsan_register_root_region(const void *from, size_t size) __attribute__((weak));

/* What the test has allocated and nobody can reach goes into the report. */
static void find_leaks(void) {
    if (!(header->flags & FLAG_FIND_LEAKS) || !__lsan_do_recoverable_leak_check) return;
    scrub_stack();
    __lsan_register_root_region((const void *)header->region_base, header->region_bytes);
    __lsan_do_recoverable_leak_check();
}

/* ---- confinement of a test ---- */

/* Stands in the filter for the number of the process (TestDomain::OWN_PROCESS). */
#define OWN_PROCESS 0x7fff4257u

static struct sock_filter filter_steps[BPF_MAXINSNS];
static size_t filter_bytes;

/* The machine code of the user's files (compile.rs). */
extern const char __start_bw_code[] __attribute__((weak));
extern const char __stop_bw_code[] __attribute__((weak));

#define INSTRUCTION_POINTER offsetof(struct seccomp_data, instruction_pointer)

/* Steps that end a test with SIGSYS where the user's own instructions call the system, past the C library. Emitted tests are not
 * confined, so such a test must not be one of them. Executables are loaded below 4 GB (compile.rs links no others). */
static size_t guard_own_code(struct sock_filter *steps) {
    const struct sock_filter guard[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, INSTRUCTION_POINTER + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, INSTRUCTION_POINTER),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)(uintptr_t)__start_bw_code, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(uintptr_t)__stop_bw_code, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    memcpy(steps, guard, sizeof guard);
    return sizeof guard;
}

/* Those of all sanitizers. */
extern void __sanitizer_set_report_fd(void *) __attribute__((weak));

static void read_filter(void) {
    if (filter_of_tests < 0) return;
    size_t guard = guard_own_code(filter_steps);
    ssize_t size = pread(filter_of_tests, (char *)filter_steps + guard, sizeof filter_steps - guard, 0);
    close(filter_of_tests);
    if (size <= 0) give_up(FAILURE_CONFINEMENT);
    filter_bytes = guard + (size_t)size;
}

static void filter_calls(void) {
    struct sock_fprog program = {(unsigned short)(filter_bytes / sizeof *filter_steps), filter_steps};
    for (size_t i = 0; i < program.len; i++)
        if (BPF_CLASS(filter_steps[i].code) == BPF_JMP && filter_steps[i].k == OWN_PROCESS)
            filter_steps[i].k = (uint32_t)getpid();
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) fail(FAILURE_CONFINEMENT);
}

/* From here on the process runs what the user wrote. */
static void confine_test(void) {
    if (reports >= 0 && __sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)reports);
    if (rules_of_tests >= 0 && syscall(SYS_landlock_restrict_self, rules_of_tests, 0) != 0) fail(FAILURE_CONFINEMENT);
    if (rules_of_tests >= 0) close(rules_of_tests);
    if (filter_bytes) filter_calls();
}

static void run_child(void) {
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(results);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    open_streams();
    place_objects();
    place_registers();
    prepare_profile();
    provide_standard_input();
    be_counted();
    confine_test();
    scrub_stack();
    errno = 0;
    __bw_start();
    make_calls();
    find_leaks();
    dump_objects();
    dump_streams();
    shared->returned = 1;
    _exit(0);
}

static int64_t milliseconds_of(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return -1;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t processor_milliseconds(pid_t child) {
    clockid_t clock;
    if (clock_getcpuclockid(child, &clock) != 0) return -1;
    return milliseconds_of(clock);
}

/* Sleeps until the child may have ended, or its limit may be reached. */
static void sleep_until_signal(int64_t milliseconds) {
    sigset_t wanted;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigtimedwait(&wanted, NULL, &time);
}

/* Waits without reaping. The limit is processor time, so that a busy machine does not change results; a child that
 * sleeps is stopped after three times the limit by the clock. Returns whether the limit was reached. */
static int wait_for_end(pid_t child) {
#ifdef BW_COUNT
    return count_until_end(child, header->milliseconds);
#endif
    int64_t begin = milliseconds_of(CLOCK_MONOTONIC), limit = (int64_t)header->milliseconds;
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child) return 0;
        int64_t elapsed = milliseconds_of(CLOCK_MONOTONIC) - begin, used = processor_milliseconds(child);
        if (used < 0) used = elapsed;
        if (used >= limit || elapsed >= 3 * limit) return 1;
        sleep_until_signal(limit - used);
    }
}

static pid_t fork_patiently(void) {
    for (int attempt = 0; attempt < 100; attempt++) {
        pid_t child = fork();
        if (child >= 0 || errno != EAGAIN) return child;
        usleep(10000);
    }
    return -1;
}

static int end_listed_children(const char *path) {
    int child;
    FILE *list = fopen(path, "re");
    if (!list) return 0;
    while (fscanf(list, "%d", &child) == 1) kill(child, SIGKILL);
    fclose(list);
    return 1;
}

/* Whatever a test has started and left is a child of this process by now. Where filters keep tests from starting any, it is
 * a constructor's, and ends with this process. */
static void end_orphans(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (int attempt = 0; attempt < 100; attempt++) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG | __WALL)) > 0) {}
        if (ended < 0) return;
        if (getpid() == 1) kill(-1, SIGKILL);
        else if (!end_listed_children(path)) return;
        usleep(1000);
    }
}

static void run_test(void) {
    int status = 0;
    *shared = (struct shared){0};
    pid_t child = fork_patiently();
    if (child == 0) run_child();
    if (child < 0) give_up(FAILURE_FORK);
    int late = wait_for_end(child);
    /* Also ends what the unit itself has forked; the child is not reaped yet, so the group is still its own. */
    kill(child, SIGKILL);
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    end_orphans();
    clear_folder();
    /* All three must agree, for a wild write of the unit could have set one of them. */
    if (shared->failure && !shared->returned && status == W_EXITCODE(1, 0)) give_up(shared->failure);
    if (shared->rejected && !shared->returned && status == W_EXITCODE(1, 0)) send_result(END_REJECTED, 0);
    else if (WIFEXITED(status) && shared->returned) send_result(END_RETURNED, 0);
    else if (WIFEXITED(status)) send_result(END_EXITED, (uint64_t)WEXITSTATUS(status));
    else if (late) send_result(END_TIME_LIMIT, 0);
    else send_result(END_SIGNAL, (uint64_t)WTERMSIG(status));
}

/* ---- coverage: children count into shared memory, this process writes the profile ---- */

#ifdef BW_PROFILE

/* INSTR_PROF_DATA of LLVM 19 (llvm/ProfileData/InstrProfData.inc); checked against the section's size below. */
struct profile_data {
    uint64_t name_hash, function_hash;
    intptr_t relative_counters, relative_bitmap;
    void *function, *values;
    uint32_t counter_count;
    uint16_t value_sites[3];
    uint32_t bitmap_bytes;
};

/* Defined here, so that the runtime's own start-up code, which would write a profile at every exit(), stays out. */
int __llvm_profile_runtime;
/* Instrumented code adds this to the address of every counter (-runtime-counter-relocation). */
extern intptr_t __llvm_profile_counter_bias;
extern char *__llvm_profile_begin_counters(void);
extern char *__llvm_profile_end_counters(void);
extern const struct profile_data *__llvm_profile_begin_data(void);
extern const struct profile_data *__llvm_profile_end_data(void);
extern uint64_t __llvm_profile_get_num_data(const void *begin, const void *end);
extern void __llvm_profile_set_filename(const char *name);
extern int __llvm_profile_write_file(void);

static uint64_t *counted, *total;
static size_t counter_count;

static void prepare_profile(void) {
    __llvm_profile_counter_bias = (char *)counted - __llvm_profile_begin_counters();
}

static void set_up_profile(void) {
    const char *begin = (const char *)__llvm_profile_begin_data(), *end = (const char *)__llvm_profile_end_data();
    if (__llvm_profile_get_num_data(begin, end) * sizeof(struct profile_data) != (size_t)(end - begin))
        give_up(FAILURE_PROFILE);
    counter_count = (size_t)(__llvm_profile_end_counters() - __llvm_profile_begin_counters()) / 8;
    counted = mmap(NULL, counter_count * 8 + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    total = calloc(counter_count + 1, 8);
    if (counted == MAP_FAILED || !total) give_up(FAILURE_MEMORY);
}

static void add_counters(size_t first, size_t count) {
    for (size_t i = first; i < first + count && i < counter_count; i++) total[i] += counted[i];
}

/* Adds the counters of the function with this name only; returns how many records bear it. */
static uint64_t add_record(uint64_t name_hash) {
    uint64_t found = 0;
    const struct profile_data *data = __llvm_profile_begin_data(), *end = __llvm_profile_end_data();
    for (; data < end; data++) {
        if (data->name_hash != name_hash) continue;
        const char *counters = (const char *)data + data->relative_counters;
        add_counters((size_t)(counters - __llvm_profile_begin_counters()) / 8, data->counter_count);
        found++;
    }
    return found;
}

static void write_profile(const char *prefix, uint64_t number) {
    char name[PAGE], digits[24], *digit = digits + sizeof digits;
    size_t length = strlen(prefix);
    *--digit = 0;
    do *--digit = (char)('0' + number % 10);
    while (number /= 10);
    if (length + sizeof digits > sizeof name) give_up(FAILURE_PROFILE);
    memcpy(name, prefix, length);
    strcpy(name + length, digit);
    memcpy(__llvm_profile_begin_counters(), total, counter_count * 8);
    __llvm_profile_set_filename(name);
    if (__llvm_profile_write_file() != 0) give_up(FAILURE_PROFILE);
}

static uint64_t finish_group(const struct group *group, uint64_t number, const char *prefix) {
    uint64_t found = 0;
    if (group->only_record) found = add_record(group->record);
    else add_counters(0, counter_count);
    memset(counted, 0, counter_count * 8);
    if (header->flags & FLAG_PROFILE_PER_GROUP) {
        write_profile(prefix, number);
        memset(total, 0, counter_count * 8);
    }
    return found;
}

static void finish_batch(const char *prefix) {
    if (!(header->flags & FLAG_PROFILE_PER_GROUP)) write_profile(prefix, 0);
}

#else

static void prepare_profile(void) {}
static void set_up_profile(void) {}
static uint64_t finish_group(const struct group *group, uint64_t number, const char *prefix) { return counted_instructions; }
static void finish_batch(const char *prefix) {}

#endif

/* ---- the batch ---- */

static size_t map_batch(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0) give_up(FAILURE_BATCH);
    header = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (header == MAP_FAILED || header->magic != MAGIC) give_up(FAILURE_BATCH);
    return (size_t)status.st_size;
}

static void map_shared(void) {
    size_t log_bytes = header->log_entries * sizeof(struct entry);
    shared_bytes = PAGE + log_bytes + header->output_bytes;
    char *memory = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    freed = calloc(header->object_count + 1, 1);
    feed_taken = calloc(header->feed_count + 1, sizeof *feed_taken);
    calls_made = calloc(header->change_count + 1, sizeof *calls_made);
    streams = calloc(header->object_count + 1, sizeof *streams);
    if (memory == MAP_FAILED || !freed || !feed_taken || !calls_made || !streams) give_up(FAILURE_MEMORY);
    shared = (struct shared *)memory;
    log_entries = (struct entry *)(memory + PAGE);
    outputs = (uint64_t *)(memory + PAGE + log_bytes);
}

static void map_region(void) {
    void *base = (void *)header->region_base;
    if (!header->region_bytes) return;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(base, header->region_bytes, PROT_NONE, flags, -1, 0) != base) give_up(FAILURE_REGION);
}

static void limit(int resource, uint64_t most) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0) return;
    if (limits.rlim_cur > most) limits.rlim_cur = most;
    if (limits.rlim_max > most) limits.rlim_max = most;
    setrlimit(resource, &limits);
}

static void set_limits(size_t batch_bytes) {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_STACK, 8ul << 20);
    limit(RLIMIT_FSIZE, 64ul << 20);
    if (header->memory_bytes)
        limit(RLIMIT_AS, header->memory_bytes + shared_bytes + header->region_bytes + batch_bytes);
}

/* Results go to a descriptor that the unit does not expect; it reads nothing and prints to nobody. */
static void redirect(void) {
    results = fcntl(1, F_DUPFD_CLOEXEC, 200);
    int null = open("/dev/null", O_RDWR);
    if (results < 0 || null < 0) _exit(2);
    for (int descriptor = 0; descriptor < 3; descriptor++) dup2(null, descriptor);
    if (null > 2) close(null);
}

static const uint64_t *read_test(const uint64_t *at) {
    test.call_count = *at++;
    test.calls = at;
    for (uint64_t i = 0; i < test.call_count; i++) {
        uint64_t inputs = at[1];
        at += 2;
        while (inputs--) at = skip_blob(at);
    }
    test.object_count = *at++;
    test.objects = at;
    for (uint64_t i = 0; i < test.object_count; i++) at = skip_blob(at + 1);
    test.stream_count = *at++;
    test.streams = at;
    for (uint64_t i = 0; i < test.stream_count; i++) at = skip_bytes(at + 4, at[3]);
    test.feed_count = *at++;
    test.feeds = at;
    for (uint64_t i = 0; i < test.feed_count; i++) {
        uint64_t values = *at++;
        while (values--) at = skip_blob(at);
    }
    test.change_count = *at++;
    test.changes = at;
    for (uint64_t i = 0; i < test.change_count; i++) {
        struct change change;
        at = read_change(at, &change);
    }
    test.standard_input = at;
    at = skip_bytes(at + 1, *at);
    test.registers = at;
    uint64_t registers = *at++;
    while (registers--) at = skip_bytes(at + 4, at[3]);
    return at;
}

static void run_batch(const char *prefix) {
    const uint64_t *at = (const uint64_t *)(header + 1);
    for (uint64_t number = 0; number < header->group_count; number++) {
        const struct group *group = (const struct group *)at;
        at = (const uint64_t *)(group + 1);
        for (uint64_t i = 0; i < group->test_count; i++) {
            at = read_test(at);
            run_test();
        }
        uint64_t words[2] = {TAG_GROUP, finish_group(group, number, prefix)};
        send_bytes(words, sizeof words);
    }
    finish_batch(prefix);
}

int main(int argc, char **argv) {
    sigset_t blocked;
    if (argc < 7) return 2;
    /* setlocale(LC_ALL, "") must mean the same on every machine. */
    setenv("LC_ALL", "C", 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    rules_of_tests = atoi(argv[4]);
    filter_of_tests = atoi(argv[5]);
    reports = atoi(argv[6]);
#ifdef BW_COUNT
    if (argc > 7) unit_entry = strtoul(argv[7], NULL, 16);
#endif
    redirect();
    if (chdir(argv[3]) != 0) give_up(FAILURE_FOLDER);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGCHLD, SIG_DFL);
    read_filter();
    size_t batch_bytes = map_batch(argv[1]);
    map_shared();
    map_region();
    set_up_profile();
    set_limits(batch_bytes);
    /* Here as well, so that the first test finds the same heap as the others. */
    clear_folder();
    send_tag(TAG_STARTED);
    run_batch(argv[2]);
    send_tag(TAG_END);
    _exit(0);
}
