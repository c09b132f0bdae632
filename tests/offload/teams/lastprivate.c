// OpenMP 5.2, section 5.4.5: lastprivate of distributed loops.
#include "../../check.h"
int main(void) {
  int x = -1, y = -1;
#pragma omp target parallel for lastprivate(y) map(tofrom : y)
  for (int i = 0; i < 123; i++) y = i;
#pragma omp target teams distribute lastprivate(x) map(tofrom : x)
  for (int i = 0; i < 77; i++) x = 2 * i;
  CHECK(y == 122 && x == 152);
  return DONE();
}
