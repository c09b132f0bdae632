// OpenMP 5.2, sections 7.5 and 7.8: variants of a function by the kind and the architecture of the device it runs on.
// flags: -fopenmp-version=51
#include "../../check.h"
#pragma omp begin declare target
static int kind_gpu(void) { return 2; }
static int arch_nvptx(void) { return 30; }
#pragma omp declare variant(kind_gpu) match(device = {kind(gpu)})
static int kind(void) { return 1; }
#pragma omp declare variant(arch_nvptx) match(device = {arch(nvptx64)})
static int arch(void) { return 10; }
#pragma omp begin declare variant match(device = {kind(nohost)})
static int where(void) { return 200; }
#pragma omp end declare variant
#pragma omp begin declare variant match(device = {kind(host)})
static int where(void) { return 100; }
#pragma omp end declare variant
#pragma omp end declare target
int main(void) {
  int device = 0;
#pragma omp target map(from : device)
  device = kind() + arch() + where();
  CHECK(kind() + arch() + where() == 111);
  CHECK(device == 232);
  return DONE();
}
