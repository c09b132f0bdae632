// Regions of the guest and of the library in turn: each has its own threads, before and after.
// stdout: ok
#include "../check.h"
#include "neighbour.inc"

void by_name(int number) {}

int main(void) {
  CHECK(native_sum(3, 1000) == 500500);
  for (int round = 0; round < 20; round++) {
    long sum = 0;
    int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp single nowait
      threads = omp_get_num_threads();
#pragma omp for
      for (long i = 0; i <= 1000; i++)
        sum += i;
    }
    CHECK(threads == 4 && sum == 500500);
    CHECK(native_sum(2 + round % 3, 100) == 5050);
  }
  return DONE();
}
