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

/* Ends the path: nothing may be concluded from it. `what` is a string literal. */
_Noreturn void __bw_unsupported(const char *what);

#endif
