/* What math.h has that takes numbers apart and puts them together. Everything else there the executor knows itself. */
#include "library.h"

MODEL double modf(double value, double *whole) {
    *whole = __builtin_trunc(value);
    return __builtin_copysign(__builtin_isinf(value) ? 0.0 : value - *whole, value);
}

MODEL float modff(float value, float *whole) {
    *whole = __builtin_truncf(value);
    return __builtin_copysignf(__builtin_isinf(value) ? 0.0f : value - *whole, value);
}

/* A number between a half and one, and the power of two with which it makes the value. */
MODEL double frexp(double value, int *power) {
    *power = 0;
    if (value == 0 || !__builtin_isfinite(value)) return value;
    if (__builtin_fabs(value) < 0x1p-1022) {
        value *= 0x1p54;
        *power = -54;
    }
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    *power += (int)(bits >> 52 & 0x7ff) - 1022;
    bits = (bits & ~(0x7ffull << 52)) | 1022ull << 52;
    __builtin_memcpy(&value, &bits, sizeof bits);
    return value;
}

MODEL float frexpf(float value, int *power) { return (float)frexp(value, power); }

/* Two to a power that a normal number can be. */
static double power_of_two(int power) {
    uint64_t bits = (uint64_t)(1023 + power) << 52;
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

MODEL double ldexp(double value, int power) {
    int own;
    double fraction = frexp(value, &own);
    if (fraction == 0 || !__builtin_isfinite(fraction)) return value;
    long total = (long)own + power;
    if (total > 1024) {
        *__errno_location() = ERANGE;
        return __builtin_copysign(__builtin_inf(), value);
    }
    if (total >= -1021) return 2 * fraction * power_of_two((int)total - 1);
    /* Only the last multiplication rounds. */
    if (total < -1200) total = -1200;
    double result = 2 * fraction * power_of_two((int)total + 199) * 0x1p-200;
    if (result == 0) *__errno_location() = ERANGE;
    return result;
}
