// Code that is worth compiling, in a region and outside of it.
#include <cstdio>
#include <vector>

template <typename T> static T sum(const std::vector<T> &v, T factor) {
  T s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(4)
  for (std::size_t i = 0; i < v.size(); i++)
    s += v[i] * factor;
  return s;
}

int main() {
  std::vector<double> doubles(20000, 0.5);
  std::vector<long> longs(20000, 3);
  double d = 0;
  long l = 0;
  for (int round = 0; round < 200; round++) {
    d += sum(doubles, 2.0);
    l += sum(longs, static_cast<long>(round));
  }
  std::printf("%.1f %ld\n", d, l);
}
