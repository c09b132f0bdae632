/* Declarations shared by the files of the device runtime: types of the ABI, positions of threads,
 * memory of a team.
 *
 * A block is a team. Only the outermost region may have more than one thread; regions nested in it
 * have one. The state of a thread's position lies in shared memory, in arrays that are indexed by
 * the thread and used by that thread alone: they need no barrier, and an optimizer removes those
 * that a kernel does not read. Only values that one thread passes to the others are in `team`,
 * separated by a barrier.
 *
 * This runtime expects a plain optimizer: it uses intrinsics that every machine supports and no
 * inline assembly, and every waiting loop calls `relax`, where a machine that runs the threads of a
 * block in turn can switch threads.
 */
#ifndef OMPVM_DEVICE_H
#define OMPVM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "omp_abi.h"

#define ENTRY __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
/* An entry whose arguments are constants at its calls, so that it becomes short when inlined. */
#define SHORT_ENTRY __attribute__((visibility("default"), always_inline))
#define SHARED __attribute__((address_space(3), loader_uninitialized))

typedef struct Ident Ident;

/* Description of a kernel, a constant beside it. */
typedef struct {
  KernelConfiguration configuration;
  Ident *ident;
  void *dynamic;
} KernelEnvironment;

typedef void (*Wrapper)(uint16_t, uint32_t);

/* Mode of all kernels of a module, if the lowering knows it; 0 if not. */
__attribute__((weak)) const uint8_t __ompvm_mode = 0;
/* 1 if regions may be nested. */
__attribute__((weak)) const uint8_t __ompvm_nested = 1;

static SHARED uint8_t level_of[BLOCK_THREADS];    /* number of enclosing regions */
static SHARED uint16_t threads_of[BLOCK_THREADS]; /* number of threads of the innermost one */
static SHARED uint16_t wanted_of[BLOCK_THREADS];  /* set by omp_set_num_threads; 0 if not set */
static SHARED uint8_t spmd_of[BLOCK_THREADS];     /* true if the kernel began with all threads */
typedef struct Alone *AlonePointer;
static SHARED AlonePointer alone[BLOCK_THREADS]; /* loop of a region of one thread (dispatch.c) */

/* Values that one thread of a team passes to the others. */
typedef struct {
  LaunchEnvironment *launch;
  /* Region for the waiting threads to execute; null at the end of the kernel. */
  Wrapper work;
  uint32_t threads;
  void **captured;
  void *few[16];
  uint32_t flag;
  void *copied;
  uint32_t arrived, turn;
} Team;
static SHARED Team team;

/* 1 in code for several devices that share one league. */
__attribute__((weak)) const uint32_t __ompvm_divided = 0;
/* This device's share, which the host writes before a launch. */
__attribute__((visibility("default"), address_space(4))) League __ompvm_league = {0, 1, 0, 0, 0, 0};

INLINE bool divided(void) { return __ompvm_divided && __ompvm_league.parts > 1; }

INLINE uint32_t hardware_thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
INLINE uint32_t hardware_threads(void) { return __nvvm_read_ptx_sreg_ntid_x(); }

/* Return the number of the block on this device, and the number of its blocks. */
INLINE uint32_t block_number(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }
INLINE uint32_t block_count(void) { return __nvvm_read_ptx_sreg_nctaid_x(); }

/* Return the number of the team in the league, and the number of its teams. */
INLINE uint32_t team_number(void) {
  if (!divided())
    return block_number();
  uint32_t first =
      __ompvm_league.teams ? __ompvm_league.first : __ompvm_league.part * block_count();
  return first + block_number();
}
INLINE uint32_t team_count(void) {
  if (!divided())
    return block_count();
  return __ompvm_league.teams ? __ompvm_league.teams : __ompvm_league.parts * block_count();
}

/* Returns the place of a fraction of 2^64 among `trips` iterations: 0 only if the fraction is. */
INLINE uint64_t edge(uint64_t trips, uint64_t fraction) {
  if (trips == 0 || fraction == 0)
    return 0;
  return (uint64_t)(((unsigned __int128)(trips - 1) * fraction) >> 64) + 1;
}

/* Return the first of `trips` iterations that this device executes, and the end of its share. The
 * shares are contiguous, as are the devices' parts of an array. The end of a share is never 0. The
 * lowering finds the calls in loops that it tiles. */
__attribute__((noinline, const, visibility("default"))) uint64_t
__ompvm_share_first(uint64_t trips) {
  return edge(trips, __ompvm_league.from);
}
__attribute__((noinline, const, visibility("default"))) uint64_t __ompvm_share_end(uint64_t trips) {
  return __ompvm_league.to ? edge(trips, __ompvm_league.to) : trips;
}
INLINE uint64_t share_first(uint64_t trips) {
  return __ompvm_divided ? __ompvm_share_first(trips) : 0;
}
INLINE uint64_t share_end(uint64_t trips) {
  return __ompvm_divided ? __ompvm_share_end(trips) : trips;
}

INLINE bool spmd(void) {
  return __ompvm_mode ? (__ompvm_mode & MODE_SPMD) != 0 : spmd_of[hardware_thread()] != 0;
}

/* Returns the maximum number of threads of a region at the outermost level. */
INLINE uint32_t available_threads(void) {
  uint32_t threads = hardware_threads();
  if (spmd())
    return threads;
  return threads > WARP_SIZE ? threads - WARP_SIZE : 1;
}

/* Return the number of the thread in the innermost region, and the number of its threads. */
INLINE uint32_t thread_number(void) {
  uint32_t thread = hardware_thread();
  return level_of[thread] == 1 && threads_of[thread] > 1 ? thread : 0;
}
INLINE uint32_t thread_count(void) { return threads_of[hardware_thread()]; }

/* Waits for all threads of the block that have not ended. Threads of one warp may diverge. */
INLINE void block_barrier(void) { __nvvm_barrier_sync(0); }
/* The same, for threads that arrive converged. */
INLINE void aligned_barrier(void) { __syncthreads(); }

/* Called in waiting loops; lets other threads run. */
INLINE void relax(void) { __nvvm_nanosleep(64); }

#define DEVICE __MEMORY_SCOPE_DEVICE
#define SYSTEM __MEMORY_SCOPE_SYSTEM
#define BLOCK __MEMORY_SCOPE_WRKGRP

/* Library of the device. */
extern int vprintf(const char *, void *);
extern void *malloc(size_t);
extern void free(void *);
extern void __assertfail(const char *, const char *, uint32_t, const char *, size_t)
    __attribute__((noreturn));

/* Allocates on the device's heap for a caller that cannot do without: ends the kernel with a
 * message if the heap is full. cudaLimitMallocHeapSize bounds it, 8 MiB by default. */
INLINE void *allocate(size_t size, const char *caller) {
  void *memory = malloc(size);
  if (!memory)
    __assertfail("the device's heap is full", "OpenMP runtime", 0, caller, 1);
  return memory;
}

/* Define functions that count an arrival, and return true to the last of `count`, which resets the
 * counter for the next launch. Records that were stored before are visible to it. The code
 * generator drops the order of an addition, hence the fences. */
#define ARRIVES_LAST(NAME, SCOPE)                                                                  \
  INLINE bool NAME(uint32_t *arrived, uint32_t count) {                                            \
    __scoped_atomic_thread_fence(__ATOMIC_RELEASE, SCOPE);                                         \
    bool last = __scoped_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, SCOPE) == count - 1;       \
    if (last)                                                                                      \
      __scoped_atomic_store_n(arrived, 0, __ATOMIC_RELAXED, SCOPE);                                \
    __scoped_atomic_thread_fence(__ATOMIC_ACQUIRE, SCOPE);                                         \
    return last;                                                                                   \
  }
/* Among the teams of a device, and among the devices of a league. */
ARRIVES_LAST(arrives_last, DEVICE)
ARRIVES_LAST(device_arrives_last, SYSTEM)

/* Calls a region's function with its captured variables (invoke.c). */
INLINE void invoke(void *function, void **captured, int64_t count, uint32_t thread);

/* The barrier of a region's threads (sync.c). */
SHORT_ENTRY void __kmpc_barrier(Ident *, int32_t);

#endif
