// A child of fork can use every part of the runtime, no matter what other threads did with it at that moment (OpenMP does not define fork; libomp allows it, too).
// flags: -pthread -fnoopenmp-use-tls
// levels: O2
// native: libomp faults in the child
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static int own = 7;
#pragma omp threadprivate(own)
static int stop;

static int tasks(int count) {
  int sum = 0, x = 0, y = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < count; i++) {
#pragma omp task depend(mutexinoutset : x, y) shared(sum)
    sum += own;
  }
  return sum;
}

static void *thread_of_tasks(void *unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
    tasks(50);
  return unused;
}

static void *short_thread(void *unused) {
  tasks(1);
  return unused;
}

static void *threads_that_end(void *unused) {
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    pthread_t thread;
    pthread_create(&thread, NULL, short_thread, NULL);
    pthread_join(thread, NULL);
  }
  return unused;
}

int main(void) {
  pthread_t one, two;
  tasks(1);
  pthread_create(&one, NULL, thread_of_tasks, NULL);
  pthread_create(&two, NULL, threads_that_end, NULL);
  for (int i = 0; i < 100; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      pthread_t thread;
      pthread_create(&thread, NULL, short_thread, NULL);
      int sum = tasks(20);
      pthread_join(thread, NULL);
      _exit(sum == 20 * 7 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    if (status)
      break;
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return DONE();
}
