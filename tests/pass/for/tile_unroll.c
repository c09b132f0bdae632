// OpenMP 5.2, section 9: tile and unroll, alone and under a worksharing loop: each iteration once.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int m[17][23] = {{0}}, v[50] = {0};
#pragma omp parallel for num_threads(3)
#pragma omp tile sizes(4, 5)
  for (int i = 0; i < 17; i++)
    for (int j = 0; j < 23; j++) m[i][j]++;
#pragma omp parallel for num_threads(2) schedule(dynamic)
#pragma omp unroll partial(4)
  for (int i = 0; i < 50; i++) v[i]++;
#pragma omp unroll full
  for (int i = 0; i < 8; i++) v[i]++;
  for (int i = 0; i < 17 * 23; i++) CHECK((&m[0][0])[i] == 1);
  for (int i = 0; i < 50; i++) CHECK(v[i] == 1 + (i < 8));
  return DONE();
}
