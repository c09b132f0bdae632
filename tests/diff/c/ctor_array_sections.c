// exit: 3
// Constructors that take argc and argv, and a table collected in a named section with __start_ and __stop_ symbols.
#include <stdio.h>
struct e {
  const char *n;
  int v;
};
#define REG(N, V) static const struct e e_##N __attribute__((used, section("regtab"), aligned(8))) = {#N, V}
REG(one, 1);
REG(two, 2);
REG(three, 3);
extern const struct e __start_regtab[], __stop_regtab[];
static int sum;
__attribute__((constructor)) static void c(void) {
  for (const struct e *p = __start_regtab; p < __stop_regtab; p++) sum = sum * 10 + p->v;
}
int main(void) {
  printf("%d", sum);
  for (const struct e *p = __start_regtab; p != __stop_regtab; p++) printf(" %s", p->n);
  puts("");
  return (int)(__stop_regtab - __start_regtab);
}
