/* Entries of the offload library for programs that run natively: `target` regions run on the host.
 *
 * The functions are in an archive, so a program gets them only if it needs them and no other
 * library has them. A launch answers that it failed, upon which the compiled code calls the host's
 * version of the region (LLVM, "OFFLOAD_FAIL"). Data regions do nothing, because the host is the
 * only device. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OFFLOAD_FAIL = -1 };

int __tgt_target_kernel(void *where, int64_t device, int32_t teams, int32_t threads, void *kernel,
                        void *arguments) {
  return OFFLOAD_FAIL;
}

#define DATA(name)                                                                              \
  void name(void *where, int64_t device, int32_t count, void **bases, void **addresses,         \
            int64_t *sizes, int64_t *types, void **names, void **mappers) {}
DATA(__tgt_target_data_begin_mapper)
DATA(__tgt_target_data_end_mapper)
DATA(__tgt_target_data_update_mapper)

#define DATA_NOWAIT(name)                                                                       \
  void name(void *where, int64_t device, int32_t count, void **bases, void **addresses,         \
            int64_t *sizes, int64_t *types, void **names, void **mappers, int32_t waits,        \
            void *wait_list, int32_t other_waits, void *other_wait_list) {}
DATA_NOWAIT(__tgt_target_data_begin_nowait_mapper)
DATA_NOWAIT(__tgt_target_data_end_nowait_mapper)
DATA_NOWAIT(__tgt_target_data_update_nowait_mapper)

void __tgt_push_mapper_component(void *handle, void *base, void *begin, int64_t size, int64_t type,
                                 void *name) {}
int64_t __tgt_mapper_num_components(void *handle) { return 0; }
void __tgt_set_info_flag(uint32_t flags) {}

void *omp_target_alloc(size_t size, int device) { return malloc(size); }
void omp_target_free(void *address, int device) { free(address); }
int omp_target_is_present(const void *address, int device) { return 1; }
int omp_target_is_accessible(const void *address, size_t size, int device) { return 1; }
void *omp_get_mapped_ptr(const void *address, int device) { return (void *)address; }
int omp_target_associate_ptr(const void *host, const void *target, size_t size, size_t offset,
                             int device) {
  return 1;
}
int omp_target_disassociate_ptr(const void *host, int device) { return 1; }
int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset,
                      size_t from_offset, int to_device, int from_device) {
  memcpy((char *)to + to_offset, (const char *)from + from_offset, size);
  return 0;
}
