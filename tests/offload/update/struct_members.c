// OpenMP 5.2, section 13.9: members, sections of members and elements of arrays of structures.
#include "../../check.h"
struct s { int a, b[8]; double c; };
int main(void) {
  struct s s = {1, {0}, 2.5}, t[3] = {{0}};
#pragma omp target enter data map(to : s, t)
#pragma omp target
  {
    s.a = 10, s.c = 99;
    for (int i = 0; i < 8; i++) s.b[i] = i;
    for (int k = 0; k < 3; k++) t[k].a = k + 1, t[k].b[2] = 7 * k;
  }
#pragma omp target update from(s.a, s.b[2 : 3], t[1].b)
  CHECK(s.a == 10 && s.c == 2.5 && s.b[1] == 0 && s.b[2] == 2 && s.b[4] == 4 && s.b[5] == 0);
  CHECK(t[1].b[2] == 7 && t[1].a == 0 && t[2].b[2] == 0);
  s.c = -1, t[2].a = 50;
#pragma omp target update to(s.c, t[2].a)
  double c = 0;
  int a = 0, b = 0;
#pragma omp target map(from : a, b, c)
  a = t[2].a, b = t[2].b[2], c = s.c;
  CHECK(a == 50 && b == 14 && c == -1);
#pragma omp target exit data map(delete : s, t)
  return DONE();
}
