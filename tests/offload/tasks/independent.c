// OpenMP 5.2, section 13.8: many nowait regions, from all threads of a team, each with its own data.
#include "../../check.h"
int main(void) {
  enum { T = 4, K = 6, N = 32 };
  static int v[T][K][N];
#pragma omp parallel num_threads(T)
  {
    int t = omp_get_thread_num();
    for (int k = 0; k < K; k++) {
#pragma omp target teams distribute parallel for nowait map(from : v[t][k]) firstprivate(t, k)
      for (int i = 0; i < N; i++) v[t][k][i] = 1000 * t + 100 * k + i;
    }
#pragma omp taskwait
    if (t < omp_get_num_threads())
      for (int k = 0; k < K; k++)
        for (int i = 0; i < N; i++) CHECK(v[t][k][i] == 1000 * t + 100 * k + i);
  }
  return DONE();
}
