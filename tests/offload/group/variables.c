// Several devices as one: variables of the image, which each device has for itself.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
enum { N = 3000 };
#pragma omp begin declare target
int factor = 3;
int table[N];
long counter = 0;
static int calls = 0;
long total = 0;
static int next_call(void) {
  int now;
#pragma omp atomic capture
  now = ++calls;
  return now;
}
#pragma omp end declare target
int main(void) {
  static int out[N];
  for (int i = 0; i < N; i++)
    table[i] = i;
#pragma omp target update to(table)
  for (int s = 0; s < 4; s++) {
#pragma omp target teams distribute parallel for map(tofrom : out)
    for (int i = 0; i < N; i++)
      out[i] += factor * table[N - 1 - i];
    factor++, table[s] = 0;
#pragma omp target update to(factor, table)
  }
  int wrong = 0;
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int s = 0; s < 4; s++)
      sum += N - 1 - i < s ? 0 : (3 + s) * (N - 1 - i);
    wrong += out[i] != sum;
  }
  CHECK(wrong == 0);
  // Kernels that change variables see one copy of them.
  for (int s = 0; s < 3; s++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
#pragma omp atomic
      counter += i;
    }
#pragma omp target
    counter *= 2;
  }
#pragma omp target update from(counter)
  CHECK(counter == (2L + 4 + 8) * N * (N - 1) / 2);
  // A variable that kernels change through an argument, and that others read as a variable.
  for (int s = 1; s < 5; s++) {
#pragma omp target teams distribute parallel for reduction(+ : total)
    for (int i = 0; i < N; i++)
      total += i % 10;
    static long read[N];
#pragma omp target teams distribute parallel for map(from : read)
    for (int i = 0; i < N; i++)
      read[i] = total;
    for (int i = 0; i < N; i++)
      CHECK(read[i] == s * 4500L * N / 1000);
#pragma omp target map(tofrom : total)
    total += 0;
  }
  int most = 0;
#pragma omp target teams distribute parallel for reduction(max : most)
  for (int i = 0; i < N; i++)
    most = next_call() > most ? calls : most;
  CHECK(most == N);
  int entered = 0;
#pragma omp target teams distribute parallel for map(tofrom : entered)
  for (int i = 0; i < N; i++) {
#pragma omp critical
    entered++;
  }
  CHECK(entered == N);
  return DONE();
}
