// OpenMP 5.2, section 15.2: named and unnamed critical regions are different locks, over all threads of all teams.
#include "../../check.h"
int main(void) {
  int a = 0, b = 0, c = 0;
#pragma omp target teams num_teams(3) map(tofrom : a, b, c)
#pragma omp parallel num_threads(20)
  for (int k = 0; k < 5; k++) {
#pragma omp critical(one)
    a = a + 1;
#pragma omp critical(two)
    b = b + 2;
#pragma omp critical
    c = c + 3;
  }
  CHECK(a > 0 && a % 5 == 0 && b == 2 * a && c == 3 * a);
  return DONE();
}
