// OpenMP 5.2, sections 3.2.5 and 13.9: three dimensions with strides, both ways. A first index other than 0 is combined with a stride
// in the last dimension only: for the others clang 22 passes too little information.
// flags: -fopenmp-version=51
#include "../../check.h"
enum { A = 4, B = 6, C = 9 };
int main(void) {
  static int v[A][B][C];
#pragma omp target enter data map(to : v)
#pragma omp target
  for (int i = 0; i < A * B * C; i++) (&v[0][0][0])[i] = i + 1;
#pragma omp target update from(v[1 : 2][0 : 3 : 2][1 : 3 : 3])
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++)
      for (int k = 0; k < C; k++) {
        int in = i >= 1 && i < 3 && j % 2 == 0 && k % 3 == 1;
        CHECK(v[i][j][k] == (in ? (i * B + j) * C + k + 1 : 0));
      }
  memset(v, 0, sizeof v);
#pragma omp target update to(v[0 : 2 : 3][2 : 2][0 : 5 : 2])
  long wrong = 0;
#pragma omp target map(tofrom : wrong)
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++)
      for (int k = 0; k < C; k++) {
        int in = i % 3 == 0 && (j == 2 || j == 3) && k % 2 == 0;
        wrong += v[i][j][k] != (in ? 0 : (i * B + j) * C + k + 1);
      }
  CHECK(wrong == 0);
#pragma omp target exit data map(delete : v)
  return DONE();
}
