/* The routines of the specification that may be called on a device. */
#include "device.h"

ENTRY int32_t omp_get_thread_num(void) { return (int32_t)thread_number(); }
ENTRY int32_t omp_get_num_threads(void) { return (int32_t)thread_count(); }
ENTRY int32_t omp_get_max_threads(void) {
  uint32_t thread = hardware_thread();
  if (level_of[thread] > 0)
    return 1;
  uint32_t threads = available_threads(), wanted = wanted_of[thread];
  return (int32_t)(wanted != 0 && wanted < threads ? wanted : threads);
}
ENTRY int32_t omp_get_thread_limit(void) { return (int32_t)available_threads(); }
ENTRY int32_t omp_get_num_procs(void) { return (int32_t)available_threads(); }
ENTRY void omp_set_num_threads(int32_t threads) {
  if (threads > 0)
    wanted_of[hardware_thread()] = threads > THREADS ? THREADS : (uint16_t)threads;
}
ENTRY int32_t omp_get_level(void) { return level_of[hardware_thread()]; }
/* Only the outermost region may have more than one thread, and is then active. */
ENTRY int32_t omp_get_active_level(void) {
  uint32_t thread = hardware_thread();
  if (level_of[thread] == 0)
    return 0;
  if (level_of[thread] == 1)
    return threads_of[thread] > 1;
  return available_threads() > 1;
}
ENTRY int32_t omp_in_parallel(void) { return omp_get_active_level() > 0; }
ENTRY int32_t omp_get_ancestor_thread_num(int32_t level) {
  int32_t here = omp_get_level();
  if (level < 0 || level > here)
    return -1;
  if (level == 1 && here >= 1)
    return here == 1 ? (int32_t)thread_number() : (int32_t)hardware_thread();
  return 0;
}
ENTRY int32_t omp_get_team_size(int32_t level) {
  int32_t here = omp_get_level();
  if (level < 0 || level > here)
    return -1;
  if (level != 1)
    return 1;
  return here == 1 ? (int32_t)thread_count() : (int32_t)available_threads();
}
ENTRY int32_t omp_get_dynamic(void) { return 0; }
ENTRY void omp_set_dynamic(int32_t flag) { (void)flag; }
ENTRY int32_t omp_get_nested(void) { return 0; }
ENTRY void omp_set_nested(int32_t flag) { (void)flag; }
ENTRY int32_t omp_get_max_active_levels(void) { return 1; }
ENTRY void omp_set_max_active_levels(int32_t levels) { (void)levels; }
ENTRY int32_t omp_get_supported_active_levels(void) { return 1; }
ENTRY void omp_get_schedule(int32_t *kind, int32_t *chunk) {
  *kind = 1;
  *chunk = 1;
}
ENTRY void omp_set_schedule(int32_t kind, int32_t chunk) { (void)kind, (void)chunk; }
ENTRY int32_t omp_get_proc_bind(void) { return 0; }
ENTRY int32_t omp_get_num_places(void) { return 0; }
ENTRY int32_t omp_get_place_num(void) { return -1; }
ENTRY int32_t omp_get_cancellation(void) { return 0; }

ENTRY int32_t omp_get_team_num(void) { return (int32_t)team_number(); }
ENTRY int32_t omp_get_num_teams(void) { return (int32_t)team_count(); }
ENTRY int32_t omp_get_max_teams(void) { return (int32_t)team_count(); }
ENTRY int32_t omp_get_teams_thread_limit(void) { return (int32_t)available_threads(); }

ENTRY int32_t omp_is_initial_device(void) { return 0; }
/* What the host knows of its devices is not told here: a region cannot start another. */
ENTRY int32_t omp_get_num_devices(void) { return 0; }
ENTRY int32_t omp_get_default_device(void) { return 0; }
ENTRY void omp_set_default_device(int32_t device) { (void)device; }
ENTRY int32_t omp_get_initial_device(void) { return -1; }
__attribute__((weak)) const int32_t __ompvm_device_number = 0;
ENTRY int32_t omp_get_device_num(void) { return __ompvm_device_number; }
/* Nor their identifiers: no string, and so the number of no device (`omp_invalid_device`). */
ENTRY const char *omp_get_uid_from_device(int32_t device) { (void)device; return (const char *)0; }
ENTRY int32_t omp_get_device_from_uid(const char *uid) { (void)uid; return -2; }

ENTRY double omp_get_wtime(void) { return (double)__nvvm_read_ptx_sreg_globaltimer() * 1e-9; }
ENTRY double omp_get_wtick(void) { return 1e-6; }

ENTRY void *omp_alloc(size_t size, uint64_t allocator) {
  (void)allocator;
  return malloc(size);
}
ENTRY void omp_free(void *memory, uint64_t allocator) {
  (void)allocator;
  free(memory);
}
ENTRY void *__kmpc_alloc(int32_t thread, size_t size, uint64_t allocator) {
  (void)thread;
  return omp_alloc(size, allocator);
}
ENTRY void __kmpc_free(int32_t thread, void *memory, uint64_t allocator) {
  (void)thread;
  omp_free(memory, allocator);
}
