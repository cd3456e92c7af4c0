/* Locks, for programs of one thread: one that would wait for itself never returns. */
#include "runtime.h"

extern "C" {
char __bw_single_threaded NAMED(__libc_single_threaded) = 1;

/* As glibc lays it out. */
struct mutex {
    int locks;
    unsigned nested;
    int owner;
    unsigned users;
    int kind;
    char rest[20];
};

enum { KIND = 3, RECURSIVE = 1, CHECKING = 2, BUSY = 16, DEADLOCK = 35, NOT_OWNER = 1 };

int pthread_mutex_trylock(mutex *locked) noexcept {
    if (locked->locks && (locked->kind & KIND) != RECURSIVE) return BUSY;
    locked->locks++;
    return 0;
}

int pthread_mutex_lock(mutex *locked) noexcept {
    if (pthread_mutex_trylock(locked) == 0) return 0;
    if ((locked->kind & KIND) == CHECKING) return DEADLOCK;
    __bw_unsupported("a thread that waits for a lock of its own");
}

int pthread_mutex_unlock(mutex *locked) noexcept {
    if (!locked->locks) {
        if (locked->kind & KIND) return NOT_OWNER;
        __bw_unsupported("the release of a lock that is open");
    }
    locked->locks--;
    return 0;
}

int pthread_mutex_init(mutex *made, const int *kind) noexcept {
    *made = {0, 0, 0, 0, kind ? *kind & KIND : 0, {0}};
    return 0;
}

int pthread_mutex_destroy(mutex *ended) noexcept { return ended->locks ? BUSY : 0; }
}
