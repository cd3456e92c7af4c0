/* Heap objects. */
#ifndef BRANCHWISE_MEMORY_H
#define BRANCHWISE_MEMORY_H

#include "library.h"

enum { UNINITIALISED, ZERO };

/* As malloc() and calloc() do it: null, and errno says why, where it fails. */
static void *heap_object(size_t size, int contents);

#endif
