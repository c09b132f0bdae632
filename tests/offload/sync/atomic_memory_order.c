// OpenMP 5.2, section 15.8.1: a flag set with release and read with acquire publishes what was written before it.
#include "../../check.h"
int main(void) {
  int data = 0, flag = 0, got = 0;
#pragma omp target parallel num_threads(2) map(tofrom : data, flag, got)
  {
    if (omp_get_thread_num() == 0) {
      data = 77;
#pragma omp atomic write release
      flag = 1;
    }
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      int seen = 0;
      for (long n = 0; !seen && n < 10000000; n++) {
#pragma omp atomic read acquire
        seen = flag;
      }
      got = data;
    }
#pragma omp barrier
#pragma omp flush
#pragma omp atomic seq_cst
    flag++;
  }
  CHECK(got == 77 && (flag == 3 || flag == 2));
  return DONE();
}
