/* What the models of libstdc++'s shared library share. They are written against its headers, so that objects lie in
 * memory as the user's code expects. */
#ifndef BRANCHWISE_STD_H
#define BRANCHWISE_STD_H

/* Strings and streams are to be defined by their headers, not left to the shared library. */
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0

#include <cstddef>
#include <cstdint>

extern "C" {
/* Whether the `new` that comes next fails. */
int __bw_new_fails() noexcept;
void *__bw_allocate(size_t size, size_t alignment, int contents) noexcept;
void __bw_release(void *object) noexcept;
[[noreturn]] void __bw_unsupported(const char *what) noexcept;
}

#endif
