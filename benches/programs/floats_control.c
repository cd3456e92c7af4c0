/* Control and measurement: saturations, filters, conversions, hysteresis. */
#include <math.h>
#include <stdint.h>

struct pid {
    double kp, ki, kd, integral, last;
};

double pid_step(struct pid *p, double target, double measured, double dt)
{
    double error = target - measured, out, derivative;

    if (dt <= 0.0)
        return 0.0;
    p->integral += error * dt;
    if (p->integral > 10.0)
        p->integral = 10.0;
    else if (p->integral < -10.0)
        p->integral = -10.0;
    derivative = (error - p->last) / dt;
    p->last = error;
    out = p->kp * error + p->ki * p->integral + p->kd * derivative;
    if (out > 100.0)
        return 100.0;
    if (out < -100.0)
        return -100.0;
    return out;
}

int16_t to_sensor(float celsius)
{
    float raw = celsius * 16.0f + 0.5f;

    if (raw != raw)
        return 0;
    if (raw >= 32767.0f)
        return INT16_MAX;
    if (raw <= -32768.0f)
        return INT16_MIN;
    if ((int16_t)raw == 1234)
        return 1;
    return (int16_t)raw;
}

float fahrenheit(float celsius)
{
    float f = celsius * 9.0f / 5.0f + 32.0f;

    if (f == celsius)
        return 0.0f;
    if (f < -459.67f)
        return -1.0f;
    if (f == 98.6f)
        return 1.0f;
    return f;
}

double complementary(double angle, double gyro, double accel, double dt)
{
    double mixed;

    if (!(dt > 0.0 && dt < 0.1))
        return angle;
    if (fabs(accel) > 180.0 || fabs(angle) > 180.0)
        return 0.0;
    mixed = 0.98 * (angle + gyro * dt) + 0.02 * accel;
    if (mixed > 180.0)
        return mixed - 360.0;
    if (mixed < -180.0)
        return mixed + 360.0;
    if (fabs(mixed - accel) < 1e-6 && fabs(angle - accel) > 10.0)
        return accel;
    return mixed;
}

int hysteresis(int on, double level)
{
    if (on) {
        if (level < 20.5)
            return 0;
    } else {
        if (level > 21.5)
            return 1;
        if (level > 22.0)
            return 2;
    }
    return on;
}

double low_pass(const double in[3], double alpha)
{
    double out = 0.0;
    int i;

    if (!(alpha > 0.0) || alpha >= 1.0)
        return -1.0;
    for (i = 0; i < 3; i++)
        out = out + alpha * (in[i] - out);
    if (out > 1.0 && in[0] <= 1.0 && in[1] <= 1.0 && in[2] <= 1.0)
        return 2.0;
    if (out > 0.75 && in[0] < 0.0)
        return 1.0;
    return out;
}

double dead_band(double x, double width)
{
    if (width < 0.0)
        return x;
    if (fabs(x) <= width)
        return 0.0;
    if (x > 0.0)
        x -= width;
    else
        x += width;
    if (x == 0.0)
        return 1.0;
    return x;
}

float saturating_gain(float x, float gain)
{
    float y = x * gain;

    if (isnan(y)) {
        if (isnan(x) || isnan(gain))
            return 0.0f;
        return 1.0f;
    }
    if (isinf(y) && !isinf(x) && !isinf(gain))
        return 2.0f;
    if (y == 0.0f && x != 0.0f && gain != 0.0f)
        return 3.0f;
    return y;
}

int battery_percent(double volts)
{
    double percent;

    if (volts < 3.0)
        return 0;
    if (volts > 4.2)
        return 100;
    percent = (volts - 3.0) / 1.2 * 100.0;
    if (percent > 100.0)
        return 101;
    if (percent == 50.0)
        return -1;
    if ((int)percent == 73)
        return 73;
    return (int)percent;
}

double thermistor(double resistance)
{
    double t;

    if (resistance <= 0.0)
        return -300.0;
    t = 1.0 / (1.0 / 298.15 + log(resistance / 10000.0) / 3950.0);
    if (t < 0.0)
        return -301.0;
    if (t > 373.0 && t < 374.0)
        return 100.0;
    return t - 273.15;
}

int money(double amount)
{
    int cents;

    if (amount < 0.0 || amount > 1000.0)
        return -1;
    cents = (int)(amount * 100.0);
    if (cents == 1999 && amount > 19.995)
        return 1;
    if (amount == 0.29 && cents == 28)
        return 2;
    if (cents % 100 == 37)
        return 3;
    return 0;
}

double ramp(double value, double target, double rate)
{
    double step;

    if (!(rate > 0.0))
        return value;
    step = target - value;
    if (step > rate)
        step = rate;
    if (step < -rate)
        step = -rate;
    if (value + step > target && step > 0.0)
        return 1.0;
    if (value + step == value && step != 0.0)
        return 2.0;
    return value + step;
}

int debounce(const float samples[4])
{
    int i, high = 0;

    for (i = 0; i < 4; i++) {
        if (samples[i] > 2.0f)
            high++;
        else if (!(samples[i] >= 0.8f))
            high--;
    }
    if (high == 4)
        return 1;
    if (high == -3)
        return 2;
    return 0;
}

uint32_t duty_cycle(float fraction)
{
    float scaled;

    if (!(fraction >= 0.0f))
        return 0;
    if (fraction > 1.0f)
        return 65535;
    scaled = fraction * 65535.0f;
    if ((uint32_t)scaled > 65535u)
        return 1;
    if ((uint32_t)scaled == 40000u)
        return 2;
    return (uint32_t)scaled;
}
