// OpenMP 5.2, sections 5.8.8 and 13.9: mappers in enter, update and exit, and of sections of arrays of structures.
// flags: -fopenmp-version=51
#include "../../check.h"
typedef struct { int n, *v; } list;
#pragma omp declare mapper(list l) map(l) map(l.v[0 : l.n])
int main(void) {
  enum { K = 4 };
  list l[K];
  for (int k = 0; k < K; k++) {
    l[k].n = k + 1, l[k].v = malloc((k + 1) * sizeof(int));
    for (int i = 0; i <= k; i++) l[k].v[i] = 10 * k + i;
  }
  list *p = l;
#pragma omp target enter data map(to : p[0 : K])
#pragma omp target
  for (int k = 0; k < K; k++)
    for (int i = 0; i < p[k].n; i++) p[k].v[i] += 1000;
  CHECK(l[3].v[3] == 33);
#pragma omp target update from(p[2 : 1])
  CHECK(l[2].v[1] == 1021 && l[3].v[3] == 33 && l[0].v[0] == 0);
  l[1].v[1] = -7;
#pragma omp target update to(p[1 : 1])
  int seen = 0;
#pragma omp target map(from : seen)
  seen = p[1].v[1];
  CHECK(seen == -7);
#pragma omp target exit data map(from : p[0 : K])
  CHECK(l[3].v[3] == 1033 && l[0].v[0] == 1000);
  for (int k = 0; k < K; k++) {
    CHECK(!omp_target_is_present(l[k].v, omp_get_default_device()));
    free(l[k].v);
  }
  return DONE();
}
