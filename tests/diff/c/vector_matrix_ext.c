// flags: -fenable-matrix
// The matrix extension: products, transposition, element access.
#include <stdio.h>
typedef double m34 __attribute__((matrix_type(3, 4)));
typedef double m43 __attribute__((matrix_type(4, 3)));
typedef double m33 __attribute__((matrix_type(3, 3)));
int main(void) {
  m34 a;
  volatile double k = 0.5;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) a[i][j] = i * 4 + j + k;
  m43 t = __builtin_matrix_transpose(a);
  m33 p = a * t + 1.0;
  p = p * 0.25 - p;
  for (int i = 0; i < 3; i++) printf("%g %g %g\n", p[i][0], p[i][1], p[i][2]);
  return 0;
}
