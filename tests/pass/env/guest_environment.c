// The guest sees its environment and its arguments as it would natively.
// stdout: ok
// levels: O0 O2
// env: GUEST_VALUE=some=text
// args: one -O2 --help three
#include "../../check.h"
int main(int argc, char **argv) {
  CHECK(argc == 5 && !strcmp(argv[1], "one") && !strcmp(argv[2], "-O2") && !strcmp(argv[3], "--help") && !strcmp(argv[4], "three") && !argv[5]);
  CHECK(getenv("GUEST_VALUE") && !strcmp(getenv("GUEST_VALUE"), "some=text"));
  setenv("GUEST_OTHER", "1", 1);
#pragma omp parallel num_threads(2)
  CHECK(!strcmp(getenv("GUEST_OTHER"), "1"));
  return DONE();
}
