// Fibers that continue on other threads read the thread-local variables of the thread that runs them, though clang
// computes the addresses of these variables before the loop.
// levels: O0 O1 O2 O3
// flags: -lpthread
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <ucontext.h>
enum { ROUNDS = 200, FIBERS = 4 };
struct place {
  int pad[3], id;
  double weight[4];
};
static _Thread_local int who;
static _Thread_local struct place here;
static ucontext_t fiber[FIBERS], home;
static int turn, wrong[FIBERS], met[FIBERS][2];
static double sum[FIBERS];
static void leave(int me) { swapcontext(&fiber[me], &home); }

// The variable itself, in a loop.
static void plain(int me) {
  for (int i = 0; i < ROUNDS; i++) {
    if (who != turn) wrong[me]++;
    met[me][who & 1]++;
    leave(me);
  }
}

// A member at a constant distance, and an element.
static void member(int me) {
  for (int i = 0; i < ROUNDS; i++) {
    if (here.id != turn) wrong[me]++;
    met[me][here.id & 1]++;
    sum[me] += here.weight[2];
    leave(me);
  }
}

// Read before and after each switch, and written; one of the values is chosen by a condition.
static void both(int me) {
  for (int i = 0; i < ROUNDS; i++) {
    int before = who;
    here.weight[0] += i & 1 ? 1.0 : 2.0;
    met[me][before & 1]++;
    leave(me);
    int after = who;
    if (before == after) wrong[me]++;
  }
}

// A second loop without switches in between, which may keep the address.
static void inner(int me) {
  for (int i = 0; i < ROUNDS; i++) {
    for (int k = 0; k < 4; k++) sum[me] += here.weight[k] + who;
    if (here.id != turn) wrong[me]++;
    met[me][here.id & 1]++;
    leave(me);
  }
}

static void body(int me) {
  switch (me) {
  case 0: plain(me); break;
  case 1: member(me); break;
  case 2: both(me); break;
  default: inner(me);
  }
  for (;;) leave(me);
}

static void step(int id) {
  who = here.id = id;
  here.weight[1] = here.weight[2] = here.weight[3] = 10 * id;
  for (int me = 0; me < FIBERS; me++) swapcontext(&home, &fiber[me]);
}

static void *other(void *unused) {
  (void)unused;
  step(turn);
  return 0;
}

int main(void) {
  static char stacks[FIBERS][1 << 17];
  for (int me = 0; me < FIBERS; me++) {
    getcontext(&fiber[me]);
    fiber[me].uc_stack.ss_sp = stacks[me];
    fiber[me].uc_stack.ss_size = sizeof stacks[me];
    fiber[me].uc_link = &home;
    makecontext(&fiber[me], (void (*)(void))body, 1, me);
  }
  for (int i = 0; i < ROUNDS / 2; i++) {
    turn = 0;
    step(0);
    turn = 1;
    pthread_t t;
    CHECK(pthread_create(&t, 0, other, 0) == 0);
    CHECK(pthread_join(t, 0) == 0);
  }
  for (int me = 0; me < FIBERS; me++) {
    CHECK(wrong[me] == 0);
    CHECK(met[me][0] == ROUNDS / 2 && met[me][1] == ROUNDS / 2);
  }
  CHECK(sum[1] == 10.0 * (ROUNDS / 2));
  CHECK(here.weight[0] > 0);
  return DONE();
}
