// OpenMP 5.2, section 15.2: critical within teams of a device and between them.
#include "../../check.h"
int main(void) {
  int n = 0, m = 0;
#pragma omp target parallel num_threads(48) map(tofrom : n)
  {
#pragma omp critical
    n = n + 1;
  }
#pragma omp target teams num_teams(3) thread_limit(32) map(tofrom : m)
#pragma omp parallel
  {
#pragma omp critical(named)
    m = m + 1;
  }
  CHECK(n >= 1 && n <= 48 && m >= 3);
  return DONE();
}
