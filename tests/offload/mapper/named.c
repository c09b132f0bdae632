// OpenMP 5.2, section 5.8.8: a named mapper, and one that uses another.
// flags: -fopenmp-version=50
#include "../../check.h"
typedef struct { int a, b; } P;
typedef struct { P p; int *q; } S;
#pragma omp declare mapper(S s) map(s.p, s.q[0 : 3])
#pragma omp declare mapper(only_a : P p) map(p.a)
int main(void) {
  int q[3] = {1, 2, 3};
  S s = {{4, 5}, q};
  P p = {7, 8};
#pragma omp target map(tofrom : s) map(mapper(only_a), tofrom : p)
  {
    s.q[1] += s.p.a;
    s.p.b = 50;
    p.a = 70;
  }
  CHECK(q[1] == 6 && s.p.b == 50 && p.a == 70 && p.b == 8 && s.q == q);
  return DONE();
}
