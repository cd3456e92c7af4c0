/* Loops without inputs: how fast concrete execution is. Each returns a checksum. */
#include <string.h>

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

enum state { NAME, NUMBER, FRACTION, OPERATOR, QUOTED, COMMENT, BLANK, START };

static const unsigned char begun_by[128] = {
    [' '] = BLANK, ['"'] = QUOTED, ['#'] = COMMENT, ['+'] = OPERATOR, ['-'] = OPERATOR, ['*'] = OPERATOR,
    ['/'] = OPERATOR, ['='] = OPERATOR, ['0'] = NUMBER, ['1'] = NUMBER, ['2'] = NUMBER, ['3'] = NUMBER,
    ['4'] = NUMBER, ['5'] = NUMBER, ['6'] = NUMBER, ['7'] = NUMBER, ['8'] = NUMBER, ['9'] = NUMBER,
};

int switches(void)
{
    static const char text[] = "area = 3.14159 * radius * radius + x1 - 42 / \"a text\" #comment# ";
    enum state state = START;
    int counts[8] = { 0 };

    for (int round = 0; round < 3000; round++)
        for (const char *at = text; *at; at++) {
            enum state next = begun_by[(unsigned char)*at];
            switch (state) {
            case START: state = next; break;
            case NAME: state = next == NUMBER ? NAME : next; break;
            case NUMBER: state = *at == '.' ? FRACTION : next; break;
            case FRACTION: state = next == NUMBER ? FRACTION : next; break;
            case OPERATOR: state = next; break;
            case QUOTED: state = next == QUOTED ? START : QUOTED; break;
            case COMMENT: state = next == COMMENT ? START : COMMENT; break;
            case BLANK: state = next == BLANK ? BLANK : next; break;
            }
            counts[state]++;
        }
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + counts[i] % 97;
    return sum;
}

struct record {
    char name[16];
    int id;
    unsigned short uses;
    unsigned char kind;
    struct { short x, y; } place;
    const struct record *before;
};

int records(void)
{
    static const char *const names[4] = { "circle", "triangle", "dot", "rectangle" };
    struct record all[16];
    char line[32];
    int sum = 0;

    memset(all, 0, sizeof all);
    for (int i = 0; i < 16; i++) {
        memcpy(all[i].name, names[i % 4], strlen(names[i % 4]) + 1);
        all[i].id = i * 3;
        all[i].kind = i % 4;
        all[i].before = &all[(i + 15) % 16];
    }
    for (int i = 0; i < 30000; i++) {
        struct record *record = &all[i % 16];
        record->uses++;
        record->place.x = record->before->place.y + i;
        record->place.y = record->place.x ^ record->kind;
        struct record copy = *record;
        memcpy(line, copy.name, sizeof copy.name);
        sum += (int)strlen(line) + copy.id + copy.place.y + copy.uses;
        if (copy.before->kind > copy.kind)
            *record = copy;
    }
    return sum;
}
