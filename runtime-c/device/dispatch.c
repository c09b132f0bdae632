/* Dispatched loops, whose iterations threads fetch while they run: dynamic, guided, runtime,
 * ordered.
 *
 * A team has one such loop at a time: the barrier at the beginning of a loop delays the next one
 * until all threads have left this one. A nested region of one thread gets its loop in one piece; a
 * record on the device's heap holds its state.
 */
#include "device.h"

typedef struct {
  int64_t lower, step;
  uint64_t trips, chunk;
  uint64_t next;    /* first iteration not fetched */
  uint64_t ordered; /* iteration whose ordered part is next */
  bool guided;
} Loop;
static SHARED Loop loop;

/* First iteration that a thread has fetched, for `ordered`. */
static SHARED uint64_t current[BLOCK_THREADS];

/* Loop of a region of one thread. */
typedef struct Alone {
  struct Alone *outer;
  int64_t lower, upper, step;
  bool taken;
} Alone;

static void begin(int32_t schedule, int64_t lower, uint64_t trips, int64_t upper, int64_t step,
                  int64_t chunk) {
  uint32_t thread = hardware_thread();
  if (thread_count() == 1) {
    Alone *record = allocate(sizeof(*record), "__kmpc_dispatch_init");
    record->lower = lower;
    record->upper = upper;
    record->step = step;
    record->taken = trips == 0;
    record->outer = alone[thread];
    alone[thread] = record;
    return;
  }
  __kmpc_barrier(NULL, 0);
  if (thread == 0) {
    int32_t plain = schedule & 0xff;
    if (plain > SCHEDULE_ORDERED_LOWER && plain < SCHEDULE_ORDERED_UPPER)
      plain -= SCHEDULE_ORDERED;
    loop.lower = lower;
    loop.step = step;
    loop.trips = trips;
    loop.chunk = chunk > 0 ? (uint64_t)chunk : 1;
    loop.guided = plain == SCHEDULE_GUIDED || plain == SCHEDULE_GUIDED_ITERATIVE ||
                  plain == SCHEDULE_GUIDED_ANALYTICAL;
    loop.next = 0;
    loop.ordered = 0;
  }
  __kmpc_barrier(NULL, 0);
}

/* Fetches a piece: stores its first iteration and returns their number. */
static uint64_t fetch(uint64_t *first) {
  uint64_t *next = (uint64_t *)&loop.next;
  uint64_t trips = loop.trips, chunk = loop.chunk;
  if (!loop.guided) {
    uint64_t at = __scoped_atomic_fetch_add(next, chunk, __ATOMIC_RELAXED, BLOCK);
    *first = at;
    if (at >= trips)
      return 0;
    return trips - at < chunk ? trips - at : chunk;
  }
  uint64_t at = __scoped_atomic_load_n(next, __ATOMIC_RELAXED, BLOCK);
  for (;;) {
    if (at >= trips)
      return 0;
    uint64_t rest = trips - at, count = rest / (2 * (uint64_t)thread_count());
    if (count < chunk)
      count = chunk < rest ? chunk : rest;
    if (__scoped_atomic_compare_exchange_n(next, &at, at + count, false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED, BLOCK)) {
      *first = at;
      return count;
    }
  }
}

static bool next_piece(int32_t *last, int64_t *lower, int64_t *upper, int64_t *step) {
  uint32_t thread = hardware_thread();
  if (thread_count() == 1) {
    Alone *record = alone[thread];
    if (record->taken) {
      alone[thread] = record->outer;
      free(record);
      return false;
    }
    record->taken = true;
    *lower = record->lower;
    *upper = record->upper;
    *step = record->step;
    *last = 1;
    return true;
  }
  uint64_t first, count = fetch(&first);
  if (count == 0)
    return false;
  current[thread] = first;
  *lower = (int64_t)((uint64_t)loop.lower + first * (uint64_t)loop.step);
  *upper = (int64_t)((uint64_t)*lower + (count - 1) * (uint64_t)loop.step);
  *step = loop.step;
  *last = first + count == loop.trips;
  return true;
}

#define DISPATCH(SUFFIX, T, U, S)                                                                  \
  ENTRY void __kmpc_dispatch_init_##SUFFIX(Ident *ident, int32_t thread, int32_t schedule,         \
                                           T lower, T upper, S step, S chunk) {                    \
    (void)ident, (void)thread;                                                                     \
    uint64_t trips = 0;                                                                            \
    if (step > 0 && lower <= upper)                                                                \
      trips = (uint64_t)(((U)upper - (U)lower) / (U)step) + 1;                                     \
    else if (step < 0 && lower >= upper)                                                           \
      trips = (uint64_t)(((U)lower - (U)upper) / (U)(-step)) + 1;                                  \
    begin(schedule, (int64_t)lower, trips, (int64_t)upper, step, chunk);                           \
  }                                                                                                \
  ENTRY int32_t __kmpc_dispatch_next_##SUFFIX(Ident *ident, int32_t thread, int32_t *last,         \
                                              T *lower, T *upper, S *step) {                       \
    (void)ident, (void)thread;                                                                     \
    int64_t from, to, by;                                                                          \
    int32_t final = 0;                                                                             \
    if (!next_piece(&final, &from, &to, &by))                                                      \
      return 0;                                                                                    \
    *lower = (T)from;                                                                              \
    *upper = (T)to;                                                                                \
    *step = (S)by;                                                                                 \
    *last = final;                                                                                 \
    return 1;                                                                                      \
  }                                                                                                \
  ENTRY void __kmpc_dispatch_fini_##SUFFIX(Ident *ident, int32_t thread) {                         \
    (void)ident, (void)thread;                                                                     \
    end_iteration();                                                                               \
  }

static void await_turn(void) {
  uint64_t mine = current[hardware_thread()];
  while (__scoped_atomic_load_n((uint64_t *)&loop.ordered, __ATOMIC_ACQUIRE, BLOCK) != mine)
    relax();
}

/* Called after each iteration of a loop with `ordered`. */
static void end_iteration(void) {
  if (thread_count() == 1)
    return;
  await_turn();
  uint32_t thread = hardware_thread();
  current[thread] += 1;
  __scoped_atomic_store_n((uint64_t *)&loop.ordered, current[thread], __ATOMIC_RELEASE, BLOCK);
}

DISPATCH(4, int32_t, uint32_t, int32_t)
DISPATCH(4u, uint32_t, uint32_t, int32_t)
DISPATCH(8, int64_t, uint64_t, int64_t)
DISPATCH(8u, uint64_t, uint64_t, int64_t)

ENTRY void __kmpc_dispatch_deinit(Ident *i, int32_t t) { (void)i, (void)t; }

ENTRY void __kmpc_ordered(Ident *ident, int32_t thread) {
  (void)ident, (void)thread;
  if (thread_count() > 1)
    await_turn();
}
ENTRY void __kmpc_end_ordered(Ident *ident, int32_t thread) { (void)ident, (void)thread; }
