/* Reductions over the threads of a region and over teams, and the shuffles that they use.
 *
 * The compiler passes functions. One combines a lane's values with those of the lane `offset` away
 * (kind 0: all lanes of a warp; kind 1: the first lanes, and lanes from `offset` on take over the
 * other lane's values; kind 2: any). One moves the values of the first lanes of all warps to the
 * first threads. Four copy between a thread's values and a record in memory. After a reduction the
 * first thread has the result.
 *
 * Over teams, each team stores a record, and the team that arrives last combines all of them in the
 * order of the teams, so that the result does not depend on which team that is. If several devices
 * share the league, each combines its own teams, and the device that arrives last combines theirs.
 */
#include "device.h"

typedef void (*Shuffle)(void *, int16_t, int16_t, int16_t);
typedef void (*BetweenWarps)(void *, int32_t);
typedef void (*Record)(void *, int32_t, void *);

/* Returns the mask of the lanes of this warp that are in the innermost region. */
INLINE uint32_t own_lanes(void) {
  uint32_t thread = hardware_thread(), lane = thread % WARP_SIZE;
  if (level_of[thread] != 1 || threads_of[thread] == 1)
    return 1u << lane;
  uint32_t rest = threads_of[thread] - (thread - lane);
  return rest >= WARP_SIZE ? ~0u : (1u << rest) - 1;
}

ENTRY int32_t __kmpc_shuffle_int32(int32_t value, int16_t distance, int16_t width) {
  return __nvvm_shfl_sync_down_i32(own_lanes(), value, distance,
                                   ((WARP_SIZE - width) << 8) | (WARP_SIZE - 1));
}
ENTRY int64_t __kmpc_shuffle_int64(int64_t value, int16_t distance, int16_t width) {
  uint32_t low = (uint32_t)__kmpc_shuffle_int32((int32_t)value, distance, width);
  uint32_t high = (uint32_t)__kmpc_shuffle_int32((int32_t)(value >> 32), distance, width);
  return (int64_t)((uint64_t)high << 32 | low);
}

/* Combines the values of the first `count` lanes; the others take part with unused values. */
INLINE void reduce_warp(void *values, Shuffle shuffle, uint32_t count) {
  int16_t lane = (int16_t)(hardware_thread() % WARP_SIZE);
  if (count >= WARP_SIZE) {
    for (int16_t offset = WARP_SIZE / 2; offset > 0; offset /= 2)
      shuffle(values, lane, offset, 0);
    return;
  }
  while (count > 1) {
    shuffle(values, lane, (int16_t)(count / 2), 1);
    count = (count + 1) / 2;
  }
}

/* Combines the values of a region's first `count` threads; all of its threads call this. */
INLINE void reduce_block(void *values, Shuffle shuffle, BetweenWarps gather, uint32_t count) {
  uint32_t thread = hardware_thread(), first = thread / WARP_SIZE * WARP_SIZE;
  if (first < count)
    reduce_warp(values, shuffle, count - first);
  if (count <= WARP_SIZE)
    return;
  uint32_t warps = (count + WARP_SIZE - 1) / WARP_SIZE;
  gather(values, (int32_t)warps);
  if (thread < WARP_SIZE)
    reduce_warp(values, shuffle, warps);
}

SHORT_ENTRY int32_t __kmpc_nvptx_parallel_reduce_nowait_v2(Ident *ident, uint64_t size,
                                                           void *values, Shuffle shuffle,
                                                           BetweenWarps gather) {
  (void)ident, (void)size;
  uint32_t threads = thread_count();
  if (threads == 1)
    return 1;
  reduce_block(values, shuffle, gather, threads);
  return hardware_thread() == 0;
}

ENTRY void *__kmpc_reduction_get_fixed_buffer(void) { return team.launch->buffer; }

/* Combines the results of all devices that share the league, in their order; `values` is this
 * device's. Returns true on the device that arrives last. */
INLINE bool combine_devices(void *values, Record store, Record load, Record combine) {
  if (!divided())
    return true;
  LaunchEnvironment *league = team.launch->league;
  uint32_t parts = __ompvm_league.parts;
  store(league->buffer, (int32_t)__ompvm_league.part, values);
  if (!device_arrives_last(&league->arrived, parts))
    return false;
  load(league->buffer, 0, values);
#pragma clang loop unroll(disable)
  for (uint32_t i = 1; i < parts; i++)
    combine(league->buffer, (int32_t)i, values);
  return true;
}

/* Returns whether the reduction of the league ends on this thread. The analysis of footprints finds
 * the call: of the devices that share the league, one executes what depends on it. The second
 * condition always holds; without it, the compiler would replace the call by its argument. */
__attribute__((noinline, const, visibility("default"))) int32_t __ompvm_ends_reduction(int32_t ends) {
  return ends && __ompvm_league.parts;
}

SHORT_ENTRY int32_t __kmpc_nvptx_teams_reduce_nowait_v2(
    Ident *ident, void *records, uint32_t length, uint64_t size, void *values, Shuffle shuffle,
    BetweenWarps gather, Record store, Record combine_record, Record load, Record combine) {
  (void)ident, (void)length, (void)size, (void)combine_record;
  uint32_t thread = hardware_thread(), teams = block_count(), number = block_number();
  uint32_t *arrived = &team.launch->arrived;
  bool all = spmd();
  /* True on the thread that has the result of this device's teams. */
  bool mine = !all || thread == 0;
  if (teams > 1 && !all) {
    store(records, (int32_t)number, values);
    mine = arrives_last(arrived, teams);
    if (mine) {
      load(records, 0, values);
      for (uint32_t i = 1; i < teams; i++)
        combine(records, (int32_t)i, values);
    }
  } else if (teams > 1) {
    if (thread == 0) {
      store(records, (int32_t)number, values);
      team.flag = arrives_last(arrived, teams);
    }
    aligned_barrier();
    if (!team.flag)
      return 0;
    __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, DEVICE);
    uint32_t threads = hardware_threads();
    uint32_t count = teams < threads ? teams : threads;
    if (thread < count) {
      load(records, (int32_t)thread, values);
      for (uint32_t i = thread + threads; i < teams; i += threads)
        combine(records, (int32_t)i, values);
    }
    /* The compiler's functions query the region. */
    level_of[thread] = 1;
    threads_of[thread] = threads;
    reduce_block(values, shuffle, gather, count);
    level_of[thread] = 0;
    threads_of[thread] = 1;
  }
  bool ends = mine && combine_devices(values, store, load, combine);
  return __ompvm_ends_reduction(ends);
}

ENTRY void __kmpc_nvptx_end_reduce_nowait(int32_t thread) { (void)thread; }
ENTRY int32_t __kmpc_reduce_nowait(Ident *i, int32_t t, int32_t n, uint64_t s, void *d, void *f,
                                   uint32_t *lock) {
  (void)i, (void)t, (void)n, (void)s, (void)d, (void)f, (void)lock;
  /* Each thread combines its own values, with atomic operations. */
  return 2;
}
ENTRY void __kmpc_end_reduce_nowait(Ident *i, int32_t t, uint32_t *l) { (void)i, (void)t, (void)l; }
