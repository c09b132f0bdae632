// The program finds only its three descriptors open, and closing every possible descriptor does no harm: what it opens then is
// its own, while functions are still being called for the first time and loops get hot.
// options: --tier=auto
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#define FUNCTION(n)                                                    \
  __attribute__((noinline)) static unsigned f##n(unsigned x, int k) { \
    for (int i = 0; i < k; i++) x = x * 1664525u + n + (x >> 7) % 13;  \
    return x;                                                          \
  }
FUNCTION(1) FUNCTION(2) FUNCTION(3)
int main(void) {
  unsigned x = f1(1, 1000);
  int first = open("/dev/null", O_RDONLY);
  printf("%d\n", first);
  for (int fd = 3; fd < 256; fd++) close(fd);
  int file[4];
  for (int i = 0; i < 4; i++) {
    file[i] = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (write(file[i], "twelve bytes", 12) != 12) puts("no write");
  }
  x = f2(x, 3000000);
  x = f3(x, 3000000);
  printf("%u\n", x);
  for (int i = 0; i < 4; i++) printf("%d %ld\n", file[i], (long)lseek(file[i], 0, SEEK_END));
  return 0;
}
