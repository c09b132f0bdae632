// exec of the program's file by a descriptor, and of a child whose output returns through a pipe.
// levels: O0 O2
// stdout: at 5
// stdout: described 6
// stdout: piped 7 of 2
// stdout: vfork 8
#define _GNU_SOURCE
#include "../../check.h"
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void wait_for(pid_t child, int status) {
  int got;
  CHECK(waitpid(child, &got, 0) == child && WIFEXITED(got) && WEXITSTATUS(got) == status);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    int n = 0;
#pragma omp parallel num_threads(2) reduction(+ : n)
    n++;
    printf(strcmp(argv[1], "piped") ? "%s %s\n" : "%s %s of %d\n", argv[1], argv[2], n);
    fflush(stdout);
    _exit(atoi(argv[2]));
  }
  char *at[] = {argv[0], "at", "5", NULL}, *described[] = {argv[0], "described", "6", NULL};
  char *piped[] = {argv[0], "piped", "7", NULL}, *forked[] = {argv[0], "vfork", "8", NULL};
  pid_t child = fork();
  if (child == 0) {
    execveat(AT_FDCWD, "/proc/self/exe", at, environ, 0);
    _exit(1);
  }
  wait_for(child, 5);
  int file = open("/proc/self/exe", O_PATH | O_CLOEXEC);
  child = fork();
  if (child == 0) {
    execveat(file, "", described, environ, AT_EMPTY_PATH);
    _exit(1);
  }
  wait_for(child, 6);
  int ends[2];
  CHECK(pipe(ends) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  CHECK(posix_spawn(&child, "/proc/self/exe", &actions, NULL, piped, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char line[64] = "";
  CHECK(read(ends[0], line, sizeof line - 1) > 0);
  wait_for(child, 7);
  printf("%s", line);
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    execv("/proc/self/exe", forked);
    _exit(1);
  }
  wait_for(child, 8);
}
