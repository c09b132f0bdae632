// OpenMP 5.2, section 5.8: derived classes, several bases, members of bases and references, mapped as wholes.
#include "../../check.h"
struct A { int a; int twice() const { return 2 * a; } };
struct B { double b[3]; double sum() const { return b[0] + b[1] + b[2]; } };
struct C : A, B { int c; };
int main() {
  C c;
  c.a = 5, c.b[0] = 1, c.b[1] = 2, c.b[2] = 3, c.c = 7;
  C &r = c;
  A &base = c;
  int x = 0;
#pragma omp target map(tofrom : r, x)
  {
    x = r.twice() + (int)r.sum() + r.c;
    B &b = r;
    b.b[1] = 20;
    r.a++;
  }
  CHECK(x == 23 && c.b[1] == 20 && c.a == 6 && base.a == 6);
#pragma omp target map(tofrom : base)
  base.a = 100;
  CHECK(c.a == 100 && c.c == 7);
  return DONE();
}
