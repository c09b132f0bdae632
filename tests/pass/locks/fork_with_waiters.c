// A child of fork inherits locks with waiters that do not exist in it. It releases them and keeps using them. OpenMP
// 5.2, 18.9, does not define processes.
// levels: O0 O2
// env: OMP_NUM_THREADS=4
// stdout: ok
// native: libomp hands the lock over to a thread that the child does not have
#include "../../check.h"
#include <omp.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static omp_lock_t lock;
static omp_nest_lock_t nest;

int main(void) {
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  atomic_int coming = 0;
  int status = -1;
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 0) {
      omp_set_lock(&lock);
      omp_set_nest_lock(&nest);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 0) {
      SPIN_UNTIL(atomic_load(&coming) == 3);
      usleep(20000);
      pid_t child = fork();
      if (child == 0) {
        for (int i = 0; i < 3; i++) {
          omp_unset_lock(&lock);
          omp_set_lock(&lock);
          omp_unset_nest_lock(&nest);
          omp_set_nest_lock(&nest);
        }
        _exit(7);
      }
      waitpid(child, &status, 0);
      omp_unset_lock(&lock);
      omp_unset_nest_lock(&nest);
    } else {
      atomic_fetch_add(&coming, 1);
      if (omp_get_thread_num() == 1) {
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
      } else {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
      }
    }
  }
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return DONE();
}
