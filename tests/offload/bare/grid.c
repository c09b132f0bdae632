// The kernel language of LLVM: `ompx_bare` kernels of three dimensions, and the routines of ompx.h.
// env: OMP_TARGET_OFFLOAD=mandatory
// not-on: processors
#include "../../check.h"
#include <ompx.h>
enum { X = 4, Y = 3, Z = 2, TX = 8, TY = 2, TZ = 2 };
static int seen[Z * TZ][Y * TY][X * TX], sums[X], lanes[32];
int main(void) {
#pragma omp target teams ompx_bare num_teams(X, Y, Z) thread_limit(TX, TY, TZ) map(tofrom : seen)
  {
    int x = ompx_block_id_x() * ompx_block_dim_x() + ompx_thread_id_x();
    int y = ompx_block_id_y() * ompx_block_dim_y() + ompx_thread_id_y();
    int z = ompx_block_id_z() * ompx_block_dim_z() + ompx_thread_id_z();
    seen[z][y][x] += ompx_grid_dim_x() * 100 + ompx_grid_dim_y() * 10 + ompx_grid_dim_z();
  }
  for (int z = 0; z < Z * TZ; z++)
    for (int y = 0; y < Y * TY; y++)
      for (int x = 0; x < X * TX; x++) CHECK(seen[z][y][x] == 432);
#pragma omp target teams ompx_bare num_teams(X) thread_limit(64) map(tofrom : sums)
  {
    static __attribute__((address_space(3))) int part[64];
    int me = ompx_thread_id(ompx_dim_x);
    part[me] = me + ompx_block_id(ompx_dim_x);
    ompx_sync_block_acq_rel();
    for (int half = 32; half > 0; half /= 2) {
      if (me < half) part[me] += part[me + half];
      ompx_sync_block(ompx_seq_cst);
    }
    if (me == 0) sums[ompx_block_id_x()] = part[0];
  }
  for (int b = 0; b < X; b++) CHECK(sums[b] == 2016 + 64 * b);
#pragma omp target teams ompx_bare num_teams(1) thread_limit(32) map(tofrom : lanes)
  {
    int me = ompx_thread_id_x();
    int below = ompx_shfl_down_sync_i(~0ull, me, 4, 32);
    double two = ompx_shfl_down_sync_d(~0ull, me + 0.5, 1, 32);
    unsigned long odd = ompx_ballot_sync(~0ull, me & 1);
    lanes[me] = below * 1000 + (int)(two * 2) + (odd == 0xaaaaaaaaul ? 0 : -1);
  }
  for (int i = 0; i < 28; i++) CHECK(lanes[i] == (i + 4) * 1000 + 2 * (i + 1) + 1);
  return DONE();
}
