// OpenMP 5.2, section 3.4: if(false) runs the region on the host and maps nothing.
#include "../../check.h"
int main(int argc, char **argv) {
  int host = 0, x = 1, no = argc > 100;
  (void)argv;
#pragma omp target if(no) map(tofrom : host, x)
  host = omp_is_initial_device(), x = 2;
  CHECK(host && x == 2);
#pragma omp target if(!no) map(tofrom : host)
  host = omp_is_initial_device();
  CHECK(!host);
#pragma omp target data if(no) map(to : x)
  CHECK(!omp_target_is_present(&x, omp_get_default_device()));
  return DONE();
}
