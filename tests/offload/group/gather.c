// Several devices as one: arrays that all threads read get copies, which follow each change.
// options: --device=emulated:3 --devices=all
// env: OMP_TARGET_OFFLOAD=mandatory
#include "../../check.h"
#include <stdlib.h>
enum { N = 6000 };
int main(void) {
  long *value = malloc(sizeof(long) * N), *sum = malloc(sizeof(long) * N), *other = malloc(sizeof(long) * N);
  int *index = malloc(sizeof(int) * N);
  for (int i = 0; i < N; i++)
    value[i] = i, sum[i] = 0, index[i] = (int)((long)i * 1009 % N), other[i] = 0;
#pragma omp target enter data map(to : value[ : N], sum[ : N], index[ : N], other[ : N])
  for (int s = 0; s < 8; s++) {
    // The same elements for all threads, and elements that memory tells.
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
      long total = value[index[i]];
      for (int j = 0; j < 8; j++)
        total += value[j * 700 + s];
      sum[i] += total;
    }
    switch (s % 4) {
    case 0: // a kernel changes the array
#pragma omp target teams distribute parallel for
      for (int i = 0; i < N; i++)
        value[i] += sum[i] % 7;
      break;
    case 1: { // the host changes a part of it
#pragma omp target update from(value[100 : 3000])
      for (int i = 100; i < 3100; i++)
        value[i] += 5;
#pragma omp target update to(value[100 : 3000])
      break;
    }
    case 2: // a copy between devices' memories changes it
      omp_target_memcpy(omp_get_mapped_ptr(value, omp_get_default_device()),
                        omp_get_mapped_ptr(sum, omp_get_default_device()), sizeof(long) * N / 2, 0, 0,
                        omp_get_default_device(), omp_get_default_device());
      break;
    default: // a single thread changes one element, through a pointer in memory
#pragma omp target
    {
      long *to = value;
      to[s] += 1000;
    }
    }
    // The array is read and written by one region, at own elements.
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
      other[i] = value[i] + other[i];
  }
#pragma omp target exit data map(from : value[ : N], sum[ : N], other[ : N]) map(release : index[ : N])
  long *v = malloc(sizeof(long) * N), *t = malloc(sizeof(long) * N), *o = malloc(sizeof(long) * N);
  for (int i = 0; i < N; i++)
    v[i] = i, t[i] = o[i] = 0;
  for (int s = 0; s < 8; s++) {
    for (int i = 0; i < N; i++) {
      t[i] += v[index[i]];
      for (int j = 0; j < 8; j++)
        t[i] += v[j * 700 + s];
    }
    if (s % 4 == 0)
      for (int i = 0; i < N; i++)
        v[i] += t[i] % 7;
    else if (s % 4 == 1)
      for (int i = 100; i < 3100; i++)
        v[i] += 5;
    else if (s % 4 == 2)
      for (int i = 0; i < N / 2; i++)
        v[i] = t[i];
    else
      v[s] += 1000;
    for (int i = 0; i < N; i++)
      o[i] += v[i];
  }
  for (int i = 0; i < N; i++)
    CHECK(value[i] == v[i] && sum[i] == t[i] && other[i] == o[i]);
  return DONE();
}
