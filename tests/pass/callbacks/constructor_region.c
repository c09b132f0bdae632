// A parallel region in a constructor function, before main.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int early;
__attribute__((constructor)) static void before_main(void) {
#pragma omp parallel num_threads(3)
#pragma omp atomic
  early += omp_get_thread_num() + 1;
}
int main(void) {
  CHECK(early == 6);
#pragma omp parallel num_threads(3)
#pragma omp atomic
  early += 1;
  CHECK(early == 9);
  return DONE();
}
