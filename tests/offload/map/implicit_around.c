// OpenMP 5.2, section 5.8.1: implicit mappings of variables of which a part is mapped already. The region
// accesses that part, whether it begins with the variable or within it.
// levels: O0 O2
#include "../../check.h"

struct S {
  int a, b;
  int *p;
  int c;
};

int main(void) {
  int rows[4][5];
  for (int i = 0; i < 4; i++) {
#pragma omp target enter data map(alloc : rows[i : 1][0 : 5])
#pragma omp target
    for (int j = 0; j < 5; j++)
      rows[i][j] = 10 * i + j;
#pragma omp target exit data map(from : rows[i : 1][0 : 5])
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      CHECK(rows[i][j] == 10 * i + j);

  int values[6] = {1, 2, 3, 4, 5, 6};
  struct S s = {1, 2, values, 3};
#pragma omp target enter data map(to : s.p, s.p[ : 6])
#pragma omp target
  for (int i = 0; i < 6; i++)
    s.p[i] *= 2;
#pragma omp target exit data map(from : s.p[ : 6]) map(release : s.p)
  CHECK(values[0] == 2 && values[5] == 12);
  CHECK(s.a == 1 && s.b == 2 && s.p == values && s.c == 3);
  return DONE();
}
