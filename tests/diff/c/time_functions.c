// flags: -D_GNU_SOURCE
// Calendar functions on fixed times: gmtime, mktime with TZ=UTC, strftime, difftime.
#include <stdio.h>
#include <time.h>
#include <stdlib.h>
int main(void) {
  setenv("TZ", "UTC", 1);
  tzset();
  time_t t[] = {0, 1000000000, 1709210096, -86400};
  for (int i = 0; i < 4; i++) {
    struct tm tm, *p = gmtime_r(&t[i], &tm);
    char b[64];
    strftime(b, sizeof b, "%Y-%m-%d %H:%M:%S %a %j", p);
    printf("%s %d\n", b, mktime(&tm) == t[i]);
  }
  printf("%g\n", difftime(t[1], t[0]));
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%d %d\n", b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec), time(0) > 1000000000);
  return 0;
}
