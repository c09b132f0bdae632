// OpenMP 5.2, section 12.6.1: taskloop with a strict modifier: all tasks but the last have exactly the grain size.
// flags: -fopenmp-version=51
// stdout: ok
#include "../../check.h"
int main(void) {
  int begun[100];
#pragma omp parallel
#pragma omp single
  {
    int v[10], calls = 0;
#pragma omp taskloop num_tasks(strict : 5) shared(v)
    for (int i = 0; i < 10; i++) v[i] = i;
    CHECK(v[9] == 9);
    memset(begun, 0, sizeof begun);
#pragma omp taskloop grainsize(strict : 30) firstprivate(calls) shared(begun)
    for (int i = 0; i < 100; i++)
      if (calls++ == 0) begun[i] = 1;
    for (int i = 0; i < 100; i++) CHECK(begun[i] == (i % 30 == 0));
  }
  return DONE();
}
