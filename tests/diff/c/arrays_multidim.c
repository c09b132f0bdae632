// exit: 39
// Multidimensional arrays, pointers to arrays, pointer arithmetic and differences, negative indices.
#include <stdio.h>
#include <stddef.h>
static int g[3][4][5];
static const short tab[2][3] = {{1, 2, 3}, {-4, 5}};
int main(void) {
  int k = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      for (int l = 0; l < 5; l++) g[i][j][l] = k++;
  int (*p)[5] = g[1];
  int *e = &g[2][3][4];
  ptrdiff_t d = e - &g[0][0][0];
  int *mid = &g[1][2][0];
  printf("%d %d %td %d %d %d\n", p[2][3], (*(p + 1))[0], d, e[-7], mid[-1], *(*(*(g + 2) + 1) + 3));
  int s = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) s = s * 10 + tab[i][j];
  printf("%d\n", s);
  double m[6][6], o[6][6];
  for (int i = 0; i < 36; i++) m[i / 6][i % 6] = i % 7 - 3;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      o[i][j] = 0;
      for (int x = 0; x < 6; x++) o[i][j] += m[i][x] * m[x][j];
    }
  printf("%g %g %g\n", o[0][0], o[3][4], o[5][5]);
  char *names[] = {"a", "bc", "def", 0};
  int n = 0;
  for (char **q = names; *q; q++) n += **q;
  return n & 63;
}
