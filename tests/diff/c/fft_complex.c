// A radix-2 FFT with twiddles made by recurrence, forward and back.
#include <stdio.h>
#include <complex.h>
#define N 64
static void fft(double complex *a, int inv) {
  for (int i = 1, j = 0; i < N; i++) {
    int b = N >> 1;
    for (; j & b; b >>= 1) j ^= b;
    j ^= b;
    if (i < j) {
      double complex t = a[i];
      a[i] = a[j];
      a[j] = t;
    }
  }
  static const double
      cs[] = {-1, 0, 0.70710678118654757, 0.92387953251128674, 0.98078528040323043, 0.99518472667219693},
      sn[] = {0, 1, 0.70710678118654757, 0.38268343236508978, 0.19509032201612825, 0.098017140329560604};
  for (int l = 2, q = 0; l <= N; l <<= 1, q++) {
    double complex w = cs[q] + (inv ? -1 : 1) * sn[q] * I;
    for (int i = 0; i < N; i += l) {
      double complex u = 1;
      for (int k = 0; k < l / 2; k++) {
        double complex x = a[i + k], y = a[i + k + l / 2] * u;
        a[i + k] = x + y;
        a[i + k + l / 2] = x - y;
        u *= w;
      }
    }
  }
  if (inv)
    for (int i = 0; i < N; i++) a[i] /= N;
}
int main(void) {
  double complex a[N];
  for (int i = 0; i < N; i++) a[i] = (i * 7 % 16) - 8 + (i % 3) * I;
  fft(a, 0);
  printf("%.10g %.10g %.10g\n", creal(a[0]), cimag(a[0]), cabs(a[5]));
  fft(a, 1);
  int ok = 0;
  for (int i = 0; i < N; i++) ok += cabs(a[i] - ((i * 7 % 16) - 8 + (i % 3) * I)) < 1e-12;
  printf("%d\n", ok);
  return 0;
}
