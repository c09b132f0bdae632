// exit: 6
// ptrtoint, inttoptr, tagged pointers, pointer comparison, null, function pointers as integers.
#include <stdio.h>
#include <stdint.h>
static int a[10];
static int f(void) { return 6; }
int main(void) {
  uintptr_t u = (uintptr_t)&a[3], t = u | 1;
  int *p = (int *)(t & ~(uintptr_t)1);
  *p = 44;
  volatile intptr_t z = 0;
  uintptr_t g = (uintptr_t)f;
  int (*h)(void) = (int (*)(void))g;
  struct s {
    struct s *n;
  } x = {&x};
  printf("%d %d %d %d %d %d %d %d\n", a[3], (void *)z == 0, p > a, p < a + 3, (int)(u - (uintptr_t)a), h(),
         x.n->n->n == &x, (char)(uintptr_t)p == (char)u);
  void *vp = p;
  unsigned char *b = vp;
  printf("%d %td\n", b[0], b - (unsigned char *)a);
  return h();
}
