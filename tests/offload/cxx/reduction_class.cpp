// OpenMP 5.2, section 5.5.11: a reduction over a class with operators, and over a template's, declared in it.
#include "../../check.h"
struct Interval {
  double low = 1e30, high = -1e30;
  Interval &operator|=(const Interval &o) {
    if (o.low < low) low = o.low;
    if (o.high > high) high = o.high;
    return *this;
  }
  void add(double x) { *this |= Interval{x, x}; }
  Interval() = default;
  Interval(double l, double h) : low(l), high(h) {}
};
#pragma omp declare reduction(join : Interval : omp_out |= omp_in) initializer(omp_priv = Interval())
template <typename T> struct Sum { T s, c; };
#pragma omp declare reduction(+ : Sum<double> : omp_out.s += omp_in.s, omp_out.c += omp_in.c) initializer(omp_priv = {0, 0})
int main() {
  Interval range;
  Sum<double> sum = {0, 0};
#pragma omp target teams distribute parallel for reduction(join : range) reduction(+ : sum) map(tofrom : range, sum)
  for (int i = 0; i < 500; i++) {
    double x = (i * 7919) % 500 - 100.0;
    range.add(x);
    sum.s += x, sum.c += 1;
  }
  CHECK(range.low == -100 && range.high == 399 && sum.c == 500 && sum.s == 124750 - 50000);
  return DONE();
}
