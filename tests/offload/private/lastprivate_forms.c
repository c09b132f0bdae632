// OpenMP 5.2, section 5.4.5: lastprivate of distribute, of the loop, of both, and conditional.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int a = -1, b = -1, c = -1;
  struct { int x; double y; } s = {0, 0};
#pragma omp target teams distribute parallel for lastprivate(a, s) map(tofrom : a, s)
  for (int i = 0; i < 333; i++) a = i, s.x = 2 * i, s.y = 0.5 * i;
  CHECK(a == 332 && s.x == 664 && s.y == 166.0);
#pragma omp target teams distribute lastprivate(b) map(tofrom : b) num_teams(5)
  for (int i = 0; i < 77; i++) b = i * i;
  CHECK(b == 76 * 76);
#pragma omp target parallel for lastprivate(c) schedule(dynamic, 3) map(tofrom : c) num_threads(8)
  for (int i = 0; i < 100; i++) c = 1000 - i;
  CHECK(c == 901);
  return DONE();
}
