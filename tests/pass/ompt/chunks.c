// OpenMP 5.2, sections 19.5.2.4 to 19.5.2.7: every chunk of a static loop, sections that are dispatched one by one, events of
// undeferred tasks that are fulfilled late, and the teams of a league, each with its own task.
// flags: -fopenmp-version=52
// native: libomp tells the first chunk of a static loop alone
// stdout: ok
// levels: O0 O2
// env: OMP_NUM_THREADS=2 KMP_TEAMS_THREAD_LIMIT=8
#include "tool.inc"
static void at_the_end(void) {}

// Returns the iterations reported since `from`, if no chunk is longer than `most`; -1 otherwise.
static long told(int from, uint64_t most, int *chunks) {
  long sum = 0;
  *chunks = 0;
  for (int i = from; i < event_count; i++)
    if (events[i].kind == KIND(dispatch)) {
      if (events[i].number > most)
        return -1;
      sum += events[i].number, ++*chunks;
    }
  return sum;
}

static void loops(void) {
  int chunks, from = event_count, sum = 0;
#pragma omp parallel for schedule(static, 7) reduction(+ : sum)
  for (int i = -20; i < 80; i++)
    sum += i;
  CHECK(told(from, 7, &chunks) == 100 && chunks == 15);
  // The compiler counts the iterations from 0.
  for (uint64_t start = 0; start < 100; start += 7) {
    int times = 0;
    for (int i = from; i < event_count; i++)
      times += events[i].kind == KIND(dispatch) && events[i].other == start;
    CHECK(times == 1);
  }
  from = event_count;
#pragma omp parallel for schedule(static, 4) reduction(+ : sum)
  for (unsigned char i = 250; i > 100; i -= 10)
    sum += i;
  CHECK(told(from, 4, &chunks) == 15 && chunks == 4);
  from = event_count;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (long i = 0; i < 33; i++)
    sum += (int)i;
  CHECK(told(from, 17, &chunks) == 33 && chunks == 2);
}

// Entries that compilers do not emit, called as libomp declares them.
extern void __kmpc_sections_init(void *, int);
extern int __kmpc_next_section(void *, int, int);
extern void __kmpc_end_sections(void *, int);
extern int __kmpc_global_thread_num(void *);

static void sections(void) {
  int from = event_count, done = 0;
#pragma omp parallel reduction(+ : done)
  {
    int me = __kmpc_global_thread_num(NULL);
    __kmpc_sections_init(NULL, me);
    for (int s; (s = __kmpc_next_section(NULL, me, 5)) < 5;)
      done += s;
    __kmpc_end_sections(NULL, me);
  }
  CHECK(done == 10);
  int begun = 0, ended = 0, parts = 0;
  for (int i = from; i < event_count; i++) {
    struct event *e = &events[i];
    if (e->kind == KIND(work) && e->what == ompt_work_sections)
      *(e->endpoint == BEGIN ? &begun : &ended) += 1;
    parts += e->kind == KIND(dispatch) && e->what == ompt_dispatch_section;
  }
  CHECK(begun == 2 && ended == 2 && parts == 5);
}

static void late(void) {
  int from = event_count;
  omp_event_handle_t event, kept;
#pragma omp task if (0) detach(event) shared(kept)
  kept = event;
  omp_fulfill_event(kept);
#pragma omp taskwait
  int left = -1, done = -1;
  for (int i = from; i < event_count; i++)
    if (events[i].kind == KIND(task_schedule)) {
      if (events[i].endpoint == ompt_task_detach)
        left = i;
      if (events[i].endpoint == ompt_task_late_fulfill)
        done = i;
    }
  CHECK(left > 0 && done > left && events[left].task == events[done].task);
}

static void league(void) {
  int from = event_count;
#pragma omp teams num_teams(2)
  {
    ompt_data_t *task;
    int flags, number;
    CHECK(get_task_info(0, &flags, &task, NULL, NULL, &number) == 2 && (flags & ompt_task_implicit));
    CHECK(get_task_info(1, &flags, &task, NULL, NULL, &number) == 2 && (flags & ompt_task_initial));
    CHECK(number == omp_get_team_num());
  }
  int begun[2] = {0}, ended[2] = {0}, inner = 0;
  for (int i = from; i < event_count; i++) {
    struct event *e = &events[i];
    if (e->kind == KIND(implicit_task) && e->flags == ompt_task_initial && e->other < 2) {
      CHECK(e->number == (e->endpoint == BEGIN ? 2 : 0));
      (e->endpoint == BEGIN ? begun : ended)[e->other]++;
    }
    inner += e->kind == KIND(parallel_begin) && (e->flags & ompt_parallel_team);
  }
  CHECK(begun[0] == 1 && begun[1] == 1 && ended[0] == 1 && ended[1] == 1 && inner == 2);
}

int main(void) {
  loops();
  sections();
  late();
  league();
  return DONE();
}
