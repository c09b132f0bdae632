/* What the files of the device runtime share: types of the ABI, where a thread stands, memory.
 *
 * A block is a team. Regions nest only one level deep with more than one thread: below that every
 * region has one. What a thread must know about its place lies in shared memory in arrays that are
 * indexed by the thread and used by that thread alone: no barrier is needed to keep them, and an
 * optimiser removes those that a kernel does not read. Only what one thread tells the others is in
 * `team`, and there a barrier lies between.
 *
 * Written for a plain optimiser: intrinsics with a meaning on every machine, no inline assembly, no
 * loop that waits without a call of `relax`, so that a machine that runs the threads of a block in
 * turns can give way there.
 */
#ifndef OMPVM_DEVICE_H
#define OMPVM_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENTRY __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
/* An entry whose arguments are constants where it is called: only inlined it becomes short. */
#define SHORT_ENTRY __attribute__((visibility("default"), always_inline))
#define SHARED __attribute__((address_space(3), loader_uninitialized))

enum {
  WARP = 32,
  THREADS = 1024,
  /* Variables that a region may capture; more are reported as unsupported where code is lowered. */
  CAPTURED = 64,
};

typedef struct Ident Ident;

/* Describes a kernel: a constant beside it. */
typedef struct {
  uint8_t state_machine, nested, mode;
  int32_t threads[2], teams[2];
  int32_t reduction_size, reduction_length;
  Ident *ident;
  void *dynamic;
} KernelEnvironment;

/* Belongs to one launch; the first argument of a kernel. The buffer has room for what each of the
 * launch's teams adds to a reduction over teams. */
typedef struct {
  uint32_t arrived, unused;
  void *buffer;
} LaunchEnvironment;

enum { GENERIC = 1, SPMD = 2 };

typedef void (*Wrapper)(uint16_t, uint32_t);

/* What the lowering knows of a whole module of kernels: 0 is nothing; else their mode. */
__attribute__((weak)) const uint8_t __ompvm_mode = 0;
/* Whether regions may lie within regions. */
__attribute__((weak)) const uint8_t __ompvm_nested = 1;

static SHARED uint8_t level_of[THREADS];    /* regions around the thread */
static SHARED uint16_t threads_of[THREADS]; /* threads of the innermost */
static SHARED uint16_t wanted_of[THREADS];  /* asked of omp_set_num_threads, 0: nothing */
static SHARED uint8_t spmd_of[THREADS];     /* whether the kernel began with all threads */
typedef struct Alone *AlonePointer;
static SHARED AlonePointer alone[THREADS]; /* a loop that it has for itself (dispatch.c) */

/* What one thread of a team tells the others. */
typedef struct {
  LaunchEnvironment *launch;
  /* The region that waiting threads are to run, or null: the kernel is over. */
  Wrapper work;
  uint32_t threads;
  void **captured;
  void *few[16];
  uint32_t flag;
  void *copied;
  uint32_t arrived, turn;
} Team;
static SHARED Team team;

INLINE uint32_t hardware_thread(void) { return __nvvm_read_ptx_sreg_tid_x(); }
INLINE uint32_t hardware_threads(void) { return __nvvm_read_ptx_sreg_ntid_x(); }
INLINE uint32_t team_number(void) { return __nvvm_read_ptx_sreg_ctaid_x(); }
INLINE uint32_t team_count(void) { return __nvvm_read_ptx_sreg_nctaid_x(); }

INLINE bool spmd(void) {
  return __ompvm_mode ? (__ompvm_mode & SPMD) != 0 : spmd_of[hardware_thread()] != 0;
}

/* The number of threads that a region at the outermost level may have. */
INLINE uint32_t available_threads(void) {
  uint32_t threads = hardware_threads();
  if (spmd())
    return threads;
  return threads > WARP ? threads - WARP : 1;
}

/* The number of the thread in the innermost region, and how many there are. */
INLINE uint32_t thread_number(void) {
  uint32_t thread = hardware_thread();
  return level_of[thread] == 1 && threads_of[thread] > 1 ? thread : 0;
}
INLINE uint32_t thread_count(void) { return threads_of[hardware_thread()]; }

/* All threads of the block that have not ended. Threads of one warp may come apart. */
INLINE void block_barrier(void) { __nvvm_barrier_sync(0); }
/* The same where all threads come together. */
INLINE void aligned_barrier(void) { __syncthreads(); }

/* Where a thread waits for another: lets the others go on. */
INLINE void relax(void) { __nvvm_nanosleep(64); }

#define DEVICE __MEMORY_SCOPE_DEVICE
#define BLOCK __MEMORY_SCOPE_WRKGRP

/* The device's own library. */
extern int vprintf(const char *, void *);
extern void *malloc(size_t);
extern void free(void *);
extern void __assertfail(const char *, const char *, uint32_t, const char *, size_t)
    __attribute__((noreturn));

/* Calls a region's function with what it captured (invoke.c). */
INLINE void invoke(void *function, void **captured, int64_t count, uint32_t thread);

/* The barrier of a region's threads (sync.c). */
SHORT_ENTRY void __kmpc_barrier(Ident *, int32_t);

#endif
