// Complex values passed to and returned from functions, through pointers and in structs.
#include <stdio.h>
#include <complex.h>
struct s {
  float complex a;
  double complex b;
};
__attribute__((noinline)) static float complex ff(float complex a, int k, float complex b) { return a * k + b; }
__attribute__((noinline)) static long double complex lf(long double complex a) { return a * a; }
__attribute__((noinline)) static struct s sf(struct s s) {
  s.a += 1;
  s.b *= I;
  return s;
}
static float complex (*volatile fp)(float complex, int, float complex) = ff;
static long double complex (*volatile lp)(long double complex) = lf;
static struct s (*volatile sp)(struct s) = sf;
int main(void) {
  float complex a = fp(1 + 2 * I, 3, 0.5f * I);
  long double complex l = lp(2 + 1 * I);
  struct s s = {a, 4 + 5 * I};
  s = sp(s);
  s = sf(s);
  printf("%g %g %Lg %Lg %g %g %g %g\n", crealf(a), cimagf(a), creall(l), cimagl(l), crealf(s.a), cimagf(s.a),
         creal(s.b), cimag(s.b));
  double complex e = conj(s.b) * cexp(0 * I);
  printf("%g %g %.6f\n", creal(e), cimag(e), carg(-1 + 0 * I));
  return 0;
}
