// exit: 6
// env: DIFF_VALUE=from-outside
// args: one two -x --long=3 5
// flags: -D_GNU_SOURCE
// Arguments, the environment by getenv, environ and setenv.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
int main(int argc, char **argv, char **envp) {
  for (int i = 1; i < argc; i++) printf("%d:%s ", i, argv[i]);
  printf("%d %d\n", argv[argc] == 0, envp == environ);
  const char *v = getenv("DIFF_VALUE");
  printf("%s %s\n", v ? v : "none", getenv("SURELY_NOT_SET_ANYWHERE") ? "set" : "unset");
  setenv("DIFF_VALUE", "changed", 1);
  printf("%s ", getenv("DIFF_VALUE"));
  unsetenv("DIFF_VALUE");
  int f = 0;
  for (char **e = environ; *e; e++) f |= !strncmp(*e, "DIFF_VALUE=", 11);
  printf("%d\n", f);
  return argc;
}
