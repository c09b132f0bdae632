// OpenMP 5.2, section 5.8.3: a pointer in a structure is attached to its target.
#include "../../check.h"
struct V { int n; int *data; };
int main(void) {
  struct V v = {10, malloc(10 * sizeof(int))};
  int *before = v.data;
  for (int i = 0; i < v.n; i++) v.data[i] = i;
#pragma omp target map(tofrom : v, v.data[0 : v.n])
  for (int i = 0; i < v.n; i++) v.data[i] *= 3;
  CHECK(v.data == before && v.n == 10);
  for (int i = 0; i < 10; i++) CHECK(v.data[i] == 3 * i);
  free(v.data);
  return DONE();
}
