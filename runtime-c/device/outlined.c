/* Regions of the host that run here: `parallel for` of a program without `target`.
 *
 * The lowering (llvm/outlined) has the region's function called for one iteration at a time. What the
 * function takes for the number of its thread is a `Virtual`; entries that divide loops became calls of
 * those below, which give it just that iteration, and those that begin a reduction became calls of a
 * function made for the region, which adds to the thread's record. Everything here is inlined, so
 * nothing of it is left but the iteration's number.
 */
#include "device.h"

/* What a region's function is called for. */
enum {
  LOOK = 0, /* no iteration: for their number, and for the first values that a reduction has */
  ITERATE = 1,
  RESULT = 2 /* no iteration: its private copies get the record, and go to the variables */
};

typedef struct {
  int32_t number; /* read as the thread's number, and then only passed on */
  int32_t phase;
  uint64_t iteration, distance, trips;
  int64_t lower;
  bool fetched;
} Virtual;

SHORT_ENTRY void __ompvm_outlined_begin(Virtual *v) {
  v->number = 0;
  v->phase = ITERATE;
  v->iteration = (uint64_t)team_number() * hardware_threads() + hardware_thread();
  v->distance = (uint64_t)team_count() * hardware_threads();
  v->trips = 0;
  v->fetched = false;
}
SHORT_ENTRY void __ompvm_outlined_phase(Virtual *v, int32_t phase) { v->phase = phase; }

/* Whether the thread has an iteration at all. */
SHORT_ENTRY bool __ompvm_outlined_any(Virtual *v) { return v->iteration < v->trips; }

/* Goes on to the thread's next iteration; false when there is none. */
SHORT_ENTRY bool __ompvm_outlined_next(Virtual *v) {
  v->iteration += v->distance;
  v->fetched = false;
  return v->iteration < v->trips;
}

#define OUTLINED(SUFFIX, T, U, S)                                                                  \
  /* The step is 1, and the first iteration's number not negative: so compilers emit it. */        \
  SHORT_ENTRY void __ompvm_outlined_static_##SUFFIX(Virtual *v, int32_t *last, T *lower, T *upper, \
                                                    S *stride) {                                   \
    v->trips = *upper < *lower ? 0 : (uint64_t)((U)*upper - (U)*lower) + 1;                        \
    if (v->phase != ITERATE) {                                                                     \
      *last = 0;                                                                                   \
      *lower = 1;                                                                                  \
      *upper = 0;                                                                                  \
      return;                                                                                      \
    }                                                                                              \
    *last = v->iteration == v->trips - 1;                                                          \
    *stride = (S)(v->trips - v->iteration);                                                        \
    T here = (T)((U)*lower + (U)v->iteration);                                                     \
    /* The compiler compares it with the loop's end again. */                                      \
    __builtin_assume(here <= *upper);                                                              \
    *lower = here;                                                                                 \
    *upper = here;                                                                                 \
  }                                                                                                \
  SHORT_ENTRY void __ompvm_outlined_fetch_##SUFFIX(Virtual *v, T lower, T upper) {                 \
    v->trips = upper < lower ? 0 : (uint64_t)((U)upper - (U)lower) + 1;                            \
    v->lower = (int64_t)lower;                                                                     \
    v->fetched = false;                                                                            \
  }                                                                                                \
  SHORT_ENTRY int32_t __ompvm_outlined_fetched_##SUFFIX(Virtual *v, int32_t *last, T *lower,       \
                                                        T *upper, S *step) {                       \
    if (v->phase != ITERATE || v->fetched)                                                         \
      return 0;                                                                                    \
    v->fetched = true;                                                                             \
    if (last)                                                                                      \
      *last = v->iteration == v->trips - 1;                                                        \
    *lower = (T)((U)v->lower + (U)v->iteration);                                                   \
    *upper = *lower;                                                                               \
    *step = 1;                                                                                     \
    return 1;                                                                                      \
  }

OUTLINED(4, int32_t, uint32_t, int32_t)
OUTLINED(4u, uint32_t, uint32_t, int32_t)
OUTLINED(8, int64_t, uint64_t, int64_t)
OUTLINED(8u, uint64_t, uint64_t, int64_t)

/* Words of the largest record that a reduction may have. */
enum { RECORD = 64 };
static SHARED uint32_t exchange[WARP][RECORD];

typedef void (*Combine)(void *, void *);

/* The first thread's record becomes that of all threads of the block. */
INLINE void combine_block(uint32_t *mine, uint32_t *other, uint32_t words, void **into, void **from,
                          Combine combine) {
  uint32_t thread = hardware_thread(), threads = hardware_threads();
  for (uint32_t offset = WARP / 2; offset > 0; offset /= 2) {
    for (uint32_t i = 0; i < words; i++)
      other[i] = (uint32_t)__nvvm_shfl_sync_down_i32(~0u, (int32_t)mine[i], offset, WARP - 1);
    combine(into, from);
  }
  if (threads <= WARP)
    return;
  if (thread % WARP == 0)
    for (uint32_t i = 0; i < words; i++)
      exchange[thread / WARP][i] = mine[i];
  aligned_barrier();
  uint32_t warps = threads / WARP;
  if (thread == 0)
    for (uint32_t w = 1; w < warps; w++) {
      for (uint32_t i = 0; i < words; i++)
        other[i] = exchange[w][i];
      combine(into, from);
    }
  aligned_barrier();
}

/* Combines all threads' records; true on the one thread that then has the result. The lists point
 * into the two records, which have `words` words; blocks have whole warps. */
SHORT_ENTRY bool __ompvm_outlined_combine(LaunchEnvironment *launch, uint32_t *mine,
                                          uint32_t *other, uint32_t words, void **into, void **from,
                                          Combine combine) {
  uint32_t thread = hardware_thread(), threads = hardware_threads(), teams = team_count();
  combine_block(mine, other, words, into, from, combine);
  if (teams == 1)
    return thread == 0;
  uint32_t *records = launch->buffer;
  if (thread == 0) {
    for (uint32_t i = 0; i < words; i++)
      records[(uint64_t)team_number() * words + i] = mine[i];
    bool last =
        __scoped_atomic_fetch_add(&launch->arrived, 1, __ATOMIC_ACQ_REL, DEVICE) == teams - 1;
    if (last)
      /* The next launch counts anew. */
      __scoped_atomic_store_n(&launch->arrived, 0, __ATOMIC_RELAXED, DEVICE);
    team.flag = last;
  }
  aligned_barrier();
  if (!team.flag)
    return false;
  __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, DEVICE);
  /* In the order of the blocks; a thread without one of its own keeps its record out of it by
   * taking the identity, which it kept behind `other`. */
  for (uint32_t i = 0; i < words; i++)
    mine[i] = other[words + i];
  for (uint32_t t = thread; t < teams; t += threads) {
    for (uint32_t i = 0; i < words; i++)
      other[i] = records[(uint64_t)t * words + i];
    combine(into, from);
  }
  combine_block(mine, other, words, into, from, combine);
  return thread == 0;
}
