/* What the models of the C++ runtime share. Names that are not static are models of the function of that name in the
 * object code; variables begin with `__bw_`, so that the executor knows that no pointer of the user's points there, and with
 * `__bw_own_` where no function of the user's can tell what they hold. */
#ifndef BRANCHWISE_RUNTIME_H
#define BRANCHWISE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* A model under the name that the compiler gives to a function of C++. */
#define NAMED(symbol) __asm__(#symbol)

extern "C" {
void *__bw_allocate(size_t size, size_t alignment, int contents) noexcept;
void __bw_release(void *object) noexcept;
[[noreturn]] void __bw_unsupported(const char *what) noexcept;
/* As abort(), for reasons that a finding names: terminate() while so many exceptions are on their way, and a call of a
 * method that has no body. */
[[noreturn]] void __bw_terminate(int uncaught) noexcept;
[[noreturn]] void __bw_pure_virtual() noexcept;
/* An exception is thrown; a handler has taken it. */
/* What the assumption of this name excludes: never in a path, perhaps to the facts. */
int __bw_otherwise(const char *name) noexcept;
void __bw_throws() noexcept;
void __bw_handles() noexcept;
int scanf(const char *format, ...) noexcept;
int getchar() noexcept;
int atexit(void (*handler)()) noexcept;
}

#endif
