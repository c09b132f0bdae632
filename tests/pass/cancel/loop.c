// OpenMP 5.2, section 16.1: a cancelled loop, with each kind of schedule: a thread at a cancellation point leaves it, the
// others' iterations are complete, and so are the loops after it, more of them than a team has buffers.
// stdout: ok
// levels: O0 O2
// env: OMP_CANCELLATION=true
// env: OMP_SCHEDULE=guided,2
// native: libomp fails an assertion (kmp_dispatch.cpp) in the loop after a cancelled dynamic one
#include "../../check.h"
#define N 1000
static char seen[N];
static int begun, ended, after, behind;
#define LOOP(clauses)                                  \
  begun = ended = behind = 0;                          \
  _Pragma("omp parallel") {                            \
    _Pragma(#clauses) for (int i = 0; i < N; i++) {    \
      _Pragma("omp atomic") begun++;                   \
      if (i == 37) {                                   \
        _Pragma("omp cancel for") behind++;            \
      }                                                \
      _Pragma("omp atomic") ended++;                   \
      _Pragma("omp cancellation point for")            \
    }                                                  \
    _Pragma("omp for schedule(dynamic)")               \
    for (int i = 0; i < N; i++) {                      \
      _Pragma("omp cancellation point for") seen[i]++; \
    }                                                  \
  }                                                    \
  CHECK(behind == 0 && begun == ended + 1 && ended < N)
int main(void) {
  for (int round = 0; round < 12; round++) {
    LOOP(omp for);
    LOOP(omp for schedule(static, 3));
    LOOP(omp for schedule(dynamic));
    LOOP(omp for schedule(monotonic : dynamic, 3));
    LOOP(omp for schedule(guided));
    LOOP(omp for schedule(runtime));
  }
  for (int i = 0; i < N; i++) CHECK(seen[i] == 72);
  // Many in one region.
#pragma omp parallel
  for (int r = 0; r < 30; r++) {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 50; i++) {
      if (i == r) {
#pragma omp cancel for
      }
    }
#pragma omp for
    for (int i = 0; i < 50; i++) {
#pragma omp atomic
      after++;
    }
  }
  CHECK(after == 1500);
  return DONE();
}
