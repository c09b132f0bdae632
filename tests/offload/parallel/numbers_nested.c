// OpenMP 5.2, sections 18.2.17 to 18.2.20: levels, ancestors and team sizes in a region within a region, which has one thread.
// not-on: processors
#include "../../check.h"
int main(void) {
  int ok = 0, runs = 0;
#pragma omp target map(tofrom : ok, runs)
  {
    ok += omp_get_level() == 0 && omp_get_num_threads() == 1 && !omp_in_parallel();
#pragma omp parallel num_threads(8)
    {
      int outer = omp_get_thread_num(), good = omp_get_level() == 1 && omp_in_parallel() == (omp_get_num_threads() > 1);
#pragma omp parallel num_threads(4)
      {
        good &= omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && omp_get_level() == 2;
        good &= omp_get_ancestor_thread_num(1) == outer && omp_get_ancestor_thread_num(0) == 0;
        good &= omp_get_ancestor_thread_num(2) == 0 && omp_get_ancestor_thread_num(3) == -1;
        good &= omp_get_team_size(2) == 1 && omp_get_team_size(0) == 1 && omp_get_team_size(9) == -1;
        good &= omp_get_active_level() == 1;
      }
      good &= omp_get_level() == 1 && omp_get_thread_num() == outer;
#pragma omp atomic
      runs += good;
    }
    ok += omp_get_level() == 0;
  }
  CHECK(ok == 2);
  CHECK(runs == 8);
  return DONE();
}
