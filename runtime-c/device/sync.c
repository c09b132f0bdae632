/* Barriers, flush, critical sections and locks, master, masked and single.
 *
 * A hardware barrier counts whole warps. A region of all threads uses one, a region of whole warps
 * another with a count. Threads of one warp synchronize as lanes. Only a number of threads that
 * spans several warps and is no multiple of a warp is counted in memory.
 */
#include "device.h"

INLINE uint32_t lanes(uint32_t count) { return count >= WARP_SIZE ? ~0u : (1u << count) - 1; }

enum { LOOKS = 64 };

/* Waits for the region's threads. The threads of a warp synchronize as lanes, then one of them
 * counts for all: one word receives as many additions as there are warps, not threads. The wait
 * is short if all threads are about to arrive, so a thread sleeps only after some checks. The
 * thread's number is an argument, so that a kernel's state about itself need not be in memory
 * for this function. */
static __attribute__((noinline)) void counted_barrier(uint32_t threads, uint32_t number) {
  uint32_t *arrived = (uint32_t *)&team.arrived, *turn = (uint32_t *)&team.turn;
  uint32_t warp = number / WARP_SIZE, warps = (threads + WARP_SIZE - 1) / WARP_SIZE;
  uint32_t mask = lanes(threads - warp * WARP_SIZE);
  __nvvm_bar_warp_sync(mask);
  if (number % WARP_SIZE == 0) {
    uint32_t now = __scoped_atomic_load_n(turn, __ATOMIC_RELAXED, BLOCK);
    if (__scoped_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, BLOCK) + 1 == warps) {
      __scoped_atomic_store_n(arrived, 0, __ATOMIC_RELAXED, BLOCK);
      __scoped_atomic_store_n(turn, now + 1, __ATOMIC_RELEASE, BLOCK);
    }
    for (uint32_t looks = 0; __scoped_atomic_load_n(turn, __ATOMIC_ACQUIRE, BLOCK) == now; looks++)
      if (looks >= LOOKS)
        relax();
  }
  __nvvm_bar_warp_sync(mask);
}

SHORT_ENTRY void __kmpc_barrier(Ident *ident, int32_t thread) {
  (void)ident, (void)thread;
  uint32_t threads = thread_count();
  if (threads == 1)
    return;
  if (threads == hardware_threads())
    block_barrier();
  else if (threads <= WARP_SIZE)
    __nvvm_bar_warp_sync(lanes(threads));
  else if (threads % WARP_SIZE == 0)
    __nvvm_barrier_sync_cnt(1, threads);
  else
    counted_barrier(threads, thread_number());
}

SHORT_ENTRY void __kmpc_barrier_simple_spmd(Ident *ident, int32_t thread) {
  (void)ident, (void)thread;
  aligned_barrier();
}
ENTRY void __kmpc_barrier_simple_generic(Ident *ident, int32_t thread) {
  (void)ident, (void)thread;
  block_barrier();
}
ENTRY int32_t __kmpc_cancel_barrier(Ident *ident, int32_t thread) {
  __kmpc_barrier(ident, thread);
  return 0;
}
/* OMP_CANCELLATION is false on devices, so no construct is ever canceled. */
ENTRY int32_t __kmpc_cancel(Ident *i, int32_t t, int32_t kind) {
  (void)i, (void)t, (void)kind;
  return 0;
}
ENTRY int32_t __kmpc_cancellationpoint(Ident *i, int32_t t, int32_t kind) {
  (void)i, (void)t, (void)kind;
  return 0;
}

ENTRY void __kmpc_flush(Ident *ident) {
  (void)ident;
  __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM);
}
ENTRY uint64_t __kmpc_warp_active_thread_mask(void) { return __nvvm_activemask(); }
ENTRY void __kmpc_syncwarp(uint64_t mask) { __nvvm_bar_warp_sync((uint32_t)mask); }

INLINE void take(uint32_t *word) {
  for (;;) {
    uint32_t expected = 0;
    if (__scoped_atomic_compare_exchange_n(word, &expected, 1, false, __ATOMIC_ACQUIRE,
                                           __ATOMIC_RELAXED, DEVICE))
      return;
    relax();
  }
}
INLINE void give(uint32_t *word) { __scoped_atomic_store_n(word, 0, __ATOMIC_RELEASE, DEVICE); }

ENTRY void __kmpc_critical(Ident *ident, int32_t thread, uint32_t *name) {
  (void)ident, (void)thread;
  take(name);
}
ENTRY void __kmpc_critical_with_hint(Ident *ident, int32_t thread, uint32_t *name, uint32_t hint) {
  (void)ident, (void)thread, (void)hint;
  take(name);
}
ENTRY void __kmpc_end_critical(Ident *ident, int32_t thread, uint32_t *name) {
  (void)ident, (void)thread;
  give(name);
}

ENTRY int32_t __kmpc_master(Ident *ident, int32_t thread) {
  (void)ident, (void)thread;
  return thread_number() == 0;
}
ENTRY void __kmpc_end_master(Ident *i, int32_t t) { (void)i, (void)t; }
ENTRY int32_t __kmpc_masked(Ident *ident, int32_t thread, int32_t filter) {
  (void)ident, (void)thread;
  return (int32_t)thread_number() == filter;
}
ENTRY void __kmpc_end_masked(Ident *i, int32_t t) { (void)i, (void)t; }
ENTRY int32_t __kmpc_single(Ident *ident, int32_t thread) {
  (void)ident, (void)thread;
  return thread_number() == 0;
}
ENTRY void __kmpc_end_single(Ident *i, int32_t t) { (void)i, (void)t; }

ENTRY void omp_init_lock(uint32_t *lock) { give(lock); }
ENTRY void omp_init_lock_with_hint(uint32_t *lock, int32_t hint) {
  (void)hint;
  give(lock);
}
ENTRY void omp_destroy_lock(uint32_t *lock) { give(lock); }
ENTRY void omp_set_lock(uint32_t *lock) { take(lock); }
ENTRY void omp_unset_lock(uint32_t *lock) { give(lock); }
ENTRY int32_t omp_test_lock(uint32_t *lock) {
  uint32_t expected = 0;
  return __scoped_atomic_compare_exchange_n(lock, &expected, 1, false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED, DEVICE);
}

/* A nestable lock: the owner's number, and the nesting depth. */
INLINE uint32_t owner(void) { return team_number() * BLOCK_THREADS + hardware_thread() + 1; }
ENTRY int32_t omp_test_nest_lock(uint32_t *lock) {
  uint32_t expected = 0;
  if (__scoped_atomic_load_n(lock, __ATOMIC_RELAXED, DEVICE) != owner() &&
      !__scoped_atomic_compare_exchange_n(lock, &expected, owner(), false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED, DEVICE))
    return 0;
  return (int32_t)++lock[1];
}
ENTRY void omp_set_nest_lock(uint32_t *lock) {
  while (!omp_test_nest_lock(lock))
    relax();
}
ENTRY void omp_unset_nest_lock(uint32_t *lock) {
  if (--lock[1] == 0)
    give(lock);
}
ENTRY void omp_init_nest_lock(uint32_t *lock) {
  lock[1] = 0;
  give(lock);
}
ENTRY void omp_init_nest_lock_with_hint(uint32_t *lock, int32_t hint) {
  (void)hint;
  omp_init_nest_lock(lock);
}
ENTRY void omp_destroy_nest_lock(uint32_t *lock) { omp_init_nest_lock(lock); }
