// OpenMP 5.2, section 17: for simd and parallel for simd with collapse, chunks and reductions.
// stdout: ok
// levels: O0 O2
// flags: -Wno-pass-failed
#include "../../check.h"
int main(void) {
  static double m[40][50]; double sum = 0; int hits = 0;
#pragma omp parallel num_threads(3)
#pragma omp for simd collapse(2) schedule(simd : static, 5)
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 50; j++) m[i][j] = i * 50 + j;
#pragma omp parallel for simd num_threads(4) reduction(+ : sum, hits) schedule(dynamic, 7)
  for (int i = 0; i < 2000; i++) sum += (&m[0][0])[i], hits++;
  CHECK(sum == 1999000 && hits == 2000);
  return DONE();
}
