// OpenMP 6.0, section 24.8: the unique identifiers of devices map back to their numbers; invalid devices have none.
// stdout: ok
// levels: O0 O2
// flags: -fopenmp-version=60
// native: skip (libomp 22 takes every name for the host, older ones have no such functions)
#include "../../check.h"
#include <string.h>
int main(void) {
  int n = omp_get_num_devices();
  for (int i = 0; i <= n; i++) {
    const char *uid = omp_get_uid_from_device(i);
    CHECK(uid && *uid && omp_get_device_from_uid(uid) == i);
    CHECK(uid == omp_get_uid_from_device(i));
    for (int k = 0; k < i; k++) CHECK(strcmp(uid, omp_get_uid_from_device(k)) != 0);
  }
  CHECK(omp_get_device_from_uid(omp_get_uid_from_device(-1)) == omp_get_initial_device());
  CHECK(omp_get_uid_from_device(n + 1) == NULL && omp_get_uid_from_device(-7) == NULL);
  CHECK(omp_get_device_from_uid("no such device") == omp_invalid_device && omp_get_device_from_uid(NULL) == omp_invalid_device);
  return DONE();
}
