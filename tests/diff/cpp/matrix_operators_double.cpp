// Matrices with operators and exceptions on mismatched sizes; results by exactly ordered operations.
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <vector>
class M {
  std::size_t r, c;
  std::vector<double> d;

public:
  M(std::size_t r, std::size_t c, double v = 0) : r(r), c(c), d(r * c, v) {}
  M(std::initializer_list<std::initializer_list<double>> l) : r(l.size()), c(l.begin()->size()) {
    for (auto &x : l) d.insert(d.end(), x);
  }
  double &operator()(std::size_t i, std::size_t j) { return d.at(i * c + j); }
  double operator()(std::size_t i, std::size_t j) const { return d.at(i * c + j); }
  friend M operator*(const M &a, const M &b) {
    if (a.c != b.r) throw std::invalid_argument("shape");
    M o(a.r, b.c);
    for (std::size_t i = 0; i < a.r; i++)
      for (std::size_t j = 0; j < b.c; j++)
        for (std::size_t k = 0; k < a.c; k++) o(i, j) += a(i, k) * b(k, j);
    return o;
  }
  M &operator+=(const M &o) {
    for (std::size_t i = 0; i < d.size(); i++) d[i] += o.d[i];
    return *this;
  }
  double trace() const {
    double t = 0;
    for (std::size_t i = 0; i < r; i++) t += (*this)(i, i);
    return t;
  }
};
int main() {
  M a{{1, 2.5}, {0.1, -4}}, p(2, 2);
  p(0, 0) = p(1, 1) = 1;
  M s(2, 2);
  for (int i = 0; i < 8; i++) {
    s += p;
    p = p * a;
  }
  std::printf("%a %a %a\n", s.trace(), p(0, 1), s(1, 0));
  try {
    M b(3, 1);
    (void)(a * b);
  } catch (const std::invalid_argument &e) { std::puts(e.what()); }
  try {
    a(5, 5) = 1;
  } catch (const std::out_of_range &) { std::puts("range"); }
  return 0;
}
