/* Geometry: triangles, distances, angles, intersections. */
#include <math.h>

#define PI 3.14159265358979323846

/* 0 none, 1 scalene, 2 isosceles, 3 equilateral, 4 right. */
int triangle(double a, double b, double c)
{
    if (!(a > 0.0 && b > 0.0 && c > 0.0))
        return 0;
    if (a + b <= c || a + c <= b || b + c <= a)
        return 0;
    if (a == b && b == c)
        return 3;
    if (a * a + b * b == c * c)
        return 4;
    if (a == b || b == c || a == c)
        return 2;
    return 1;
}

double hero(double a, double b, double c)
{
    double s, square;

    if (!(a >= b && b >= c && c > 0.0) || a > 1e6)
        return -1.0;
    s = (a + b + c) / 2.0;
    square = s * (s - a) * (s - b) * (s - c);
    if (square < 0.0)
        return 0.0;
    if (sqrt(square) == 6.0)
        return 1.0;
    return sqrt(square);
}

double haversine(double lat1, double lon1, double lat2, double lon2)
{
    double a, s, t;

    if (!(fabs(lat1) <= 90.0 && fabs(lat2) <= 90.0))
        return -1.0;
    if (!(fabs(lon1) <= 180.0 && fabs(lon2) <= 180.0))
        return -2.0;
    s = sin((lat2 - lat1) * PI / 360.0);
    t = sin((lon2 - lon1) * PI / 360.0);
    a = s * s + cos(lat1 * PI / 180.0) * cos(lat2 * PI / 180.0) * t * t;
    if (a < 0.0)
        return -3.0;
    if (a > 0.99)
        return 20000.0;
    if (a > 0.2499 && a < 0.2501)
        return 6671.7;
    return 12742.0 * asin(sqrt(a));
}

int norm_is_five(double a, double b)
{
    if (sqrt(a * a + b * b) == 5.0) {
        if (a > 1.0 && b > 1.0)
            return 2;
        return 1;
    }
    return 0;
}

int sine_window(double x)
{
    if (sin(x) > 0.99 && x * x < 3.0)
        return 1;
    if (sin(x) > 1.0)
        return 2;
    if (cos(x) < -0.999 && x > 0.0 && x < 4.0)
        return 3;
    return 0;
}

double bearing(double dx, double dy)
{
    double angle;

    if (dx == 0.0 && dy == 0.0)
        return -1.0;
    angle = atan2(dy, dx) * 180.0 / PI;
    if (angle < 0.0)
        angle += 360.0;
    if (angle > 361.0)
        return -2.0;
    if (angle > 44.9 && angle < 45.1)
        return 45.0;
    if (angle > 224.0 && angle < 226.0)
        return 225.0;
    return angle;
}

double wrap_angle(double angle)
{
    double w;

    if (!(fabs(angle) < 1e6))
        return 0.0;
    w = fmod(angle, 360.0);
    if (w > 180.0)
        w -= 360.0;
    else if (w <= -180.0)
        w += 360.0;
    if (w > 180.0 || w < -180.0)
        return 1000.0;
    if (w == 45.0 && angle > 1000.0)
        return 45.0;
    return w;
}

static const double cordic_angle[6] = {0.7853981633974483, 0.4636476090008061, 0.24497866312686414,
                                       0.12435499454676144, 0.06241880999595735, 0.031239833430268277};

double cordic(double angle)
{
    double x = 0.6073, y = 0.0, z = angle, scale = 1.0;
    int i;

    if (!(fabs(angle) < 1.5))
        return 2.0;
    for (i = 0; i < 6; i++) {
        double old = x;
        if (z >= 0.0) {
            x = x - y * scale;
            y = y + old * scale;
            z -= cordic_angle[i];
        } else {
            x = x + y * scale;
            y = y - old * scale;
            z += cordic_angle[i];
        }
        scale *= 0.5;
    }
    if (y > 0.49 && y < 0.51)
        return 0.5;
    if (fabs(z) > 0.1)
        return 3.0;
    return y;
}

int segments_cross(double a, double b, double c, double d)
{
    double x;

    if (fabs(a) > 100.0 || fabs(b) > 100.0 || fabs(c) > 100.0 || fabs(d) > 100.0)
        return -1;
    if (a == c)
        return b == d ? 2 : 0;
    x = (d - b) / (a - c);
    if (x == 2.0)
        return 3;
    if (x >= 0.0 && x <= 1.0)
        return 1;
    return 0;
}

double lens(double f, double object)
{
    double image;

    if (f <= 0.0 || object <= 0.0)
        return 0.0;
    if (f == object)
        return INFINITY;
    image = 1.0 / (1.0 / f - 1.0 / object);
    if (isinf(image))
        return -1.0;
    if (image == object)
        return 1.0;
    if (image < 0.0 && object > f)
        return -2.0;
    return image;
}

double sphere_hit(double x, double y, double radius)
{
    double rest = radius * radius - x * x - y * y;

    if (radius < 0.0 || radius > 50.0)
        return -1.0;
    if (rest < 0.0)
        return 0.0;
    if (sqrt(rest) > radius)
        return -2.0;
    if (rest == 1.0 && x > 2.0 && y > 2.0)
        return 1.0;
    return sqrt(rest);
}
