// Fibers that start on one thread continue on another, forwards and back, in the middle of a recursion.
// levels: O0 O2
// flags: -lpthread
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <ucontext.h>
enum { FIBERS = 6, ROUNDS = 8 };
static ucontext_t fiber[FIBERS], home[2];
static int turn, at[FIBERS], sums[FIBERS];
static void leave(int me) {
  // The context to return to is that of the thread that runs the fiber now.
  swapcontext(&fiber[me], &home[at[me]]);
}
__attribute__((noinline)) static int down(int n, int me) {
  volatile int keep = n * 3;
  if (n == 0) {
    leave(me);
    return 1;
  }
  int below = down(n - 1, me);
  return below + keep - n * 3 + 1;
}
static void body(int me) {
  for (int round = 0; round < ROUNDS; round++) sums[me] += down(10 + round, me);
  for (;;) leave(me);
}
static void *run(void *which) {
  int id = (int)(long)which;
  for (int round = 0; round < ROUNDS + 1; round++) {
    SPIN_UNTIL(__atomic_load_n(&turn, __ATOMIC_SEQ_CST) == 2 * round + id);
    CHECK(turn == 2 * round + id);
    for (int i = 0; i < FIBERS; i++) {
      if ((i + round) % 2 != id) continue;
      at[i] = id;
      swapcontext(&home[id], &fiber[i]);
    }
    __atomic_store_n(&turn, 2 * round + id + 1, __ATOMIC_SEQ_CST);
  }
  return 0;
}
int main(void) {
  for (int i = 0; i < FIBERS; i++) {
    getcontext(&fiber[i]);
    fiber[i].uc_stack.ss_size = 64 << 10;
    fiber[i].uc_stack.ss_sp = malloc(fiber[i].uc_stack.ss_size);
    fiber[i].uc_link = 0;
    makecontext(&fiber[i], (void (*)(void))body, 1, i);
  }
  pthread_t other;
  pthread_create(&other, 0, run, (void *)1l);
  run((void *)0l);
  pthread_join(other, 0);
  int want = 0;
  for (int round = 0; round < ROUNDS; round++) want += 11 + round;
  for (int i = 0; i < FIBERS; i++) CHECK(sums[i] == want);
  return DONE();
}
