// OpenMP 5.2, section 11.5: a worksharing loop in an inner region shares among the inner team only.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int hits[2][100] = {{0}};
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  {
    int row = omp_get_thread_num();
    for (int round = 0; round < 3; round++) {
#pragma omp parallel for num_threads(3) schedule(dynamic, 7)
      for (int i = 0; i < 100; i++) {
#pragma omp atomic
        hits[row][i]++;
      }
    }
  }
  for (int i = 0; i < 100; i++) CHECK(hits[0][i] == 3 && hits[1][i] == 3);
  return DONE();
}
