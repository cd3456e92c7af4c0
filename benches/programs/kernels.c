/* Loops without inputs: how fast concrete execution is. Each returns a checksum. */

int arithmetic(void)
{
    unsigned state = 12345;
    unsigned sum = 0;

    for (int i = 0; i < 300000; i++) {
        state = state * 1664525u + 1013904223u;
        if (state & 0x8000)
            sum += state >> 16;
        else
            sum ^= state;
    }
    return (int)sum;
}

static int table[256];

int arrays(void)
{
    int sum = 0;

    for (int i = 0; i < 256; i++)
        table[i] = i * 7 % 31;
    for (int round = 0; round < 1000; round++)
        for (int i = 1; i < 256; i++) {
            table[i] = table[i - 1] + table[i] % 13;
            sum += table[i];
        }
    return sum;
}

static int collatz(int n)
{
    int steps = 0;

    while (n != 1) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        steps++;
    }
    return steps;
}

int calls(void)
{
    int longest = 0;

    for (int n = 1; n < 4000; n++) {
        int steps = collatz(n);
        if (steps > longest)
            longest = steps;
    }
    return longest;
}

struct cell {
    struct cell *next;
    int value;
};

int pointers(void)
{
    struct cell cells[64];
    int sum = 0;

    for (int i = 0; i < 64; i++) {
        cells[i].next = &cells[(i * 5 + 3) % 64];
        cells[i].value = i;
    }
    const struct cell *at = cells;
    for (int i = 0; i < 300000; i++) {
        sum += at->value;
        at = at->next;
    }
    return sum;
}
