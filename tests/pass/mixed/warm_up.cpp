// Functions whose loops go from the interpreter to the baseline tier in the middle: with values that
// live across, nested loops, exceptions, longjmp, recursion, signals and several threads. C++.
// options: --tier=auto --no-cache
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include <csetjmp>
#include <csignal>
#include <omp.h>

static volatile long opaque = 1;

__attribute__((always_inline)) static inline long body(long outer, long inner) {
  long sum = 0, product = 1;
  double mean = 0;
  for (long i = 0; i < outer; i++) {
    long row = i * opaque;
    for (long k = 0; k < inner; k++) {
      sum += row * k + 1;
      mean += (double)k / 2;
    }
    product = product * 3 % 1000003 + row;
  }
  return sum + product + (long)mean;
}

/// A nest that has changed its tier after the first check.
__attribute__((noinline)) static long nest(long outer, long inner) { return body(outer, inner); }

/// A nest that changes in its only call; each of its loops may be the one that counts last.
template <int Outer, int Inner> __attribute__((noinline)) static long fresh_nest() {
  return body(Outer * opaque, Inner * opaque);
}

template <int Outer, int Inner> static void check_nest() {
  CHECK(fresh_nest<Outer, Inner>() == nest(Outer, Inner));
}

struct Counter {
  long *at;
  ~Counter() { ++*at; }
};

/// Throws in every iteration from the one in which the tier changes.
template <int From> __attribute__((noinline)) static long thrower() {
  long caught = 0, destroyed = 0;
  for (long i = 0; i < 100 * opaque; i++) {
    try {
      Counter counter{&destroyed};
      if (i >= From)
        throw i;
    } catch (long value) {
      caught += value;
    }
  }
  return caught * 1000 + destroyed;
}

template <int From> static void check_thrower() {
  long caught = 0;
  for (long i = From; i < 100; i++)
    caught += i;
  CHECK(thrower<From>() == caught * 1000 + 100);
}

/// Returns to a call of setjmp that the interpreter made.
__attribute__((noinline)) static long jumper(long times) {
  static jmp_buf place;
  volatile long count = 0;
  setjmp(place);
  count = count + opaque;
  if (count < times)
    longjmp(place, 1);
  return count;
}

__attribute__((noinline)) static long deep(long n) {
  long below = n > 0 ? deep(n - opaque) : 0;
  return below + n;
}

static volatile long handled;
static void handle(int) {
  for (long i = 0; i < 10 * opaque; i++)
    handled = handled + 1;
}

__attribute__((noinline)) static long raiser() {
  long sum = 0;
  for (long i = 0; i < 150 * opaque; i++) {
    raise(SIGUSR1);
    sum += i;
  }
  return sum;
}

/// All threads of a team count at once.
static long shared_work(long n) {
  long sum = 0;
#pragma omp parallel for num_threads(4) reduction(+ : sum) schedule(static, 1)
  for (long i = 0; i < n; i++) {
    long own = 0;
    for (long k = 0; k < 20 * opaque; k++)
      own += i ^ k;
    sum += own;
  }
  return sum;
}

int main() {
  check_nest<1, 200>();
  check_nest<200, 1>();
  check_nest<63, 0>();
  check_nest<64, 1>();
  check_nest<2, 31>();
  check_nest<3, 21>();
  check_nest<8, 8>();
  check_nest<9, 7>();
  check_nest<100, 100>();
  check_thrower<61>();
  check_thrower<62>();
  check_thrower<63>();
  check_thrower<64>();
  check_thrower<0>();
  CHECK(jumper(300) == 300);
  for (long n = 0; n < 130; n++)
    CHECK(deep(n) == n * (n + 1) / 2);
  signal(SIGUSR1, handle);
  CHECK(raiser() == 150 * 149 / 2);
  CHECK(handled == 1500);
  long expected = 0;
  for (long i = 0; i < 400; i++)
    for (long k = 0; k < 20; k++)
      expected += i ^ k;
  CHECK(shared_work(400) == expected);
  DONE();
}
