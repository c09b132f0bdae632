// OpenMP 5.2, section 10.1: regions with an `if` clause as OpenMPIRBuilder emits them, with `__kmpc_fork_call_if`.
// flags: -g -fopenmp-enable-irbuilder
#include "../check.h"
enum { N = 2000 };
static long a[N], b[N];
static void fill(int n, long v) {
#pragma omp parallel if (n > 100)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) a[i] = v * i;
  }
}
static void both(int n, long v) {
#pragma omp parallel if (n > 100)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) a[i] = v + i;
#pragma omp for schedule(static, 5)
    for (int i = 0; i < n; i++) b[i] = a[n - 1 - i];
  }
}
int main(void) {
  fill(N, 3);
  for (int i = 0; i < N; i++) CHECK(a[i] == 3L * i);
  fill(50, 7);
  for (int i = 0; i < N; i++) CHECK(a[i] == (i < 50 ? 7L : 3L) * i);
  both(N, 2);
  for (int i = 0; i < N; i++) CHECK(a[i] == 2 + i && b[i] == 2 + N - 1 - i);
  both(10, 9);
  for (int i = 0; i < 10; i++) CHECK(a[i] == 9 + i && b[i] == 9 + 9 - i);
  return DONE();
}
