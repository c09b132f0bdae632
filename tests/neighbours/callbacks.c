// Threads of the library's region call functions of the guest, in which each is a foreign thread: the first
// of a team of its own, with the guest's critical regions, locks, threadprivate variables and tasks.
// stdout: ok
#include "../check.h"
#include "neighbour.inc"

static long counter, locked, named, chunks;
static int seen[8];
static omp_lock_t lock;
static int mine;
#pragma omp threadprivate(mine)

static void visit(int number, void *argument) {
  int mark = *(int *)argument;
  CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && omp_get_level() == 0 && !omp_in_parallel());
  mine = number + mark;
  for (int i = 0; i < 500; i++) {
#pragma omp critical
    counter++;
    omp_set_lock(&lock);
    locked++;
    omp_unset_lock(&lock);
  }
  int here = 0;
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 10; i++)
    here++;
#pragma omp atomic
  chunks += here;
  int task = 0;
#pragma omp task shared(task)
  task = 1;
#pragma omp taskwait
  CHECK(task == 1 && here == 10);
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  {
    CHECK(omp_get_num_threads() == 2 && omp_get_level() == 1);
    members += 1 + omp_get_thread_num();
  }
  CHECK(members == 3);
  CHECK(mine == number + mark);
  seen[number]++;
}

void by_name(int number) {
#pragma omp critical(named)
  named += 1 + number;
}

static void in_task(int number, void *argument) {
#pragma omp critical
  counter++;
}

int main(void) {
  omp_init_lock(&lock);
  int mark = 7;
  for (int round = 0; round < 5; round++) {
    CHECK(native_each(3, visit, &mark) == 3);
    int inside = 0;
#pragma omp parallel num_threads(3) reduction(+ : inside)
    inside++;
    CHECK(inside == 3);
  }
  CHECK(counter == 7500 && locked == 7500 && chunks == 150);
  CHECK(seen[0] == 5 && seen[1] == 5 && seen[2] == 5);
  CHECK(native_by_name(4) == 4 && named == 10);
  CHECK(native_tasks(50, in_task, 0) == 50 && counter == 7550);
  return DONE();
}
