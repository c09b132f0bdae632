// OpenMP 5.2, section 13.9: the four sides of a plane, two of them strided, exchanged with the host.
// flags: -fopenmp-version=51
#include "../../check.h"
enum { N = 12 };
int main(void) {
  static double a[N][N];
#pragma omp target enter data map(to : a)
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = 100 * i + j;
#pragma omp target update from(a[1 : 1][0 : N])
#pragma omp target update from(a[N - 2 : 1][0 : N])
#pragma omp target update from(a[0 : N][1 : 1])
#pragma omp target update from(a[0 : N][N - 2 : 1])
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int side = i == 1 || i == N - 2 || j == 1 || j == N - 2;
      CHECK(a[i][j] == (side ? 100 * i + j : 0));
    }
  for (int i = 0; i < N; i++) a[i][0] = a[i][N - 2], a[i][N - 1] = a[i][1];
#pragma omp target update to(a[0 : N][0 : 1])
#pragma omp target update to(a[0 : N][N - 1 : 1])
  double left = 0, right = 0, middle = 0;
#pragma omp target map(from : left, right, middle)
  left = a[3][0], right = a[3][N - 1], middle = a[3][3];
  CHECK(left == 300 + N - 2 && right == 301 && middle == 303);
#pragma omp target exit data map(delete : a)
  return DONE();
}
