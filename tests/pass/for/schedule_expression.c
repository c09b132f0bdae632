// OpenMP 5.2, section 11.5.3: the chunk expression is evaluated in the region, with side effects outside the loop body.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int chunk_of(int *calls) {
#pragma omp atomic
  ++*calls;
  return 6;
}
int main(void) {
  int owner[60], calls = 0;
#pragma omp parallel for num_threads(2) schedule(static, chunk_of(&calls))
  for (int i = 0; i < 60; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < 60; i++) CHECK(owner[i] == i / 6 % 2);
  CHECK(calls >= 1);
  return DONE();
}
