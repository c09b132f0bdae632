// OpenMP 5.2, section 4.4.1: decreasing loops in all comparison forms, each iteration once with its own value.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int hits[101] = {0};
#pragma omp parallel num_threads(3)
  {
#pragma omp for
    for (int i = 100; i >= 0; i--) hits[i]++;
#pragma omp for schedule(static, 4)
    for (int i = 100; i > -1; i -= 1) hits[i]++;
#pragma omp for schedule(dynamic, 4)
    for (int i = 100; 0 <= i; i = i - 1) hits[i]++;
#pragma omp for schedule(guided)
    for (int i = 99; i != -1; --i) hits[i]++;
#pragma omp for
    for (long i = 100; i > 0; i -= 10) hits[i]++;
  }
  for (int i = 0; i <= 100; i++) CHECK(hits[i] == 3 + (i < 100) + (i > 0 && i % 10 == 0));
  return DONE();
}
