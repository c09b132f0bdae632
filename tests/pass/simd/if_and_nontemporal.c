// OpenMP 5.2, section 3.4: if(simd:) false, and nontemporal stores.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=50 -Wno-pass-failed
#include "../../check.h"
int main(int argc, char **argv) {
  (void)argv;
  float v[77], w[77];
#pragma omp simd if (simd : argc > 5)
  for (int i = 0; i < 77; i++) v[i] = i * 0.5f;
#pragma omp simd nontemporal(w)
  for (int i = 0; i < 77; i++) w[i] = v[i] * 2;
  for (int i = 0; i < 77; i++) CHECK(v[i] == i * 0.5f && w[i] == i);
  return DONE();
}
