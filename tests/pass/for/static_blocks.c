// OpenMP 5.2, section 11.5.3: schedule(static) gives at most one contiguous chunk per thread, in thread order, sizes nearly equal.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  for (int n = 0; n < 40; n++) {
    int owner[40], count[4] = {0};
#pragma omp parallel for num_threads(4) schedule(static)
    for (int i = 0; i < n; i++) owner[i] = omp_get_thread_num();
    for (int i = 0; i < n; i++) count[owner[i]]++;
    for (int i = 1; i < n; i++) CHECK(owner[i] >= owner[i - 1]);
    for (int t = 0; t < 4; t++) CHECK(count[t] <= (n + 3) / 4);
  }
  return DONE();
}
