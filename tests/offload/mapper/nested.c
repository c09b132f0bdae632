// OpenMP 5.2, section 5.8.8: a mapper whose members have their own mappers, three levels deep.
// flags: -fopenmp-version=51
#include "../../check.h"
typedef struct { int n; double *x; } vec;
typedef struct { vec a, b; int tag; } pair;
#pragma omp declare mapper(vec v) map(v, v.x[0 : v.n])
#pragma omp declare mapper(pair p) map(p.tag) map(mapper(default), tofrom : p.a, p.b)
int main(void) {
  pair p = {{4, malloc(4 * sizeof(double))}, {3, malloc(3 * sizeof(double))}, 9};
  for (int i = 0; i < 4; i++) p.a.x[i] = i;
  for (int i = 0; i < 3; i++) p.b.x[i] = 10 * i;
  double *ax = p.a.x, sum = 0;
#pragma omp target map(tofrom : p) map(tofrom : sum)
  {
    for (int i = 0; i < p.a.n; i++) sum += p.a.x[i], p.a.x[i] += 1;
    for (int i = 0; i < p.b.n; i++) sum += p.b.x[i], p.b.x[i] += 2;
    p.tag = 10;
  }
  CHECK(sum == 36 && p.tag == 10 && p.a.x == ax && p.a.x[3] == 4 && p.b.x[2] == 22);
  CHECK(!omp_target_is_present(ax, omp_get_default_device()));
  free(p.a.x), free(p.b.x);
  return DONE();
}
