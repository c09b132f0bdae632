// C++: vectors, a member function's `this`, templates and lambdas in regions on a device without `target`.
#include "../check.h"
#include <cmath>
#include <numeric>
#include <vector>
template <class T> struct Field {
  std::vector<T> data;
  T scale;
  explicit Field(size_t n) : data(n, T(1)), scale(2) {}
  void grow() {
    T *p = data.data();
    long n = (long)data.size();
#pragma omp parallel for
    for (long i = 0; i < n; i++) p[i] *= scale;
  }
  T norm() const {
    T sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (size_t i = 0; i < data.size(); i++) sum += data[i] * data[i];
    return std::sqrt(sum);
  }
};
template <class F> static void each(std::vector<double> &v, F f) {
#pragma omp parallel for
  for (size_t i = 0; i < v.size(); i++) v[i] = f(v[i], i);
}
int main() {
  Field<float> small(100);
  Field<double> large(100000);
  for (int r = 0; r < 3; r++) small.grow(), large.grow();
  CHECK(small.norm() == 80);
  CHECK(std::fabs(large.norm() - 8 * std::sqrt(100000.0)) < 1e-6);
  std::vector<double> v(20000);
  std::iota(v.begin(), v.end(), 0.0);
  double offset = 3;
  each(v, [=](double x, size_t i) { return x + offset * (double)i; });
  CHECK(v[19999] == 4.0 * 19999 && std::accumulate(v.begin(), v.end(), 0.0) == 4.0 * 19999 * 10000);
  v.resize(30000, 1);
  each(v, [&](double x, size_t) { return x * offset; });
  CHECK(v[29999] == 3 && v[19999] == 12.0 * 19999);
  return DONE();
}
