/* The functions of stdlib.h that allocate. */
#include "memory.h"

/* Larger requests fail; the native runtime has the same limit. */
#define LARGEST_ALLOCATION ((size_t)256 << 20)

static void *no_memory(void) {
    *__errno_location() = ENOMEM;
    return 0;
}

static int fails(size_t size) {
    return size > LARGEST_ALLOCATION ? !__bw_otherwise("no-huge-allocation") : __bw_allocation_fails();
}

static void *aligned_object(size_t alignment, size_t size, int contents) {
    return fails(size) ? no_memory() : __bw_allocate(size, alignment, contents);
}

static void *heap_object(size_t size, int contents) { return aligned_object(16, size, contents); }

MODEL void *malloc(size_t size) { return heap_object(size, UNINITIALISED); }

/* Whether so many bytes cannot be counted. The size is a constant nearly always, and so is the quotient. */
static int is_too_much(size_t count, size_t size) { return size && count > SIZE_MAX / size; }

MODEL void *calloc(size_t count, size_t size) {
    return is_too_much(count, size) ? no_memory() : heap_object(count * size, ZERO);
}

MODEL void free(void *object) { __bw_release(object); }

MODEL void cfree(void *object) { __bw_release(object); }

MODEL void *realloc(void *object, size_t size) {
    if (!object) return heap_object(size, UNINITIALISED);
    if (!size) {
        __bw_release(object);
        return 0;
    }
    return fails(size) ? no_memory() : __bw_resize(object, size);
}

MODEL void *reallocarray(void *object, size_t count, size_t size) {
    return is_too_much(count, size) ? no_memory() : realloc(object, count * size);
}

static int is_power_of_two(size_t number) { return number && !(number & (number - 1)); }

MODEL void *aligned_alloc(size_t alignment, size_t size) {
    if (!is_power_of_two(alignment)) __bw_unsupported("aligned_alloc() with an alignment that is no power of two");
    return aligned_object(alignment, size, UNINITIALISED);
}

MODEL void *memalign(size_t alignment, size_t size) {
    if (!is_power_of_two(alignment)) __bw_unsupported("memalign() with an alignment that is no power of two");
    return aligned_object(alignment, size, UNINITIALISED);
}

MODEL int posix_memalign(void **to, size_t alignment, size_t size) {
    if (!is_power_of_two(alignment) || alignment % sizeof(void *)) return EINVAL;
    if (fails(size)) return ENOMEM;
    *to = __bw_allocate(size, alignment, UNINITIALISED);
    return 0;
}
