// Inline assembly with local labels in several functions: loops, forward and backward jumps, a subroutine that it calls,
// the same numbers again in one statement, and one in a header's inline function. Each is hot, so it is compiled apart.
#include <stdio.h>
__attribute__((noinline)) static long times(long n, long step) {
  long sum = 0;
  __asm__ volatile("testq %1, %1\n\tjz 2f\n1:\taddq %2, %0\n\tsubq $1, %1\n\tjnz 1b\n\tjmp 3f\n2:\tsubq $1, %0\n3:"
                   : "+r"(sum), "+r"(n)
                   : "r"(step)
                   : "cc");
  return sum;
}
__attribute__((noinline)) static long twice(long x) {
  __asm__ volatile("jmp 2f\n1:\taddq %0, %0\n\tret\n2:\tcall 1b\n\tcall 1b" : "+r"(x) : : "cc", "memory");
  return x;
}
__attribute__((noinline)) static unsigned bits(unsigned x) {
  unsigned count = 0;
  __asm__("1:\ttestl %1, %1\n\tje 1f\n\tleal -1(%1), %%ecx\n\tandl %%ecx, %1\n\tincl %0\n\tjmp 1b\n1:"
          : "+r"(count), "+r"(x)
          :
          : "ecx", "cc");
  return count;
}
static inline int clamp(int x, int most) {
  __asm__("cmpl %1, %0\n\tjle 9f\n\tmovl %1, %0\n9:" : "+r"(x) : "r"(most) : "cc");
  return x;
}
__attribute__((noinline)) static int first(int x) { return clamp(x, 10) + 1; }
__attribute__((noinline)) static int second(int x) { return clamp(x * 2, 15) - 1; }
// Compiled beside the others, without labels.
__attribute__((noinline)) static long plain(long x) {
  __asm__("leaq 3(%0), %0" : "+r"(x));
  return x;
}
int main(void) {
  long sum = 0;
  for (int i = 0; i < 3000; i++) {
    sum += times(i % 5, 3);
    sum += twice(i) - plain(i);
    sum += bits((unsigned)i) * 7;
    sum ^= first(i % 20) + second(i % 12);
  }
  printf("%ld %ld %ld %u %d %d\n", sum, times(4, 5), twice(9), bits(0xf0f1), first(30), second(9));
  return 0;
}
