// OpenMP 5.2, section 21.2.1: schedule(runtime) takes OMP_SCHEDULE; "static,4" must deal chunks of 4 in turn.
// stdout: ok
// levels: O0 O2
// env: OMP_SCHEDULE=static,4
#include "../../check.h"
int main(void) {
  int owner[100];
#pragma omp parallel for num_threads(3) schedule(runtime)
  for (int i = 0; i < 100; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < 100; i++) CHECK(owner[i] == i / 4 % 3);
  return DONE();
}
