// A child of fork can call functions for the first time, even if other threads were making their first calls at that moment.
// flags: -pthread
// levels: O0
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONE(n) static int f##n(int x) { return x < 0 ? x * n : x + n; }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4)
#define NAME(n) f##n,
#define NAMES10(n) NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) NAME(n##5) NAME(n##6) NAME(n##7) NAME(n##8) NAME(n##9)
#define NAMES(n) NAMES10(n##0) NAMES10(n##1) NAMES10(n##2) NAMES10(n##3) NAMES10(n##4) NAMES10(n##5) NAMES10(n##6) NAMES10(n##7) NAMES10(n##8) NAMES10(n##9)
static int (*const functions[])(int) = {NAMES(1) NAMES(2) NAMES(3) NAMES(4)};
enum { COUNT = sizeof functions / sizeof *functions };
// The numbers from 100 to 499, and 1 for each.
enum { SUM = 400 * 599 / 2 + 400 };

static int all(void) {
  int sum = 0;
  for (int i = 0; i < COUNT; i++)
    sum += functions[i](1);
  return sum;
}

static void *thread(void *result) {
  *(int *)result = all();
  return result;
}

static int ends_well(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

// In a process that has called none of the functions, all threads begin with the same ones, so each waits for the first.
static int round_of_forks(void) {
  enum { THREADS = 4, CHILDREN = 4 };
  int results[THREADS], well = 1;
  pthread_t others[THREADS];
  for (int t = 0; t < THREADS; t++)
    pthread_create(&others[t], NULL, thread, &results[t]);
  for (int i = 0; i < CHILDREN && well; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(all() == SUM ? 0 : 1);
    }
    well = ends_well(child);
  }
  for (int t = 0; t < THREADS; t++) {
    pthread_join(others[t], NULL);
    well &= results[t] == SUM;
  }
  return well;
}

int main(void) {
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (child == 0)
      _exit(round_of_forks() ? 0 : 1);
    int well = ends_well(child);
    CHECK(well);
    if (!well)
      break;
  }
  return DONE();
}
