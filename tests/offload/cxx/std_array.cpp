// The C++ library's array, pair, complex and algorithms without state within regions.
#include <algorithm>
#include <array>
#include <complex>
#include <utility>
#include "../../check.h"
int main() {
  std::array<int, 16> a{};
  std::pair<int, double> p(3, 0.5);
  std::complex<double> z(1, 2);
#pragma omp target map(tofrom : a, p, z)
  {
    for (std::size_t i = 0; i < a.size(); i++) a[i] = (int)(16 - i) * p.first;
    std::swap(a[0], a[15]);
    p.second = std::max(p.second, 2.5) + std::min(7, 9);
    z = z * z + std::complex<double>(0, 1);
  }
  CHECK(a[0] == 3 && a[15] == 48 && a[1] == 45 && p.second == 9.5);
  CHECK(z.real() == -3 && z.imag() == 5);
  return DONE();
}
