// flags: -D_GNU_SOURCE
// mmap, mprotect-free writes, munmap, memory shared with a forked child.
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <string.h>
int main(void) {
  int *s = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char *p = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(p + 5000, 'z', 10);
  s[0] = 1;
  fflush(stdout);
  pid_t c = fork();
  if (c == 0) {
    s[0] = 42;
    s[1000] = s[0] * 2;
    p[0] = 1;
    _exit(p[5009] == 'z' ? 3 : 4);
  }
  int st;
  waitpid(c, &st, 0);
  printf("%d %d %d %d\n", s[0], s[1000], p[0], WEXITSTATUS(st));
  munmap(s, 8192);
  munmap(p, 1 << 20);
  return 0;
}
