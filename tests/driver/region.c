/* One region; what it computes says where it ran. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int n = 1 << 20;
  int *x = malloc(sizeof(int) * n);
  for (int i = 0; i < n; i++)
    x[i] = i;
#pragma omp target teams distribute parallel for map(tofrom : x[ : n])
  for (int i = 0; i < n; i++)
    x[i] += 1;
  puts(x[n - 1] == n ? "computed" : "not computed");
  free(x);
  return 0;
}
