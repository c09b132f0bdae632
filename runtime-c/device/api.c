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
    wanted_of[hardware_thread()] = threads > BLOCK_THREADS ? BLOCK_THREADS : (uint16_t)threads;
}
ENTRY int32_t omp_get_level(void) { return level_of[hardware_thread()]; }
/* Only the outermost region may have more than one thread, and is active then. */
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
/* `nteams-var` of the device, written when the image is loaded; 0 if the number of teams is not
 * limited. */
__attribute__((weak)) const int32_t __ompvm_max_teams = 0;
ENTRY int32_t omp_get_max_teams(void) { return __ompvm_max_teams; }
ENTRY int32_t omp_get_teams_thread_limit(void) { return (int32_t)available_threads(); }

ENTRY int32_t omp_is_initial_device(void) { return 0; }
/* The host's other devices are not visible here, as a region cannot launch another. */
ENTRY int32_t omp_get_num_devices(void) { return 0; }
ENTRY int32_t omp_get_default_device(void) { return 0; }
ENTRY void omp_set_default_device(int32_t device) { (void)device; }
ENTRY int32_t omp_get_initial_device(void) { return -1; }
/* Written when the image is loaded, as every device of a kind runs the same code. */
__attribute__((visibility("default"), address_space(4))) int32_t __ompvm_device_number = 0;
ENTRY int32_t omp_get_device_num(void) { return __ompvm_device_number; }
/* Neither are their identifiers: returns no string, and no device number (`omp_invalid_device`). */
ENTRY const char *omp_get_uid_from_device(int32_t device) {
  (void)device;
  return (const char *)0;
}
ENTRY int32_t omp_get_device_from_uid(const char *uid) {
  (void)uid;
  return -2;
}

ENTRY double omp_get_wtime(void) { return (double)__nvvm_read_ptx_sreg_globaltimer() * 1e-9; }
ENTRY double omp_get_wtick(void) { return 1e-6; }

/* Header of a block: the address that the heap returned, and the size. A block may have been
 * moved to an alignment that the heap does not provide. Traits of an allocator have no effect
 * here. */
typedef struct {
  char *start;
  size_t size;
} Header;
enum { DEFAULT_ALLOCATOR = 1, HEAP_ALIGN = 16 };

ENTRY void *omp_aligned_alloc(size_t align, size_t size, uint64_t allocator) {
  (void)allocator;
  if (align < HEAP_ALIGN)
    align = HEAP_ALIGN;
  if (size == 0 || (align & (align - 1)) != 0 || size + align + sizeof(Header) < size)
    return NULL;
  char *start = malloc(size + align + sizeof(Header) - HEAP_ALIGN);
  if (!start)
    return NULL;
  char *memory =
      (char *)(((uintptr_t)start + sizeof(Header) + align - 1) & ~(uintptr_t)(align - 1));
  Header *header = (Header *)memory - 1;
  header->start = start;
  header->size = size;
  return memory;
}
ENTRY void *omp_alloc(size_t size, uint64_t allocator) {
  return omp_aligned_alloc(HEAP_ALIGN, size, allocator);
}
ENTRY void *omp_aligned_calloc(size_t align, size_t count, size_t size, uint64_t allocator) {
  if (size != 0 && count > (size_t)-1 / size)
    return NULL;
  char *memory = omp_aligned_alloc(align, count * size, allocator);
  if (memory)
    for (size_t i = 0; i < count * size; i++)
      memory[i] = 0;
  return memory;
}
ENTRY void *omp_calloc(size_t count, size_t size, uint64_t allocator) {
  return omp_aligned_calloc(HEAP_ALIGN, count, size, allocator);
}
ENTRY void omp_free(void *memory, uint64_t allocator) {
  (void)allocator;
  if (memory)
    free(((Header *)memory - 1)->start);
}
ENTRY void *omp_realloc(void *memory, size_t size, uint64_t allocator, uint64_t before) {
  char *fresh = size ? omp_alloc(size, allocator) : NULL;
  if (fresh && memory) {
    size_t kept = ((Header *)memory - 1)->size;
    for (size_t i = 0; i < (kept < size ? kept : size); i++)
      fresh[i] = ((char *)memory)[i];
  }
  if (fresh || size == 0)
    omp_free(memory, before);
  return fresh;
}
ENTRY uint64_t omp_init_allocator(uint64_t space, int32_t count, const void *traits) {
  (void)space, (void)count, (void)traits;
  return DEFAULT_ALLOCATOR;
}
ENTRY void omp_destroy_allocator(uint64_t allocator) { (void)allocator; }
ENTRY void omp_set_default_allocator(uint64_t allocator) { (void)allocator; }
ENTRY uint64_t omp_get_default_allocator(void) { return DEFAULT_ALLOCATOR; }
ENTRY void *__kmpc_alloc(int32_t thread, size_t size, uint64_t allocator) {
  (void)thread;
  return omp_alloc(size, allocator);
}
ENTRY void *__kmpc_aligned_alloc(int32_t thread, size_t align, size_t size, uint64_t allocator) {
  (void)thread;
  return omp_aligned_alloc(align, size, allocator);
}
ENTRY void __kmpc_free(int32_t thread, void *memory, uint64_t allocator) {
  (void)thread;
  omp_free(memory, allocator);
}
ENTRY uint64_t __kmpc_init_allocator(int32_t thread, uint64_t space, int32_t count,
                                     const void *traits) {
  (void)thread;
  return omp_init_allocator(space, count, traits);
}
ENTRY void __kmpc_destroy_allocator(int32_t thread, uint64_t allocator) {
  (void)thread, (void)allocator;
}
