// A region in a template, for several types.
#include "../../check.h"
template <class T> static T total(const T *v, int n) {
  T sum = 0;
#pragma omp target teams distribute parallel for map(to : v[0 : n]) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += v[i];
  return sum;
}
int main() {
  int a[20];
  double b[20];
  long c[20];
  for (int i = 0; i < 20; i++) a[i] = i, b[i] = i * 0.5, c[i] = i * 10000000000L;
  CHECK(total(a, 20) == 190 && total(b, 20) == 95.0 && total(c, 20) == 1900000000000L);
  return DONE();
}
