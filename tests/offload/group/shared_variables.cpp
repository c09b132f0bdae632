// Several devices as one: large variables that kernels write, read elsewhere, and find through pointers; objects.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
enum { N = 6000 };
#pragma omp begin declare target
long table[N];
double weight[8] = {3, 1, 2, 5, 7, 9, 8, 1};
int first = 5;
int *const at_first = &first;
int *moving = &first;
template <class T> struct Log {
  T count, most;
  constexpr Log(T start) : count(0), most(start) {}
  void add(T value) {
#pragma omp atomic
    count += 1;
#pragma omp critical(log)
    {
      if (value > most)
        most = value;
    }
  }
};
Log<long> record(-1);
static int twice(int x) { return 2 * x; }
struct Started {
  int n;
  Started *self;
  Started() : n(twice(first)), self(this) {}
} started;
double vector[N];
#pragma omp end declare target

// A kernel that writes each element, and one that reads all of them.
static void write(long by) {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    table[i] = i * by;
}
static void gather(long *out, const int *order) {
#pragma omp target teams distribute parallel for map(from : out[ : N]) map(to : order[ : N])
  for (int i = 0; i < N; i++)
    out[i] = table[order[i]] + table[N - 1 - i];
}

int main() {
  static long out[N];
  static int order[N];
  int wrong = 0;
  for (int i = 0; i < N; i++)
    order[i] = (i * 7L) % N;
  for (long by = 1; by < 4; by++) {
    write(by);
    gather(out, order);
    for (int i = 0; i < N; i++)
      wrong += out[i] != by * (order[i] + N - 1 - i);
    // The host changes some elements after copies of the variable exist.
    for (int i = 100; i < 200; i++)
      table[i] = -i;
#pragma omp target update to(table[100 : 100])
    gather(out, order);
    auto now = [by](long i) { return i >= 100 && i < 200 ? -i : by * i; };
    for (int i = 0; i < N; i++)
      wrong += out[i] != now(order[i]) + now(N - 1 - i);
#pragma omp target update from(table)
    for (int i = 0; i < N; i++)
      wrong += table[i] != now(i);
  }
  CHECK(wrong == 0);

  double sum = 0;
  for (int s = 0; s < 3; s++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 8; i++)
      weight[i] += 0.5;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
    for (int i = 0; i < N; i++)
      sum += weight[i % 8];
  }
  CHECK(sum == N / 8 * (3 * 36 + 8 * 0.5 * (1 + 2 + 3)));

  // Pointers to variables, in initial contents and from constructors.
  for (int s = 0; s < 3; s++) {
#pragma omp target teams distribute parallel for
    for (int i = 0; i < 100; i++) {
#pragma omp atomic
      *at_first += 1;
    }
#pragma omp target
    *moving *= 2;
  }
  int now = 0, n = 0, same = 0;
#pragma omp target map(from : now, n, same)
  now = first, n = started.n, same = started.self == &started && moving == &first;
  CHECK(now == 5 * 8 + 100 * (2 + 4 + 8) && n == 10 && same);
  static int seen[N];
#pragma omp target teams distribute parallel for map(from : seen)
  for (int i = 0; i < N; i++)
    seen[i] = started.self->n + *moving;
  for (int i = 0; i < N; i++)
    wrong += seen[i] != 10 + now;
  CHECK(wrong == 0);

  // A variable that kernels write only through a pointer in a structure.
  struct {
    double *a;
  } view = {vector};
  static double read[N];
  for (int i = 0; i < N; i++)
    vector[i] = 1;
#pragma omp target update to(vector)
#pragma omp target teams distribute parallel for map(to : view) map(tofrom : view.a[ : N])
  for (int i = 0; i < N; i++)
    view.a[i] += i;
#pragma omp target teams distribute parallel for map(from : read)
  for (int i = 0; i < N; i++)
    read[i] = vector[(i + 7) % N];
  for (int i = 0; i < N; i++)
    wrong += read[i] != 1 + (i + 7) % N;
  CHECK(wrong == 0);

#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    record.add((i * 31L) % N);
#pragma omp target update from(record)
  CHECK(record.count == N && record.most == N - 1);
  return DONE();
}
