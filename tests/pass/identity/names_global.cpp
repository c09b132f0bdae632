// Static objects and regions find the program's name, the kernel's name of the first thread included.
// levels: O0 O2
// args: --flag
// stdout: object 1 1 2 --flag
// stdout: region 1 comm 1
#include "../../check.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

static std::string base(const std::string &path) { return path.substr(path.rfind('/') + 1); }

struct Recorder {
  std::string name = program_invocation_name, base_name = program_invocation_short_name, comm;
  Recorder() { std::getline(std::ifstream("/proc/self/comm") >> std::ws, comm); }
};
static Recorder recorder;
static int count;
static const char *last;
__attribute__((constructor)) static void arguments(int argc, char **argv, char **) {
  count = argc;
  last = argv[argc - 1];
}

int main(int argc, char **argv) {
  printf("object %d %d %d %s\n", recorder.name == argv[0], recorder.base_name == base(argv[0]), count, last);
  int same = 1;
#pragma omp parallel reduction(&& : same)
  same = same && recorder.base_name == program_invocation_short_name;
  printf("region %d comm %d\n", same, recorder.comm == base(argv[0]).substr(0, 15));
  return argc != 2;
}
