// longjmp with a buffer that setjmp never filled.
// levels: O0 O2
// signal: 6
// stderr-has: longjmp with a buffer that setjmp did not fill at tests/fail/trap/longjmp_wild.c:8
#include <setjmp.h>
static jmp_buf never;
int main(void) {
  longjmp(never, 1);
}
