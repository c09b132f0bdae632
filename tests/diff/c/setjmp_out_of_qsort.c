// exit: 5
// longjmp out of a qsort comparison and out of a bsearch one, over native frames.
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
static jmp_buf jb;
static int n;
static int cmp(const void *a, const void *b) {
  if (++n == 7) longjmp(jb, 5);
  return *(const int *)a - *(const int *)b;
}
static int cmp2(const void *a, const void *b) {
  (void)a;
  longjmp(jb, *(const int *)b);
}
int main(void) {
  int v[32];
  for (int i = 0; i < 32; i++) v[i] = i * 37 % 32;
  int r = setjmp(jb);
  if (r == 0) {
    qsort(v, 32, sizeof *v, cmp);
    puts("no");
  }
  printf("%d %d\n", r, n);
  for (volatile int k = 0; k < 3; k++) {
    int w[] = {k + 11};
    int q = setjmp(jb);
    if (!q)
      bsearch(&n, w, 1, sizeof *w, cmp2);
    else
      printf("%d\n", q);
  }
  n = 100;
  for (int i = 0; i < 32; i++) v[i] = 31 - i;
  qsort(v, 32, sizeof *v, cmp);
  printf("%d %d\n", v[0], v[31]);
  return r;
}
