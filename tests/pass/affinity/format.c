// OpenMP 5.2, sections 18.3.8 to 18.3.11 and 21.2.5: the format is set and read, its expansion for a thread is
// captured, with each field, width and alignment; a buffer that is too small gets a prefix.
// stdout: n=1
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2
#include "../../check.h"
#include <string.h>
#include <unistd.h>
int main(void) {
  char buffer[512], expected[512];
  size_t length = omp_get_affinity_format(buffer, sizeof buffer);
  CHECK(!strcmp(buffer, "OMP: pid %P tid %i thread %n bound to OS proc set {%A}") && length == strlen(buffer));
  omp_set_affinity_format("[%0.3n|%{num_threads}|%4N|%.4N]");
  CHECK(omp_get_affinity_format(buffer, 5) == 31 && !strcmp(buffer, "[%0."));
  CHECK(omp_capture_affinity(NULL, 0, NULL) == strlen("[000|1|1   |   1]"));
  omp_capture_affinity(buffer, sizeof buffer, "");
  CHECK(!strcmp(buffer, "[000|1|1   |   1]"));
#pragma omp parallel
#pragma omp critical
  {
    char mine[512], here[512];
    size_t needed = omp_capture_affinity(mine, sizeof mine, "%L %a %t %T %% %{ancestor_tnum} %x %P");
    snprintf(here, sizeof here, "1 0 0 1 %% 0 undefined %d", (int)getpid());
    CHECK(!strcmp(mine, here) && needed == strlen(here));
    if (omp_get_thread_num() == 1) omp_display_affinity("n=%n");
  }
  gethostname(expected, sizeof expected);
  omp_capture_affinity(buffer, sizeof buffer, "%H");
  CHECK(!strcmp(buffer, expected));
  CHECK(omp_capture_affinity(buffer, sizeof buffer, "%A%i") >= 2);
  return DONE();
}
