/* Fast paths of the runtime's entries, to be inlined into compiled programs.
 *
 * `build.rs` compiles this file to bitcode, which the compiler of tier 2 links into the code that
 * it compiles: a call of `NAME` becomes one of `__ompvm_short_NAME`. That function uses only the
 * thread's number and its team's size, and calls `NAME`, the runtime's own function, if they are
 * not sufficient. So the result is the same in every case, and this file does not depend on how
 * teams, barriers or locks are built.
 *
 * There are no fast paths for schedules other than static ones, for steps other than 1, for loops
 * of more than 2^32 - 1 iterations, for waits, and for entries that do not receive the thread's
 * global number.
 */
#include <stddef.h>
#include <stdint.h>

#include "omp_abi.h"

/* The runtime's table of threads, by global number (`HOST_THREADS` entries). */
extern ThreadHead *const threads[] __asm__("ompvm.threads");

struct ident;
#define SHORT __attribute__((always_inline))

/* Returns the thread with a global number; null if the runtime has to look for it. */
static inline const ThreadHead *by_number(int32_t gtid) {
  return (uint32_t)gtid < HOST_THREADS ? threads[gtid] : NULL;
}

static inline int alone(int32_t gtid) {
  const ThreadHead *t = by_number(gtid);
  return t && t->size == 1;
}

#define MODIFIERS (SCHEDULE_MONOTONIC | SCHEDULE_NONMONOTONIC)

/* Computes even shares, the longer ones first, or chunks in turn, like `kmpc::static_loop`. */
#define STATIC_INIT(SUFFIX, T, STEP)                                                               \
  void __kmpc_for_static_init_##SUFFIX(struct ident *, int32_t, int32_t, int32_t *, T *, T *,      \
                                       STEP *, STEP, STEP);                                        \
  SHORT void __ompvm_short___kmpc_for_static_init_##SUFFIX(                                        \
      struct ident *loc, int32_t gtid, int32_t schedule, int32_t *last, T *lower, T *upper,        \
      STEP *stride, STEP step, STEP chunk) {                                                       \
    const ThreadHead *t = by_number(gtid);                                                         \
    T lo = *lower, hi = *upper;                                                                    \
    uint64_t distance = (uint64_t)hi - (uint64_t)lo;                                               \
    int kind = schedule & ~MODIFIERS;                                                              \
    int chunked = kind == SCHEDULE_STATIC_CHUNKED && chunk > 0 && (uint64_t)chunk <= UINT32_MAX;   \
    if (!t || (kind != SCHEDULE_STATIC && !chunked) || step != 1 || lo > hi ||                     \
        distance >= UINT32_MAX || (T)((uint64_t)hi + 1) < hi || !last || !stride) {                \
      __kmpc_for_static_init_##SUFFIX(loc, gtid, schedule, last, lower, upper, stride, step,       \
                                      chunk);                                                      \
      return;                                                                                      \
    }                                                                                              \
    uint32_t trip = (uint32_t)distance + 1;                                                        \
    if (chunked) {                                                                                 \
      uint64_t start = (uint64_t)t->number * (uint64_t)chunk;                                      \
      *stride = (STEP)((uint64_t)chunk * t->size);                                                 \
      if (start >= trip) {                                                                         \
        *lower = (T)((uint64_t)hi + 1);                                                            \
        *last = 0;                                                                                 \
        return;                                                                                    \
      }                                                                                            \
      uint64_t rest = trip - start, mine = (uint64_t)chunk;                                        \
      if (chunk != 1 && mine > rest)                                                               \
        mine = rest;                                                                               \
      *lower = (T)((uint64_t)lo + start);                                                          \
      *upper = (T)((uint64_t)lo + start + mine - 1);                                               \
      *last = (trip - 1) / (uint32_t)chunk % t->size == t->number;                                 \
      return;                                                                                      \
    }                                                                                              \
    *stride = (STEP)trip;                                                                          \
    if (t->size == 1) {                                                                            \
      *last = 1;                                                                                   \
      return;                                                                                      \
    }                                                                                              \
    uint32_t size = t->size, number = t->number;                                                   \
    uint32_t small = trip / size, extra = trip % size;                                             \
    uint64_t first = (uint64_t)number * small + (number < extra ? number : extra);                 \
    uint32_t count = small + (number < extra);                                                     \
    if (count == 0) {                                                                              \
      *lower = (T)((uint64_t)hi + 1);                                                              \
      *last = 0;                                                                                   \
      return;                                                                                      \
    }                                                                                              \
    *lower = (T)((uint64_t)lo + first);                                                            \
    *upper = (T)((uint64_t)lo + first + count - 1);                                                \
    *last = first + count == trip;                                                                 \
  }
STATIC_INIT(4, int32_t, int32_t)
STATIC_INIT(4u, uint32_t, int32_t)
STATIC_INIT(8, int64_t, int64_t)
STATIC_INIT(8u, uint64_t, int64_t)

/* Defines an entry that does nothing. */
#define NOTHING(NAME)                                                                              \
  SHORT void __ompvm_short_##NAME(struct ident *loc, int32_t gtid) {                               \
    (void)loc;                                                                                     \
    (void)gtid;                                                                                    \
  }
NOTHING(__kmpc_for_static_fini)
NOTHING(__kmpc_end_master)
NOTHING(__kmpc_end_masked)
NOTHING(__kmpc_end_single)

void __kmpc_barrier(struct ident *, int32_t);
SHORT void __ompvm_short___kmpc_barrier(struct ident *loc, int32_t gtid) {
  const ThreadHead *t = by_number(gtid);
  if (!t || !t->alone)
    __kmpc_barrier(loc, gtid);
}

int32_t __kmpc_master(struct ident *, int32_t);
SHORT int32_t __ompvm_short___kmpc_master(struct ident *loc, int32_t gtid) {
  const ThreadHead *t = by_number(gtid);
  return t ? t->number == 0 : __kmpc_master(loc, gtid);
}

int32_t __kmpc_masked(struct ident *, int32_t, int32_t);
SHORT int32_t __ompvm_short___kmpc_masked(struct ident *loc, int32_t gtid, int32_t filter) {
  const ThreadHead *t = by_number(gtid);
  return t ? t->number == (uint32_t)filter : __kmpc_masked(loc, gtid, filter);
}

int32_t __kmpc_single(struct ident *, int32_t);
SHORT int32_t __ompvm_short___kmpc_single(struct ident *loc, int32_t gtid) {
  return alone(gtid) ? 1 : __kmpc_single(loc, gtid);
}

/* Returns true for a team of one, which combines without a lock and has no barrier at its end.
 * The teams of a league combine into the same variable. */
static inline int quite_alone(int32_t gtid) {
  const ThreadHead *t = by_number(gtid);
  return t && t->alone;
}

typedef void combine(void *, void *);
#define REDUCE(NAME)                                                                               \
  int32_t __kmpc_##NAME(struct ident *, int32_t, int32_t, size_t, void *, combine *, void *);      \
  SHORT int32_t __ompvm_short___kmpc_##NAME(struct ident *loc, int32_t gtid, int32_t count,        \
                                            size_t size, void *data, combine *f, void *cell) {     \
    return quite_alone(gtid) ? 1 : __kmpc_##NAME(loc, gtid, count, size, data, f, cell);           \
  }                                                                                                \
  void __kmpc_end_##NAME(struct ident *, int32_t, void *);                                         \
  SHORT void __ompvm_short___kmpc_end_##NAME(struct ident *loc, int32_t gtid, void *cell) {        \
    if (!quite_alone(gtid))                                                                        \
      __kmpc_end_##NAME(loc, gtid, cell);                                                          \
  }
REDUCE(reduce)
REDUCE(reduce_nowait)

/* A lock or critical section is one word. Values for locks with waiters are left to
 * `kmpc::lock`. */
static inline int take(uint32_t *word) {
  uint32_t free = LOCK_FREE;
  return __atomic_compare_exchange_n(word, &free, LOCK_HELD, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline int give_back(uint32_t *word) {
  uint32_t held = LOCK_HELD;
  return __atomic_compare_exchange_n(word, &held, LOCK_FREE, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

#define CRITICAL(NAME, DO)                                                                         \
  void NAME(struct ident *, int32_t, void *);                                                      \
  SHORT void __ompvm_short_##NAME(struct ident *loc, int32_t gtid, void *cell) {                   \
    if (!DO(cell))                                                                                 \
      NAME(loc, gtid, cell);                                                                       \
  }
CRITICAL(__kmpc_critical, take)
CRITICAL(__kmpc_end_critical, give_back)

#define LOCK(NAME, DO)                                                                             \
  void NAME(void *);                                                                               \
  SHORT void __ompvm_short_##NAME(void *lock) {                                                    \
    if (!DO(lock))                                                                                 \
      NAME(lock);                                                                                  \
  }
LOCK(omp_set_lock, take)
LOCK(omp_unset_lock, give_back)
