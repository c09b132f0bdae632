// In `for`, each iteration is executed once, whatever its members round to; a schedule's chunks do not depend on it, leave
// no exception behind and do not trap.
// flags: -lm
// levels: O0 O2
// native: libomp computes the chunks of guided schedules in the floating-point environment of the program
// stdout: guided 0 0
// stdout: dynamic 0 0
// stdout: runtime 0 0
// stdout: no trap 100000 0
#define _GNU_SOURCE
#include "../../check.h"
#include <fenv.h>
#include <omp.h>
#include <string.h>

enum { N = 100000 };
static unsigned char seen[N];
static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};

static int wrong(void) {
  int count = 0;
  for (int i = 0; i < N; i++)
    count += seen[i] != 1;
  memset(seen, 0, N);
  return count;
}

#define LOOP(NAME, SCHEDULE)                                                                                           \
  {                                                                                                                    \
    int flags = 0;                                                                                                     \
    _Pragma("omp parallel num_threads(4) reduction(+ : flags)") {                                                      \
      feclearexcept(FE_ALL_EXCEPT);                                                                                    \
      fesetround(modes[omp_get_thread_num()]);                                                                         \
      SCHEDULE for (int i = 0; i < N; i++) {                                                                           \
        fesetround(modes[i % 4]);                                                                                      \
        seen[i]++;                                                                                                     \
      }                                                                                                                \
      flags += fetestexcept(FE_ALL_EXCEPT) != 0;                                                                       \
    }                                                                                                                  \
    printf("%s %d %d\n", NAME, wrong(), flags);                                                                        \
  }

int main(void) {
  LOOP("guided", _Pragma("omp for schedule(guided)"))
  LOOP("dynamic", _Pragma("omp for schedule(dynamic, 7)"))
  omp_set_schedule(omp_sched_guided, 3);
  LOOP("runtime", _Pragma("omp for schedule(runtime)"))
  feenableexcept(FE_ALL_EXCEPT);
  int sum = 0;
#pragma omp parallel for schedule(guided, 5) num_threads(3) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    sum++;
    seen[i]++;
  }
  fedisableexcept(FE_ALL_EXCEPT);
  printf("no trap %d %d\n", sum, wrong());
}
