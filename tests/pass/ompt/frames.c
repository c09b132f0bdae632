// OpenMP 5.2, section 19.4.4.29: a task's frames and their flags, as LLVM's tools of release 22 take them: always ompt_frame_cfa,
// in initial, implicit and explicit tasks, also before a frame is known.
// native: skip (libomp before release 22 says ompt_frame_framepointer)
// stdout: ok
// levels: O0 O2
#include "tool.inc"
static void at_the_end(void) {}

static void check(int levels) {
  for (int level = 0; level < levels; level++) {
    ompt_frame_t *frame = NULL;
    int flags = 0;
    CHECK(get_task_info(level, &flags, NULL, &frame, NULL, NULL) == 2 && frame);
    int enter = frame->enter_frame_flags, exit = frame->exit_frame_flags;
    CHECK((enter & ~ompt_frame_application) == ompt_frame_cfa && (exit & ~ompt_frame_application) == ompt_frame_cfa);
    CHECK((flags & ompt_task_initial) ? !frame->exit_frame.ptr : level > 0 || frame->exit_frame.ptr);
  }
}
int main(void) {
  // The tool learns of a thread at its first call of the runtime.
#pragma omp flush
  check(1);
#pragma omp parallel num_threads(2)
  {
    check(2);
#pragma omp task
    check(3);
#pragma omp task if (0)
    {
      check(3);
      // The program calls its code; its frame lies within the enclosing one.
      ompt_frame_t *own = NULL, *outer = NULL;
      CHECK(get_task_info(0, NULL, NULL, &own, NULL, NULL) == 2 && get_task_info(1, NULL, NULL, &outer, NULL, NULL) == 2);
      CHECK(own->exit_frame.ptr >= outer->enter_frame.ptr && own->exit_frame.ptr <= outer->exit_frame.ptr);
    }
#pragma omp parallel num_threads(1)
    check(3);
  }
  check(1);
  return DONE();
}
