// A program with a team re-executes itself repeatedly: each generation is one process with its own team.
// levels: O0 O2
// stdout: generation 0: 2
// stdout: generation 1: 3
// stdout: generation 2: 4
// stdout: the same process: 1
#include "../../check.h"
#include <string>
#include <unistd.h>

int main(int argc, char **argv) {
  int generation = argc > 1 ? std::stoi(argv[1]) : 0;
  std::string process = argc > 2 ? argv[2] : std::to_string(getpid());
  int n = 0;
#pragma omp parallel num_threads(generation + 2) reduction(+ : n)
  n++;
  printf("generation %d: %d\n", generation, n);
  fflush(stdout);
  if (generation == 2) {
    printf("the same process: %d\n", process == std::to_string(getpid()));
    return 0;
  }
  std::string next = std::to_string(generation + 1);
  execl("/proc/self/exe", argv[0], next.c_str(), process.c_str(), static_cast<char *>(nullptr));
  return 1;
}
