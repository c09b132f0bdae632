// OpenMP 5.2, section 10.4: simd with safelen, aligned, linear, nontemporal, reduction and collapse; declare simd.
// flags: -fopenmp-version=51
#include "../../check.h"
#pragma omp begin declare target
#pragma omp declare simd uniform(k) linear(i)
static int f(int i, int k) { return i * k; }
#pragma omp end declare target
int main(void) {
  int v[128], sum = 0, l = 0, last = 0;
#pragma omp target teams distribute parallel for simd safelen(16) simdlen(4) nontemporal(v) map(from : v)
  for (int i = 0; i < 128; i++) v[i] = f(i, 3);
#pragma omp target map(tofrom : v, sum, l, last)
  {
#pragma omp simd reduction(+ : sum) lastprivate(last)
    for (int i = 0; i < 128; i++) sum += v[i], last = i;
#pragma omp simd linear(l : 2)
    for (int i = 0; i < 10; i++) v[l] = -1, l += 2;
#pragma omp simd collapse(2)
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) v[100 + 4 * i + j] = i - j;
  }
  CHECK(sum == 3 * 127 * 64 && last == 127 && l == 20);
  for (int i = 0; i < 20; i++) CHECK(v[i] == (i % 2 ? 3 * i : -1));
  CHECK(v[100 + 13] == 2);
  return DONE();
}
