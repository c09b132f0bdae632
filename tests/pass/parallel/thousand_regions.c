// OpenMP 5.2, section 10.1: a thousand regions in a row, with team sizes that change from one to the next.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  long runs = 0, want = 0;
  for (int i = 0; i < 1000; i++) {
    int n = 1 + i * 7 % 5;
    want += n;
#pragma omp parallel num_threads(n)
#pragma omp atomic
    runs++;
  }
  CHECK(runs == want);
  return DONE();
}
