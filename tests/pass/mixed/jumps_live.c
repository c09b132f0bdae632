// C11, 7.13.2.1: after longjmp, values that were computed before setjmp and did not change since are as they were,
// even where the frame was used for others meanwhile.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <setjmp.h>

enum { ROUNDS = 5 };

static jmp_buf here;
static volatile long left;

__attribute__((noinline)) static void again(long n) {
  if (left-- > 0) longjmp(here, (int)n);
}

// Values that the optimizer knows nothing about, so that none is computed again or later.
static volatile long nothing;

__attribute__((noinline)) static long get(long n) { return n + nothing; }

__attribute__((noinline)) static double half(double x) { return x / 2 + (double)nothing; }

__attribute__((noinline)) static long straight(long n) {
  long a = get(n), b = get(a * 3), c = get(b ^ a), d = get(c + b);
  double x = half((double)a), y = half(x + (double)b);
  long done = get(a + b) * get(c - d);
  a += done & 15;
  left = ROUNDS;
  int turn = setjmp(here);
  // Only the later returns use what came before; the first one overwrites the frame meanwhile.
  if (turn > ROUNDS - 1) return a + 2 * b + 3 * c + 5 * d + (long)(x * 16) + (long)(y * 16);
  long e = get(turn + 1), f = get(e * 5), g = get(f - e), h = get(g * g), i = get(h ^ f), j = get(i + g);
  double z = half((double)h), w = half(z + (double)f), p = half(w), q = half(z + p), r = half(q * p);
  again(turn + 1 + ((i + j + h + e) & 0) + (long)((w + p + q + r + z) * 0));
  return -1;
}

// The same without a jump.
__attribute__((noinline)) static long expected(long n) {
  long a = n, b = a * 3, c = b ^ a, d = c + b;
  double x = (double)a / 2, y = (x + (double)b) / 2;
  long done = (a + b) * (c - d);
  a += done & 15;
  return a + 2 * b + 3 * c + 5 * d + (long)(x * 16) + (long)(y * 16);
}

// A handler in each turn of a loop, whose counter and sum live across it.
__attribute__((noinline)) static long looped(long n) {
  volatile long jumps = 0;
  long base = get(n * 7), step = get(base & 3);
  for (long i = 0; i < n; i++) {
    long square = get(i * i), keep = get(square + base);
    left = 2;
    int turn = setjmp(here);
    long s = get(keep + turn), t = get(s * 2), u = get(t - s);
    if (turn < 2) {
      long v = get(u + t), w = get(v ^ s), x = get(w + v);
      jumps += 1;
      again(turn + 1 + (x & 0));
    }
    CHECK(keep == i * i + base);
    CHECK(step == (base & 3));
    CHECK(u == keep + turn);
  }
  return jumps;
}

int main(void) {
  for (long n = 1; n < 20; n++) {
    CHECK(straight(n) == expected(n));
    CHECK(looped(n) == 2 * n);
  }
  return DONE();
}
