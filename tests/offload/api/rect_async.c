// OpenMP 5.2, section 18.8.8: a block copied by a task, after its dependences and before its dependents.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device(), v[4][4], w[4][4] = {{0}};
  for (int i = 0; i < 16; i++) v[0][i] = 0;
  int *dev = omp_target_alloc(sizeof v, d);
  size_t all[2] = {4, 4}, half[2] = {4, 2}, none[2] = {0, 0}, right[2] = {0, 2};
  omp_depend_t to, back;
#pragma omp depobj(to) depend(inout : v)
#pragma omp depobj(back) depend(inout : w)
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : v)
    for (int i = 0; i < 16; i++) v[0][i] = i;
    CHECK(omp_target_memcpy_rect_async(dev, v, sizeof(int), 2, all, none, none, all, all, d, h, 1, &to) == 0);
#pragma omp taskwait
    CHECK(omp_target_memcpy_rect_async(w, dev, sizeof(int), 2, half, none, right, all, all, h, d, 1, &back) == 0);
#pragma omp task depend(inout : w)
    w[0][0] += 100;
  }
#pragma omp depobj(to) destroy
#pragma omp depobj(back) destroy
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) CHECK(w[i][j] == (j < 2 ? v[i][j + 2] : 0) + (i + j == 0 ? 100 : 0));
  omp_target_free(dev, d);
  return DONE();
}
