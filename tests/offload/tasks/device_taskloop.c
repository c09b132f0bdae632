// OpenMP 5.2, sections 12.5 and 12.6: taskloops and tasks with every data clause within a region of the device.
#include "../../check.h"
int main(void) {
  int v[50], sum = 0, last = 0, grain = 0;
  for (int i = 0; i < 50; i++) v[i] = 0;
#pragma omp target map(tofrom : v, sum, last, grain)
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp taskloop num_tasks(7) lastprivate(last)
    for (int i = 0; i < 50; i++) v[i] += i, last = i;
#pragma omp taskloop grainsize(6) reduction(+ : sum)
    for (int i = 0; i < 50; i++) sum += v[i];
    int f = 3;
#pragma omp task firstprivate(f) shared(grain) depend(out : grain)
    grain = f;
#pragma omp task shared(grain) depend(inout : grain) if (0)
    grain *= 10;
#pragma omp taskwait
#pragma omp taskgroup
    {
#pragma omp task shared(grain)
      {
#pragma omp task shared(grain)
        grain += 5;
      }
    }
  }
  for (int i = 0; i < 50; i++) CHECK(v[i] == i);
  CHECK(sum == 1225 && last == 49 && grain == 35);
  return DONE();
}
