// OpenMP 5.2, section 5.5.11: declare reduction over a class with a constructor, and over std::vector by a lambda.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <vector>
struct Matrix {
  long a = 1, b = 0, c = 0, d = 1;
  Matrix() = default;
  Matrix &operator+=(const Matrix &o) { a += o.a, b += o.b, c += o.c, d += o.d; return *this; }
};
#pragma omp declare reduction(+ : Matrix : omp_out += omp_in) initializer(omp_priv = Matrix())
#pragma omp declare reduction(append : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))
int main() {
  Matrix m;
  std::vector<int> v;
#pragma omp parallel num_threads(4) reduction(+ : m) reduction(append : v)
  {
    m.b += 2;
#pragma omp for
    for (int i = 0; i < 100; i++) v.push_back(i);
  }
  CHECK(m.a == 5 && m.b == 8 && m.c == 0 && m.d == 5 && v.size() == 100);
  std::vector<int> count(100);
  for (int x : v) count[x]++;
  for (int c : count) CHECK(c == 1);
  return DONE();
}
