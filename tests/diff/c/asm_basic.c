// Inline assembly as headers use it: empty barriers, mov, add, xchg, bswap, tied operands, early clobber, memory operands.
#include <stdio.h>
#include <stdint.h>
int main(void) {
  uint32_t a = 5, b = 7, c;
  uint64_t x = 0x0102030405060708, y = 9;
  int m[4] = {1, 2, 3, 4};
  __asm__ volatile("" ::: "memory");
  __asm__("" : "+r"(a));
  __asm__("movl %1, %0" : "=r"(c) : "r"(a));
  __asm__("addl %1, %0" : "+r"(c) : "r"(b) : "cc");
  __asm__("bswapq %0" : "+r"(x));
  __asm__ volatile("xchgq %0, %1" : "+r"(y), "+m"(x));
  __asm__("leal (%1,%2,4), %0" : "=r"(b) : "r"(a), "r"(b));
  __asm__("addl $10, %0" : "+m"(m[2]));
  __asm__("movl %2, %0\n\taddl %3, %0" : "=&r"(c), "=m"(m[0]) : "r"(c), "i"(100));
  __asm__ volatile("nop");
  __asm__ volatile("pause" ::: "memory");
  printf("%u %u %u %llx %llx %d\n", a, b, c, (unsigned long long)x, (unsigned long long)y, m[2]);
  return 0;
}
