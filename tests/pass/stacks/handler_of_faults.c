// The program's own handler for faults, as in a collector that protects pages to track writes: it runs on the
// stack of the faulting thread, with the requested signals blocked, also while code is being compiled;
// with SA_ONSTACK on the stack that the program provided, and with SA_NODEFER it may fault again.
// levels: O0 O2
// flags: -D_GNU_SOURCE -lpthread
// options: --tier=auto
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
enum { PLAIN, ON_STACK, NESTED };
static volatile int kind;
static volatile long faults;
static __thread char *low, *high, *second;
static __thread char *given;
static __thread int depth;

static void bounds(void) {
  pthread_attr_t a;
  void *base;
  size_t size;
  pthread_getattr_np(pthread_self(), &a);
  pthread_attr_getstack(&a, &base, &size);
  pthread_attr_destroy(&a);
  low = base;
  high = low + size;
}

static void on_fault(int signal, siginfo_t *info, void *context) {
  volatile char here = 0;
  char *at = (char *)&here;
  (void)context;
  if (kind == ON_STACK)
    CHECK(at >= given && at < given + 65536);
  else
    CHECK(at >= low && at < high);
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, 0, &now);
  CHECK(sigismember(&now, SIGUSR1) == 1);
  CHECK(sigismember(&now, SIGUSR2) == 0);
  CHECK(sigismember(&now, signal) == (kind != NESTED));
  if (kind == NESTED && depth++ == 0)
    *second = 1;
  uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);
  CHECK(mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) == 0);
  __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
}

static void install(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  CHECK(sigaction(SIGSEGV, &action, 0) == 0);
}

// Many functions of different shapes, so that the compiler is always busy.
#define WORK(N)                                                                                                        \
  __attribute__((noinline)) static long work##N(long n, char *page) {                                                  \
    long s = N;                                                                                                        \
    for (long i = 0; i < n; i++) {                                                                                     \
      s = s * (2 * N + 3) + (i ^ (s >> (N % 5 + 1)));                                                                  \
      if (i % 4096 == N)                                                                                               \
        page[i % PAGE] = (char)s;                                                                                      \
    }                                                                                                                  \
    return s;                                                                                                          \
  }
WORK(1) WORK(2) WORK(3) WORK(4) WORK(5) WORK(6) WORK(7) WORK(8)
static long (*const works[])(long, char *) = {work1, work2, work3, work4, work5, work6, work7, work8};

static long round_of(int rounds) {
  long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    bounds();
    char *pages = mmap(0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    second = pages + PAGE;
    stack_t alternate = {0}, before;
    given = malloc(65536);
    alternate.ss_sp = given;
    alternate.ss_size = 65536;
    if (kind == ON_STACK)
      CHECK(sigaltstack(&alternate, &before) == 0);
    for (int i = 0; i < rounds; i++) {
      depth = 0;
      CHECK(mprotect(pages, 2 * PAGE, PROT_READ) == 0);
      sum += works[i % 8](20000, pages) & 1;
    }
    if (kind == ON_STACK)
      CHECK(sigaltstack(&before, 0) == 0);
    munmap(pages, 2 * PAGE);
    free(given);
  }
  return sum;
}

int main(void) {
  install(0);
  long sum = round_of(200);
  CHECK(faults == 3 * 200);
  kind = NESTED;
  install(SA_NODEFER);
  sum += round_of(100);
  CHECK(faults == 3 * 400);
  kind = ON_STACK;
  install(SA_ONSTACK);
  sum += round_of(100);
  CHECK(faults == 3 * 500);
  CHECK(sum >= 0);
  printf("ok\n");
  return 0;
}
