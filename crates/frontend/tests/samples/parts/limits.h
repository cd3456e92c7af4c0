#ifndef LIMITS_OF_SAMPLES
#define LIMITS_OF_SAMPLES
#define SMALL_LIMIT 10
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))
#define LIMITED(x) ((x) > SMALL_LIMIT ? SMALL_LIMIT : (x))
#define IF_NOT_NULL(pointer, value) ((pointer) ? (value) : 0)

static inline int limited(int x)
{
    if (x > SMALL_LIMIT)
        return SMALL_LIMIT;
    return x < -SMALL_LIMIT ? -SMALL_LIMIT : x;
}

inline int positive(int x) { return x > 0 || IN_RANGE(x, -5, -3); }
#endif
