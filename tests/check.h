// Checks shared by the OpenMP test programs: CHECK counts a failed condition from any thread, DONE prints `ok` or `failed`
// and returns main's status. Failures are printed at once with their line.
// SPIN_UNTIL waits for a condition with a bound, so that a runtime without progress fails a check instead of hanging.
#ifndef OMPVM_TESTS_CHECK_H
#define OMPVM_TESTS_CHECK_H
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

static inline void check_fail(int line, const char *what) {
  if (__atomic_fetch_add(&check_failures, 1, __ATOMIC_SEQ_CST) < 8)
    printf("FAIL line %d: %s\n", line, what);
}

#define CHECK(...) ((__VA_ARGS__) ? (void)0 : check_fail(__LINE__, #__VA_ARGS__))
#define DONE() (puts(__atomic_load_n(&check_failures, __ATOMIC_SEQ_CST) ? "failed" : "ok"), check_failures != 0)
#define SPIN_UNTIL(...) for (long spin_ = 0; !(__VA_ARGS__) && spin_ < 20000000; spin_++) sched_yield()
#endif
