#include <assert.h>
#define IF(c) if (c)
#define MAX(a,b) ((a) > (b) ? (a) : (b))
#define OUTER(x) IF((x) > 1 && (x) < 9)
enum { ON = 1 };
static const int K = 3;
int f(int x, int y) {
  const int L = 1;
  IF(x > 3 && y > 2) x++;
  IF(MAX(x,y) > 4) y++;
  OUTER(y + x) y--;
  y = MAX(MAX(x,1), MAX(y,2));
  assert(x > 0 && y);
  if (ON) y++;
  if (ON && x) y++;
  if (x && 0) y++;
  if (1 || x) y++;
  if (K) y++;
  if (L) y++;
  if (0 * x) y++;
  if ((x++, 1)) y++;
  if ("abc") y++;
  if (&y) y++;
  if (f) y++;
  do { y++; } while (0);
  while (1) { if (x++ > 5) break; }
  for (;;) { if (x++ > 15) break; }
  for (; 1 ;) { if (x++ > 25) break; }
  int z = !(x && y);
  z = !x;
  z = x ?: y;
  z = (x && y) ?: y;
  z += sizeof(x && y);
  z += __builtin_choose_expr(1, x && y, x || y);
  z += _Generic(x, int: x && y, default: x || y);
  switch (x) { case 1: case 2 ... 4: y++; default: z++; case ON + 5: ; }
  if (!!(x == 2)) z++;
  if (!(x == 2 || !y)) z++;
  z = ({ int t = x && z; t; });
  if (__builtin_expect(x > 3 && y, 1)) z++;
  if (__builtin_constant_p(3)) z++;
  if (x == 1 ? y : z) z++;
  if ((x, y)) z++;
  if ((x, y && z)) z++;
  if (x = y) z++;
  if (0) { if (x) z++; }
  int arr[x && y ? 2 : 1]; z += sizeof arr;
  static int st = 1 && 2;
  __typeof__(x && y) q = 0;
  return x > 0 && z + q + st;
}
int after(int x) { return 1; if (x) return 2; switch (x) { if (x) x++; case 1: x++; } }
static inline int unused(int x) { return x && 1; }
int arm(int x) { return 1 ? x : x && 2;}
int main(void) { return 0; }
