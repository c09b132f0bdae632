// The library's names are its own runtime's, the guest's are the virtual machine's: neither sees the other's settings.
// env: OMP_NUM_THREADS=3
// stdout: ok
#define _GNU_SOURCE
#include "../check.h"
#include "neighbour.inc"
#include <dlfcn.h>

void by_name(int number) {}

int main(void) {
  Dl_info info;
  CHECK(dladdr((void *)omp_get_thread_num, &info) && strcmp(info.dli_fname, native_runtime()));
  CHECK(strstr(native_runtime(), "libgomp") || strstr(native_runtime(), "libomp"));
  CHECK(omp_get_max_threads() == 3 && native_max_threads() == 3);
  omp_set_num_threads(5);
  CHECK(omp_get_max_threads() == 5 && native_max_threads() == 3);
  native_set_num_threads(2);
  CHECK(omp_get_max_threads() == 5 && native_max_threads() == 2);
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  CHECK(threads == 5);
  return DONE();
}
