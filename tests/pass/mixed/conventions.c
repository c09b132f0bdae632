// Functions with calling conventions other than C's (`ms_abi`, `preserve_none` and so on), called
// directly and through pointers, while their callers and they change tiers.
// levels: O0 O1 O2
// stdout: ok
#include "../../check.h"

struct pair {
  long a, b;
};
struct quad {
  double x, y, z, w;
};
struct longs {
  long a[4];
};
struct mixed {
  float a, b;
  int c;
};
typedef double vector __attribute__((vector_size(16)));

#define CC ms_abi
#define NAME ms
#define RESULTS
#include "conventions.inc"
#define CC sysv_abi
#define NAME sysv
#define RESULTS
#include "conventions.inc"
#define CC swiftcall
#define NAME swift
#define RESULTS
#include "conventions.inc"
#define CC regcall
#define NAME reg
#define RESULTS
#include "conventions.inc"
#define CC preserve_none
#define NAME none
#define RESULTS
#include "conventions.inc"
#define CC preserve_most
#define NAME most
#include "conventions.inc"
#define CC preserve_all
#define NAME all
#include "conventions.inc"
#define CC vectorcall
#define NAME vectors
#include "conventions.inc"

#define SWIFT __attribute__((swiftcall, noinline))

struct object {
  long value;
};

SWIFT static long method(long a, double b, __attribute__((swift_context)) struct object *self) {
  return a + (long)b + self->value++;
}

SWIFT static long thrower(long a, __attribute__((swift_context)) struct object *self,
                          __attribute__((swift_error_result)) void **error) {
  if (a % 7 == 0)
    *error = self;
  return a + self->value;
}

__attribute__((swiftasynccall, noinline)) static long async(__attribute__((swift_async_context)) struct object *self,
                                                            long a) {
  return self->value * a;
}

/// Parameters that have registers of their own natively.
static void swift_parameters(long n) {
  struct object object = {1};
  for (long i = 0; i < n; i++) {
    void *error = 0;
    CHECK(method(i, 2, &object) == i + 3 + i);
    CHECK(thrower(i, &object, &error) == i + object.value);
    CHECK((error == &object) == (i % 7 == 0));
    CHECK(async(&object, i) == object.value * i);
  }
}

int main(void) {
  swift_parameters(20000);
  calls_ms(20000);
  calls_sysv(20000);
  calls_swift(20000);
  calls_reg(20000);
  calls_none(20000);
  calls_most(20000);
  calls_all(20000);
  calls_vectors(20000);
  results_ms(20000);
  results_sysv(20000);
  results_swift(20000);
  results_reg(20000);
  results_none(20000);
  return DONE();
}
