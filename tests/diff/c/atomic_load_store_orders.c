// C11 atomic loads and stores at every size and ordering.
#include <stdio.h>
#include <stdatomic.h>
#include <stdint.h>
#define RUN(T)                                                                                                         \
  do {                                                                                                                 \
    static _Atomic(T) x;                                                                                               \
    atomic_store_explicit(&x, (T)1, memory_order_relaxed);                                                             \
    T a = atomic_load_explicit(&x, memory_order_relaxed);                                                              \
    atomic_store_explicit(&x, (T)(a + 2), memory_order_release);                                                       \
    T b = atomic_load_explicit(&x, memory_order_acquire);                                                              \
    atomic_store(&x, (T)(b * 3));                                                                                      \
    T c = atomic_load(&x);                                                                                             \
    T d = atomic_load_explicit(&x, memory_order_consume);                                                              \
    printf(#T " %lld %lld %lld %lld %d\n", (long long)a, (long long)b, (long long)c, (long long)d,                     \
           atomic_is_lock_free(&x));                                                                                   \
  } while (0)
int main(void) {
  RUN(int8_t);
  RUN(uint8_t);
  RUN(int16_t);
  RUN(uint16_t);
  RUN(int32_t);
  RUN(uint32_t);
  RUN(int64_t);
  RUN(uint64_t);
  return 0;
}
