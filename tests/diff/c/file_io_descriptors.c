// pipe, read, write, dup2, fdopen, memfd-free: system calls through libc, and errno.
#include <stdio.h>
#include <unistd.h>
#include <errno.h>
#include <string.h>
#include <fcntl.h>
int main(void) {
  int p[2];
  if (pipe(p)) return 1;
  long w = write(p[1], "through the pipe", 16);
  char b[32] = {0};
  long r = read(p[0], b, 7);
  printf("%ld %ld %s\n", w, r, b);
  FILE *f = fdopen(p[0], "r");
  close(p[1]);
  char c[32];
  printf("%s\n", fgets(c, sizeof c, f));
  fclose(f);
  errno = 0;
  int bad = open("/nonexistent/file", O_RDONLY);
  printf("%d %d %s\n", bad, errno == ENOENT, strerror(errno));
  errno = 0;
  long x = read(-1, b, 1);
  printf("%ld %d\n", x, errno == EBADF);
  printf("buffered ");
  fflush(stdout);
  if (write(1, "direct\n", 7) != 7) return 2;
  return 0;
}
