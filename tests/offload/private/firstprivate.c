// OpenMP 5.2, section 5.4.4: firstprivate scalars, arrays, structures and pointers of a region.
#include "../../check.h"
struct P { double x, y; };
int main(void) {
  int n = 3, v[4] = {1, 2, 3, 4}, out = 0;
  char c = 'a';
  double d = 2.5;
  struct P p = {1, 2};
#pragma omp target firstprivate(n, v, c, d, p) map(tofrom : out)
  {
    v[0] = 40;
    out = n + v[0] + v[3] + (c == 'a') + (int)(2 * d) + (int)p.y;
    n = 0, p.x = 9;
  }
  CHECK(out == 3 + 40 + 4 + 1 + 5 + 2);
  CHECK(n == 3 && v[0] == 1 && p.x == 1);
  return DONE();
}
