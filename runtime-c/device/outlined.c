/* Auto-offloaded regions of the host: `parallel for` of a program without `target`.
 *
 * The lowering (llvm/kernelize) calls the region's function for one iteration at a time. The
 * pointer that the function takes for that of its thread's number points to a `VirtualThread`.
 * Entries that divide loops are replaced by the functions below, which pass exactly that
 * iteration. Entries that begin a reduction are replaced by a function generated for the region,
 * which adds to the thread's record. The threads' records are combined as trees over warps, blocks
 * and the grid. Everything here is inlined, so that only the iteration's number is left.
 */
#include "device.h"

SHORT_ENTRY void __ompvm_outlined_begin(VirtualThread *v, int32_t loop) {
  v->number = 0;
  v->phase = OUTLINED_LOOK;
  v->executed_loop = v->latest_loop = (int16_t)loop;
  v->iteration = (uint64_t)block_number() * hardware_threads() + hardware_thread();
  v->distance = (uint64_t)block_count() * hardware_threads();
  v->trips = 0;
  v->end = 0;
  v->fetched = false;
}
SHORT_ENTRY void __ompvm_outlined_phase(VirtualThread *v, int32_t phase) { v->phase = phase; }

/* Records that a loop begins. */
SHORT_ENTRY void __ompvm_outlined_at(VirtualThread *v, int32_t loop) {
  v->latest_loop = (int16_t)loop;
}

/* Moves the thread to its first iteration in this device's share; returns false if it has none. */
SHORT_ENTRY bool __ompvm_outlined_any(VirtualThread *v) {
  v->iteration += share_first(v->trips);
  v->end = share_end(v->trips);
  return v->iteration < v->end;
}

/* Advances to the thread's next iteration; returns false if there is none. */
SHORT_ENTRY bool __ompvm_outlined_next(VirtualThread *v) {
  v->iteration += v->distance;
  v->fetched = false;
  return v->iteration < v->end;
}

/* Returns the thread's slice of memory that the launch provides. */
SHORT_ENTRY void *__ompvm_outlined_slice(char *slices, uint64_t size) {
  return slices + ((uint64_t)team_number() * hardware_threads() + hardware_thread()) * size;
}

#define OUTLINED(SUFFIX, T, U, S)                                                                  \
  /* The step is 1, and the number of the first iteration is not negative: compilers emit such     \
   * loops. */                                                                                     \
  SHORT_ENTRY void __ompvm_outlined_static_##SUFFIX(VirtualThread *v, int32_t *last, T *lower,     \
                                                    T *upper, S *stride) {                         \
    if (v->latest_loop == v->executed_loop)                                                        \
      v->trips = *upper < *lower ? 0 : (uint64_t)((U) * upper - (U) * lower) + 1;                  \
    if (v->phase != OUTLINED_ITERATE || v->latest_loop != v->executed_loop) {                      \
      *last = 0;                                                                                   \
      /* The loops of a league with chunks of one iteration compare with the given end. */         \
      bool greatest = (T)((U) * upper + 1) < *upper;                                               \
      *lower = greatest ? 1 : (T)((U) * upper + 1);                                                \
      *upper = greatest ? 0 : *upper;                                                              \
      return;                                                                                      \
    }                                                                                              \
    *last = v->iteration == v->trips - 1;                                                          \
    *stride = (S)(v->trips - v->iteration);                                                        \
    T here = (T)((U) * lower + (U)v->iteration);                                                   \
    /* The compiled code compares it with the loop's end again. */                                 \
    __builtin_assume(here <= *upper);                                                              \
    *lower = here;                                                                                 \
    *upper = here;                                                                                 \
  }                                                                                                \
  SHORT_ENTRY void __ompvm_outlined_fetch_##SUFFIX(VirtualThread *v, T lower, T upper) {           \
    if (v->latest_loop != v->executed_loop)                                                        \
      return;                                                                                      \
    v->trips = upper < lower ? 0 : (uint64_t)((U)upper - (U)lower) + 1;                            \
    v->lower = (int64_t)lower;                                                                     \
    v->fetched = false;                                                                            \
  }                                                                                                \
  SHORT_ENTRY int32_t __ompvm_outlined_fetched_##SUFFIX(VirtualThread *v, int32_t *last, T *lower, \
                                                        T *upper, S *step) {                       \
    if (v->phase != OUTLINED_ITERATE || v->latest_loop != v->executed_loop || v->fetched)          \
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

static SHARED uint32_t exchange[OUTLINED_WARPS][EXCHANGED_WORDS];

typedef void (*Combine)(void *, void *);

/* Shuffles words from the lane `offset` away; small records stay in registers. */
INLINE void shuffle(uint32_t *to, const uint32_t *from, uint32_t words, uint32_t offset) {
  if (words > EXCHANGED_WORDS) {
    for (uint32_t i = 0; i < words; i++)
      to[i] = (uint32_t)__nvvm_shfl_sync_down_i32(~0u, (int32_t)from[i], offset, WARP_SIZE - 1);
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < words; i++)
    to[i] = (uint32_t)__nvvm_shfl_sync_down_i32(~0u, (int32_t)from[i], offset, WARP_SIZE - 1);
}
INLINE void copy(uint32_t *to, const uint32_t *from, uint32_t words) {
  if (words > EXCHANGED_WORDS) {
    for (uint32_t i = 0; i < words; i++)
      to[i] = from[i];
    return;
  }
#pragma clang loop unroll(full)
  for (uint32_t i = 0; i < words; i++)
    to[i] = from[i];
}

/* Combines the records of the first `count` lanes into that of the first lane. The lists point
 * into the two records, which have `words` words. */
INLINE void combine_warp(uint32_t *mine, uint32_t *other, uint32_t words, void **into, void **from,
                         Combine combine, uint32_t count) {
  uint32_t lane = hardware_thread() % WARP_SIZE;
#pragma clang loop unroll(disable)
  for (uint32_t offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
    shuffle(other, mine, words, offset);
    if (lane + offset < count)
      combine(into, from);
  }
}

/* Combines the records of the block's first `count` threads into that of the first thread.
 * Blocks have whole warps, and all threads call this. `slots` has room for each warp's record if
 * they are too large for `exchange`. */
INLINE void combine_block(uint32_t *mine, uint32_t *other, uint32_t words, void **into, void **from,
                          Combine combine, uint32_t count, uint32_t *slots) {
  uint32_t thread = hardware_thread(), warp = thread / WARP_SIZE, first = warp * WARP_SIZE;
  combine_warp(mine, other, words, into, from, combine, count > first ? count - first : 0);
  if (hardware_threads() <= WARP_SIZE)
    return;
  uint32_t *slot = words <= EXCHANGED_WORDS ? exchange[warp] : slots + (uint64_t)warp * words;
  if (thread % WARP_SIZE == 0)
    copy(slot, mine, words);
  aligned_barrier();
  if (thread == 0)
    for (uint32_t w = 1; w * WARP_SIZE < count; w++) {
      uint32_t *theirs = words <= EXCHANGED_WORDS ? exchange[w] : slots + (uint64_t)w * words;
      copy(other, theirs, words);
      combine(into, from);
    }
  aligned_barrier();
}

/* Returns true in the last of all blocks that call this. */
INLINE bool last_block(LaunchEnvironment *launch, uint32_t teams) {
  if (hardware_thread() == 0)
    team.flag = arrives_last(&launch->arrived, teams);
  aligned_barrier();
  if (!team.flag)
    return false;
  __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, DEVICE);
  return true;
}

/* Combines the results of all devices that share the league, in their order; `mine` is this
 * device's. Returns true on the device that arrives last. The lists point into the records. */
INLINE bool combine_league(LaunchEnvironment *launch, uint32_t *mine, uint32_t *other,
                           uint32_t words, void **into, void **from, Combine combine) {
  if (!divided())
    return true;
  LaunchEnvironment *league = launch->league;
  uint32_t parts = __ompvm_league.parts, *records = league->buffer;
  copy(records + (uint64_t)__ompvm_league.part * words, mine, words);
  if (!device_arrives_last(&league->arrived, parts))
    return false;
  copy(mine, records, words);
  for (uint32_t i = 1; i < parts; i++) {
    copy(other, records + (uint64_t)i * words, words);
    combine(into, from);
  }
  return true;
}

/* Combines all threads' records; returns true to the one thread that has the result. */
SHORT_ENTRY bool __ompvm_outlined_combine(LaunchEnvironment *launch, uint32_t *mine,
                                          uint32_t *other, uint32_t words, void **into, void **from,
                                          Combine combine) {
  uint32_t thread = hardware_thread(), threads = hardware_threads(), teams = block_count();
  uint64_t apart = words <= EXCHANGED_WORDS ? words : (uint64_t)words * (threads / WARP_SIZE);
  uint32_t *records = launch->buffer, *own = records + block_number() * apart;
  combine_block(mine, other, words, into, from, combine, threads, own);
  if (teams == 1)
    return thread == 0 && combine_league(launch, mine, other, words, into, from, combine);
  if (thread == 0)
    copy(own, mine, words);
  if (!last_block(launch, teams))
    return false;
  /* In the order of the blocks. */
  uint32_t count = teams < threads ? teams : threads;
  if (thread < count) {
    copy(mine, records + thread * apart, words);
    for (uint32_t t = thread + threads; t < teams; t += threads) {
      copy(other, records + t * apart, words);
      combine(into, from);
    }
  }
  /* Waits until the first records of the buffer have been read. */
  aligned_barrier();
  combine_block(mine, other, words, into, from, combine, count, records);
  return thread == 0 && combine_league(launch, mine, other, words, into, from, combine);
}

/* Combines the thread's record with another one of the same layout. */
INLINE void combine_with(char *own, char *other, void **into, void **from, uint32_t items,
                         Combine combine) {
  for (uint32_t k = 0; k < items; k++)
    from[k] = other + ((char *)into[k] - own);
  combine(into, from);
}

/* Combines the records of the block's first `count` threads, which are `slot` bytes apart, into
 * that of the first thread. All threads call this. */
INLINE void combine_tree(char *own, uint32_t slot, uint32_t count, void **into, void **from,
                         uint32_t items, Combine combine) {
  uint32_t thread = hardware_thread();
#pragma clang loop unroll(disable)
  while (count > 1) {
    uint32_t half = (count + 1) / 2;
    aligned_barrier();
    if (thread < count / 2)
      combine_with(own, own + (uint64_t)half * slot, into, from, items, combine);
    count = half;
  }
}

/* Combines the results of all devices that share the league, in their order; `own` is this device's
 * record, and the other devices' are read where they lie. */
INLINE bool combine_league_slots(LaunchEnvironment *launch, char *own, uint32_t words, void **into,
                                 void **from, uint32_t items, Combine combine) {
  if (!divided())
    return true;
  LaunchEnvironment *league = launch->league;
  uint32_t parts = __ompvm_league.parts, *records = league->buffer;
  for (uint32_t i = 0; i < words; i++)
    records[(uint64_t)__ompvm_league.part * words + i] = ((uint32_t *)own)[i];
  if (!device_arrives_last(&league->arrived, parts))
    return false;
  for (uint32_t i = 0; i < words; i++)
    ((uint32_t *)own)[i] = records[i];
  for (uint32_t p = 1; p < parts; p++)
    combine_with(own, (char *)(records + (uint64_t)p * words), into, from, items, combine);
  return true;
}

/* Combines all threads' records in the block's memory; returns true to the one thread that has
 * the result. The list `into` points into the thread's own record; the list `from` is filled in
 * here. */
SHORT_ENTRY bool __ompvm_outlined_combine_slots(LaunchEnvironment *launch, char *own, uint32_t slot,
                                                uint32_t words, void **into, void **from,
                                                uint32_t items, Combine combine) {
  uint32_t thread = hardware_thread(), threads = hardware_threads(), teams = block_count();
  combine_tree(own, slot, threads, into, from, items, combine);
  if (teams == 1)
    return thread == 0 && combine_league_slots(launch, own, words, into, from, items, combine);
  uint32_t *records = launch->buffer, *first = (uint32_t *)(own - (uint64_t)thread * slot);
  aligned_barrier();
  for (uint32_t i = thread; i < words; i += threads)
    records[(uint64_t)block_number() * words + i] = first[i];
  /* All words of the block are stored before the one thread reports the block's arrival. */
  __scoped_atomic_thread_fence(__ATOMIC_RELEASE, DEVICE);
  aligned_barrier();
  if (!last_block(launch, teams))
    return false;
  /* In the order of the blocks. */
  uint32_t count = teams < threads ? teams : threads;
  if (thread < count) {
    for (uint32_t i = 0; i < words; i++)
      ((uint32_t *)own)[i] = records[(uint64_t)thread * words + i];
    for (uint32_t t = thread + threads; t < teams; t += threads)
      combine_with(own, (char *)(records + (uint64_t)t * words), into, from, items, combine);
  }
  combine_tree(own, slot, count, into, from, items, combine);
  return thread == 0 && combine_league_slots(launch, own, words, into, from, items, combine);
}
