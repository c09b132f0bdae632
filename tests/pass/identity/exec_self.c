// exec of the program's own file, by each of its names and each function: the program restarts with the given arguments and
// environment.
// levels: O0 O2
// stdout: [one] [two words] [--] [] 3 -
// stdout: ended 7
// stdout: name [-x] 3 yes
// stdout: ended 7
// stdout: [one] [two words] [--] [] 3 -
// stdout: ended 7
// stdout: [1] [2] [3] [4] [5] [6] [7] [8] 3 -
// stdout: ended 7
// stdout: [env] 3 yes
// stdout: ended 7
// stdout: [one] [two words] [--] [] 3 -
// stdout: ended 7
// stdout: [one] [two words] [--] [] 3 -
// stdout: ended 7
// stdout: [one] [two words] [--] [] 3 yes
// stdout: ended 7
// stdout: name [-x] 3 -
// stdout: ended 7
#define _GNU_SOURCE
#include "../../check.h"
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void ended(pid_t child) {
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
  printf("ended %d\n", WEXITSTATUS(status));
  fflush(stdout);
}

static int again(int argc, char **argv) {
  int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
  n++;
  if (!strcmp(argv[0], "name"))
    printf("name ");
  for (int i = 1; i < argc; i++)
    printf("[%s] ", argv[i]);
  printf("%d %s\n", n, getenv("EXTRA") ? getenv("EXTRA") : "-");
  return 7;
}

#define CHILD(CALL)                                                                                                    \
  do {                                                                                                                 \
    pid_t child = fork();                                                                                              \
    if (child == 0) {                                                                                                  \
      CALL;                                                                                                            \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
    ended(child);                                                                                                      \
  } while (0)

int main(int argc, char **argv) {
  if (argc > 1)
    return again(argc, argv);
  char *args[] = {argv[0], "one", "two words", "--", "", NULL}, *named[] = {"name", "-x", NULL};
  char *env[] = {"EXTRA=yes", NULL};
  char self[4096] = "";
  CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0 && access(self, R_OK) == 0);
  CHILD(execv("/proc/self/exe", args));
  CHILD(execve("/proc/self/exe", named, env));
  CHILD(execvp(argv[0], args));
  CHILD(execl(self, argv[0], "1", "2", "3", "4", "5", "6", "7", "8", (char *)NULL));
  CHILD(execle("/proc/self/exe", argv[0], "env", (char *)NULL, env));
  CHILD(fexecve(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), args, environ));
  pid_t child;
  CHECK(posix_spawn(&child, self, NULL, NULL, args, environ) == 0);
  ended(child);
  CHECK(posix_spawnp(&child, argv[0], NULL, NULL, args, env) == 0);
  ended(child);
  CHECK(chdir("/") == 0);
  CHILD(execv("/proc/self/exe", named));
}
