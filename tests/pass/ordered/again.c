// OpenMP 5.2, sections 15.10 and 11.4.3: consecutive ordered loops in a region, more than there are buffers, with chunks whose
// lengths are powers of two; and after a region that was cancelled inside of such a loop.
// native: skip (libomp waits for ever for the turns of the thread that has cancelled the region)
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=5 OMP_CANCELLATION=true
#include "../../check.h"

enum { N = 97, ROUNDS = 30 };
static int next[6 * ROUNDS];

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define LOOP(k, ...)                                                                               \
  PRAGMA(omp for ordered nowait schedule(__VA_ARGS__)) for (int i = 0; i < N; i++) {               \
    _Pragma("omp ordered") next[k] = next[k] == i ? i + 1 : -1;                                    \
  }

static void region(void) {
  for (int k = 0; k < 6 * ROUNDS; k++)
    next[k] = 0;
#pragma omp parallel
  for (int round = 0; round < ROUNDS; round++) {
    LOOP(6 * round, static, 1)
    LOOP(6 * round + 1, static, 8)
    LOOP(6 * round + 2, static, 16)
    LOOP(6 * round + 3, dynamic, 4)
    LOOP(6 * round + 4, guided, 1)
    LOOP(6 * round + 5, static)
  }
  for (int k = 0; k < 6 * ROUNDS; k++)
    CHECK(next[k] == N);
}

int main(void) {
  region();
  int seen = 0;
#pragma omp parallel
  {
    // The thread that left has every fifth turn: no thread waits for it for ever.
#pragma omp cancel parallel if (omp_get_thread_num() == 1)
#pragma omp for ordered nowait schedule(static, 1)
    for (int i = 0; i < N; i++) {
#pragma omp ordered
      __atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
    }
#pragma omp cancellation point parallel
  }
  CHECK(seen <= N);
  region();
  omp_set_num_threads(12);
  region();
  return DONE();
}
