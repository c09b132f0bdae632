// A loop that is compiled while it runs, and that an exception leaves: into a handler of the same
// function that uses values of the loop, through destructors, and back into the loop. C++.
// options: --tier=auto
// levels: O0 O2
// stdout: 3000000 8999997000000 2999999
// stdout: 3000000 500 1497003000
// stdout: 3000000 1 4499998500000 20
// stdout: ok
#include "../../check.h"

struct Ended {
  long at;
};

static long limit = 3000000;
static int destroyed;

__attribute__((noinline)) static long step(long i) {
  if (i == limit)
    throw Ended{i};
  return 2 * i;
}

__attribute__((noinline)) static long seldom(long i) {
  if (i % 6000 == 3)
    throw (int)i;
  return i;
}

struct Guard {
  long value;
  ~Guard() { destroyed += value > 0; }
};

/// The handler reads what the loop computed before the exception.
__attribute__((noinline)) static void handler_reads_values() {
  long sum = 0, last = 0;
  long i = 0;
  try {
    for (;; i++) {
      sum += step(i);
      last = i;
    }
  } catch (const Ended &ended) {
    printf("%ld %ld %ld\n", ended.at, sum, last);
  }
}

/// The handler is in the loop.
__attribute__((noinline)) static void loop_goes_on() {
  long caught = 0, sum = 0, i = 0;
  for (; i < limit; i++) {
    try {
      seldom(i);
    } catch (int at) {
      caught++;
      sum += at * 2;
    }
  }
  printf("%ld %ld %ld\n", i, caught, sum);
}

/// A destructor runs between the loop and the handler of the caller.
__attribute__((noinline)) static long destructor_runs(long *sum) {
  Guard guard{1};
  for (long i = 0;; i++) {
    *sum += step(i) / 2;
    guard.value = i;
  }
}

int main() {
  handler_reads_values();
  loop_goes_on();
  long sum = 0, at = 0;
  try {
    destructor_runs(&sum);
  } catch (const Ended &ended) {
    at = ended.at;
  }
#pragma omp parallel for reduction(+ : destroyed) num_threads(2)
  for (int n = 0; n < 20; n++) {
    long local = 0;
    Guard each{1};
    try {
      for (long i = limit - 1000;; i++)
        local += step(i);
    } catch (const Ended &ended) {
      CHECK(ended.at == limit && local == 1000 * (2 * limit - 1001));
    }
  }
  printf("%ld %d %ld %d\n", at, destroyed > 0, sum, destroyed - 1);
  DONE();
}
