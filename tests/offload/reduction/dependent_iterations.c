// OpenMP 5.2, section 11.5.3: the iterations of a chunk run one after the other, on devices as on the host.
#include "../../check.h"
#define N 3000
static long key[N];
#define COUNT(DIRECTIVE)                                                                           \
  {                                                                                                \
    long bins[4] = {5};                                                                            \
    _Pragma(DIRECTIVE) for (int i = 0; i < N; i++) bins[key[i] & 3] += key[i];                     \
    for (int k = 0; k < 4; k++) CHECK(bins[k] == want[k] + (k == 0 ? 5 : 0));                      \
  }
int main(void) {
  long want[4] = {0};
  for (int i = 0; i < N; i++) key[i] = (i * 7919L) >> 3, want[key[i] & 3] += key[i];
  COUNT("omp target teams distribute parallel for schedule(dynamic) reduction(+ : bins) map(to : key)")
  COUNT("omp target teams distribute parallel for num_teams(5) dist_schedule(static, 112) schedule(guided) reduction(+ : bins) map(to : key)")
  COUNT("omp target parallel for schedule(dynamic, 64) reduction(+ : bins) map(to : key)")
  COUNT("omp target teams distribute parallel for schedule(static, 1) reduction(+ : bins) map(to : key)")
  return DONE();
}
