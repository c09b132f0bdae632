// A thread uses another's private variable.
// signal: 6
// stderr-has: an address of the host
// stderr-has: shared_private.c:16
#include <omp.h>
int main(void) {
  int r = 0;
  int *box[1] = {0};
#pragma omp target parallel num_threads(2) map(tofrom : r, box)
  {
    int own[2] = {omp_get_thread_num(), 5};
    if (omp_get_thread_num() == 0) *(int *volatile *)&box[0] = own;
#pragma omp barrier
    if (omp_get_thread_num() == 1) {
      int *p = *(int *volatile *)&box[0];
      r = p[1];
    }
#pragma omp barrier
    if (own[0] == 7) r = own[1];
  }
  return r;
}
