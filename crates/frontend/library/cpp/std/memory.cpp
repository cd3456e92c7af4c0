/* operator new and operator delete. */
#include "std.h"

#include <new>

extern "C" {
/* Ends the path: larger objects are not tried. */
[[noreturn]] void __bw_largest_object(size_t bytes) noexcept;
}

namespace {

enum { LARGEST_OBJECT = 256 << 20 };

/* Null where the allocation fails. */
void *object_or_null(size_t size, size_t alignment) noexcept {
    if (size > LARGEST_OBJECT) __bw_largest_object(LARGEST_OBJECT);
    return __bw_new_fails() ? nullptr : __bw_allocate(size, alignment, 0);
}

void *object_of(size_t size, size_t alignment) {
    void *object = object_or_null(size, alignment);
    if (!object) std::__throw_bad_alloc();
    return object;
}

}

void *operator new(size_t size) { return object_of(size, 16); }
void *operator new[](size_t size) { return object_of(size, 16); }
void *operator new(size_t size, const std::nothrow_t &) noexcept { return object_or_null(size, 16); }
void *operator new[](size_t size, const std::nothrow_t &) noexcept { return object_or_null(size, 16); }
void *operator new(size_t size, std::align_val_t alignment) { return object_of(size, (size_t)alignment); }
void *operator new[](size_t size, std::align_val_t alignment) { return object_of(size, (size_t)alignment); }
void operator delete(void *object) noexcept { __bw_release(object); }
void operator delete[](void *object) noexcept { __bw_release(object); }
void operator delete(void *object, size_t) noexcept { __bw_release(object); }
void operator delete[](void *object, size_t) noexcept { __bw_release(object); }
void operator delete(void *object, std::align_val_t) noexcept { __bw_release(object); }
void operator delete[](void *object, std::align_val_t) noexcept { __bw_release(object); }
void operator delete(void *object, size_t, std::align_val_t) noexcept { __bw_release(object); }
void operator delete[](void *object, size_t, std::align_val_t) noexcept { __bw_release(object); }
void operator delete(void *object, const std::nothrow_t &) noexcept { __bw_release(object); }
void operator delete[](void *object, const std::nothrow_t &) noexcept { __bw_release(object); }
