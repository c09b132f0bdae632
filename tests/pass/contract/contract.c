// C23, 6.5 paragraph 8 and 7.12.2: an expression may be contracted, here `a * b + c` to one operation with one
// rounding; the choice is the same in every tier: for scalars, in vectors and in the interpreter's loops. Sums that
// a loop carries are not contracted, once they are in registers.
// options: --fp-contract=on
// stdout: ok
// levels: O0 O1 O2
// flags: -lm
#include "../../check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1003 };
static double a[N], b[N], c[N], d[N];
static float p[N], q[N], r[N], s[N];
static int order[N];

/// Returns true if the processor has the operation; otherwise nothing is contracted.
static int fused(void) {
  char line[8192];
  int has = 0;
  FILE *info = fopen("/proc/cpuinfo", "r");
  while (info && fgets(line, sizeof line, info))
    if (!strncmp(line, "flags", 5) && strstr(line, " fma ")) has = 1;
  if (info) fclose(info);
  return has;
}

static double expected(int once, double x, double y, double z) {
  volatile double product = x * y;
  return once ? fma(x, y, z) : product + z;
}

static float expected_float(int once, float x, float y, float z) {
  volatile float product = x * y;
  return once ? fmaf(x, y, z) : product + z;
}

int main(void) {
  int once = fused(), apart = 0;
  for (int i = 0; i < N; i++) {
    a[i] = 1 + i * 0x1p-30;
    b[i] = 1 - i * 0x1p-31;
    c[i] = -1 - i * 0x1p-31;
    p[i] = 1 + i * 0x1p-13f;
    q[i] = 1 - i * 0x1p-14f;
    r[i] = -1 - i * 0x1p-14f;
    order[i] = i * 7 % N;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) d[i] = a[i] * b[i] + c[i];
#pragma omp parallel for
  for (int i = 0; i < N; i++) s[i] = p[i] * q[i] + r[i];
  for (int i = 0; i < N; i++) {
    CHECK(d[i] == expected(once, a[i], b[i], c[i]));
    CHECK(s[i] == expected_float(once, p[i], q[i], r[i]));
    apart += expected(1, a[i], b[i], c[i]) != expected(0, a[i], b[i], c[i]);
  }
  CHECK(apart > N / 2);

#ifdef __OPTIMIZE__
  int carried = 0;
#else
  int carried = once;
#endif
  // Sums, whose order is fixed: loaded operands, negated products, operands found through an index.
  double sum = 0, want = 0, less = 0, wanted = 0, far = 0, sought = 0;
  for (int i = 0; i < N; i++) sum = sum + a[i] * b[i];
  for (int i = 0; i < N; i++) less = less - a[i] * c[i];
  for (int i = 0; i < N; i++) far += a[order[i]] * b[i];
  for (int i = 0; i < N; i++) {
    want = expected(carried, a[i], b[i], want);
    wanted = expected(carried, -a[i], c[i], wanted);
    sought = expected(carried, a[order[i]], b[i], sought);
  }
  CHECK(sum == want && less == wanted && far == sought);

  // A polynomial, whose steps depend on their multiplications: fused. Next to it a sum of its values that only the outer
  // loop carries, seen from an inner one that may be entered alone; two terms each; changed signs.
  double value = 1, total = 0, valued = 1, totalled = 0, signs = 0, changed = 0;
  for (int i = 0; i < N; i++) {
    value = 0.5 * value + a[i];
    total += value * b[i];
    total += c[i] * a[i];
    for (int k = 0; k < 20; k++) d[k] = total * b[k] + c[k];
    if (i % 3 == 0) signs = -signs;
    signs = a[i] * b[i] - signs;
  }
  for (int i = 0; i < N; i++) {
    valued = expected(once, 0.5, valued, a[i]);
    totalled = expected(carried, valued, b[i], totalled);
    totalled = expected(carried, c[i], a[i], totalled);
    if (i % 3 == 0) changed = -changed;
    changed = expected(carried, a[i], b[i], -changed);
  }
  CHECK(value == valued && total == totalled && signs == changed);
  for (int k = 0; k < 20; k++) CHECK(d[k] == expected(once, totalled, b[k], c[k]));

  // Two at once, in single precision.
  float even = 0, odd = 0, evens = 0, odds = 0;
  for (int i = 0; i + 2 <= N; i += 2) {
    even += p[i] * q[i];
    odd += p[i + 1] * q[i + 1];
    evens = expected_float(carried, p[i], q[i], evens);
    odds = expected_float(carried, p[i + 1], q[i + 1], odds);
  }
  CHECK(even == evens && odd == odds);

  // Not within one expression: two operations.
  double product = a[5] * b[5];
  volatile double kept = product;
  CHECK(kept + c[5] == expected(0, a[5], b[5], c[5]));
  return DONE();
}
