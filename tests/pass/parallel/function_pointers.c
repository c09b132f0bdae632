// OpenMP 5.2, section 10.1: function pointers captured, called and compared in a region.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
int main(void) {
  int (*table[2])(int) = {twice, square}, out[4];
  int (*shared_fn)(int) = square;
#pragma omp parallel num_threads(4) firstprivate(shared_fn)
  {
    int me = omp_get_thread_num();
    CHECK(shared_fn == table[1] && table[0] != table[1]);
    out[me] = table[me % 2](me + 5) + shared_fn(me);
  }
  CHECK(out[0] == 10 && out[1] == 37 && out[2] == 18 && out[3] == 73);
  return DONE();
}
