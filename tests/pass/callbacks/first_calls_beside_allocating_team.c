// Handlers on the threads of a region that allocate all the time call functions for the first time, and touch
// threadprivate and thread-local variables for the first time on their thread.
// flags: -pthread
// levels: O0 O2
// stdout: ok
#include "../../check.h"
#include "many_functions.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define F(N) __attribute__((noinline)) static int f##N(int n) { return n * 3 + N; }
TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6)
enum { COUNT = 60, MOST = 4 };
static int (*const table[])(int) = {A(f, 1), A(f, 2), A(f, 3), A(f, 4), A(f, 5), A(f, 6)};

static __thread int first_touch = 7;
static __thread int large[50000] = {11};
static int ticks, sum, touched;

static void tick(int signal) {
  (void)signal;
  int now = __atomic_fetch_add(&ticks, 1, __ATOMIC_RELAXED);
  if (first_touch == 7 && large[0] == 11) {
    first_touch = large[0] = 0;
    __atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED);
  }
  if (now < COUNT)
    __atomic_fetch_add(&sum, table[now](1), __ATOMIC_RELAXED);
}

static pthread_t members[MOST];
static int running, done;

static void *interrupt(void *unused) {
  (void)unused;
  SPIN_UNTIL(__atomic_load_n(&running, __ATOMIC_ACQUIRE) > 0);
  while (__atomic_load_n(&ticks, __ATOMIC_RELAXED) < 2 * COUNT) {
    int n = __atomic_load_n(&running, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n; i++)
      pthread_kill(members[i], SIGUSR1);
    usleep(50);
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  return NULL;
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, NULL);
  pthread_t other;
  pthread_create(&other, NULL, interrupt, NULL);
  int expected = 0;
  for (int i = 0; i < COUNT; i++)
    expected += 3 + 10 + i;
#pragma omp parallel num_threads(omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST)
  {
    members[omp_get_thread_num()] = pthread_self();
#pragma omp barrier
#pragma omp single
    __atomic_store_n(&running, omp_get_num_threads(), __ATOMIC_RELEASE);
    for (int i = 0; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); i++) {
      void *volatile block = malloc(50 + i % 3000);
      free(block);
    }
#pragma omp barrier
  }
  pthread_join(other, NULL);
  CHECK(__atomic_load_n(&touched, __ATOMIC_RELAXED) >= 1);
  SPIN_UNTIL(__atomic_load_n(&sum, __ATOMIC_RELAXED) == expected);
  CHECK(__atomic_load_n(&sum, __ATOMIC_RELAXED) == expected);
  return DONE();
}
