// OpenMP 5.2, section 5.8.8: a mapper for a structure with a pointer, in all constructs.
// flags: -fopenmp-version=50
#include "../../check.h"
typedef struct { int n; int *data; } V;
#pragma omp declare mapper(V v) map(v, v.data[0 : v.n])
int main(void) {
  V v = {12, malloc(12 * sizeof(int))};
  for (int i = 0; i < 12; i++) v.data[i] = i;
#pragma omp target map(tofrom : v)
  for (int i = 0; i < v.n; i++) v.data[i] += 100;
  for (int i = 0; i < 12; i++) CHECK(v.data[i] == 100 + i);
#pragma omp target enter data map(to : v)
#pragma omp target
  for (int i = 0; i < v.n; i++) v.data[i] = 2 * i;
  CHECK(v.data[3] == 103);
#pragma omp target exit data map(from : v)
  for (int i = 0; i < 12; i++) CHECK(v.data[i] == 2 * i);
  free(v.data);
  return DONE();
}
