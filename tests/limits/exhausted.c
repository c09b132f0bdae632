// Allocates all available memory, while its own code becomes hot; continues with it, and frees it.
#include <stdio.h>
#include <stdlib.h>

static double values[1000];

__attribute__((noinline)) static double work(long round) {
  double s = 0;
  for (int i = 0; i < 1000; i++) {
    values[i] += (double)(i * round);
    s += values[i];
  }
  return s;
}

struct node {
  struct node *next;
  char rest[4000];
};

int main(void) {
  struct node *all = NULL, *node;
  long count = 0;
  double s = 0;
  for (size_t size = 1 << 20; size >= sizeof(struct node); size /= 2)
    while ((node = malloc(size))) {
      node->next = all;
      all = node;
      if (++count % 64 == 0)
        s += work(count);
    }
  for (long round = 0; round < 20000; round++)
    s += work(round);
  printf("%d\n", count > 10 && s != 0);
  while (all) {
    node = all->next;
    free(all);
    all = node;
  }
  int n = 0;
#pragma omp parallel num_threads(4) reduction(+ : n)
  n++;
  printf("%d\n", n >= 1 && n <= 4);
}
