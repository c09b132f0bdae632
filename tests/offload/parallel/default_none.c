// OpenMP 5.2, section 5.4.1: default(none), default(firstprivate) and default(private) within a region of the device.
// flags: -fopenmp-version=51
// not-on: processors
#include "../../check.h"
int main(void) {
  int out[16] = {0}, base = 5, other = 7;
#pragma omp target map(tofrom : out) map(to : base, other)
  {
#pragma omp parallel for default(none) shared(out, base) num_threads(8)
    for (int i = 0; i < 16; i++) out[i] = base + i;
#pragma omp parallel default(firstprivate) shared(out) num_threads(4)
    {
      base += omp_get_thread_num();
#pragma omp atomic
      out[0] += base;
    }
    other += base;
    out[1] = other;
  }
  CHECK(out[0] == 5 + 20 + 6 && out[1] == 12 && out[15] == 20);
  return DONE();
}
