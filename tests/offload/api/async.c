// OpenMP 5.2, sections 18.8.7 and 18.8.8: asynchronous copies after the tasks they depend on.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[8] = {0}, w[8] = {0};
  int *dev = omp_target_alloc(sizeof v, d);
  omp_depend_t o;
#pragma omp depobj(o) depend(inout : v)
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : v)
    for (int i = 0; i < 8; i++) v[i] = i + 1;
    CHECK(omp_target_memcpy_async(dev, v, sizeof v, 0, 0, d, h, 1, &o) == 0);
#pragma omp taskwait
    CHECK(omp_target_memcpy_async(w, dev, sizeof v, 0, 0, h, d, 0, NULL) == 0);
#pragma omp taskwait
  }
#pragma omp depobj(o) destroy
  for (int i = 0; i < 8; i++) CHECK(w[i] == i + 1);
  omp_target_free(dev, d);
  return DONE();
}
