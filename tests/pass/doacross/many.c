// OpenMP 5.2, section 15.9.6: more consecutive nests than the team has buffers, without barriers between them,
// mixed with dynamic loops; posts before the rest of an iteration; an empty nest, and one without waits.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#define ROUNDS 40
static long sums[ROUNDS], others[ROUNDS];
int main(void) {
  int empty = 0, none = 0;
#pragma omp parallel
  for (int r = 0; r < ROUNDS; r++) {
#pragma omp for ordered(1) nowait
    for (int i = 0; i < 20; i++) {
#pragma omp ordered depend(sink : i - 1)
      sums[r] = sums[r] * 3 % 100003 + i;
#pragma omp ordered depend(source)
#pragma omp atomic
      others[r] += i;
    }
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 5; i++) {
#pragma omp atomic
      others[r] += 1;
    }
#pragma omp for ordered(1) nowait
    for (int i = 0; i < empty; i++) {
#pragma omp ordered depend(sink : i - 1)
      none++;
#pragma omp ordered depend(source)
    }
#pragma omp for ordered(1) nowait
    for (int i = 0; i < 3; i++) {
#pragma omp ordered depend(source)
    }
  }
  long expected = 0;
  for (int i = 0; i < 20; i++) expected = expected * 3 % 100003 + i;
  for (int r = 0; r < ROUNDS; r++) CHECK(sums[r] == expected && others[r] == 195);
  CHECK(none == 0);
  return DONE();
}
