// OpenMP 5.2, sections 5.4.3 and 5.4.4: private and firstprivate of teams and of threads.
#include "../../check.h"
int main(void) {
  enum { N = 200 };
  int v[N], a = 5, b = 7, w[4] = {1, 2, 3, 4};
#pragma omp target teams distribute parallel for private(a) firstprivate(b, w) map(from : v)
  for (int i = 0; i < N; i++) {
    a = i;
    v[i] = a + b + w[i % 4];
  }
  CHECK(a == 5 && b == 7);
  for (int i = 0; i < N; i++) CHECK(v[i] == i + 7 + i % 4 + 1);
  return DONE();
}
