// Exceptions that pass compiled, interpreted, native and parallel frames in every order.
// Functions whose names begin with `interp_` stay interpreted.
// options: --tier=opt
// env: OMPVM_INTERPRET=interp_
// env: OMP_NUM_THREADS=4
// levels: O0 O2
// stdout: compiled catches interpreted: 1 cleanup 1
// stdout: interpreted catches compiled: 2 cleanup 1
// stdout: four layers: 12 cleanups 4
// stdout: rethrown: outer 7 inner 7
// stdout: through qsort: 5
// stdout: through qsort, interpreted comparison: 6
// stdout: in parallel: 400 caught
// stdout: threads: 3
// stdout: not taken: passed by
// stdout: many: 20000
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

static int cleanups;
struct Guard {
  ~Guard() { cleanups++; }
};

__attribute__((noinline)) void interp_throw(int n) { throw n; }
__attribute__((noinline)) void compiled_throw(int n) { throw std::runtime_error(std::to_string(n)); }

__attribute__((noinline)) int compiled_catches(int n) {
  try {
    Guard g;
    interp_throw(n);
  } catch (int x) {
    return x;
  }
  return -1;
}

__attribute__((noinline)) int interp_catches(int n) {
  try {
    Guard g;
    compiled_throw(n);
  } catch (const std::exception &e) {
    return std::stoi(e.what());
  }
  return -1;
}

// compiled > interpreted > compiled > interpreted, one guard each.
__attribute__((noinline)) void interp_four(int n) {
  Guard g;
  throw n;
}
__attribute__((noinline)) void compiled_three(int n) {
  Guard g;
  interp_four(n + 1);
}
__attribute__((noinline)) void interp_two(int n) {
  Guard g;
  compiled_three(n + 1);
}
__attribute__((noinline)) int compiled_one(int n) {
  try {
    Guard g;
    interp_two(n + 1);
  } catch (int x) {
    return x;
  }
  return -1;
}

__attribute__((noinline)) void interp_rethrows(int &inner) {
  try {
    compiled_throw(7);
  } catch (const std::runtime_error &e) {
    inner = std::stoi(e.what());
    throw;
  }
}

static int compare(const void *a, const void *b) {
  if (*(const int *)a == 5 || *(const int *)b == 5) throw 5;
  return 0;
}
static int interp_compare(const void *a, const void *b) {
  if (*(const int *)a == 6 || *(const int *)b == 6) throw 6;
  return 0;
}

__attribute__((noinline)) void interp_wrong_type() {
  try {
    compiled_throw(1);
  } catch (int) {
    puts("never");
  }
}

int main() {
  int got = compiled_catches(1);
  printf("compiled catches interpreted: %d cleanup %d\n", got, cleanups);
  cleanups = 0;
  got = interp_catches(2);
  printf("interpreted catches compiled: %d cleanup %d\n", got, cleanups);
  cleanups = 0;
  got = compiled_one(9);
  printf("four layers: %d cleanups %d\n", got, cleanups);

  int inner = 0, outer = 0;
  try {
    interp_rethrows(inner);
  } catch (const std::exception &e) {
    outer = std::stoi(e.what());
  }
  printf("rethrown: outer %d inner %d\n", outer, inner);

  int values[4] = {3, 5, 6, 1};
  try {
    qsort(values, 2, sizeof(int), compare);
  } catch (int x) {
    printf("through qsort: %d\n", x);
  }
  try {
    qsort(values + 2, 2, sizeof(int), interp_compare);
  } catch (int x) {
    printf("through qsort, interpreted comparison: %d\n", x);
  }

  int caught = 0;
#pragma omp parallel for reduction(+ : caught)
  for (int i = 0; i < 400; i++) {
    if (i % 2) {
      caught += compiled_catches(i) == i;
    } else {
      caught += interp_catches(i) == i;
    }
  }
  printf("in parallel: %d caught\n", caught);

  int sum = 0;
  std::thread t([&] { sum = compiled_catches(1) + interp_catches(2); });
  t.join();
  printf("threads: %d\n", sum);

  try {
    interp_wrong_type();
  } catch (const std::exception &) {
    puts("not taken: passed by");
  }

  // A leaking stack would overflow.
  int many = 0;
  for (int i = 0; i < 10000; i++) many += (compiled_catches(i) == i) + (compiled_one(i) == i + 3);
  printf("many: %d\n", many);
  return 0;
}
