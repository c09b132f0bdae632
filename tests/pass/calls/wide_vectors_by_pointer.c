// Vectors of 256 bits through function pointers: in registers beside other arguments, on the stack, in results and
// structures, and as variadic arguments (x86-64 psABI, section 3.2.3), between functions of all tiers.
// levels: O0 O2
// flags: -mavx2
// stdout: ok
#include "../../check.h"
#include <stdarg.h>

typedef double v4 __attribute__((vector_size(32)));
typedef float v8 __attribute__((vector_size(32)));
typedef int i8 __attribute__((vector_size(32)));
typedef double v2 __attribute__((vector_size(16)));
typedef struct {
  v4 value;
} Boxed;

__attribute__((noinline)) static v4 scale(v4 a, int factor, v4 b, double offset) { return a + b * factor + offset; }
__attribute__((noinline)) static double many(float f, v8 v, v2 w, i8 i, int n, v4 x, v4 y, v4 z, v4 u, v4 over) {
  return f + v[7] + w[1] + i[5] + n + x[3] + y[2] + z[1] + u[0] + over[3];
}
__attribute__((noinline)) static i8 twice(i8 a) { return a + a; }
__attribute__((noinline)) static Boxed boxed(Boxed b) {
  b.value += 1;
  return b;
}
__attribute__((noinline)) static double sum(int n, ...) {
  va_list list;
  va_start(list, n);
  double total = 0;
  for (int i = 0; i < n; i++) {
    v4 v = va_arg(list, v4);
    total += v[0] + v[3] + va_arg(list, int);
  }
  va_end(list);
  return total;
}

static v4 (*volatile scales)(v4, int, v4, double) = scale;
static double (*volatile manys)(float, v8, v2, i8, int, v4, v4, v4, v4, v4) = many;
static i8 (*volatile twices)(i8) = twice;
static Boxed (*volatile boxes)(Boxed) = boxed;
static double (*volatile sums)(int, ...) = sum;

int main(void) {
#pragma omp parallel for
  for (int k = 0; k < 200; k++) {
    v4 a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
    v8 f = {0, 0, 0, 0, 0, 0, 0, 2};
    i8 i = {0, 1, 2, 3, 4, 5, 6, k};
    v2 w = {3, 4};
    v4 scaled = scales(a, k, b, .5);
    CHECK(scaled[0] == 1.5 + 10 * k && scaled[3] == 4.5 + 40 * k);
    CHECK(manys(1, f, w, i, 6, a, b, a, b, a) == 1 + 2 + 4 + 5 + 6 + 4 + 30 + 2 + 10 + 4);
    CHECK(twices(i)[7] == 2 * k && twices(i)[5] == 10);
    Boxed result = boxes((Boxed){a});
    CHECK(result.value[0] == 2 && result.value[3] == 5);
    CHECK(sums(2, a, 3, b, k) == 5 + 3 + 50 + k);
  }
  return DONE();
}
