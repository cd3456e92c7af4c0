/* Definitions as before 1989, and declarations of every storage. */
int counter;
extern int declared_only;
extern int unknown_size[];
static int hidden = 3;
const int constant = 4;
int table[4] = { 1, 2, 3, 4 };
struct state { int mode; struct state *next; } state;
int written_only;

int old(a, b, c)
    int a;
    char b;
    float c;
{
    if (a > b && c > 1.0)
        return 1;
    return counter;
}

int reads(void) { return counter + declared_only + hidden + constant; }
int through(int x) { written_only = x; table[x & 3] = 1; state.mode = 2; return reads(); }
int *address(void) { return &table[1]; }
int pointer(void) { return state.next && state.next->mode; }
int unnamed(int, int);
int unnamed(int named, int also) { return named && also; }
int arrays(int fixed[4], int open[], int grid[2][3], int n, int vla[n], int at_least[static 2])
{
    return fixed[0] && open[0] && grid[1][2] && vla[0] && at_least[1];
}
int variadic(int count, ...) { return count > 0 ? count : -1; }
int callback(int f(int), int (*g)(void)) { return f(1) && g(); }
int main(int argc, char **argv) { return argc > 1 && argv[1][0] == 'x'; }
