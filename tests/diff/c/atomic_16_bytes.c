// flags: -mcx16
// 16-byte atomics inline (-mcx16): load, store, exchange, compare-exchange, fetch-add.
#include <stdio.h>
#include <stdint.h>
typedef unsigned __int128 u128;
static _Alignas(16) u128 x;
static void p(u128 v) { printf("%llx:%llx ", (unsigned long long)(v >> 64), (unsigned long long)v); }
int main(void) {
  __atomic_store_n(&x, (u128)7 << 70, __ATOMIC_SEQ_CST);
  p(__atomic_load_n(&x, __ATOMIC_SEQ_CST));
  p(__atomic_exchange_n(&x, ((u128)1 << 64) - 1, __ATOMIC_ACQ_REL));
  p(__atomic_fetch_add(&x, (u128)1, __ATOMIC_RELAXED));
  p(x);
  u128 e = 3;
  int a = __atomic_compare_exchange_n(&x, &e, (u128)9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  p(e);
  int b = __atomic_compare_exchange_n(&x, &e, (u128)9, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  p(x);
  p(__atomic_fetch_or(&x, (u128)1 << 127, __ATOMIC_SEQ_CST));
  p(__atomic_sub_fetch(&x, (u128)10, __ATOMIC_SEQ_CST));
  p(__atomic_fetch_nand(&x, (u128)0xff << 60, __ATOMIC_SEQ_CST));
  p(x);
  printf("%d %d\n", a, b);
  return 0;
}
