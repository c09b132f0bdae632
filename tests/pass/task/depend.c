// OpenMP 5.2, section 15.9.5: in, out, inout, mutexinoutset, inoutset, depobj, omp_all_memory and iterators order sibling tasks.
// flags: -fopenmp-version=51
// stdout: ok
#include "../../check.h"
static void work(int n) {
  for (volatile int i = 0; i < n; i++) {}
}
int main(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 20; round++) {
    // A chain.
    int x = 0;
    for (int i = 0; i < 50; i++) {
#pragma omp task shared(x) firstprivate(i) depend(inout : x)
      {
        CHECK(x == i);
        x = i + 1;
      }
    }
    // Readers between writers.
    int y = 0, readers = 0;
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(y, readers) firstprivate(i) depend(out : y)
      {
        CHECK(readers == 5 * i);
        y = i;
      }
      for (int k = 0; k < 5; k++) {
#pragma omp task shared(y, readers) firstprivate(i) depend(in : y)
        {
          CHECK(y == i);
          work(50);
#pragma omp atomic
          readers++;
        }
      }
    }
    // In sets, those of one kind in any order, mutexinoutset one at a time.
    int z = 0, inside = 0, free_ones = 0;
#pragma omp task shared(z) depend(out : z)
    z = 1;
    for (int i = 0; i < 8; i++) {
#pragma omp task shared(z, inside) depend(mutexinoutset : z)
      {
        CHECK(inside == 0);
        inside = 1;
        z++;
        work(100);
        inside = 0;
      }
    }
    for (int i = 0; i < 8; i++) {
#pragma omp task shared(z, free_ones) depend(inoutset : z)
      {
        CHECK(z == 9);
#pragma omp atomic
        free_ones++;
      }
    }
#pragma omp task shared(z, free_ones) depend(in : z)
    CHECK(z == 9 && free_ones == 8);
    // Two mutexes at once.
    int a = 0, b = 0;
    for (int i = 0; i < 6; i++) {
#pragma omp task shared(a, b) depend(mutexinoutset : a, b)
      {
        a++;
        b++;
      }
#pragma omp task shared(a) depend(mutexinoutset : a)
      a++;
#pragma omp task shared(b) depend(mutexinoutset : b)
      b++;
    }
    // depobj.
    int d = 0;
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : d)
#pragma omp task shared(d) depend(depobj : object)
    d = 1;
#pragma omp task shared(d) depend(depobj : object)
    {
      CHECK(d == 1);
      d = 2;
    }
#pragma omp depobj(object) update(in)
#pragma omp task shared(d) depend(depobj : object)
    CHECK(d == 2);
#pragma omp depobj(object) destroy
    // Iterators.
    int v[16];
    for (int i = 0; i < 16; i++) {
#pragma omp task shared(v) firstprivate(i) depend(out : v[i])
      v[i] = i;
    }
    int sum = 0;
#pragma omp task shared(v, sum) depend(iterator(k = 0 : 16), in : v[k]) depend(out : sum)
    for (int i = 0; i < 16; i++) sum += v[i];
    // All memory.
#pragma omp task shared(x, y, z, a, b, d, sum) depend(inout : omp_all_memory)
    {
      CHECK(x == 50 && y == 9 && z == 9 && d == 2 && sum == 120);
      CHECK(a == 12 && b == 12);
      x = -1;
    }
#pragma omp task shared(x) depend(in : x)
    CHECK(x == -1);
    int fresh = 0;
#pragma omp task shared(x, fresh) depend(out : fresh)
    CHECK(x == -1);
#pragma omp taskwait
  }
  return DONE();
}
