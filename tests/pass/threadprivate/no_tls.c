// OpenMP 5.2, section 5.2: the same through the runtime's own cache, as clang emits it without thread-local storage.
// stdout: ok
// levels: O0 O2
// flags: -fnoopenmp-use-tls
#include "../../check.h"
static int counter = 10;
static struct { long a[4]; } big = {{1, 2, 3, 4}};
#pragma omp threadprivate(counter, big)
int main(void) {
  for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(4)
    {
      int me = omp_get_thread_num();
      CHECK(counter == 10 + round * (me + 1) && big.a[3] == 4 + round);
      counter += me + 1;
      big.a[3]++;
    }
  }
  big.a[0] = 77;
#pragma omp parallel num_threads(4) copyin(big)
  CHECK(big.a[0] == 77);
  CHECK(counter == 15);
  return DONE();
}
