// OpenMP 5.2, section 10.1: parallel constructs in templates, with dependent types and schedules.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
template <class T, int Chunk> static T total(const T *v, int n) {
  T sum = T();
#pragma omp parallel for num_threads(Chunk) schedule(dynamic, Chunk) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += v[i];
  return sum;
}
int main() {
  int a[100]; double b[100]; unsigned char c[100];
  for (int i = 0; i < 100; i++) a[i] = i, b[i] = i * 0.5, c[i] = i;
  CHECK(total<int, 2>(a, 100) == 4950 && total<double, 3>(b, 100) == 2475 && total<unsigned char, 4>(c, 100) == (unsigned char)4950);
  return DONE();
}
