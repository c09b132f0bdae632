// C++: out-of-line constructors and destructors, which other functions call by an alias; inheritance; iterators; operators.
#include "../check.h"
#include <array>
#include <vector>
enum { N = 20000 };
struct Base {
  double *p;
  int n;
  explicit Base(int size);
  Base(const Base &other);
  virtual ~Base();
  double &operator[](int i) const;
};
Base::Base(int size) : p(new double[size]), n(size) {}
Base::Base(const Base &other) : p(new double[other.n]), n(other.n) {
  double *to = p, *from = other.p;
#pragma omp parallel for
  for (int i = 0; i < n; i++) to[i] = from[i];
}
Base::~Base() { delete[] p; }
double &Base::operator[](int i) const { return p[i]; }
struct Derived : Base {
  double scale;
  Derived(int size, double s);
  ~Derived() override;
  double sum() const;
};
Derived::Derived(int size, double s) : Base(size), scale(s) {
  double *q = p, by = scale;
#pragma omp parallel for
  for (int i = 0; i < size; i++) q[i] = by * i;
}
Derived::~Derived() {}
double Derived::sum() const {
  double total = 0;
  const double *q = p;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < n; i++) total += q[i];
  return total;
}
// A complex number by value, made by an out-of-line constructor within the region.
struct Number {
  double re, im;
  Number(double a, double b);
  Number operator*(const Number &o) const;
};
Number::Number(double a, double b) : re(a), im(b) {}
Number Number::operator*(const Number &o) const { return Number(re * o.re - im * o.im, re * o.im + im * o.re); }
template <class It> static double squares(It first, It last) {
  double total = 0;
  long n = last - first;
#pragma omp parallel for reduction(+ : total)
  for (long i = 0; i < n; i++) total += first[i] * first[i];
  return total;
}
template <int K> struct Stencil {
  std::array<double, K> weight;
  Stencil();
  void run(const double *from, double *to, int n) const {
    std::array<double, K> w = weight;
#pragma omp parallel for
    for (int i = 0; i < n - K; i++) {
      double s = 0;
      for (int k = 0; k < K; k++) s += w[k] * from[i + k];
      to[i] = s;
    }
  }
};
template <int K> Stencil<K>::Stencil() {
  for (int k = 0; k < K; k++) weight[k] = k + 1;
}
template struct Stencil<3>;
int main() {
  Derived d(N, 0.5);
  CHECK(d.sum() == 0.25 * N * (N - 1.0));
  Base copy(d);
  CHECK(copy[7] == 3.5 && copy[N - 1] == 0.5 * (N - 1));
  std::vector<double> v(N, 2.0);
  CHECK(squares(v.begin(), v.end()) == 4.0 * N);
  Stencil<3> s;
  std::vector<double> to(N);
  s.run(copy.p, to.data(), N);
  CHECK(to[0] == 0.5 * 2 + 1.0 * 3 && to[10] == 5 + 2 * 5.5 + 3 * 6);
  double *q = v.data();
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    Number a(i, 1), b = a * a;
    q[i] = b.re + b.im;
  }
  CHECK(v[3] == 9 - 1 + 6);
  return DONE();
}
