// OpenMP 5.2, section 5.8.8: a mapper for a class template's instance.
// flags: -fopenmp-version=50
#include "../../check.h"
template <class T> struct Vec {
  int n;
  T *p;
};
typedef Vec<float> FVec;
#pragma omp declare mapper(FVec v) map(v.n) map(v.p[0 : v.n])
int main() {
  float data[6] = {1, 2, 3, 4, 5, 6};
  FVec v = {6, data};
#pragma omp target map(tofrom : v)
  for (int i = 0; i < v.n; i++) v.p[i] += 0.5f;
  for (int i = 0; i < 6; i++) CHECK(data[i] == i + 1.5f);
  return DONE();
}
