// OpenMP 5.2, section 18.9: a hundred locks at once, taken in pairs in one order, and re-initialized after destruction.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  static omp_lock_t locks[100]; static long cells[100];
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < 100; i++) omp_init_lock(&locks[i]), cells[i] = 10;
#pragma omp parallel for num_threads(4) schedule(dynamic, 5)
    for (int i = 0; i < 1000; i++) {
      int a = i * 7 % 100, b = (a + 1 + i % 50) % 100, lo = a < b ? a : b, hi = a < b ? b : a;
      omp_set_lock(&locks[lo]), omp_set_lock(&locks[hi]);
      cells[a]--, cells[b]++;
      omp_unset_lock(&locks[hi]), omp_unset_lock(&locks[lo]);
    }
    long sum = 0;
    for (int i = 0; i < 100; i++) sum += cells[i], omp_destroy_lock(&locks[i]);
    CHECK(sum == 1000);
  }
  return DONE();
}
