// Coroutines by hand: inline assembly stores and loads the stack pointer, the callee-saved registers are clobbers.
// levels: O0 O2
// stdout: ok
#include "../../check.h"
struct co {
  void *sp;
  void (*run)(struct co *);
  long value;
  int ended;
};
static struct co caller;
__attribute__((noinline)) static void swap(void **from, void **to) {
  __asm__ volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "pushq %%rbp\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq (%1), %%rsp\n\t"
      "popq %%rbp\n\t"
      "retq\n"
      "1:\n\t"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}
static struct co *starting;
static void begin(void) {
  struct co *me = starting;
  me->run(me);
  me->ended = 1;
  swap(&me->sp, &caller.sp);
  abort();
}
static void make(struct co *c, void (*run)(struct co *), size_t size) {
  char *stack = malloc(size);
  void **top = (void **)((size_t)(stack + size) & -16l);
  *--top = 0;
  *--top = (void *)begin;
  *--top = 0;
  c->sp = top;
  c->run = run;
  c->ended = 0;
}
static void resume(struct co *c) {
  starting = c;
  swap(&caller.sp, &c->sp);
}
__attribute__((noinline)) static long tree(struct co *me, int depth, long n) {
  if (depth == 0) {
    me->value = n;
    swap(&me->sp, &caller.sp);
    return 1;
  }
  return tree(me, depth - 1, 2 * n) + tree(me, depth - 1, 2 * n + 1);
}
static void walk(struct co *me) { me->value = -tree(me, 6, 1); }
int main(void) {
  struct co a, b;
  make(&a, walk, 32 << 10);
  make(&b, walk, 32 << 10);
  for (long i = 0; i < 64; i++) {
    resume(&a);
    CHECK(a.value == 64 + i);
    resume(&b);
    CHECK(b.value == 64 + i);
  }
  resume(&a);
  resume(&b);
  CHECK(a.ended && b.ended && a.value == -64 && b.value == -64);
  return DONE();
}
