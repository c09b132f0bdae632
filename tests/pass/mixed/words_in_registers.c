// Arguments and results that are words in registers, between interpreted callers and compiled or
// native functions: integers and floating-point numbers in turn, small integers, structures of two
// words in every pair of registers, and the calls that need the stack after all.
// Functions whose names begin with `interp_` stay interpreted.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// levels: O0 O2
// flags: -lm
// stdout: ok
#include "../../check.h"
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

typedef struct { long a, b; } Integers;
typedef struct { double a, b; } Floats;
typedef struct { long a; double b; } IntegerFloat;
typedef struct { double a; long b; } FloatInteger;
typedef struct { float a, b; } Halves;
typedef struct { float a, b, c; } Three;
typedef struct { int a; char b; } Padded;
typedef struct { long a[4]; } Large;

NOINLINE double mixed(double *x, double a, int n, float f) { return *x * a + n * (double)f; }
NOINLINE float single(float a, long b) { return a + b; }
NOINLINE int small(signed char a, short b, bool c, unsigned char d, double e) {
  return a * 1000 + b * 10 + c + d + (int)e;
}
NOINLINE signed char small_result(double a, int b) { return (signed char)(a + b); }
NOINLINE bool truth(double a, int b) { return a > b; }
NOINLINE double all(long a, long b, long c, long d, long e, long f, double g, double h, double i,
                    double j, double k, double l, double m, double n) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + g + 2 * h + 3 * i + 4 * j + 5 * k + 6 * l +
         7 * m + 8 * n;
}
NOINLINE double seven(long a, long b, long c, long d, long e, long f, long g, double h) {
  return a + b + c + d + e + f + g * h;
}
NOINLINE Integers integers(long a, double b) { return (Integers){a, (long)b}; }
NOINLINE Floats floats(double a, long b) { return (Floats){a, b}; }
NOINLINE IntegerFloat integer_float(double a, long b) { return (IntegerFloat){b, a}; }
NOINLINE FloatInteger float_integer(double a, long b) { return (FloatInteger){a, b}; }
NOINLINE Halves halves(float a, int b) { return (Halves){a, b}; }
NOINLINE Three three(Three t, int by) { return (Three){t.a * by, t.b * by, t.c * by}; }
NOINLINE Padded padded(double a, int b) { return (Padded){(int)a, (char)b}; }
NOINLINE Large large(double a, long b) { return (Large){{(long)a, b, b * 2, b * 3}}; }
NOINLINE double of_structures(Integers a, FloatInteger b, Halves c) {
  return a.a + 2 * a.b + b.a + 3 * b.b + c.a + 4 * c.b;
}
NOINLINE double _Complex rotated(double _Complex z, int times) { return times ? z * I : z; }
NOINLINE void store(double *to, double value, int at) { to[at] = value; }

static void interp_compiled(void) {
  double x = 2;
  CHECK(mixed(&x, 3, 4, 0.5f) == 8);
  CHECK(single(1.5f, 40) == 41.5f);
  CHECK(small(-3, -20, true, 200, 5.5) == -3000 - 200 + 1 + 200 + 5);
  CHECK(small_result(-100, 60) == -40 && small_result(100, 100) == (signed char)200);
  CHECK(truth(2, 1) && !truth(1, 2));
  CHECK(all(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 7, 8) == 91 + 204);
  CHECK(seven(1, 2, 3, 4, 5, 6, 7, 0.5) == 24.5);
  Integers i = integers(-7, 9.5);
  CHECK(i.a == -7 && i.b == 9);
  Floats f = floats(0.25, -3);
  CHECK(f.a == 0.25 && f.b == -3);
  IntegerFloat a = integer_float(0.125, -5);
  CHECK(a.a == -5 && a.b == 0.125);
  FloatInteger b = float_integer(0.75, 1L << 40);
  CHECK(b.a == 0.75 && b.b == 1L << 40);
  Halves h = halves(1.25f, 3);
  CHECK(h.a == 1.25f && h.b == 3);
  Three t = three((Three){1, 2, 3}, 2);
  CHECK(t.a == 2 && t.b == 4 && t.c == 6);
  Padded p = padded(5, -6);
  CHECK(p.a == 5 && p.b == (char)-6);
  Large l = large(1, 2);
  CHECK(l.a[0] == 1 && l.a[1] == 2 && l.a[2] == 4 && l.a[3] == 6);
  CHECK(of_structures(i, b, h) == -7 + 18 + 0.75 + 3 * (double)(1L << 40) + 1.25 + 12);
  double _Complex z = rotated(2 + 3 * I, 1);
  CHECK(creal(z) == -3 && cimag(z) == 2);
  store(&x, 6.5, 0);
  CHECK(x == 6.5);
}

static void interp_native(void) {
  int exponent;
  double part;
  CHECK(ldexp(0.75, 3) == 6 && frexp(6, &exponent) == 0.75 && exponent == 3);
  CHECK(modf(2.5, &part) == 0.5 && part == 2);
  char *end;
  CHECK(strtod("2.5x", &end) == 2.5 && *end == 'x');
  CHECK(scalbnf(1.5f, 2) == 6 && fma(2, 3, 4) == 10);
  ldiv_t q = ldiv(-17, 5);
  CHECK(q.quot == -3 && q.rem == -2);
  div_t d = div(17, -5);
  CHECK(d.quot == -3 && d.rem == 2);
  double _Complex z = csqrt(-4);
  CHECK(fabs(creal(z)) < 1e-12 && fabs(cimag(z) - 2) < 1e-12);
  float _Complex c = conjf(1 + 2 * I);
  CHECK(crealf(c) == 1 && cimagf(c) == -2);
  CHECK(nexttowardf(1, 2) > 1 && lround(-2.5) == -3);
}

/// Calls through pointers find the same functions.
static void interp_through_pointers(void) {
  double (*volatile m)(double *, double, int, float) = mixed;
  Integers (*volatile i)(long, double) = integers;
  double (*volatile l)(double, int) = ldexp;
  double x = 1;
  CHECK(m(&x, 2, 3, 1) == 5 && i(4, 5).b == 5 && l(1, 4) == 16);
}

NOINLINE static double interp_callee(double a, long b, float c) { return a * b + c; }
NOINLINE double compiled_caller(long n) { return interp_callee(0.5, n, 2); }

int main(void) {
  for (int n = 0; n < 3; n++) {
    interp_compiled();
    interp_native();
    interp_through_pointers();
    CHECK(compiled_caller(6) == 5);
  }
#pragma omp parallel num_threads(3)
  interp_compiled();
  DONE();
}
