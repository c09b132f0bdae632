// OpenMP 5.2, section 13.8: a target region without a device runs on the host.
// options: --device=host
// flags: -fopenmp-targets=x86_64-pc-linux-gnu
#include <omp.h>
int main(void) {
  int x = 0, host = 0;
#pragma omp target map(tofrom : x, host)
  x = 1, host = omp_is_initial_device();
  return x != 1 || !host || omp_get_num_devices() != 0 || omp_get_initial_device() != 0;
}
