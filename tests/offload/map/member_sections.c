// OpenMP 5.2, section 5.8.3: several members and a section through one of them, in one construct.
#include "../../check.h"
struct G { int n, m; float *p; short tag[4]; float *q; };
int main(void) {
  struct G g = {4, 5, malloc(16), {1, 2, 3, 4}, malloc(20)};
  for (int i = 0; i < 4; i++) g.p[i] = i;
  for (int i = 0; i < 5; i++) g.q[i] = 10 * i;
#pragma omp target map(to : g.n, g.m, g.p[0 : 4]) map(tofrom : g.q[1 : 3], g.tag)
  {
    for (int i = 1; i < g.n; i++) g.q[i] += g.p[i];
    g.tag[g.m - 2] = 44;
  }
  CHECK(g.q[0] == 0 && g.q[1] == 11 && g.q[2] == 22 && g.q[3] == 33 && g.q[4] == 40 && g.tag[3] == 44 && g.tag[0] == 1);
  free(g.p);
  free(g.q);
  return DONE();
}
