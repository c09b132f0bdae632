// OpenMP 6.0, section 12.1.2: num_threads with a list. The first number is for the region, the others for its inner regions, in
// place of OMP_NUM_THREADS; the last one holds for deeper levels, and outside of the region nothing changes.
// Compilers do not emit the entry today, so it is called by hand.
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2,2,2 OMP_MAX_ACTIVE_LEVELS=4
#include "../../check.h"

int __kmpc_global_thread_num(void *);
void __kmpc_push_num_threads_list(void *, int, unsigned, int *);
void __kmpc_push_num_threads_list_strict(void *, int, unsigned, int *, int, const char *);

static int sizes[4];

static void measure(void) {
#pragma omp parallel
#pragma omp single
  {
    sizes[0] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
    {
      sizes[1] = omp_get_num_threads();
#pragma omp parallel
#pragma omp single
      sizes[2] = omp_get_num_threads();
    }
  }
}

static int are(int a, int b, int c) { return sizes[0] == a && sizes[1] == b && sizes[2] == c; }

int main(void) {
  int gtid = __kmpc_global_thread_num(0);
  measure();
  CHECK(are(2, 2, 2));
  int three_one[] = {3, 1};
  __kmpc_push_num_threads_list(0, gtid, 2, three_one);
  measure();
  CHECK(are(3, 1, 1));
  measure();
  CHECK(are(2, 2, 2));
  int three[] = {3, 2, 4};
  __kmpc_push_num_threads_list_strict(0, gtid, 3, three, 1, "not to be seen");
  measure();
  CHECK(are(3, 2, 4));
#pragma omp parallel num_threads(1)
  {
    __kmpc_push_num_threads_list(0, __kmpc_global_thread_num(0), 2, three_one);
    measure();
    CHECK(are(3, 1, 1));
    measure();
    CHECK(are(2, 2, 2));
  }
  return DONE();
}
