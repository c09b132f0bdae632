// OpenMP 5.2, sections 13.9 and 15.9.5: updates and regions that wait only for each other.
#include "../../check.h"
int main(void) {
  int v[64], back[64];
  for (int i = 0; i < 64; i++) v[i] = i;
#pragma omp target enter data map(alloc : v) nowait depend(out : v)
#pragma omp target update to(v) nowait depend(inout : v)
  for (int k = 0; k < 10; k++) {
#pragma omp target teams distribute parallel for nowait depend(inout : v)
    for (int i = 0; i < 64; i++) v[i] = 2 * v[i] + 1;
  }
#pragma omp target update from(v) nowait depend(inout : v)
#pragma omp task depend(in : v) shared(back)
  for (int i = 0; i < 64; i++) back[i] = v[i];
#pragma omp target exit data map(release : v) nowait depend(inout : v)
#pragma omp taskwait
  for (int i = 0; i < 64; i++) CHECK(back[i] == i * 1024 + 1023);
  CHECK(!omp_target_is_present(v, omp_get_default_device()));
  return DONE();
}
