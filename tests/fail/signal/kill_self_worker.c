// A worker sends SIGKILL to its process.
// levels: O0 O2
// signal: 9
#include <omp.h>
#include <signal.h>
#include <unistd.h>
int main(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) kill(getpid(), SIGKILL);
  return 0;
}
