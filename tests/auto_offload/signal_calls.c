// A signal handler that calls the system interrupts system calls and regions, whose locks it must not wait for; so does a
// child of `fork` in a program whose other threads call the system.
#include "../check.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
enum { N = 20000, ROUNDS = 40, CALLS = 20000, CHILDREN = 20 };
static struct {
  char text[64];
  int plain[N];
} block;
static int sink, stop;
static volatile sig_atomic_t ticks;
static void tick(int number) {
  char c = (char)number;
  if (write(sink, &c, 1) == 1) ticks++;
}
static void *call(void *unused) {
  char own[64] = "";
  while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) CHECK(write(sink, own, sizeof own) == sizeof own);
  return unused;
}
int main(void) {
  sink = open("/dev/null", O_WRONLY);
  struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  pthread_t caller;
  pthread_create(&caller, NULL, call, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < CALLS; i++) CHECK(write(sink, block.text, sizeof block.text) == sizeof block.text);
  for (int r = 0; r < ROUNDS; r++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) block.plain[i] += i;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  fflush(NULL);
  for (int c = 0; c < CHILDREN; c++) {
    int status = -1, child = fork();
    if (child == 0) {
      for (int i = 0; i < 100; i++)
        if (write(sink, block.text, sizeof block.text) != sizeof block.text) _exit(1);
      _exit(block.plain[1] != ROUNDS);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  pthread_join(caller, NULL);
  CHECK(ticks > 0);
  for (int i = 0; i < N; i++) CHECK(block.plain[i] == ROUNDS * i);
  return DONE();
}
