// lock xadd, lock cmpxchg, xchg, bsr, rol, sete: the classics of hand-written headers.
#include <stdio.h>
#include <stdint.h>
static inline int xadd(int *p, int v) {
  __asm__ volatile("lock; xaddl %0, %1" : "+r"(v), "+m"(*p) : : "memory", "cc");
  return v;
}
static inline long xchg(long *p, long v) {
  __asm__ volatile("xchgq %0, %1" : "+r"(v), "+m"(*p) : : "memory");
  return v;
}
static inline int cas(int *p, int e, int n) {
  int r;
  __asm__ volatile("lock; cmpxchgl %2, %1" : "=a"(r), "+m"(*p) : "r"(n), "0"(e) : "memory", "cc");
  return r;
}
static inline uint32_t rol(uint32_t x, unsigned char n) {
  __asm__("roll %%cl, %0" : "+r"(x) : "c"(n) : "cc");
  return x;
}
static inline void inc(int *p) { __asm__ volatile("lock; incl %0" : "+m"(*p) : : "cc"); }
int main(void) {
  int v = 10;
  long l = 5;
  printf("%d %d %ld %ld ", xadd(&v, 5), v, xchg(&l, 77), l);
  printf("%d %d ", cas(&v, 15, 20), v);
  printf("%d %d ", cas(&v, 15, 30), v);
  inc(&v);
  printf("%d %x %x\n", v, rol(0x80000001u, 4), rol(0x12345678u, 16));
  return 0;
}
