// Templates with regions in them, by type, by number and by callee, instantiated several times.
#include "../../check.h"
template <typename T, int N, typename F> static T apply(T (&v)[N], F f) {
  T sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : v) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    v[i] = f(v[i], i);
    sum += v[i];
  }
  return sum;
}
template <typename... A> static int count(A... a) {
  int n = 0;
#pragma omp target map(tofrom : n)
  n += (0 + ... + a);
  return n;
}
struct Plus {
  int by;
  template <typename T> T operator()(T x, int i) const { return x + T(by) * T(i); }
};
int main() {
  int a[10];
  double b[7];
  float c[3] = {1, 2, 3};
  for (int i = 0; i < 10; i++) a[i] = i;
  for (int i = 0; i < 7; i++) b[i] = 0.5 * i;
  CHECK(apply(a, Plus{2}) == 45 + 90);
  CHECK(apply(b, [](double x, int) { return 2 * x; }) == 21);
  CHECK(apply(c, Plus{-1}) == 3);
  CHECK(a[9] == 27 && b[6] == 6 && c[2] == 1);
  CHECK(count(1, 2, 3) == 6 && count() == 0 && count(10) == 10);
  return DONE();
}
