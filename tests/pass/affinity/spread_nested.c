// OpenMP 5.2, section 10.1.3: spread gives each member a part of the partition, which is the whole partition of a region nested
// in it; afterwards the partition is restored.
// stdout: ok
// env: OMP_PLACES=threads OMP_PROC_BIND=spread,close OMP_NUM_THREADS=2,2
// levels: O0 O2
#include "../../check.h"
int main(void) {
  int places = omp_get_num_places();
  for (int round = 0; round < 2; round++) {
#pragma omp parallel
    {
      int mine = omp_get_partition_num_places(), place = omp_get_place_num();
      int first;
      if (mine == 1) omp_get_partition_place_nums(&first);
      CHECK(omp_get_proc_bind() == omp_proc_bind_close);
      CHECK(places == 1 ? mine == 1 : mine == places / 2 || mine == (places + 1) / 2);
      CHECK(mine > 1 || first == place);
#pragma omp parallel
      {
        CHECK(omp_get_partition_num_places() == mine);
        if (mine == 1) CHECK(omp_get_place_num() == place);
        if (omp_get_thread_num() == 0) CHECK(omp_get_place_num() == place);
        if (mine > 1 && omp_get_thread_num() == 1) CHECK(omp_get_place_num() != place);
      }
      CHECK(omp_get_partition_num_places() == mine && omp_get_place_num() == place);
    }
    CHECK(omp_get_partition_num_places() == places && omp_get_place_num() == 0);
  }
  return DONE();
}
