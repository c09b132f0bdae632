/* The kernel language of `ompx.h`: a thread's position in a grid of three dimensions, and
 * operations of the threads of a block or a warp.
 *
 * A kernel with the clause `ompx_bare` does not initialize this runtime, so this file must not rely
 * on the state that `__kmpc_target_init` sets up. Memory orders weaker than sequential consistency
 * are implemented by it.
 */
#include "device.h"

enum { X = 0, Y = 1, Z = 2 };

#define GRID(NAME, REGISTER)                                                                       \
  SHORT_ENTRY int32_t ompx_##NAME(int32_t dimension) {                                             \
    switch (dimension) {                                                                           \
    case X:                                                                                        \
      return (int32_t)__nvvm_read_ptx_sreg_##REGISTER##_x();                                       \
    case Y:                                                                                        \
      return (int32_t)__nvvm_read_ptx_sreg_##REGISTER##_y();                                       \
    case Z:                                                                                        \
      return (int32_t)__nvvm_read_ptx_sreg_##REGISTER##_z();                                       \
    default:                                                                                       \
      return 0;                                                                                    \
    }                                                                                              \
  }

GRID(thread_id, tid)
GRID(block_dim, ntid)
GRID(block_id, ctaid)
GRID(grid_dim, nctaid)

SHORT_ENTRY void ompx_sync_block(int32_t order) {
  (void)order;
  aligned_barrier();
}
SHORT_ENTRY void ompx_sync_block_acq_rel(void) { aligned_barrier(); }
SHORT_ENTRY void ompx_sync_block_divergent(int32_t order) {
  (void)order;
  block_barrier();
}

SHORT_ENTRY uint64_t ompx_ballot_sync(uint64_t mask, int32_t condition) {
  return __nvvm_vote_ballot_sync((uint32_t)mask, condition != 0);
}

/* Lanes beyond the part of the warp that has `width` lanes keep their own value. */
INLINE int32_t shuffle_down(uint64_t mask, int32_t value, uint32_t delta, int32_t width) {
  int32_t beyond = ((WARP_SIZE - width) << 8) | 0x1f;
  return __nvvm_shfl_sync_down_i32((uint32_t)mask, value, (int32_t)delta, beyond);
}
SHORT_ENTRY int32_t ompx_shfl_down_sync_i(uint64_t mask, int32_t value, uint32_t delta,
                                          int32_t width) {
  return shuffle_down(mask, value, delta, width);
}
SHORT_ENTRY int64_t ompx_shfl_down_sync_l(uint64_t mask, int64_t value, uint32_t delta,
                                          int32_t width) {
  uint32_t low = (uint32_t)shuffle_down(mask, (int32_t)value, delta, width);
  uint32_t high = (uint32_t)shuffle_down(mask, (int32_t)(value >> 32), delta, width);
  return (int64_t)((uint64_t)high << 32 | low);
}
SHORT_ENTRY float ompx_shfl_down_sync_f(uint64_t mask, float value, uint32_t delta, int32_t width) {
  int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  bits = shuffle_down(mask, bits, delta, width);
  __builtin_memcpy(&value, &bits, sizeof(bits));
  return value;
}
SHORT_ENTRY double ompx_shfl_down_sync_d(uint64_t mask, double value, uint32_t delta,
                                         int32_t width) {
  int64_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  bits = ompx_shfl_down_sync_l(mask, bits, delta, width);
  __builtin_memcpy(&value, &bits, sizeof(bits));
  return value;
}
