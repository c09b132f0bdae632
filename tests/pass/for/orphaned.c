// OpenMP 5.2, section 11.5: an orphaned loop, called from a region shares its work and called from serial code runs it all.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
__attribute__((noinline)) static int work(int *hits, int n) {
  int mine = 0;
#pragma omp for schedule(static, 1)
  for (int i = 0; i < n; i++) hits[i]++, mine++;
  return mine;
}
int main(void) {
  int hits[30] = {0}, total = 0;
  CHECK(work(hits, 30) == 30);
#pragma omp parallel num_threads(3) reduction(+ : total)
  {
    int mine = work(hits, 30);
    CHECK(mine == 10);
    total += mine;
  }
  CHECK(total == 30);
  for (int i = 0; i < 30; i++) CHECK(hits[i] == 2);
  return DONE();
}
