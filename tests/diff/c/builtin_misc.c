// Cycle counter, clear_cache, alloca_with_align, types_compatible, choose_expr, classify_type, va_arg_pack-free odds and ends.
#include <stdio.h>
#include <stdint.h>
#include <float.h>
int main(void) {
  volatile int n = 40;
  unsigned long long c = __builtin_readcyclecounter();
  char *p = __builtin_alloca_with_align((size_t)n, 64 * 8);
  p[n - 1] = 7;
  __builtin___clear_cache(p, p + n);
  printf("%d %d %d %d ", __builtin_readcyclecounter() >= c, (int)((uintptr_t)p % 64), p[39],
         __builtin_types_compatible_p(int, signed));
  printf("%d %d %d %zu ", __builtin_choose_expr(1, 5, "x"), FLT_ROUNDS, __builtin_classify_type(1.5),
         __builtin_offsetof(
             struct {
               char c;
               long l;
             },
             l));
  printf("%d %d %d\n", __builtin_is_aligned(p, 64), (int)(__builtin_align_up(n, 32)), (int)__builtin_align_down(n, 32));
  return 0;
}
