// In `task`, a task runs in the environment of the thread that executes it, which is its region's.
// levels: O0 O2
// stdout: tasks 64
// stdout: taskloop 64
// stdout: sections 3
#include "../../check.h"
#include <cfenv>
#include <omp.h>

struct Upward {
  int before = std::fegetround();
  Upward() { std::fesetround(FE_UPWARD); }
  ~Upward() { std::fesetround(before); }
};

int main() {
  int tasks = 0, loop = 0, sections = 0;
#pragma omp parallel num_threads(4)
  { CHECK(std::fegetround() == FE_TONEAREST); }
  {
    Upward mode;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int i = 0; i < 64; i++)
#pragma omp task shared(tasks)
    {
      int right = std::fegetround() == FE_UPWARD;
#pragma omp atomic
      tasks += right;
    }
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskloop grainsize(1) reduction(+ : loop)
    for (int i = 0; i < 64; i++)
      loop += std::fegetround() == FE_UPWARD;
#pragma omp parallel sections num_threads(3) reduction(+ : sections)
    {
      sections += std::fegetround() == FE_UPWARD;
#pragma omp section
      sections += std::fegetround() == FE_UPWARD;
#pragma omp section
      sections += std::fegetround() == FE_UPWARD;
    }
  }
  printf("tasks %d\ntaskloop %d\nsections %d\n", tasks, loop, sections);
}
