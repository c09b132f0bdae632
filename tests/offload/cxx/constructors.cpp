// C++: out-of-line constructors, operator[], virtual functions and a vector's storage in target regions.
#include "../../check.h"
#include <array>
#include <vector>
enum { N = 1000 };
#pragma omp begin declare target
struct Counter {
  int value;
  Counter(int v);
  virtual ~Counter();
  virtual int next();
};
Counter::Counter(int v) : value(v) {}
Counter::~Counter() { value = -1; }
int Counter::next() { return ++value; }
struct ByTwo : Counter {
  ByTwo(int v);
  ~ByTwo() override;
  int next() override;
};
ByTwo::ByTwo(int v) : Counter(v) {}
ByTwo::~ByTwo() {}
int ByTwo::next() { return value += 2; }
static int twice(Counter &c) { return c.next() + c.next(); }
struct View {
  double *p;
  int n;
  double &operator[](int i);
};
double &View::operator[](int i) { return p[i]; }
#pragma omp end declare target
template <class T, class F> static void each(T *p, int n, F f) {
#pragma omp target teams distribute parallel for map(tofrom : p[ : n])
  for (int i = 0; i < n; i++) p[i] = f(p[i]);
}
int main() {
  int got[2] = {0, 0};
#pragma omp target map(from : got)
  {
    Counter one(10);
    ByTwo two(10);
    got[0] = twice(one);
    got[1] = twice(two);
  }
  CHECK(got[0] == 23 && got[1] == 26);
  std::vector<double> v(N, 1.5);
  double *data = v.data();
  each(data, N, [](double x) { return 2 * x; });
  CHECK(v[0] == 3 && v[N - 1] == 3);
  View view = {data, N};
#pragma omp target teams distribute parallel for map(tofrom : view.p[ : N])
  for (int i = 0; i < N; i++) view[i] += i;
  CHECK(v[10] == 13);
  std::array<int, 8> a{};
#pragma omp target parallel for map(tofrom : a)
  for (int i = 0; i < 8; i++) a[i] = i * i;
  CHECK(a[7] == 49 && a[2] == 4);
  return DONE();
}
