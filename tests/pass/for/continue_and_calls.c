// OpenMP 5.2, section 4.4.1: continue, switch, inner loops with break and goto within the body of a worksharing loop.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int out[90];
#pragma omp parallel for num_threads(4) schedule(dynamic, 4)
  for (int i = 0; i < 90; i++) {
    out[i] = 0;
    if (i % 5 == 0) continue;
    for (int k = 0;; k++) if (k * k > i) { out[i] = k; break; }
    switch (i % 3) { case 0: goto tail; case 1: out[i] += 100; break; default: out[i] += 200; }
    continue;
  tail:
    out[i] = -out[i];
  }
  for (int i = 0; i < 90; i++) {
    int k = 0;
    while (k * k <= i) k++;
    CHECK(out[i] == (i % 5 == 0 ? 0 : i % 3 == 0 ? -k : i % 3 == 1 ? k + 100 : k + 200));
  }
  return DONE();
}
