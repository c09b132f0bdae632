// OpenMP 5.2, section 15.9.7: a doacross loop in a region: on the device if possible, else on the host, with the same result.
#include "../../check.h"
int main(void) {
  enum { N = 40 };
  int v[N];
  for (int i = 0; i < N; i++) v[i] = 1;
#pragma omp target map(tofrom : v)
#pragma omp parallel for ordered(1) num_threads(4)
  for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
    v[i] += v[i - 1];
#pragma omp ordered depend(source)
  }
  for (int i = 0; i < N; i++) CHECK(v[i] == i + 1);
  return DONE();
}
