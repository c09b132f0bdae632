// Regions that stay on the host, each for its reason; `tests/harness` compares the output of `inspect --offload`.
// flags: -g
// stderr-has: on the host
#include "../check.h"
#include <math.h>
enum { N = 200 };
typedef struct Node {
  struct Node *next;
  int value;
} Node;
static int x[N], y[N], count;
static volatile int seen;
static int (*volatile pointer)(int);
__thread int own;
static int twice(int v) { return 2 * v; }
static int deep(int n) { return n < 2 ? n : deep(n - 1) + deep(n - 2); }
int main(void) {
  Node nodes[2] = {{&nodes[1], 1}, {&nodes[0], 2}}, *head = nodes;
  int **rows = malloc(sizeof(int *) * N);
  unsigned order = 0;
  long total = 0;
  int last = 0;
  for (int i = 0; i < N; i++) rows[i] = &x[i];
  pointer = twice;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] = omp_get_thread_num() >= 0;
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    if (x[i] > 100) printf("%d\n", i);
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
#pragma omp critical
    count++;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    omp_set_lock(&lock);
    count++;
    omp_unset_lock(&lock);
  }
#pragma omp parallel for ordered
  for (int i = 0; i < N; i++) {
#pragma omp ordered
    order = order * 3 + (unsigned)i;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] = pointer(i);
#pragma omp parallel for
  for (int i = 0; i < N; i++) *rows[i] += 1;
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    Node *p = head;
    for (int k = 0; k < i % 3; k++) p = p->next;
    x[i] += p->value;
  }
#pragma omp parallel for
  for (int i = 0; i < N; i++) x[i] += deep(i % 5);
#pragma omp parallel for
  for (int i = 0; i < N; i++) own = i;
#pragma omp parallel for
  for (int i = 0; i < N; i++) {
    int *p = malloc(sizeof(int) * (size_t)(i + 1));
    p[i] = x[i], x[i] = ((volatile int *)p)[i];
    free(p);
  }
#pragma omp parallel
#pragma omp single
  count++;
#pragma omp parallel
  {
    int mine = 0;
#pragma omp for
    for (int i = 0; i < N; i++) x[i] += 1, mine = 1;
#pragma omp for
    for (int i = 0; i < N; i++) x[N - 1 - i] += mine;
  }
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < N; i++) y[i] = x[i];
#pragma omp atomic
    order += 7;
#pragma omp for
    for (int i = 0; i < N; i++) y[i] += x[i];
  }
#pragma omp parallel
  {
    int kept[4] = {0};
    for (int k = 0; k < 2; k++)
#pragma omp for
      for (int i = 0; i < N; i++) kept[i % 4] += k + i, y[i] = kept[(i + k) % 4];
  }
#pragma omp parallel
  {
#pragma omp for reduction(+ : total)
    for (int i = 0; i < N; i++) total += x[i];
#pragma omp single
    printf("%d\n", total > 0);
  }
#pragma omp parallel
  {
#pragma omp atomic
    count++;
#pragma omp for
    for (int i = 0; i < N; i++) x[i] += 1;
  }
#pragma omp parallel
  {
#pragma omp single
    for (int i = 0; i < N; i++) order = order * 3 + (unsigned)y[i];
#pragma omp for
    for (int i = 0; i < N; i++) y[i] += (int)order;
  }
#pragma omp parallel
  {
    double part = 0;
    for (int k = 0; k < 2; k++) {
#pragma omp for
      for (int i = 0; i < N; i++) part += x[i];
    }
#pragma omp critical
    total += (long)part;
  }
#pragma omp parallel reduction(+ : total)
  for (int k = 0; k < 2; k++) {
#pragma omp for
    for (int i = 0; i < N; i++) total += x[i] * (k + 1);
  }
#pragma omp parallel
  {
#pragma omp for lastprivate(last)
    for (int i = 0; i < N; i++) y[i] = last = i;
#pragma omp for
    for (int i = 0; i < N; i++) y[i] += last;
  }
#pragma omp parallel
  {
#pragma omp single
    seen = 1;
#pragma omp for
    for (int i = 0; i < N; i++) y[i] += 1;
  }
  CHECK(x[0] == 5 && x[1] == 9);
  CHECK(count > 2 * N && order != 0 && total > 0);
  omp_destroy_lock(&lock);
  free(rows);
  return DONE();
}
