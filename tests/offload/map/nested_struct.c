// OpenMP 5.2, section 5.8.3: structures within structures, a pointer at the end.
#include "../../check.h"
struct In { int k; int *v; };
struct Out { struct In a, b; int c; };
int main(void) {
  int x[3] = {1, 2, 3}, y[2] = {4, 5};
  struct Out o = {{10, x}, {20, y}, 30};
#pragma omp target map(tofrom : o, o.a.v[0 : 3], o.b.v[0 : 2])
  {
    o.a.v[2] += o.b.v[1];
    o.b.v[0] = o.a.k + o.c;
    o.b.k++;
  }
  CHECK(x[2] == 8 && y[0] == 40 && o.b.k == 21 && o.a.v == x && o.b.v == y);
  return DONE();
}
