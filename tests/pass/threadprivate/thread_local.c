// C11 _Thread_local variables in a region, with initial values per thread, and __thread arrays.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static _Thread_local int plain = 3;
static __thread char array[100] = "start";
int main(void) {
#pragma omp parallel num_threads(4)
  {
    int me = omp_get_thread_num();
    CHECK(plain == 3 && !strcmp(array, "start"));
    plain += me, array[0] = 'a' + me;
#pragma omp barrier
    CHECK(plain == 3 + me && array[0] == 'a' + me && !strcmp(array + 1, "tart"));
  }
  CHECK(plain == 3 && array[0] == 'a');
  return DONE();
}
