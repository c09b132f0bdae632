// flags: -pthread
// Process-directed signals that every thread of the program blocks stay pending until a thread waits for them.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void *waits(void *p) {
  int got = 0;
  sigwait(p, &got);
  return got == SIGUSR2 ? p : NULL;
}

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  int right = 0;
  for (int i = 0; i < 200; i++) {
    int got = 0;
    kill(getpid(), SIGUSR1);
    sigwait(&set, &got);
    right += got == SIGUSR1;
  }
  pthread_t thread;
  void *end = NULL;
  pthread_create(&thread, NULL, waits, &set);
  kill(getpid(), SIGUSR2);
  pthread_join(thread, &end);
  printf("%d %d\n", right, end == &set);
}
