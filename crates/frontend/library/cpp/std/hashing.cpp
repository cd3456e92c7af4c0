/* The number of buckets of unordered containers, which decides the order of their elements, and the hash of texts. */
#include "std.h"

#include <unordered_map>

/* What the real library answers for growing requests, asked when this is built. */
static const size_t __bw_bucket_counts[] = {
#include <bucket_counts.h>
};

static size_t buckets_for(size_t wanted) noexcept {
    const size_t known = sizeof __bw_bucket_counts / sizeof *__bw_bucket_counts;
    for (size_t i = 0; i < known; i++)
        if (__bw_bucket_counts[i] >= wanted) return __bw_bucket_counts[i];
    __bw_unsupported("an unordered container with more buckets than memory has room for");
}

namespace std {
namespace __detail {

size_t _Prime_rehash_policy::_M_next_bkt(size_t wanted) const {
    if (wanted == 0) return 1;
    const size_t buckets = buckets_for(wanted);
    _M_next_resize = (size_t)((double)buckets * (double)_M_max_load_factor);
    return buckets;
}

pair<bool, size_t> _Prime_rehash_policy::_M_need_rehash(size_t buckets, size_t elements, size_t added) const {
    const size_t all = elements + added;
    if (all <= _M_next_resize) return {false, 0};
    /* A container that never had an element begins with room for eleven. */
    const size_t least = _M_next_resize == 0 && all < 11 ? 11 : all;
    const double needed = (double)least / (double)_M_max_load_factor;
    if (needed < (double)buckets) {
        _M_next_resize = (size_t)((double)buckets * (double)_M_max_load_factor);
        return {false, 0};
    }
    const size_t more = (size_t)needed + 1, twice = buckets * _S_growth_factor;
    return {true, _M_next_bkt(more > twice ? more : twice)};
}

}

static size_t bytes_at(const unsigned char *from, size_t count) noexcept {
    size_t value = 0;
    for (size_t i = 0; i < count; i++) value |= (size_t)from[i] << 8 * i;
    return value;
}

static size_t mixed(size_t value) noexcept { return value ^ value >> 47; }

/* MurmurHash2 of 64 bits, by Austin Appleby. */
size_t _Hash_bytes(const void *from, size_t length, size_t seed) {
    const size_t factor = 0xc6a4a7935bd1e995;
    const unsigned char *at = (const unsigned char *)from, *whole = at + (length & ~(size_t)7);
    size_t hash = seed ^ length * factor;
    for (; at != whole; at += 8) {
        const size_t part = mixed(bytes_at(at, 8) * factor) * factor;
        hash = (hash ^ part) * factor;
    }
    if (length & 7) hash = (hash ^ bytes_at(at, length & 7)) * factor;
    return mixed(mixed(hash) * factor);
}

}
