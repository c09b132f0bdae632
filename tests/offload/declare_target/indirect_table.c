// OpenMP 5.2, section 7.8.3 (indirect): several functions by pointers that a region receives, called by many threads and passed on.
// flags: -fopenmp-version=51
#include "../../check.h"
#pragma omp begin declare target indirect
double add(double a, double b) { return a + b; }
double multiply(double a, double b) { return a * b; }
double less(double a, double b) { return a < b; }
#pragma omp end declare target
#pragma omp begin declare target
typedef double operation(double, double);
static double fold(operation *f, int n) {
  double r = 1;
  for (int i = 1; i <= n; i++) r = f(r, i);
  return r;
}
#pragma omp end declare target
int main(void) {
  operation *one = add, *two = multiply, *three = less;
  double out[90], folded = 0;
#pragma omp target teams distribute parallel for map(from : out)
  for (int i = 0; i < 90; i++) out[i] = (i % 3 == 0 ? one : i % 3 == 1 ? two : three)(i, 40.0);
  for (int i = 0; i < 90; i++) CHECK(out[i] == (i % 3 == 0 ? one : i % 3 == 1 ? two : three)(i, 40.0));
#pragma omp target map(tofrom : folded)
  folded = fold(one, 4) + fold(two, 5);
  CHECK(folded == 11 + 120);
  return DONE();
}
