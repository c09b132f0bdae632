// OpenMP 5.2, section 15.2: two critical sections of one name in two functions exclude each other.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
static long count;
__attribute__((noinline)) static void up(void) {
#pragma omp critical(counter)
  count++;
}
__attribute__((noinline)) static void down(void) {
#pragma omp critical(counter)
  count -= 2;
}
int main(void) {
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 400; i++) { up(); if (i % 2) down(); else up(); }
  CHECK(count == 4 * (600 - 400));
  return DONE();
}
