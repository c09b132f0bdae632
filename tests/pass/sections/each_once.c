// OpenMP 5.2, section 11.3: every section runs exactly once, with more sections than threads and fewer.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  for (int n = 1; n <= 8; n += 3) {
    int a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma omp parallel num_threads(n)
    {
#pragma omp sections
      {
        a++;
#pragma omp section
        b++;
#pragma omp section
        c++;
#pragma omp section
        d++;
#pragma omp section
        e++;
      }
      CHECK(a + b + c + d + e == 5);
    }
    CHECK(a == 1 && b == 1 && c == 1 && d == 1 && e == 1);
  }
  return DONE();
}
