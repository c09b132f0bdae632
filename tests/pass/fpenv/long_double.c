// In `parallel`, the x87 control word is inherited, too: precision and rounding of long double.
// levels: O0 O2
// stdout: rounding 4
// stdout: precision 4
// stdout: after 1
#include "../../check.h"
#include <omp.h>

static unsigned short word(void) {
  unsigned short w;
  __asm__ volatile("fnstcw %0" : "=m"(w));
  return w;
}
static void set(unsigned short w) { __asm__ volatile("fldcw %0" : : "m"(w)); }

static volatile long double one = 1, three = 3;

int main(void) {
  int right = 0;
#pragma omp parallel num_threads(4)
  one = 1;
  long double nearest = one / three;
  unsigned short normal = word();
  set((normal & ~0xc00) | 0x800);
#pragma omp parallel num_threads(4) reduction(+ : right)
  right += one / three > nearest || (word() & 0xc00) == 0x800;
  printf("rounding %d\n", right);
  right = 0;
  // 53 bits.
  set((normal & ~0x300) | 0x200);
#pragma omp parallel num_threads(4) reduction(+ : right)
  {
    right += one / three == (double)(1.0 / 3.0);
    set(normal);
  }
  printf("precision %d\n", right);
  printf("after %d\n", (word() & 0x300) == 0x200);
}
