// OpenMP 5.2, section 11.5: loops without iterations run no body, under every schedule, and lastprivate does not change the original.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static void run(int from, int to) {
  int bodies = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(static)
    for (int i = from; i < to; i++) bodies = 1;
#pragma omp for schedule(static, 2)
    for (unsigned i = from; i < (unsigned)to; i++) bodies = 1;
#pragma omp for schedule(dynamic)
    for (int i = from; i < to; i++) bodies = 1;
#pragma omp for schedule(guided) nowait
    for (long i = from; i < to; i += 3) bodies = 1;
#pragma omp for schedule(runtime)
    for (int i = from; i < to; i++) bodies = 1;
#pragma omp for collapse(2)
    for (int i = 0; i < 10; i++)
      for (int j = from; j < to; j++) bodies = 1;
#pragma omp for ordered
    for (int i = from; i < to; i++) {
#pragma omp ordered
      bodies = 1;
    }
  }
  CHECK(bodies == 0);
}
int main(void) {
  run(0, 0); run(5, 5); run(7, 3); run(2147483647, 0);
  return DONE();
}
