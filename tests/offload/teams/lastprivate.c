// OpenMP 5.2, section 5.4.5: lastprivate of distributed loops.
#include "../../check.h"
int main(void) {
  int x = -1, y = -1;
#pragma omp target parallel for lastprivate(y) map(tofrom : y)
  for (int i = 0; i < 123; i++) y = i;
#pragma omp target teams distribute lastprivate(x) map(tofrom : x)
  for (int i = 0; i < 77; i++) x = 2 * i;
  CHECK(y == 122 && x == 152);
  // Each thread of a team has its own variable of the outer loop.
  int z = -1, down = -1, none = -1;
#pragma omp target teams distribute parallel for lastprivate(z) map(tofrom : z)
  for (int i = 0; i < 1000; i++) z = 3 * i;
#pragma omp target teams distribute parallel for lastprivate(down) map(tofrom : down)
  for (int i = 999; i >= 5; i -= 7) down = i;
#pragma omp target teams distribute parallel for lastprivate(none) map(tofrom : none)
  for (int i = 0; i < x - 152; i++) none = i;
  CHECK(z == 2997 && down == 5 && none == -1);
  return DONE();
}
