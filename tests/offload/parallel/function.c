// Functions of the device with parallel regions and worksharing loops of their own.
#include "../../check.h"
#pragma omp begin declare target
static void scale(int *v, int n, int by) {
#pragma omp for
  for (int i = 0; i < n; i++) v[i] *= by;
}
static int total(const int *v, int n) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += v[i];
  return sum;
}
#pragma omp end declare target
int main(void) {
  int v[50], sum = 0;
  for (int i = 0; i < 50; i++) v[i] = i;
#pragma omp target map(tofrom : v) map(from : sum)
  {
#pragma omp parallel num_threads(10)
    scale(v, 50, 3);
    sum = total(v, 50);
  }
  CHECK(sum == 3 * 1225);
  return DONE();
}
