// Uses of goto: loops made by hand, jumps into and out of nested loops, irreducible flow.
#include <stdio.h>
static int irr(int a, int n) {
  int s = 0;
  if (a) goto second;
first:
  s += 1;
  if (--n < 0) return s;
second:
  s += 10;
  if (n-- > 0) goto first;
  return s;
}
int main(void) {
  int i = 0, s = 0;
top:
  if (i >= 100) goto end;
  s += i;
  i++;
  if (i % 3) goto top;
  s ^= 5;
  goto top;
end:
  printf("%d\n", s);
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 10; b++)
      for (int c = 0; c < 10; c++)
        if (a * b * c == 210) {
          printf("%d %d %d\n", a, b, c);
          goto found;
        }
found:
  printf("%d %d %d\n", irr(0, 9), irr(1, 9), irr(1, 0));
  return 0;
}
