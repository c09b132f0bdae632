// OpenMP 5.2, sections 13.6, 13.7 and 13.9: enter data, update and exit data as tasks.
#include "../../check.h"
int main(void) {
  int v[64];
  for (int i = 0; i < 64; i++) v[i] = i;
#pragma omp target enter data map(to : v) nowait depend(out : v)
#pragma omp target nowait depend(inout : v) map(tofrom : v)
  for (int i = 0; i < 64; i++) v[i] += 1000;
#pragma omp target update from(v) nowait depend(inout : v)
#pragma omp taskwait
  for (int i = 0; i < 64; i++) CHECK(v[i] == 1000 + i);
#pragma omp target nowait depend(inout : v) map(tofrom : v)
  v[7] = 7;
#pragma omp target exit data map(from : v) nowait depend(inout : v)
#pragma omp taskwait
  CHECK(v[7] == 7 && v[8] == 1008);
  return DONE();
}
