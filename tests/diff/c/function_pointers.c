// Function pointer tables, arrays of structs with functions, callbacks, comparison of function pointers.
#include <stdio.h>
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
typedef int (*bin)(int, int);
struct op {
  const char *n;
  bin f;
};
static const struct op ops[] = {{"add", add}, {"sub", sub}, {"mul", mul}, {0, 0}};
static bin pick(int i) { return i < 3 ? ops[i].f : (bin)0; }
__attribute__((noinline)) static int fold(bin f, const int *v, int n, int z) {
  for (int i = 0; i < n; i++) z = f(z, v[i]);
  return z;
}
static void hello(void) { puts("hello"); }
int main(void) {
  int v[] = {3, 1, 4, 1, 5};
  for (const struct op *o = ops; o->f; o++) printf("%s %d %d\n", o->n, o->f(7, 3), fold(o->f, v, 5, 2));
  bin (*volatile pp)(int) = pick;
  printf("%d %d %d\n", pp(1) == sub, pp(0) != add, pp(5) == 0);
  void (*volatile h)(void) = hello;
  h();
  (*h)();
  (**h)();
  int (*arr[2][2])(int, int) = {{add, sub}, {mul, add}};
  printf("%d\n", arr[1][0](arr[0][1](9, 4), arr[0][0](1, 1)));
  int (*volatile pf)(const char *) = puts;
  pf("through a pointer to libc");
  return 0;
}
