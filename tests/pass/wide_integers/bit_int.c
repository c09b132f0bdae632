// Integers of more than 128 bits: C23's `_BitInt`, in arithmetic, loops, structures, calls and private
// copies.
// levels: O0 O1 O2
// flags: -std=c23
// env: OMP_NUM_THREADS=3
// stdout: ok
#include "../../check.h"
#include <stdint.h>

typedef unsigned _BitInt(256) wide;
typedef _BitInt(200) odd;

struct pair {
  int tag;
  wide value;
  odd rest;
};

static const wide top = (wide)1 << 255;
static struct pair global = {7, 1'000'000'000'000'000'000'000'000'000'000'000'000'000'007wb, -5};

static uint64_t word(wide v, int k) { return (uint64_t)(v >> (64 * k)); }

__attribute__((noinline)) static wide power(wide base, int n) {
  wide result = 1;
  for (int i = 0; i < n; i++)
    result *= base;
  return result;
}

__attribute__((noinline)) static struct pair changed(struct pair p, wide add) {
  p.value += add;
  p.rest = -p.rest * 3;
  p.tag++;
  return p;
}

__attribute__((noinline)) static wide greatest(const wide *v, int n) {
  wide best = v[0];
  for (int i = 1; i < n; i++)
    best = v[i] > best ? v[i] : best;
  return best;
}

static void arithmetic(void) {
  wide p = power(2, 200);
  CHECK(word(p, 3) == 256 && word(p, 2) == 0 && word(p, 1) == 0 && word(p, 0) == 0);
  CHECK(power(3, 160) % 1000007 == power(9, 80) % 1000007);
  CHECK(power(2, 256) == 0);
  CHECK(~(wide)0 == top - 1 + top);
  wide q = power(10, 70);
  CHECK(q / power(10, 60) == power(10, 10) && q % 7 == 4);
  CHECK((q ^ p ^ q) == p && (q & ~q) == 0);
  odd n = -(odd)12345678901234567890ull * 1000000007;
  CHECK(n < 0 && n / 1000000007 == -(odd)12345678901234567890ull);
  CHECK((n >> 190) == -1 && (int64_t)(n % 10) == 0);
  CHECK((double)power(2, 130) == 0x1p130 && (wide)0x1p140 == power(2, 140));
}

static void memory(void) {
  struct pair p = changed(global, top);
  CHECK(p.tag == 8 && p.rest == 15 && p.value - top == global.value);
  wide list[5] = {3, top, 9, top + 1, 0};
  CHECK(greatest(list, 5) == top + 1);
}

static void overflow(void) {
  // Signed and unsigned operands of 128 bits are multiplied in an integer of 129.
  unsigned __int128 product;
  volatile unsigned char small = 4;
  CHECK(__builtin_mul_overflow(small, -16, &product));
  CHECK(product == -(unsigned __int128)64);
}

int main(void) {
  arithmetic();
  memory();
  overflow();
  wide sum = 0, each = 5;
#pragma omp parallel firstprivate(each)
  {
    wide mine = 0;
#pragma omp for
    for (int i = 0; i < 1000; i++)
      mine += power(2, 130) * i + each;
#pragma omp critical
    sum += mine;
  }
  CHECK(sum == power(2, 130) * 499500 + 5000);
  DONE();
}
