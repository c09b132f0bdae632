/* Beginning and end of kernels, parallel regions, and the variables that regions share.
 *
 * In an SPMD kernel all threads execute the whole kernel, and `parallel` only changes the state
 * that they have about themselves. In a generic kernel the first lane of the last warp executes the
 * code outside of regions, and the threads of the other warps wait for regions (`wait_for_work`).
 */
#include "device.h"

/* Stack from which a team's first thread allocates memory for regions. */
enum { STACK = 1024, ALIGN = 16 };
static SHARED _Alignas(16) char stack[STACK];
static SHARED uint32_t stack_top;

INLINE void place_thread(bool all) {
  uint32_t thread = hardware_thread();
  level_of[thread] = 0;
  threads_of[thread] = 1;
  wanted_of[thread] = 0;
  spmd_of[thread] = all;
  alone[thread] = NULL;
}

INLINE void run_region(void *function, void **captured, int64_t count, uint32_t number,
                       uint32_t threads) {
  uint32_t thread = hardware_thread();
  uint8_t level = level_of[thread];
  uint16_t before = threads_of[thread];
  level_of[thread] = level + 1;
  threads_of[thread] = threads;
  invoke(function, captured, count, number);
  level_of[thread] = level;
  threads_of[thread] = before;
}

ENTRY bool __kmpc_kernel_parallel(void **work) {
  Wrapper wrapper = team.work;
  *work = (void *)wrapper;
  uint32_t thread = hardware_thread();
  if (!wrapper || thread >= team.threads)
    return false;
  level_of[thread] = 1;
  threads_of[thread] = team.threads;
  return true;
}

ENTRY void __kmpc_kernel_end_parallel(void) {
  uint32_t thread = hardware_thread();
  level_of[thread] = 0;
  threads_of[thread] = 1;
}

static void wait_for_work(void) {
  for (;;) {
    void *work;
    block_barrier();
    bool active = __kmpc_kernel_parallel(&work);
    if (!work)
      return;
    if (active) {
      ((Wrapper)work)(0, hardware_thread());
      __kmpc_kernel_end_parallel();
    }
    block_barrier();
  }
}

/* Returns -1 to a thread that is to execute the kernel's own code. */
SHORT_ENTRY int32_t __kmpc_target_init(KernelEnvironment *environment, LaunchEnvironment *launch) {
  uint32_t thread = hardware_thread();
  bool all = (environment->configuration.mode & MODE_SPMD) != 0;
  place_thread(all);
  if (all) {
    /* Every thread stores the same value. */
    team.launch = launch;
    return -1;
  }
  uint32_t main = (hardware_threads() - 1) & ~(uint32_t)(WARP_SIZE - 1);
  if (thread == main) {
    team.launch = launch;
    team.work = NULL;
    team.threads = 0;
    stack_top = 0;
    return -1;
  }
  if (thread < main && environment->configuration.state_machine)
    wait_for_work();
  return (int32_t)thread;
}

SHORT_ENTRY void __kmpc_target_deinit(void) {
  if (spmd())
    return;
  team.work = NULL;
  block_barrier();
}

INLINE uint32_t region_threads(int32_t condition, int32_t asked) {
  if (!condition)
    return 1;
  uint32_t threads = available_threads();
  uint32_t wanted = asked > 0 ? (uint32_t)asked : wanted_of[hardware_thread()];
  return wanted != 0 && wanted < threads ? wanted : threads;
}

static void start_region(void *wrapper, void **captured, int64_t count, uint32_t threads) {
  void **shared = (void **)team.few;
  if (count > (int64_t)(sizeof(team.few) / sizeof(*team.few)))
    shared = allocate(sizeof(*shared) * (size_t)count, "__kmpc_parallel_60");
  for (int64_t i = 0; i < count; i++)
    shared[i] = captured[i];
  team.captured = shared;
  team.threads = threads;
  team.work = (Wrapper)wrapper;
  block_barrier();
  block_barrier();
  if (shared != (void **)team.few)
    free(shared);
}

SHORT_ENTRY void __kmpc_parallel_60(Ident *ident, int32_t gtid, int32_t condition, int32_t asked,
                                    int32_t bind, void *function, void *wrapper, void **captured,
                                    int64_t count, int32_t strict) {
  (void)ident, (void)gtid, (void)bind, (void)strict;
  uint32_t thread = hardware_thread();
  bool nested = __ompvm_nested && level_of[thread] > 0;
  uint32_t threads = nested ? 1 : region_threads(condition, asked);
  bool together = spmd() && !nested;
  if (!nested && !together && threads > 1) {
    start_region(wrapper, captured, count, threads);
    return;
  }
  if (!together || thread < threads)
    run_region(function, captured, count, together ? thread : 0, threads);
  if (together)
    aligned_barrier();
}

/* A region in the single loop over the grid into which the lowering merges two: it has all
 * threads of the block. */
SHORT_ENTRY void __ompvm_parallel_grid(Ident *ident, int32_t gtid, int32_t condition, int32_t asked,
                                       int32_t bind, void *function, void *wrapper, void **captured,
                                       int64_t count, int32_t strict) {
  (void)ident, (void)gtid, (void)condition, (void)asked, (void)bind, (void)wrapper, (void)strict;
  run_region(function, captured, count, hardware_thread(), hardware_threads());
  aligned_barrier();
}

SHORT_ENTRY void __kmpc_parallel_51(Ident *ident, int32_t gtid, int32_t condition, int32_t asked,
                                    int32_t bind, void *function, void *wrapper, void **captured,
                                    int64_t count) {
  __kmpc_parallel_60(ident, gtid, condition, asked, bind, function, wrapper, captured, count, 0);
}

ENTRY void __kmpc_get_shared_variables(void ***captured) { *captured = team.captured; }

/* Allocates a variable that other threads may access. A team's first thread allocates it on the
 * stack; a thread within a region, and all threads of an SPMD kernel, on the device's heap. Null
 * if that is full is no failure yet: a thread without iterations of a loop uses no variable. */
ENTRY void *__kmpc_alloc_shared(uint64_t size) {
  uint64_t rounded = (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
  if (!spmd() && level_of[hardware_thread()] == 0 && rounded <= STACK - stack_top) {
    void *memory = (void *)&stack[stack_top];
    stack_top += (uint32_t)rounded;
    return memory;
  }
  return malloc(rounded);
}

ENTRY void __kmpc_free_shared(void *memory, uint64_t size) {
  uint64_t rounded = (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
  char *start = (char *)stack;
  if ((char *)memory >= start && (char *)memory < start + STACK)
    stack_top -= (uint32_t)rounded;
  else
    free(memory);
}

ENTRY int8_t __kmpc_is_spmd_exec_mode(void) { return spmd(); }
ENTRY int8_t __kmpc_is_generic_main_thread(int32_t thread) { return !spmd() && thread == 0; }
ENTRY uint16_t __kmpc_parallel_level(Ident *ident, uint32_t thread) {
  (void)ident, (void)thread;
  return level_of[hardware_thread()];
}
SHORT_ENTRY int32_t __kmpc_global_thread_num(Ident *ident) {
  (void)ident;
  return (int32_t)thread_number();
}
SHORT_ENTRY uint32_t __kmpc_get_hardware_thread_id_in_block(void) { return hardware_thread(); }
SHORT_ENTRY uint32_t __kmpc_get_hardware_num_threads_in_block(void) { return hardware_threads(); }
SHORT_ENTRY uint32_t __kmpc_get_hardware_num_blocks(void) { return team_count(); }
SHORT_ENTRY uint32_t __kmpc_get_warp_size(void) { return WARP_SIZE; }
ENTRY void __kmpc_push_num_threads(Ident *ident, int32_t thread, int32_t asked) {
  (void)ident, (void)thread;
  wanted_of[hardware_thread()] = asked > 0 ? (uint16_t)asked : 0;
}
ENTRY void __kmpc_push_num_teams(Ident *i, int32_t t, int32_t teams, int32_t threads) {
  (void)i, (void)t, (void)teams, (void)threads;
}
ENTRY void __kmpc_push_proc_bind(Ident *i, int32_t t, int32_t bind) {
  (void)i, (void)t, (void)bind;
}
ENTRY void __kmpc_begin_sharing_variables(void ***captured, uint64_t count) {
  *captured = count <= 16 ? (void **)team.few
                          : allocate(sizeof(void *) * count, "__kmpc_begin_sharing_variables");
  team.captured = *captured;
}
ENTRY void __kmpc_end_sharing_variables(void) {
  if (team.captured != (void **)team.few)
    free(team.captured);
}
