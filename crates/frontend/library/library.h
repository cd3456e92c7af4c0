/* What the models of library functions share. They are compiled together, without any header of the C library: every
 * name that is not `static` is a model of the function of that name, and `static` names must be unique among all files.
 * Variables begin with `__bw_`, so that the executor knows that no pointer of the user's can point to them. */
#ifndef BRANCHWISE_LIBRARY_H
#define BRANCHWISE_LIBRARY_H

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* A function of the user's with the same name wins. */
#define MODEL __attribute__((weak))

typedef int (*comparison)(const void *, const void *);

/* ---- primitives of the executor (symbolic/src/library.rs) ---- */

/* Whether the allocation that comes next fails: an input, or never where the user says so. */
int __bw_allocation_fails(void);
/* Never in a test: what an assumption excludes; `name` is a string literal with its name. */
int __bw_otherwise(const char *name);
/* Whether somebody jumps back to the call of setjmp() that is under way; what it stores there is not known. */
int __bw_jumps_back(void *state, size_t bytes);
/* A new heap object; a size of at most LARGEST_ALLOCATION. */
void *__bw_allocate(size_t size, size_t alignment, int contents);
/* Ends the lifetime of what such a call returned; anything else is a fault. Null is nothing. */
void __bw_release(void *object);
/* A new heap object with the contents of one that ends. */
void *__bw_resize(void *object, size_t size);
/* Ends the path: nothing may be concluded from it. `what` is a string literal. */
_Noreturn void __bw_unsupported(const char *what);

/* ---- what the executor knows by its name in the C library ---- */

_Noreturn void abort(void);
_Noreturn void _exit(int status);
_Noreturn void _Exit(int status);
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);

/* ---- what the files share ---- */

enum { EDOM = 33, EINVAL = 22, ENOMEM = 12, ERANGE = 34 };

int *__errno_location(void);
_Noreturn void __chk_fail(void);

#endif
