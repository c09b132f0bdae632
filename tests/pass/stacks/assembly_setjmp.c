// A non-local jump by hand: a naked function saves the registers of its caller, and assembly returns from it again.
// levels: O0 O2
// options: --tier=auto
// stdout: ok
#include "../../check.h"
#include "save_registers.h"
struct buffer {
  void *place[9];
  long value;
};
static _Thread_local struct buffer *top;
__attribute__((noinline, noreturn)) static void raise(long value) {
  struct buffer *b = top;
  b->value = value;
  __asm__ volatile(
      "movq 56(%0), %%r15\n\t"
      "movq 48(%0), %%r14\n\t"
      "movq 40(%0), %%r13\n\t"
      "movq 32(%0), %%r12\n\t"
      "movq 24(%0), %%rbx\n\t"
      "movq 16(%0), %%rbp\n\t"
      "movq 8(%0), %%rsp\n\t"
      "movq 0(%0), %%rax\n\t"
      "movq %%rax, (%%rsp)\n\t"
      "movl $1, %%eax\n\t"
      "retq"
      :
      : "D"(b)
      : "memory");
  __builtin_unreachable();
}
__attribute__((noinline)) static long descend(long depth, long n) {
  if (depth == 0) raise(n * 3);
  volatile char room[200] = {0};
  return descend(depth - 1, n) + room[n % 200];
}
__attribute__((noinline)) static long attempt(long depth, long n) {
  struct buffer own, *outer = top;
  top = &own;
  if (save(&own) == 0) {
    descend(depth, n);
    abort();
  }
  top = outer;
  return own.value;
}
static int compare(const void *a, const void *b) {
  attempt(2, *(const int *)a);
  return *(const int *)a - *(const int *)b;
}
int main(void) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < 4000; i++) sum += attempt(i % 30, i);
  CHECK(sum == 3l * 4000 * 3999 / 2);
  int list[] = {5, 3, 9, 1, 7};
  qsort(list, 5, sizeof *list, compare);
  CHECK(list[0] == 1 && list[4] == 9);
  return DONE();
}
