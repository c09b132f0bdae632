// OpenMP 5.2, section 21.1.6: an invalid list of places gets one warning, and cores are the places.
// stdout: ok
// env: OMP_PLACES=caches OMP_NUM_THREADS=2
// stderr-has: OMP: Warning #250: OMP_PLACES="caches" is not a list of places, using cores
#include "../../check.h"
int main(void) {
  CHECK(omp_get_num_places() >= 1);
  CHECK(omp_get_proc_bind() == omp_proc_bind_spread);
#pragma omp parallel
  CHECK(omp_get_place_num() >= 0);
  return DONE();
}
