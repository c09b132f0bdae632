// From a region of the guest into one of the library and back: the thread that went out has its number again, its neighbors are
// foreign threads; inner regions of the guest are nested for it, outermost for them.
// stdout: ok
#include "../check.h"
#include "neighbour.inc"

static long total;

static void visit(int number, void *argument) {
  int from = *(int *)argument;
  if (number == 0)
    CHECK(omp_get_thread_num() == from && omp_get_num_threads() == 3 && omp_get_level() == 1);
  else
    CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_level() == 0);
#pragma omp critical
  total += from;
  int threads = 0, level = omp_get_level();
#pragma omp parallel num_threads(2) reduction(+ : threads)
  {
    CHECK(omp_get_level() == level + 1);
    threads++;
  }
  CHECK(threads == 2);
}

void by_name(int number) {}

int main(void) {
  omp_set_max_active_levels(3);
  for (int round = 0; round < 10; round++) {
    total = 0;
#pragma omp parallel num_threads(3)
    {
      int me = omp_get_thread_num();
      CHECK(native_each(2, visit, &me) == 2);
#pragma omp barrier
      CHECK(total == 6);
    }
  }
  return DONE();
}
