// exit: 4
// Fibonacci, Ackermann, Hanoi, permutations and n queens.
#include <stdio.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
static unsigned moves;
static void hanoi(int n, int a, int b, int c) {
  if (!n) return;
  hanoi(n - 1, a, c, b);
  moves = moves * 3 + (unsigned)(a - b);
  hanoi(n - 1, c, b, a);
}
static unsigned ph;
static void perm(char *s, int l, int r) {
  if (l == r) {
    for (int i = 0; i <= r; i++) ph = ph * 31 + (unsigned char)s[i];
    return;
  }
  for (int i = l; i <= r; i++) {
    char t = s[l];
    s[l] = s[i];
    s[i] = t;
    perm(s, l + 1, r);
    t = s[l];
    s[l] = s[i];
    s[i] = t;
  }
}
static int queens(int n, unsigned c, unsigned d, unsigned e) {
  unsigned all = (1u << n) - 1, f = all & ~(c | d | e);
  int k = c == all;
  while (f) {
    unsigned b = f & -f;
    f ^= b;
    k += queens(n, c | b, (d | b) << 1, (e | b) >> 1);
  }
  return k;
}
int main(void) {
  char s[] = "abcdef";
  perm(s, 0, 5);
  hanoi(6, 1, 2, 3);
  printf("%d %d %u %u %d\n", fib(18), ack(2, 6), moves, ph, queens(7, 0, 0, 0));
  return queens(6, 0, 0, 0);
}
