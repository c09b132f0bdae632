// The guest opens and closes the library between its regions, and once inside of a region.
// stdout: ok
#include "../check.h"
#include <dlfcn.h>

static int calls;

static void visit(int number, void *argument) {
#pragma omp critical
  calls++;
}

static void once(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  if (!library) {
    puts(dlerror());
    return;
  }
  long (*sum)(int, long) = (long (*)(int, long))dlsym(library, "native_sum");
  int (*each)(int, void (*)(int, void *), void *) = (int (*)(int, void (*)(int, void *), void *))dlsym(library, "native_each");
  CHECK(sum && sum(3, 100) == 5050);
  CHECK(each && each(3, visit, 0) == 3);
  CHECK(dlclose(library) == 0);
}

int main(int argc, char **argv) {
  for (int round = 0; round < 5; round++) {
    once(argv[1]);
    int threads = 0;
#pragma omp parallel num_threads(3) reduction(+ : threads)
    threads++;
    CHECK(threads == 3);
  }
  CHECK(calls == 15);
#pragma omp parallel num_threads(2)
  {
#pragma omp critical(library)
    once(argv[1]);
  }
  CHECK(calls == 21);
  return DONE();
}
