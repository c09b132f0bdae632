// OpenMP 5.2, section 18.8.6: blocks of three dimensions between two devices and within one.
// options: --device=emulated:2
#include "../../check.h"
enum { A = 3, B = 4, C = 5 };
int main(void) {
  int h = omp_get_initial_device(), v[A][B][C], w[2][3][4];
  for (int i = 0; i < A * B * C; i++) v[0][0][i] = i;
  for (int i = 0; i < 24; i++) w[0][0][i] = -1;
  int *one = omp_target_alloc(sizeof v, 0), *two = omp_target_alloc(sizeof w, 1), *again = omp_target_alloc(sizeof w, 1);
  CHECK(omp_target_memcpy(one, v, sizeof v, 0, 0, 0, h) == 0);
  size_t part[3] = {2, 2, 3}, from[3] = {1, 2, 1}, to[3] = {0, 1, 1}, small[3] = {2, 3, 4}, large[3] = {A, B, C};
  CHECK(omp_target_memcpy(two, w, sizeof w, 0, 0, 1, h) == 0);
  CHECK(omp_target_memcpy_rect(two, one, sizeof(int), 3, part, to, from, small, large, 1, 0) == 0);
  size_t none[3] = {0, 0, 0};
  CHECK(omp_target_memcpy_rect(again, two, sizeof(int), 3, small, none, none, small, small, 1, 1) == 0);
  CHECK(omp_target_memcpy(w, again, sizeof w, 0, 0, h, 1) == 0);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++) CHECK(w[i][j][k] == (j >= 1 && k >= 1 ? v[i + 1][j + 1][k] : -1));
  omp_target_free(one, 0), omp_target_free(two, 1), omp_target_free(again, 1);
  return DONE();
}
