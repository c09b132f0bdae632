// OpenMP 5.2, section 18.8.6: blocks of several dimensions.
#include <limits.h>
#include "../../check.h"
int main(void) {
  int d = omp_get_default_device(), h = omp_get_initial_device();
  int a[4][6], b[3][5];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++) a[i][j] = 10 * i + j;
  for (int i = 0; i < 15; i++) b[0][i] = -1;
  int *dev = omp_target_alloc(sizeof a, d);
  CHECK(omp_target_memcpy_rect(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, h, d) == INT_MAX);
  size_t all[2] = {4, 6}, zero[2] = {0, 0};
  CHECK(omp_target_memcpy_rect(dev, a, sizeof(int), 2, all, zero, zero, all, all, d, h) == 0);
  size_t part[2] = {2, 3}, from[2] = {1, 2}, to[2] = {1, 1}, size[2] = {3, 5};
  CHECK(omp_target_memcpy_rect(b, dev, sizeof(int), 2, part, to, from, size, all, h, d) == 0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 5; j++) {
      int in = i >= 1 && j >= 1 && j < 4;
      CHECK(b[i][j] == (in ? 10 * i + j + 1 : -1));
    }
  omp_target_free(dev, d);
  return DONE();
}
