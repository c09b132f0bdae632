// The environment follows the arguments in memory, and the auxiliary vector the environment, as the kernel lays them
// out, for constructors and main; setenv moves the environment away from there.
// levels: O0 O2
// args: one two
// stdout: ok
#include "../../check.h"
#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

extern char **environ;
static char **seen;

__attribute__((constructor)) static void early(int argc, char **argv, char **envp) {
  seen = envp == argv + argc + 1 ? argv : 0;
}

static unsigned long auxiliary(char **envp, unsigned long type) {
  while (*envp)
    envp++;
  for (const Elf64_auxv_t *a = (const Elf64_auxv_t *)(envp + 1); a->a_type != AT_NULL; a++)
    if (a->a_type == type)
      return a->a_un.a_val;
  return 0;
}

int main(int argc, char **argv, char **envp) {
  CHECK(argc == 3 && !argv[3]);
  CHECK(seen == argv);
  CHECK(envp == argv + argc + 1 && environ == envp);
  CHECK(auxiliary(envp, AT_PAGESZ) == (unsigned long)sysconf(_SC_PAGESIZE));
  CHECK(auxiliary(envp, AT_RANDOM) == getauxval(AT_RANDOM));
  CHECK(setenv("OMPVM_TEST_BEHIND", "here", 1) == 0);
  CHECK(environ != envp);
  CHECK(getenv("OMPVM_TEST_BEHIND") && !strcmp(getenv("OMPVM_TEST_BEHIND"), "here"));
  CHECK(getenv("PATH") != 0);
  DONE();
}
