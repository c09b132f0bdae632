// Computed jumps through tables of label addresses and of their differences, and from a label in a variable, compute the
// same in every tier. Two functions have tables of their own.
// levels: O0 O2
// stdout: ok
#include "../../check.h"

enum { ADD, TWICE, DROP, LOOP, END };

__attribute__((noinline)) static unsigned by_address(const unsigned char *code, unsigned trips) {
  static void *const table[] = {&&add, &&twice, &&drop, &&loop, &&end};
  unsigned sum = 1;
  const unsigned char *at = code;
  goto *table[*at++];
add:
  sum += *at++;
  goto *table[*at++];
twice:
  sum *= 2;
  goto *table[*at++];
drop:
  sum -= 3;
  goto *table[*at++];
loop:
  if (--trips > 0)
    at = code;
  goto *table[*at++];
end:
  return sum;
}

__attribute__((noinline)) static unsigned by_distance(const unsigned char *code, unsigned trips) {
  static const int table[] = {&&add - &&add, &&twice - &&add, &&drop - &&add, &&loop - &&add, &&end - &&add};
  unsigned sum = 1;
  const unsigned char *at = code;
#define NEXT() goto *(void *)((char *)&&add + table[*at++])
  NEXT();
add:
  sum += *at++;
  NEXT();
twice:
  sum *= 2;
  NEXT();
drop:
  sum -= 3;
  NEXT();
loop:
  if (--trips > 0)
    at = code;
  NEXT();
end:
  return sum;
}

__attribute__((noinline)) static unsigned by_switch(const unsigned char *code, unsigned trips) {
  unsigned sum = 1;
  for (const unsigned char *at = code;;) {
    switch (*at++) {
    case ADD: sum += *at++; break;
    case TWICE: sum *= 2; break;
    case DROP: sum -= 3; break;
    case LOOP:
      if (--trips > 0)
        at = code;
      break;
    default: return sum;
    }
  }
}

// The label of the next step lives across the head of the loop, where a frame changes tiers.
__attribute__((noinline)) static unsigned by_variable(unsigned trips) {
  void *next = &&even;
  unsigned sum = 0;
  for (unsigned n = 0; n < trips; n++) {
    goto *next;
  even:
    sum += n;
    next = n % 3 ? &&odd : &&even;
    continue;
  odd:
    sum ^= n;
    next = &&even;
  }
  return next == &&odd ? ~sum : sum;
}

static unsigned steps(unsigned trips) {
  unsigned sum = 0;
  int odd = 0;
  for (unsigned n = 0; n < trips; n++) {
    sum = odd ? sum ^ n : sum + n;
    odd = !odd && n % 3;
  }
  return odd ? ~sum : sum;
}

int main(void) {
  static const unsigned char code[] = {ADD, 7, TWICE, DROP, ADD, 200, TWICE, LOOP, END};
  for (unsigned trips = 1; trips < 300; trips++) {
    unsigned expected = by_switch(code, trips);
    CHECK(by_address(code, trips) == expected);
    CHECK(by_distance(code, trips) == expected);
    CHECK(by_variable(trips) == steps(trips));
  }
#pragma omp parallel num_threads(2)
  {
    CHECK(by_address(code, 400000) == by_switch(code, 400000));
    CHECK(by_distance(code, 400000) == by_switch(code, 400000));
    CHECK(by_variable(6000001) == steps(6000001));
  }
  DONE();
}
