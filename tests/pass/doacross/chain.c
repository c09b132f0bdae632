// OpenMP 5.2, section 15.9.6: each iteration waits for the one before it; in both directions, with steps, and with the
// clause's newer name.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  int v[200] = {1};
#pragma omp parallel for ordered(1)
  for (int i = 1; i < 200; i++) {
#pragma omp ordered depend(sink : i - 1)
    v[i] = v[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  CHECK(v[199] == 200);
#pragma omp parallel for ordered(1) schedule(dynamic)
  for (long i = 196; i >= 0; i -= 4) {
#pragma omp ordered doacross(sink : i + 4)
    v[i] = (i < 196 ? v[i + 4] : 0) + 2;
#pragma omp ordered doacross(source :)
  }
  CHECK(v[0] == 100 && v[196] == 2);
  // Two at a time may run: each waits for the one two before it.
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (unsigned i = 0; i < 100; i++) {
#pragma omp ordered depend(sink : i - 2)
    v[i] = i < 2 ? 5 : v[i - 2] + 1;
#pragma omp ordered depend(source)
  }
  CHECK(v[98] == 54 && v[99] == 54);
  return DONE();
}
