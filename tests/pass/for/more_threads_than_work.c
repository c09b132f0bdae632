// OpenMP 5.2, section 11.5: fewer iterations than threads, under each schedule.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int hits[3] = {0};
#pragma omp parallel num_threads(12)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 3; i++) hits[i]++;
#pragma omp for schedule(static, 2)
    for (int i = 0; i < 3; i++) hits[i]++;
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 3; i++) hits[i]++;
#pragma omp for schedule(guided)
    for (int i = 0; i < 3; i++) hits[i]++;
  }
  for (int i = 0; i < 3; i++) CHECK(hits[i] == 4);
  return DONE();
}
