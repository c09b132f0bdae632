// Fences of every ordering, signal fences, atomic_flag, the old __sync builtins.
#include <stdio.h>
#include <stdatomic.h>
static atomic_flag fl = ATOMIC_FLAG_INIT;
int main(void) {
  int v = 5, t = 0;
  long l = 100;
  short s = 3;
  char c = 1;
  atomic_thread_fence(memory_order_relaxed);
  atomic_thread_fence(memory_order_acquire);
  atomic_thread_fence(memory_order_release);
  atomic_thread_fence(memory_order_acq_rel);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_signal_fence(memory_order_seq_cst);
  __sync_synchronize();
  printf("%d ", atomic_flag_test_and_set(&fl));
  printf("%d ", atomic_flag_test_and_set_explicit(&fl, memory_order_acquire));
  atomic_flag_clear(&fl);
  printf("%d\n", atomic_flag_test_and_set(&fl));
  printf("%d %d %ld %d %d ", __sync_fetch_and_add(&v, 3), __sync_sub_and_fetch(&v, 1), __sync_fetch_and_or(&l, 3),
         __sync_xor_and_fetch(&s, 6), __sync_fetch_and_and(&c, 0));
  printf("%d %d ", __sync_bool_compare_and_swap(&v, 7, 70), __sync_val_compare_and_swap(&v, 7, 71));
  printf("%d ", __sync_lock_test_and_set(&t, 9));
  __sync_lock_release(&t);
  printf("%d %d %ld %d %d\n", t, v, l, s, c);
  return 0;
}
