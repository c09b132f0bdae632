// Compare-exchange, strong and weak, success and failure orderings, at every size.
#include <stdio.h>
#include <stdatomic.h>
#include <stdint.h>
#define RUN(T)                                                                                                         \
  do {                                                                                                                 \
    static _Atomic(T) x = 5;                                                                                           \
    T e = 4;                                                                                                           \
    int a = atomic_compare_exchange_strong(&x, &e, (T)9);                                                              \
    printf(#T " %d %lld ", a, (long long)e);                                                                           \
    a = atomic_compare_exchange_strong_explicit(&x, &e, (T) - 1, memory_order_acq_rel, memory_order_acquire);          \
    printf("%d %lld ", a, (long long)atomic_load(&x));                                                                 \
    e = (T) - 1;                                                                                                       \
    while (!atomic_compare_exchange_weak_explicit(&x, &e, (T)(e - 7), memory_order_release, memory_order_relaxed));    \
    a = atomic_compare_exchange_strong_explicit(&x, &e, (T)1, memory_order_relaxed, memory_order_seq_cst);             \
    printf("%d %lld %lld\n", a, (long long)e, (long long)x);                                                           \
  } while (0)
int main(void) {
  RUN(int8_t);
  RUN(uint16_t);
  RUN(int32_t);
  RUN(uint32_t);
  RUN(int64_t);
  RUN(uint64_t);
  return 0;
}
