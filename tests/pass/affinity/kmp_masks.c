// libomp's affinity masks: created, changed, queried, and a thread bound by one; a region binds it to its place again.
// native: skip (libomp keeps a thread where its mask was set until the team changes)
// stdout: ok
// env: OMP_PLACES=threads OMP_PROC_BIND=close OMP_NUM_THREADS=2
#define _GNU_SOURCE
#include "../../check.h"
#include <sched.h>
int kmp_set_thread_affinity_mask_initial(void); // libomp's, in no header

int main(void) {
  int last = -1;
  for (int p = 0; p < omp_get_num_places(); p++) omp_get_place_proc_ids(p, &last);
  int most = kmp_get_affinity_max_proc();
  CHECK(most > last && last >= 0);
  kmp_affinity_mask_t mask;
  kmp_create_affinity_mask(&mask);
  CHECK(kmp_get_affinity_mask_proc(last, &mask) == 0);
  CHECK(kmp_set_affinity_mask_proc(last, &mask) == 0 && kmp_get_affinity_mask_proc(last, &mask) == 1);
  CHECK(kmp_set_affinity_mask_proc(-1, &mask) == -1 && kmp_set_affinity_mask_proc(most, &mask) == -1);
  CHECK(kmp_set_affinity(&mask) == 0 && sched_getcpu() == last);
  CHECK(kmp_unset_affinity_mask_proc(last, &mask) == 0 && kmp_set_affinity(&mask) != 0);
  CHECK(kmp_get_affinity(&mask) == 0 && kmp_get_affinity_mask_proc(last, &mask) == 1);
  int allowed = 0;
  CHECK(kmp_set_thread_affinity_mask_initial() == 0 && kmp_get_affinity(&mask) == 0);
  for (int p = 0; p < most; p++) allowed += kmp_get_affinity_mask_proc(p, &mask) == 1;
  CHECK(allowed >= omp_get_num_places());
  kmp_destroy_affinity_mask(&mask);
#pragma omp parallel
  {
    int cpu;
    omp_get_place_proc_ids(omp_get_place_num(), &cpu);
    CHECK(sched_getcpu() == cpu);
  }
  return DONE();
}
