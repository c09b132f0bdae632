// libomp's interface as other compilers use it: tasks without a routine, proxy tasks completed by another thread, the fields of a
// structure shorter than clang's, reductions described in the older way, and numbers of tasks.
// flags: -pthread
// stdout: ok
#include "../../check.h"
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
struct task {
  void *shareds;
  int (*routine)(int, struct task *);
  int part;
};
struct item {
  uintptr_t address;
  size_t length;
  unsigned char kind;
};
struct reduction {
  void *shared;
  size_t size;
  void *init, *fini, *comb;
  unsigned flags;
};
int __kmpc_global_thread_num(void *);
struct task *__kmpc_omp_task_alloc(void *, int, int, size_t, size_t, int (*)(int, struct task *));
int __kmpc_omp_task(void *, int, struct task *);
int __kmpc_omp_task_with_deps(void *, int, struct task *, int, struct item *, int, struct item *);
void __kmpc_proxy_task_completed_ooo(struct task *);
void *__kmpc_task_reduction_init(int, int, void *);
void *__kmpc_task_reduction_get_th_data(int, void *, void *);
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);

static int completed;
static void *complete(void *task) {
  usleep(10000);
  __atomic_store_n(&completed, 1, __ATOMIC_RELEASE);
  __kmpc_proxy_task_completed_ooo(task);
  return NULL;
}
static int proxy(int gtid, struct task *task) {
  pthread_t thread;
  (void)gtid;
  pthread_create(&thread, NULL, complete, task);
  pthread_detach(thread);
  return 0;
}
static void add(void *into, void *from) { *(long *)into += *(long *)from; }

int main(void) {
  for (int way = 0; way < 2; way++) {
    int x = 0, gtid = __kmpc_global_thread_num(NULL);
    struct item item = {(uintptr_t)&x, sizeof x, 3};
    completed = 0;
    if (way == 0) {
      __kmpc_omp_task_with_deps(NULL, gtid, __kmpc_omp_task_alloc(NULL, gtid, 17, sizeof(struct task), 0, proxy), 1, &item, 0, NULL);
#pragma omp task shared(x) depend(inout : x)
      {
        CHECK(completed);
        x = 1;
      }
      CHECK(x == 0);
#pragma omp taskwait
      CHECK(x == 1);
    } else {
#pragma omp parallel
#pragma omp single
      {
        int me = __kmpc_global_thread_num(NULL);
#pragma omp taskgroup
        {
          __kmpc_omp_task(NULL, me, __kmpc_omp_task_alloc(NULL, me, 17, sizeof(struct task), 0, proxy));
          __kmpc_omp_task_with_deps(NULL, me, __kmpc_omp_task_alloc(NULL, me, 1, sizeof(struct task), 0, NULL), 1, &item, 0, NULL);
        }
        CHECK(completed);
      }
    }
  }
  long sum = 1;
#pragma omp parallel
#pragma omp single
  {
    uint64_t outer = __kmpc_get_taskid();
    CHECK(outer != 0 && outer == __kmpc_get_taskid());
#pragma omp taskgroup
    {
      struct reduction r = {&sum, sizeof sum, NULL, NULL, (void *)add, 0};
      void *group = __kmpc_task_reduction_init(__kmpc_global_thread_num(NULL), 1, &r);
      for (long i = 0; i < 100; i++) {
#pragma omp task shared(sum)
        {
          int gtid = __kmpc_global_thread_num(NULL);
          long *mine = __kmpc_task_reduction_get_th_data(gtid, i & 1 ? group : NULL, &sum);
          CHECK(mine == __kmpc_task_reduction_get_th_data(gtid, NULL, mine));
          *mine += i;
          CHECK(__kmpc_get_taskid() != 0 && __kmpc_get_parent_taskid() != 0);
        }
      }
    }
    CHECK(sum == 4951);
  }
  return DONE();
}
