// exec of other files is left to the system: an existing program, one found by search, one that does not exist.
// levels: O0 O2
// stdout: there
// stdout: found
// stdout: 2 2
#include "../../check.h"
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  int status;
  if (fork() == 0)
    execl("/bin/echo", "echo", "there", (char *)NULL);
  wait(&status);
  if (fork() == 0)
    execlp("echo", "echo", "found", (char *)NULL);
  wait(&status);
  char *args[] = {"x", NULL};
  execv("/nonexistent/x", args);
  int first = errno;
  execvp("no-such-program-anywhere", args);
  printf("%d %d\n", first, errno);
}
