// OpenMP 5.2, section 21.7: OMP_DISPLAY_ENV=verbose shows libomp's variables as well, tuning among them.
// stdout: ok
// env: OMP_DISPLAY_ENV=verbose KMP_AFFINITY=scatter,granularity=fine KMP_TASKING=1 KMP_BLOCKTIME=7us KMP_SETTINGS=1 KMP_HOT_TEAMS_MODE=1
// stderr-has: Effective settings:
// stderr-has:    OMP_SCHEDULE='static'
// stderr-has:   [host] KMP_BLOCKTIME='7us
// stderr-has:   [host] KMP_HOT_TEAMS_MODE='1'
// stderr-has:   [host] KMP_TASKING='1'
// stderr-has:   [host] OMP_DISPLAY_ENV='VERBOSE'
// stderr-has:   [host] KMP_AFFINITY='noverbose,warnings,respect,noreset,granularity=thread,scatter,0,0'
#include "../../check.h"
int main(void) {
  CHECK(omp_get_max_threads() >= 1);
  return DONE();
}
