/* Small numerical functions whose decisions are about floats: roots, iterations, tables. */
#include <float.h>
#include <math.h>

/* Real roots of a*x*x + b*x + c: how many, -1 for no equation at all. */
int quadratic_roots(double a, double b, double c, double roots[2])
{
    double d;

    if (a == 0.0) {
        if (b == 0.0)
            return -1;
        roots[0] = -c / b;
        return 1;
    }
    d = b * b - 4.0 * a * c;
    if (d < 0.0)
        return 0;
    if (d == 0.0) {
        roots[0] = -b / (2.0 * a);
        return 1;
    }
    roots[0] = (-b - sqrt(d)) / (2.0 * a);
    roots[1] = (-b + sqrt(d)) / (2.0 * a);
    if (roots[0] > roots[1])
        return 3;
    return 2;
}

double newton_root(double a)
{
    double x = a > 1.0 ? a : 1.0;
    int i;

    if (!(a >= 0.0))
        return -1.0;
    for (i = 0; i < 6; i++) {
        double next = 0.5 * (x + a / x);
        if (fabs(next - x) <= 1e-9 * next)
            return next;
        x = next;
    }
    return x;
}

double bisect_cubic(double low, double high)
{
    int i;

    if (!(low < high))
        return 0.0;
    if ((low * low * low - low - 2.0) * (high * high * high - high - 2.0) > 0.0)
        return -1.0;
    for (i = 0; i < 4; i++) {
        double middle = 0.5 * (low + high);
        double value = middle * middle * middle - middle - 2.0;
        if (value == 0.0)
            return middle;
        if (value < 0.0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const double table_x[5] = {0.0, 1.0, 2.5, 4.0, 10.0};
static const double table_y[5] = {1.0, 3.0, 3.5, 2.0, -1.0};

double interpolate(double x)
{
    int i;

    if (x < table_x[0] || x > table_x[4])
        return NAN;
    for (i = 0; i < 4; i++) {
        if (x <= table_x[i + 1]) {
            double t = (x - table_x[i]) / (table_x[i + 1] - table_x[i]);
            double y = table_y[i] + t * (table_y[i + 1] - table_y[i]);
            if (y == 2.75)
                return 0.0;
            if (y > 3.5)
                return 1.0;
            return y;
        }
    }
    return -1.0;
}

int thirds(double x)
{
    if (x == x / 3.0 + x / 3.0 + x / 3.0)
        return 1;
    return 0;
}

int absorbed(double x)
{
    if (16.0 + x == 16.0 && x > 0.0)
        return 1;
    if (x + 1.0 == x)
        return 2;
    return 0;
}

int not_a_number(double x, double y)
{
    if (x != x)
        return 1;
    if (!(x < y) && !(x >= y))
        return 2;
    if (isinf(x) && x - x == 0.0)
        return 3;
    if (x * 0.0 != 0.0)
        return 4;
    return 0;
}

int signed_zero(double x)
{
    if (x == 0.0) {
        if (1.0 / x < 0.0)
            return -1;
        return 1;
    }
    return 0;
}

int classify(float x)
{
    switch (fpclassify(x)) {
    case FP_NAN:
        return 1;
    case FP_INFINITE:
        return 2;
    case FP_ZERO:
        return 3;
    case FP_SUBNORMAL:
        return 4;
    default:
        return 5;
    }
}

double mean_of_three(double a, double b, double c)
{
    double mean = (a + b + c) / 3.0;

    if (!isfinite(a) || !isfinite(b) || !isfinite(c))
        return 0.0;
    if (isinf(mean))
        return 1.0;
    if (mean < a && mean < b && mean < c)
        return 2.0;
    if (mean == a && mean == b && mean != c)
        return 3.0;
    return mean;
}

double horner(double x)
{
    double p = ((2.0 * x - 3.0) * x - 11.0) * x + 6.0;

    if (p == 0.0)
        return 0.0;
    if (p > 0.0 && x < -2.5)
        return 1.0;
    if (p < 0.0 && x > 4.0)
        return 2.0;
    return p;
}

int rounding_ladder(float x)
{
    float r = roundf(x);

    if (r == 3.0f)
        return 1;
    if (x - r == 0.5f)
        return 2;
    if (x - r == -0.5f)
        return 3;
    if (fabsf(x - r) > 0.5f)
        return 4;
    return 0;
}

double power_law(double base, double exponent)
{
    double value;

    if (base <= 0.0)
        return 0.0;
    value = pow(base, exponent);
    if (value < 0.0)
        return -1.0;
    if (value > 1000.0 && exponent < 2.0)
        return 1.0;
    if (value > 0.124 && value < 0.126 && exponent > 2.0)
        return 2.0;
    return value;
}

double logistic(double x)
{
    double y = 1.0 / (1.0 + exp(-x));

    if (y > 1.0)
        return -1.0;
    if (y == 1.0)
        return 1.0;
    if (y == 0.0)
        return 0.0;
    if (y > 0.7 && y < 0.7001)
        return 0.5;
    return y;
}

double entropy(double p)
{
    double h;

    if (!(p > 0.0 && p < 1.0))
        return 0.0;
    h = -(p * log(p) + (1.0 - p) * log(1.0 - p));
    if (h < 0.0)
        return -1.0;
    if (h > 0.69314)
        return 1.0;
    return h;
}

double series_exp(double x)
{
    double sum = 1.0, term = 1.0;
    int n;

    if (fabs(x) > 2.0)
        return exp(x);
    for (n = 1; n < 8; n++) {
        term *= x / n;
        if (fabs(term) < 1e-4)
            break;
        sum += term;
    }
    if (n == 8)
        return -1.0;
    return sum;
}

int variance_sign(float a, float b, float c)
{
    float mean = (a + b + c) / 3.0f;
    float square = (a * a + b * b + c * c) / 3.0f;
    float variance = square - mean * mean;

    if (!(fabsf(a) < 1e3f && fabsf(b) < 1e3f && fabsf(c) < 1e3f))
        return -2;
    if (variance < 0.0f)
        return -1;
    if (variance == 0.0f && a != b)
        return 1;
    if (variance > 100.0f)
        return 2;
    return 0;
}

double kahan_sum(const double values[4])
{
    double sum = 0.0, lost = 0.0;
    int i;

    for (i = 0; i < 4; i++) {
        double y = values[i] - lost;
        double t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    if (lost != 0.0)
        return lost;
    if (sum == 100.0)
        return 1.0;
    return 0.0;
}

double simpson(double a, double b)
{
    double h = (b - a) / 2.0;
    double area = h / 3.0 * (a * a + 4.0 * (a + h) * (a + h) + b * b);

    if (h <= 0.0)
        return 0.0;
    if (area < 0.0)
        return -1.0;
    if (area > 2.0 && area < 3.0 && h < 1.0)
        return 1.0;
    if (area == 9.0)
        return 2.0;
    return area;
}

double gamma_step(double x)
{
    double y = x, shift = 0.0;

    if (!(x > 0.0))
        return NAN;
    while (y < 4.0) {
        shift -= log(y);
        y += 1.0;
    }
    if (shift > 2.0)
        return 1.0;
    if (shift < -1.5)
        return -1.0;
    return shift + (y - 0.5) * log(y) - y;
}
