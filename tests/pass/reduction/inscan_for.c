// OpenMP 5.2, section 5.6: inclusive scan in a worksharing loop over several threads.
// stdout: ok
// levels: O0 O2
// flags: -lm
#include "../../check.h"
int main(void) {
  long in[200], out[200], x = 0;
  for (int i = 0; i < 200; i++) in[i] = (i * 7919) % 23 - 5;
#pragma omp parallel for num_threads(4) reduction(inscan, + : x)
  for (int i = 0; i < 200; i++) {
    x += in[i];
#pragma omp scan inclusive(x)
    out[i] = x;
  }
  long s = 0;
  for (int i = 0; i < 200; i++) { s += in[i]; CHECK(out[i] == s); }
  return DONE();
}
