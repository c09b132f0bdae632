// OpenMP 5.2, section 15.4: a taskgroup waits for regions, updates and data of its tasks; also with priority and detach.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int v[10] = {0}, done = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp target enter data map(to : v) nowait depend(out : v)
#pragma omp target nowait depend(inout : v)
        for (int i = 0; i < 10; i++) v[i] = i + 1;
#pragma omp target exit data map(from : v) nowait depend(inout : v)
      }
    }
    for (int i = 0; i < 10; i++) CHECK(v[i] == i + 1);
    done = 1;
  }
  CHECK(done);
  return DONE();
}
