// Three collapsed loops, with negative lower bounds and a stride: each index is computed by division, and neighbors of
// all rows are read. The bounds are known at run time only.
#include <stdio.h>
#include <stdlib.h>

static void fill(long *to, const long *from, int planes, int rows, int columns) {
  long size = (long)planes * rows * columns;
#pragma omp target teams distribute parallel for collapse(3) map(to : from[ : size]) map(tofrom : to[ : size])
  for (int p = -2; p < planes - 2; p++)
    for (int r = 1; r < rows - 1; r++)
      for (int c = -5; c < columns - 5; c += 2) {
        long at = ((long)(p + 2) * rows + r) * columns + (c + 5);
        to[at] = from[at - columns] * 100 + from[at] * 10 + from[at + columns] + p * 1000000L + c * 1000L;
      }
}

int main(int argc, char **argv) {
  (void)argv;
  int planes = argc + 4, rows = argc + 8, columns = argc + 12;
  long size = (long)planes * rows * columns, wrong = 0;
  long *to = malloc(sizeof *to * size), *from = malloc(sizeof *from * size);
  for (long i = 0; i < size; i++)
    to[i] = -1, from[i] = i % 7;
  fill(to, from, planes, rows, columns);
  for (int p = 0; p < planes; p++)
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < columns; c++) {
        long at = ((long)p * rows + r) * columns + c, wanted = -1;
        if (r > 0 && r < rows - 1 && c % 2 == 0)
          wanted = from[at - columns] * 100 + from[at] * 10 + from[at + columns] + (p - 2) * 1000000L +
                   (c - 5) * 1000L;
        wrong += to[at] != wanted;
      }
  printf("%d %d %d: %ld wrong\n", planes, rows, columns, wrong);
  free(to), free(from);
  return wrong != 0;
}
