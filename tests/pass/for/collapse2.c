// OpenMP 5.2, section 4.4.3: collapse(2) forms one iteration space in the order of the nest.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int owner[6][7], hits[6][7] = {{0}};
#pragma omp parallel for collapse(2) num_threads(4) schedule(static, 5)
  for (int i = 0; i < 6; i++)
    for (int j = 6; j >= 0; j--) owner[i][j] = omp_get_thread_num(), hits[i][j]++;
  for (int k = 0; k < 42; k++) CHECK(hits[k / 7][k % 7] == 1 && owner[k / 7][6 - k % 7] == k / 5 % 4);
  return DONE();
}
