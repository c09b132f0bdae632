// stdin: first line here\n6 7\n8 9 tail of the input\n
// Reads standard input by line, by character and with scanf.
#include <stdio.h>
#include <string.h>
int main(void) {
  char b[64];
  int n, m;
  if (!fgets(b, sizeof b, stdin)) return 1;
  b[strcspn(b, "\n")] = 0;
  if (scanf("%d %d", &n, &m) != 2) return 2;
  printf("<%s> %d\n", b, n * m);
  int c, k = 0;
  while ((c = getchar()) != EOF) k = (k * 31 + c) & 0xffff;
  printf("%d %d\n", k, feof(stdin) != 0);
  return 0;
}
