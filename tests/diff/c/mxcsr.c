// Reads and sets the control register of the vector unit: exceptions' masks, rounding, flushing of denormals, flags.
#include <stdio.h>
#include <xmmintrin.h>

static volatile float one = 1.0f, three = 3.0f, tiny = 1e-38f, tenth = 0.1f;

static void show(const char *what) {
  printf("%s %04x %.9g %.9g\n", what, _mm_getcsr() & ~0x3fu, one / three, tiny * tenth);
}

static void rounding(void) {
  static const unsigned modes[] = {_MM_ROUND_NEAREST, _MM_ROUND_DOWN, _MM_ROUND_UP, _MM_ROUND_TOWARD_ZERO};
  for (int i = 0; i < 4; i++) {
    _MM_SET_ROUNDING_MODE(modes[i]);
    show("rounding");
  }
  _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST);
}

static void flushing(void) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  show("flushing");
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF);
  show("not");
}

static void flags(void) {
  _mm_setcsr(_mm_getcsr() & ~0x3fu);
  volatile float x = one / three;
  printf("inexact %d\n", (_mm_getcsr() & _MM_EXCEPT_INEXACT) != 0);
  _mm_setcsr(_mm_getcsr() & ~0x3fu);
  x = one / 0.0f;
  printf("by zero %d of %g\n", (_mm_getcsr() & _MM_EXCEPT_DIV_ZERO) != 0, x);
}

static void masks(void) {
  unsigned before = _mm_getcsr();
  _MM_SET_EXCEPTION_MASK(_MM_GET_EXCEPTION_MASK() & ~_MM_MASK_DIV_ZERO);
  show("masks");
  _mm_setcsr(before);
}

// A loop that saves and restores the register around each step.
static void around(void) {
  float sum = 0;
  for (int i = 1; i < 1000; i++) {
    unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x6000u) | (i & 1 ? 0x2000u : 0x4000u));
    sum += one / (float)i;
    _mm_setcsr(before);
  }
  printf("%.9g\n", sum);
}

int main(void) {
  show("first");
  rounding();
  flushing();
  flags();
  masks();
  around();
  show("last");
  return 0;
}
