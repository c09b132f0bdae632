// A program may change its own name; the names of its threads are independent of it.
// levels: O0 O2
// stdout: changed other comm renamed
// stdout: restored 1
#define _GNU_SOURCE
#include "../../check.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

static char *before;
__attribute__((constructor)) static void keep(void) { before = program_invocation_short_name; }

int main(int argc, char **argv) {
  (void)argc;
  program_invocation_short_name = "other";
  CHECK(prctl(PR_SET_NAME, "renamed") == 0);
  char comm[16] = "";
#pragma omp parallel num_threads(2)
#pragma omp master
  prctl(PR_GET_NAME, comm);
  printf("changed %s comm %s\n", program_invocation_short_name, comm);
  program_invocation_short_name = before;
  const char *slash = strrchr(argv[0], '/');
  printf("restored %d\n", !strcmp(program_invocation_short_name, slash ? slash + 1 : argv[0]));
}
