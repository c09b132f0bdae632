// exit: 12
// Nested jmp_bufs: an exception mechanism with a handler stack, rethrow, and cleanup.
#include <stdio.h>
#include <setjmp.h>
struct h {
  jmp_buf b;
  struct h *up;
};
static struct h *top;
static int code;
static void thr(int c) {
  code = c;
  struct h *t = top;
  top = t->up;
  longjmp(t->b, 1);
}
#define TRY                                                                                                            \
  {                                                                                                                    \
    struct h h_;                                                                                                       \
    h_.up = top;                                                                                                       \
    top = &h_;                                                                                                         \
    if (!setjmp(h_.b)) {
#define CATCH                                                                                                          \
  top = h_.up;                                                                                                         \
  }                                                                                                                    \
  else {
#define END                                                                                                            \
  }                                                                                                                    \
  }
__attribute__((noinline)) static int risky(int x) {
  if (x % 3 == 0) thr(x);
  return x * 2;
}
__attribute__((noinline)) static void mid(int x) {
  TRY printf("r%d ", risky(x));
  CATCH printf("cleanup%d ", code);
  if (code > 3) thr(code + 100);
  END
}
int main(void) {
  for (volatile int i = 0; i < 10; i++) {
    TRY mid(i);
    CATCH printf("caught%d ", code);
    END
  }
  puts("");
  return top == 0 ? 12 : 1;
}
