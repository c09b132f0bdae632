// POSIX mutexes and condition variables between the threads of a team.
// stdout: ok
// levels: O0 O2
#include "../../check.h"
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
int main(void) {
  int turn = 0, count = 0;
#pragma omp parallel num_threads(3)
  {
    int me = omp_get_thread_num();
    for (int round = 0; round < 30; round++) {
      pthread_mutex_lock(&mutex);
      while (turn != me) pthread_cond_wait(&cond, &mutex);
      count++, turn = (turn + 1) % 3;
      pthread_cond_broadcast(&cond);
      pthread_mutex_unlock(&mutex);
    }
  }
  CHECK(count == 90 && turn == 0);
  return DONE();
}
