static int more(int x)
{
    while (x > 3 && x % 7)
        x--;
    return x;
}
