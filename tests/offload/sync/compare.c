// OpenMP 5.2, section 15.8: atomic compare.
// flags: -fopenmp-version=51
#include "../../check.h"
int main(void) {
  int most = -1, least = 10000;
#pragma omp target teams distribute parallel for map(tofrom : most, least)
  for (int i = 0; i < 300; i++) {
    int x = (i * 77) % 307;
#pragma omp atomic compare
    if (most < x) { most = x; }
#pragma omp atomic compare
    if (least > x) { least = x; }
  }
  int m = -1, l = 10000;
  for (int i = 0; i < 300; i++) {
    int x = (i * 77) % 307;
    if (x > m) m = x;
    if (x < l) l = x;
  }
  CHECK(most == m && least == l);
  return DONE();
}
