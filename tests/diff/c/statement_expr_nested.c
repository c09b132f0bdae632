// GNU statement expressions, typeof, __auto_type, local labels, conditional with omitted operand, cleanup attribute.
#include <stdio.h>
#define MAX(a, b)                                                                                                      \
  ({                                                                                                                   \
    __auto_type x_ = (a);                                                                                              \
    typeof(b) y_ = (b);                                                                                                \
    x_ > y_ ? x_ : y_;                                                                                                 \
  })
static void fin(int *p) { printf("fin%d ", *p); }
static int find(const int *v, int n, int k) {
  return ({
    __label__ hit;
    int i, r = -1;
    for (i = 0; i < n; i++)
      if (v[i] == k) goto hit;
    goto *(&&out);
  hit:
    r = i;
  out:
    r;
  });
}
int main(void) {
  int i = 3;
  int v[] = {4, 8, 15};
  printf("%d %d %d %d ", MAX(i++, 2), i, find(v, 3, 15), find(v, 3, 16));
  {
    __attribute__((cleanup(fin))) int a = 1;
    __attribute__((cleanup(fin))) int b = 2;
    for (int k = 0; k < 2; k++) {
      __attribute__((cleanup(fin))) int c = 10 + k;
      if (k) break;
    }
    a += b;
  }
  printf("%d %d\n", i ?: 9, 0 ?: 7);
  return 0;
}
