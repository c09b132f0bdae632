// A league whose teams cannot all get their threads, with loops and a reduction.
#include <cstdio>
#include <omp.h>

int main() {
  long sum = 0;
  int ended = 0;
#pragma omp teams distribute parallel for reduction(+ : sum) num_teams(8) thread_limit(200)
  for (int i = 0; i < 100000; i++)
    sum += i;
#pragma omp parallel sections num_threads(1000) reduction(+ : ended)
  {
#pragma omp section
    ended++;
#pragma omp section
    ended++;
  }
  std::printf("%ld %d\n", sum, ended);
}
