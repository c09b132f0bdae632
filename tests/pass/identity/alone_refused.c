// With a team, and with a thread created by the program, the system refuses calls that need one thread, as natively; a child
// of fork has one thread.
// levels: O0 O2
// stdout: with a thread 1, with a team 1, child 1
#define _GNU_SOURCE
#include "../../check.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static void *stay(void *with) {
  pthread_barrier_wait(&barrier);
  return with;
}
static int refused(void) { return unshare(CLONE_NEWUSER) != 0 && errno == EINVAL; }

static volatile int members;

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  CHECK(pthread_create(&thread, NULL, stay, NULL) == 0);
  int with_thread = refused();
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
#pragma omp parallel num_threads(2)
#pragma omp atomic
  members++;
  int with_team = refused(), status;
  pid_t child = fork();
  if (child == 0)
    _exit(refused());
  CHECK(waitpid(child, &status, 0) == child);
  printf("with a thread %d, with a team %d, child %d\n", with_thread, with_team, status == 0);
}
