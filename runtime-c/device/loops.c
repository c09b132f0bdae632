/* Statically scheduled loops: `distribute` over teams, `for` over a region's threads.
 *
 * A chunk of `for` on a
 * device is one iteration unless the program says otherwise, so that neighboring threads access
 * neighboring elements.
 *
 * For a construct that is both (`distribute parallel for`), a compiler divides twice: chunks of a
 * team's size over teams, then each chunk over the threads. The forms with `whole` and `grid`
 * divide the same iterations in the same way at once: the outer loop runs once, and the inner one
 * strides over the grid. The lowering uses them if it recognizes the construct. If several devices
 * share the league, each executes a contiguous share of the iterations, and strides over its own
 * grid.
 *
 * The forms with `tiled` do the same if the threads of the grid are interchangeable. The number of
 * a thread comes from a call by which the lowering finds the loop that begins there, and may give
 * its iterations to the threads in another order.
 *
 * If all threads of a block execute the outer loop, each has its own copy of a lastprivate
 * variable: only the thread that executes the last iteration is told so.
 */
#include "device.h"

/* Return a thread's number in this device's grid, and the number of its threads. */
__attribute__((noinline, const, visibility("default"))) uint32_t __ompvm_grid_part(void) {
  return block_number() * hardware_threads() + hardware_thread();
}
__attribute__((noinline, const, visibility("default"))) uint32_t __ompvm_grid_parts(void) {
  return block_count() * hardware_threads();
}

/* Divides lower..=upper by `step` among `parts`: `part` gets its first piece and the distance to
 * its next one. `last` is set for the part that gets the last iteration. */
#define DIVIDE(NAME, T, U, S)                                                                      \
  INLINE void NAME(bool chunked, uint32_t part, uint32_t parts, int32_t *last, T *lower, T *upper, \
                   S *stride, S step, S chunk) {                                                   \
    T from = *lower, to = *upper;                                                                  \
    bool none = step > 0 ? to < from : from < to;                                                  \
    if (none) {                                                                                    \
      *last = 0;                                                                                   \
      *stride = step;                                                                              \
      return;                                                                                      \
    }                                                                                              \
    if (parts == 1 && !chunked) {                                                                  \
      *last = 1;                                                                                   \
      *stride = (S)((U)to - (U)from + (U)step);                                                    \
      return;                                                                                      \
    }                                                                                              \
    U trips = step > 0 ? ((U)to - (U)from) / (U)step + 1 : ((U)from - (U)to) / (U)(-step) + 1;     \
    if (chunked) {                                                                                 \
      U piece = chunk > 0 ? (U)chunk : 1;                                                          \
      U span = piece * (U)step;                                                                    \
      *stride = (S)(span * parts);                                                                 \
      *lower = (T)((U)from + span * part);                                                         \
      *upper = (T)((U) * lower + span - (U)step);                                                  \
      *last = (trips - 1) / piece % parts == part;                                                 \
      return;                                                                                      \
    }                                                                                              \
    U piece = trips / parts, rest = trips % parts;                                                 \
    U first = piece * part + (part < rest ? part : rest);                                          \
    U count = piece + (part < rest ? 1 : 0);                                                       \
    *stride = (S)((U)to - (U)from + (U)step);                                                      \
    *last = count != 0 && first + count == trips;                                                  \
    if (count == 0) {                                                                              \
      *lower = (T)((U)to + (U)step);                                                               \
      *upper = to;                                                                                 \
      return;                                                                                      \
    }                                                                                              \
    *lower = (T)((U)from + first * (U)step);                                                       \
    *upper = (T)((U) * lower + (count - 1) * (U)step);                                             \
  }

#define LOOPS(SUFFIX, T, U, S)                                                                     \
  DIVIDE(divide_##SUFFIX, T, U, S)                                                                 \
  INLINE U trips_##SUFFIX(T lower, T upper, S step) {                                              \
    if (step > 0 ? upper < lower : lower < upper)                                                  \
      return 0;                                                                                    \
    return step > 0 ? ((U)upper - (U)lower) / (U)step + 1                                          \
                    : ((U)lower - (U)upper) / (U)(-step) + 1;                                      \
  }                                                                                                \
  /* Returns true if thread `part` of this device's `parts` has the loop's last iteration. */      \
  INLINE bool executes_last_##SUFFIX(T lower, T upper, S step, uint32_t part, uint32_t parts) {    \
    if (divided()) {                                                                               \
      uint64_t trips = trips_##SUFFIX(lower, upper, step);                                         \
      uint64_t first = share_first(trips);                                                         \
      return share_end(trips) == trips && first < trips &&                                         \
             (trips - 1 - first) % parts == part;                                                  \
    }                                                                                              \
    bool none = step > 0 ? upper < lower : lower < upper;                                          \
    U rest = step > 0 ? ((U)upper - (U)lower) / (U)step : ((U)lower - (U)upper) / (U)(-step);      \
    return !none && rest % parts == part;                                                          \
  }                                                                                                \
  /* Restricts a loop to this device's share, which ends before it begins if it is empty. */       \
  INLINE void restrict_##SUFFIX(T *lower, T *upper, S step) {                                      \
    if (!__ompvm_divided)                                                                          \
      return;                                                                                      \
    uint64_t trips = trips_##SUFFIX(*lower, *upper, step);                                         \
    uint64_t first = share_first(trips), end = share_end(trips);                                   \
    T from = *lower;                                                                               \
    /* Lets the loop over the grid run once, as without shares. A loop of 32 unsigned bits may have\
     * more iterations. */                                                                         \
    if (from == 0 && (sizeof(T) == 8 || (T)-1 < 0)) {                                              \
      __builtin_assume((S)first >= 0);                                                             \
      __builtin_assume((S)trips >= 0);                                                             \
    }                                                                                              \
    *lower = (T)((U)from + (U)first * (U)step);                                                    \
    *upper = (T)((U)from + (U)(end - 1) * (U)step);                                                \
  }                                                                                                \
  SHORT_ENTRY void __kmpc_for_static_init_##SUFFIX(Ident *ident, int32_t thread, int32_t schedule, \
                                                   int32_t *last, T *lower, T *upper, S *stride,   \
                                                   S step, S chunk) {                              \
    (void)ident, (void)thread;                                                                     \
    bool chunked = schedule == SCHEDULE_STATIC_CHUNKED || schedule == SCHEDULE_STATIC_SIMD;        \
    divide_##SUFFIX(chunked, thread_number(), thread_count(), last, lower, upper, stride, step,    \
                    chunk);                                                                        \
  }                                                                                                \
  SHORT_ENTRY void __kmpc_distribute_static_init_##SUFFIX(                                         \
      Ident *ident, int32_t thread, int32_t schedule, int32_t *last, T *lower, T *upper,           \
      S *stride, S step, S chunk) {                                                                \
    (void)ident, (void)thread;                                                                     \
    U piece = chunk > 0 ? (U)chunk : 1;                                                            \
    U rest = step > 0 ? ((U) * upper - (U) * lower) / (U)step                                      \
                      : ((U) * lower - (U) * upper) / (U)(-step);                                  \
    divide_##SUFFIX(schedule == SCHEDULE_DISTRIBUTE_CHUNKED, team_number(), team_count(), last,    \
                    lower, upper, stride, step, chunk);                                            \
    if (*last && schedule == SCHEDULE_DISTRIBUTE_CHUNKED && spmd())                                \
      *last = rest % piece % hardware_threads() == hardware_thread();                              \
  }                                                                                                \
  SHORT_ENTRY void __ompvm_distribute_whole_##SUFFIX(Ident *ident, int32_t thread,                 \
                                                     int32_t schedule, int32_t *last, T *lower,    \
                                                     T *upper, S *stride, S step, S chunk) {       \
    (void)ident, (void)thread, (void)schedule, (void)chunk;                                        \
    uint32_t part = block_number() * hardware_threads() + hardware_thread();                       \
    uint32_t parts = block_count() * hardware_threads();                                           \
    *last = executes_last_##SUFFIX(*lower, *upper, step, part, parts);                             \
    *stride = (S)((U) * upper - (U) * lower + (U)step);                                            \
    restrict_##SUFFIX(lower, upper, step);                                                         \
  }                                                                                                \
  SHORT_ENTRY void __ompvm_for_grid_##SUFFIX(Ident *ident, int32_t thread, int32_t schedule,       \
                                             int32_t *last, T *lower, T *upper, S *stride, S step, \
                                             S chunk) {                                            \
    (void)ident, (void)thread, (void)schedule, (void)chunk;                                        \
    uint32_t part = block_number() * hardware_threads() + hardware_thread();                       \
    uint32_t parts = block_count() * hardware_threads();                                           \
    divide_##SUFFIX(true, part, parts, last, lower, upper, stride, step, 1);                       \
  }                                                                                                \
  SHORT_ENTRY void __ompvm_distribute_tiled_##SUFFIX(Ident *ident, int32_t thread,                 \
                                                     int32_t schedule, int32_t *last, T *lower,    \
                                                     T *upper, S *stride, S step, S chunk) {       \
    (void)ident, (void)thread, (void)schedule, (void)chunk;                                        \
    uint32_t part = __ompvm_grid_part();                                                           \
    uint32_t parts = __ompvm_grid_parts();                                                         \
    *last = executes_last_##SUFFIX(*lower, *upper, step, part, parts);                             \
    *stride = (S)((U) * upper - (U) * lower + (U)step);                                            \
    restrict_##SUFFIX(lower, upper, step);                                                         \
  }                                                                                                \
  SHORT_ENTRY void __ompvm_for_tiled_##SUFFIX(Ident *ident, int32_t thread, int32_t schedule,      \
                                              int32_t *last, T *lower, T *upper, S *stride,        \
                                              S step, S chunk) {                                   \
    (void)ident, (void)thread, (void)schedule, (void)chunk;                                        \
    uint32_t part = __ompvm_grid_part();                                                           \
    uint32_t parts = __ompvm_grid_parts();                                                         \
    divide_##SUFFIX(true, part, parts, last, lower, upper, stride, step, 1);                       \
  }                                                                                                \
  /* Loops of flang and the newer code generators, whose body is a function. Executes the          \
   * pieces of `chunk` iterations of `part`, in turn with the other parts. */                      \
  INLINE void pieces_##SUFFIX(void (*body)(T, void *), void *captured, U from, U trips,            \
                              uint32_t part, uint32_t parts, U chunk) {                            \
    if (trips == 0 || (part != 0 && chunk > (trips - 1) / part))                                   \
      return;                                                                                      \
    U distance = chunk > trips / parts ? trips : chunk * parts;                                    \
    for (U first = chunk * part; first < trips;) {                                                 \
      U count = trips - first < chunk ? trips - first : chunk;                                     \
      for (U i = 0; i < count; i++)                                                                \
        body((T)(from + first + i), captured);                                                     \
      if (trips - first <= distance)                                                               \
        break;                                                                                     \
      first += distance;                                                                           \
    }                                                                                              \
  }                                                                                                \
  /* The same, for pieces of one iteration. */                                                     \
  INLINE void stride_##SUFFIX(void (*body)(T, void *), void *captured, U from, U trips,            \
                              uint32_t first, uint32_t distance) {                                 \
    for (U i = first; i < trips;) {                                                                \
      body((T)(from + i), captured);                                                               \
      U next = i + distance;                                                                       \
      if (next < i)                                                                                \
        break;                                                                                     \
      i = next;                                                                                    \
    }                                                                                              \
  }                                                                                                \
  /* The loop over interchangeable threads, all of the grid's. */                                  \
  SHORT_ENTRY void __ompvm_grid_loop_##SUFFIX(Ident *ident, void (*body)(T, void *),               \
                                              void *captured, T trips, T threads, T block_chunk,   \
                                              T thread_chunk, uint8_t single) {                    \
    (void)ident, (void)threads, (void)block_chunk, (void)thread_chunk, (void)single;               \
    uint64_t first = share_first((U)trips), end = share_end((U)trips);                             \
    if ((int64_t)end < 0) {                                                                        \
      stride_##SUFFIX(body, captured, (U)first, (U)(end - first), __ompvm_grid_part(),             \
                      __ompvm_grid_parts());                                                       \
      return;                                                                                      \
    }                                                                                              \
    for (uint64_t i = first + __ompvm_grid_part(); i < end; i += __ompvm_grid_parts())             \
      body((T)i, captured);                                                                        \
  }                                                                                                \
  SHORT_ENTRY void __kmpc_for_static_loop_##SUFFIX(Ident *ident, void (*body)(T, void *),          \
                                                   void *captured, T trips, T threads, T chunk,    \
                                                   uint8_t single) {                               \
    (void)ident, (void)threads, (void)single;                                                      \
    if (chunk > 1)                                                                                 \
      pieces_##SUFFIX(body, captured, 0, (U)trips, thread_number(), thread_count(), (U)chunk);     \
    else                                                                                           \
      stride_##SUFFIX(body, captured, 0, (U)trips, thread_number(), thread_count());               \
  }                                                                                                \
  /* Without a chunk size, each team has one piece. */                                             \
  SHORT_ENTRY void __kmpc_distribute_static_loop_##SUFFIX(                                         \
      Ident *ident, void (*body)(T, void *), void *captured, T trips, T chunk, uint8_t single) {   \
    (void)ident, (void)single;                                                                     \
    U piece = chunk > 0 ? (U)chunk : (U)trips / team_count() + ((U)trips % team_count() != 0);     \
    if (piece > 1)                                                                                 \
      pieces_##SUFFIX(body, captured, 0, (U)trips, team_number(), team_count(), piece);            \
    else                                                                                           \
      stride_##SUFFIX(body, captured, 0, (U)trips, team_number(), team_count());                   \
  }                                                                                                \
  /* Without a chunk size for teams, each team's chunk has one chunk per thread. */                \
  SHORT_ENTRY void __kmpc_distribute_for_static_loop_##SUFFIX(                                     \
      Ident *ident, void (*body)(T, void *), void *captured, T trips, T threads, T block_chunk,    \
      T thread_chunk, uint8_t single) {                                                            \
    (void)ident, (void)threads, (void)single;                                                      \
    uint32_t count = thread_count(), number = thread_number();                                     \
    if (block_chunk <= 0) {                                                                        \
      uint32_t part = team_number() * count + number, parts = team_count() * count;                \
      if (thread_chunk > 1)                                                                        \
        pieces_##SUFFIX(body, captured, 0, (U)trips, part, parts, (U)thread_chunk);                \
      else                                                                                         \
        stride_##SUFFIX(body, captured, 0, (U)trips, part, parts);                                 \
      return;                                                                                      \
    }                                                                                              \
    U whole = (U)trips, span = (U)block_chunk < whole ? (U)block_chunk : whole;                    \
    if (whole == 0 || (team_number() != 0 && span > (whole - 1) / team_number()))                  \
      return;                                                                                      \
    for (U first = span * team_number(); first < whole;) {                                         \
      U rest = whole - first < span ? whole - first : span;                                        \
      if (thread_chunk > 1)                                                                        \
        pieces_##SUFFIX(body, captured, first, rest, number, count, (U)thread_chunk);              \
      else                                                                                         \
        stride_##SUFFIX(body, captured, first, rest, number, count);                               \
      if (span > whole / team_count() || whole - first <= span * team_count())                     \
        break;                                                                                     \
      first += span * team_count();                                                                \
    }                                                                                              \
  }

LOOPS(4, int32_t, uint32_t, int32_t)
LOOPS(4u, uint32_t, uint32_t, int32_t)
LOOPS(8, int64_t, uint64_t, int64_t)
LOOPS(8u, uint64_t, uint64_t, int64_t)

SHORT_ENTRY void __kmpc_for_static_fini(Ident *i, int32_t t) { (void)i, (void)t; }
SHORT_ENTRY void __kmpc_distribute_static_fini(Ident *i, int32_t t) { (void)i, (void)t; }
