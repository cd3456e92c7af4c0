/* A small example: which kind of rectangle do two corners span, and how large is it? */

#define LIMIT 1000

static int inside(int value)
{
    return value >= -LIMIT && value <= LIMIT;
}

/* 0: not on the map, 1: a point, 2: a line, 3: a square, 4: any other rectangle. */
int classify(int left, int bottom, int right, int top)
{
    int width;
    int height;

    if (!inside(left) || !inside(bottom) || !inside(right) || !inside(top))
        return 0;
    width = right > left ? right - left : left - right;
    height = top > bottom ? top - bottom : bottom - top;
    if (width == 0 && height == 0)
        return 1;
    if (width == 0 || height == 0)
        return 2;
    if (width == height)
        return 3;
    if (width * height == 0)
        return -1;
    return 4;
}

/* How many of the first n marks pass; a pass needs at least 50 of 100. */
int passed(const int *marks, int n)
{
    int count = 0;

    for (int i = 0; i < n; i++) {
        if (marks[i] < 0 || marks[i] > 100)
            return -1;
        if (marks[i] >= 50)
            count++;
    }
    return count;
}
