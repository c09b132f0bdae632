// OpenMP 5.2, sections 3.2.6 and 15.9.5: a region that depends on many tasks by an iterator, and a depobj.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  enum { N = 12 };
  int v[N], sum = 0;
  omp_depend_t o;
#pragma omp depobj(o) depend(inout : sum)
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    for (int i = 0; i < N; i++) {
#pragma omp task depend(out : v[i]) firstprivate(i)
      v[i] = i * i;
    }
#pragma omp target nowait depend(iterator(int k = 0 : N), in : v[k]) depend(depobj : o) map(to : v) map(tofrom : sum)
    for (int i = 0; i < N; i++) sum += v[i];
#pragma omp task depend(inout : sum)
    sum *= 2;
  }
#pragma omp depobj(o) destroy
  CHECK(sum == 2 * 506);
  return DONE();
}
