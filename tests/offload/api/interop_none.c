// OpenMP 5.2, section 14.1: a device without a foreign runtime gives `omp_interop_none`, of which every property is empty.
// flags: -fopenmp-version=52
#include "../../check.h"
int main(void) {
  omp_interop_t object = (omp_interop_t)1, other = (omp_interop_t)1;
  int x = 0, rc = 5;
#pragma omp task depend(out : x) shared(x)
  x = 1;
#pragma omp interop init(targetsync : object) depend(inout : x)
  CHECK(object == omp_interop_none && x == 1);
#pragma omp interop init(prefer_type("cuda"), target, targetsync : other) device(omp_get_initial_device())
  CHECK(other == omp_interop_none);
  CHECK(omp_get_interop_int(object, omp_ipr_device_num, &rc) == 0 && rc == omp_irc_empty);
  CHECK(omp_get_interop_ptr(object, omp_ipr_targetsync, &rc) == NULL && rc == omp_irc_empty);
  CHECK(omp_get_interop_str(object, omp_ipr_fr_name, NULL) == NULL);
  CHECK(omp_get_num_interop_properties(object) == 0);
  CHECK(strcmp(omp_get_interop_name(object, omp_ipr_targetsync), "targetsync") == 0);
  CHECK(omp_get_interop_rc_desc(object, omp_irc_empty) != NULL);
#pragma omp interop use(object)
#pragma omp interop destroy(object)
#pragma omp interop destroy(other)
  CHECK(object == omp_interop_none);
  return DONE();
}
