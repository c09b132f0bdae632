// The program's name, as seen by itself and by others, and the arguments of its constructors.
// levels: O0 O2
// args: one two
// stdout: constructor 3 one two 1 1
// stdout: names 1 1 1
#define _GNU_SOURCE
#include "../../check.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

extern char **environ;
static int count, same_list, same_environment;
static char **words;

__attribute__((constructor(101))) static void early(int argc, char **argv, char **envp) {
  count = argc;
  words = argv;
  same_environment = envp && environ && envp[0] == environ[0];
}
__attribute__((constructor)) static void late(int argc, char **argv) { same_list = argv == words && argc == count; }

int main(int argc, char **argv) {
  printf("constructor %d %s %s %d %d\n", count, words[1], words[2], same_list, same_environment);
  const char *base = strrchr(argv[0], '/');
  base = base ? base + 1 : argv[0];
  char comm[16] = "";
  prctl(PR_GET_NAME, comm);
  printf("names %d %d %d\n", !strcmp(program_invocation_name, argv[0]), !strcmp(program_invocation_short_name, base),
         !strncmp(comm, base, 15));
  return argc != count;
}
