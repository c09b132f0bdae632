// OpenMP 5.2, section 11.5.3: the iterations of a chunk run one after the other, so they may update what belongs to
// their thread, as bins that are reduced and counters by thread number do. Clang marks such loops as free of
// dependences.
// stdout: ok
// options: --tier=opt
#include "../../check.h"
#include <omp.h>
#define N 3000
#define THREADS 3
static long key[N];
static unsigned short narrow[N];
static long own[THREADS][8];
#define COUNT(SCHEDULE)                                                                            \
  {                                                                                                \
    long bins[8] = {5}, sum = 0;                                                                   \
    for (int t = 0; t < THREADS; t++)                                                              \
      for (int k = 0; k < 8; k++) own[t][k] = 0;                                                   \
    _Pragma(SCHEDULE) for (int i = 0; i < N; i++) bins[key[i] & 7] += key[i];                      \
    _Pragma(SCHEDULE) for (int i = 0; i < N; i++)                                                  \
        own[omp_get_thread_num()][narrow[i] & 7] += narrow[i];                                     \
    for (int k = 0; k < 8; k++) CHECK(bins[k] == want[k] + (k == 0 ? 5 : 0));                      \
    for (int t = 0; t < THREADS; t++)                                                              \
      for (int k = 0; k < 8; k++) sum += own[t][k];                                                \
    CHECK(sum == all);                                                                             \
  }
int main(void) {
  long want[8] = {0}, all = 0;
  for (int i = 0; i < N; i++) {
    key[i] = (i * 7919L) >> 3, narrow[i] = (unsigned short)(i * 31 >> 4);
    want[key[i] & 7] += key[i], all += narrow[i];
  }
  for (int turn = 0; turn < 3; turn++) {
    COUNT("omp parallel for num_threads(THREADS) schedule(dynamic, 64) reduction(+ : bins)")
    COUNT("omp parallel for num_threads(THREADS) schedule(guided) reduction(+ : bins)")
    COUNT("omp parallel for num_threads(THREADS) schedule(nonmonotonic : dynamic, 500) reduction(+ : bins)")
    COUNT("omp parallel for num_threads(THREADS) schedule(static, 100) reduction(+ : bins)")
    COUNT("omp parallel for num_threads(THREADS) schedule(auto) reduction(+ : bins)")
  }
  return DONE();
}
