// C23, 6.5 paragraph 8 and 7.12.2: an expression may be contracted, here `a * b + c` to one operation with one
// rounding; which of them are is the same in every tier, alone, in vectors and in the interpreter's loops.
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

/// Whether the processor has the operation; otherwise nothing is contracted.
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

  // Sums, whose order is fixed: loaded operands, negated products, operands found through an index.
  double sum = 0, want = 0, less = 0, wanted = 0, far = 0, sought = 0;
  for (int i = 0; i < N; i++) sum = sum + a[i] * b[i];
  for (int i = 0; i < N; i++) less = less - a[i] * c[i];
  for (int i = 0; i < N; i++) far += a[order[i]] * b[i];
  for (int i = 0; i < N; i++) {
    want = expected(once, a[i], b[i], want);
    wanted = expected(once, -a[i], c[i], wanted);
    sought = expected(once, a[order[i]], b[i], sought);
  }
  CHECK(sum == want && less == wanted && far == sought);

  // Not within one expression: two operations.
  double product = a[5] * b[5];
  volatile double kept = product;
  CHECK(kept + c[5] == expected(0, a[5], b[5], c[5]));
  return DONE();
}
