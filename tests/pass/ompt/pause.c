// OpenMP 6.0, section 24.3: omp_pause_stop_tool ends the tool if all devices pause, and is refused for a single one; regions
// afterwards cause no events. Identifiers are unique in each thread and among threads.
// native: skip (libomp before release 21 does not know it)
// stdout: ok
// levels: O0 O2
#include "tool.inc"
static void at_the_end(void) {}
int main(void) {
  uint64_t ids[4] = {0};
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 2; i++) ids[2 * omp_get_thread_num() + i] = get_unique_id();
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < i; k++) CHECK(ids[i] && ids[i] != ids[k]);
  CHECK(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) == 0);
  CHECK(omp_pause_resource(3 /* omp_pause_stop_tool */, omp_get_initial_device()) != 0 && !tool_ended);
  CHECK(omp_pause_resource((omp_pause_resource_t)17, omp_get_initial_device()) != 0);
  CHECK(omp_pause_resource_all((omp_pause_resource_t)-1) != 0 && !tool_ended);
  int told = count(KIND(parallel_begin), -1, -1), x = 0;
  CHECK(told > 0 && omp_pause_resource_all(3 /* omp_pause_stop_tool */) == 0 && tool_ended == 1);
#pragma omp parallel num_threads(2) reduction(+ : x)
  x++;
  CHECK(x == 2 && count(KIND(parallel_begin), -1, -1) == told);
  CHECK(omp_pause_resource_all(3) == 0 && tool_ended == 1);
  return DONE();
}
