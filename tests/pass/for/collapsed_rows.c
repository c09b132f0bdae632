// OpenMP 5.2, section 4.4.3: collapsed loops, and loops that divide their counter, visit each element once
// and in order, whatever the lengths of rows and of the shares of threads.
// stdout: ok
// levels: O0 O2
// options: --tier=opt
#include "../../check.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
static long grid[MOST][MOST], cube[20][20][20];

__attribute__((noinline)) static void two(int n, int m) {
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      grid[i][j] += 1000 * i + j + 1;
}

__attribute__((noinline)) static void three(long n, long m, long l, int chunk) {
#pragma omp parallel for collapse(3) schedule(static, chunk)
  for (long i = 1; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long k = 2; k < l; k++)
        cube[i][j][k] += 10000 * i + 100 * j + k;
}

__attribute__((noinline)) static void no_sign(unsigned n, unsigned m) {
#pragma omp parallel for collapse(2) schedule(dynamic, 17)
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < m; j++)
      grid[i][j] += 1000l * i + j + 1;
}

// The order shows in the result.
__attribute__((noinline)) static unsigned long digest(long from, long to, long n) {
  unsigned long result = 1;
  for (long k = from; k <= to; k++)
    result = result * 31 + (unsigned long)(k / n) * 7 + (unsigned long)(k % n);
  return result;
}

__attribute__((noinline)) static unsigned digest_unsigned(unsigned from, unsigned count, unsigned n) {
  unsigned result = 1;
  for (unsigned c = 0; c < count; c++)
    result = result * 31 + (from + c) / n * 7 + (from + c) % n;
  return result;
}

// Divides once for each call.
__attribute__((noinline)) static long quotient(long k, long n) { return k / n; }
__attribute__((noinline)) static unsigned unsigned_quotient(unsigned k, unsigned n) { return k / n; }

static unsigned long expected(long from, long to, long n) {
  unsigned long result = 1;
  for (long k = from;; k++) {
    long q = quotient(k, n);
    result = result * 31 + (unsigned long)q * 7 + (unsigned long)k - (unsigned long)q * (unsigned long)n;
    if (k == to)
      return result;
  }
}

static unsigned expected_unsigned(unsigned from, unsigned count, unsigned n) {
  unsigned result = 1;
  for (unsigned c = 0; c < count; c++) {
    unsigned q = unsigned_quotient(from + c, n);
    result = result * 31 + q * 7 + (from + c - q * n);
  }
  return result;
}

__attribute__((noinline)) static long conditional(const long *set, long count, long n) {
  long sum = 0;
  for (long k = 0; k < count; k++)
    if (set[k])
      sum += k % n;
  return sum;
}

int main(void) {
  for (int n = 1; n <= MOST; n = 2 * n + 1)
    for (int m = 1; m <= MOST; m = m * 3 / 2 + 1) {
      memset(grid, 0, sizeof grid);
      two(n, m);
      no_sign((unsigned)n, (unsigned)m);
      for (int i = 0; i < MOST; i++)
        for (int j = 0; j < MOST; j++)
          CHECK(grid[i][j] == (i < n && j < m ? 2 * (1000 * i + j + 1) : 0));
    }
  for (int chunk = 1; chunk < 2000; chunk = 3 * chunk + 1) {
    memset(cube, 0, sizeof cube);
    three(19, 7 + chunk % 5, 20, chunk);
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 20; j++)
        for (int k = 0; k < 20; k++)
          CHECK(cube[i][j][k] ==
                (i >= 1 && i < 19 && j < 7 + chunk % 5 && k >= 2 ? 10000 * i + 100 * j + k : 0));
  }
  static const long divisors[] = {1, 2, 3, 64, 1000, -1, -7, LONG_MAX, LONG_MIN + 1};
  for (unsigned d = 0; d < sizeof divisors / sizeof *divisors; d++) {
    long n = divisors[d];
    CHECK(digest(-300, 500, n) == expected(-300, 500, n));
    CHECK(digest(5, 5, n) == expected(5, 5, n));
    CHECK(digest(LONG_MAX - 300, LONG_MAX - 1, n) == expected(LONG_MAX - 300, LONG_MAX - 1, n));
    CHECK(digest(LONG_MIN + 1, LONG_MIN + 300, n) == expected(LONG_MIN + 1, LONG_MIN + 300, n));
  }
  static const unsigned by[] = {1, 2, 3, 64, 1000, 1u << 31, UINT_MAX - 1, UINT_MAX};
  for (unsigned d = 0; d < sizeof by / sizeof *by; d++) {
    CHECK(digest_unsigned(0, 700, by[d]) == expected_unsigned(0, 700, by[d]));
    // The counter wraps in the middle of a row.
    CHECK(digest_unsigned(UINT_MAX - 300, 700, by[d]) == expected_unsigned(UINT_MAX - 300, 700, by[d]));
  }
  long none[100] = {0};
  CHECK(conditional(none, 100, 0) == 0);
  none[70] = 1;
  CHECK(conditional(none, 100, 60) == 10);
  return DONE();
}
