// A lambda called in a region, mapped with its captured variables.
#include "../../check.h"
template <class F> static void apply(int *p, int n, F f) {
#pragma omp target teams distribute parallel for map(tofrom : p[0 : n])
  for (int i = 0; i < n; i++) p[i] = f(p[i]);
}
int main() {
  int v[30], k = 4;
  for (int i = 0; i < 30; i++) v[i] = i;
  apply(v, 30, [=](int x) { return x * k + 1; });
  for (int i = 0; i < 30; i++) CHECK(v[i] == 4 * i + 1);
  return DONE();
}
