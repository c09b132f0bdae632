// A barrier that not all threads of the team reach.
// signal: 6
// stderr-has: have diverged
// stderr-has: divergence.c:11
#include <omp.h>
#pragma omp declare target
void wait_here(void);
#pragma omp end declare target
int main(void) {
  int v[64] = {0};
#pragma omp target parallel num_threads(20) map(tofrom : v)
  {
    if (omp_get_thread_num() < 7) wait_here();
    v[omp_get_thread_num()] = 1;
  }
  return 0;
}
void wait_here(void) {
#pragma omp barrier
}
