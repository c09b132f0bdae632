// exit: 5
// fork, statuses by exit and by signal, pipes between parent and child.
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int p[2], st;
  if (pipe(p)) return 1;
  pid_t c = fork();
  if (!c) {
    close(p[0]);
    long s = 0;
    for (int i = 0; i < 1000; i++) s += i * i;
    if (write(p[1], &s, sizeof s) != sizeof s) _exit(1);
    _exit(17);
  }
  long v = 0;
  close(p[1]);
  long r = read(p[0], &v, sizeof v);
  waitpid(c, &st, 0);
  printf("%ld %ld %d\n", r, v, WEXITSTATUS(st));
  fflush(stdout);
  c = fork();
  if (!c) {
    raise(SIGKILL);
    _exit(0);
  }
  waitpid(c, &st, 0);
  printf("%d %d\n", WIFSIGNALED(st), WTERMSIG(st) == SIGKILL);
  fflush(stdout);
  c = fork();
  if (!c) {
    puts("child");
    exit(5);
  }
  waitpid(c, &st, 0);
  printf("%d\n", WEXITSTATUS(st));
  return WEXITSTATUS(st);
}
