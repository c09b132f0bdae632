/* One region, whose result tells the device that it ran on. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const char *uid = omp_get_num_devices() ? omp_get_uid_from_device(0) : NULL;
  if (uid)
    printf("%s %d\n", uid, omp_get_device_from_uid(uid));
  int n = 1 << 20;
  int *x = malloc(sizeof(int) * n);
  for (int i = 0; i < n; i++)
    x[i] = i;
  int few[4] = {1, 2, 3, 4};
#pragma omp target teams distribute parallel for map(tofrom : x[ : n], few)
  for (int i = 0; i < n; i++) {
    x[i] += 1;
    if (i < 4)
      few[i] *= 2;
  }
  int right = few[0] == 2 && few[1] == 4 && few[2] == 6 && few[3] == 8;
  int untouched = few[0] == 1 && few[1] == 2 && few[2] == 3 && few[3] == 4;
  if (x[n - 1] == n && right)
    puts("computed");
  else if (x[n - 1] == n - 1 && untouched)
    puts("not computed");
  free(x);
  return 0;
}
