// OpenMP 5.2, section 5.5: a reduction over the threads of one team, for several numbers of them.
#include "../../check.h"
int main(void) {
  for (int n = 1; n <= 96; n = n * 2 + 1) {
    long sum = 0;
#pragma omp target parallel for num_threads(n) reduction(+ : sum)
    for (int i = 0; i < 1000; i++) sum += i;
    CHECK(sum == 499500);
  }
  return DONE();
}
