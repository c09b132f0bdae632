// OpenMP 5.2, section 5.8.3: members of a structure; unmapped ones do not change.
#include "../../check.h"
struct S { int a; double b; int c[5]; char d; };
int main(void) {
  struct S s = {1, 2.5, {1, 2, 3, 4, 5}, 'x'};
#pragma omp target map(tofrom : s.b, s.c[1 : 2])
  {
    s.b *= 2;
    s.c[1] += 10;
    s.c[2] += 20;
  }
  CHECK(s.a == 1 && s.b == 5.0 && s.c[0] == 1 && s.c[1] == 12 && s.c[2] == 23 && s.c[3] == 4 && s.d == 'x');
#pragma omp target map(tofrom : s)
  s.a = s.c[4], s.d = 'y';
  CHECK(s.a == 5 && s.d == 'y');
  return DONE();
}
