// ISO C11, section 7.22.4.1, and POSIX sigaltstack: a handler on a small stack of its own calls abort, and the report of ompvm has the frames.
// levels: O0 O2
// signal: 6
// stderr-has: the program called abort
// stderr-has: abort_on_small_stack.c:10
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static void handler(int number) { abort(); }

int main(void) {
  // Below the stack is no memory.
  char *room = mmap(0, 64 << 10, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(room + (48 << 10), 16 << 10, PROT_READ | PROT_WRITE);
  stack_t stack = {.ss_sp = room + (48 << 10), .ss_size = 16 << 10};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, 0);
  sigaction(SIGUSR1, &action, 0);
  raise(SIGUSR1);
  return 1;
}
