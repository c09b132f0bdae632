// OpenMP 5.2, section 13.9: target update in both directions, of parts, and of unmapped data.
#include "../../check.h"
int main(void) {
  int v[20], other = 5;
  for (int i = 0; i < 20; i++) v[i] = i;
#pragma omp target data map(to : v)
  {
#pragma omp target
    for (int i = 0; i < 20; i++) v[i] = 100 + i;
#pragma omp target update from(v[5 : 3])
    for (int i = 0; i < 20; i++) CHECK(v[i] == (i >= 5 && i < 8 ? 100 + i : i));
    v[0] = -1;
#pragma omp target update to(v[0 : 1])
    int first = 0;
#pragma omp target map(from : first)
    first = v[0];
    CHECK(first == -1);
  }
#pragma omp target update from(other)
  CHECK(other == 5);
  return DONE();
}
