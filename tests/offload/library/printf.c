// printf in a region: its text appears between the host's output before and after.
// stdout: before
// stdout: device 7 -3 00ff 2.50 x name 12345678901 100%
// stdout: [   5|5   |+5|0x1f]
// stdout: after
#include <stdio.h>
int main(void) {
  int n = 7;
  puts("before");
#pragma omp target firstprivate(n)
  {
    printf("device %d %d %04x %.2f %c %s %ld %d%%\n", n, -3, 255, 2.5, 'x', "name", 12345678901L, 100);
    printf("[%4d|%-4d|%+d|%#x]\n", 5, 5, 5, 31);
  }
  puts("after");
  return 0;
}
