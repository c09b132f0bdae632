// What a native library that brings its own OpenMP runtime offers the guests of this folder. SUFFIX tells two of them apart.
#ifndef NEIGHBOUR_H
#define NEIGHBOUR_H
#ifndef SUFFIX
#define SUFFIX
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define N(name) JOIN(name, SUFFIX)

// The sum of 0..n, computed by a region of `threads` threads; -1 when the region had another number of them.
long N(native_sum)(int threads, long n);
// Each thread of a region of `threads` threads calls `f` with its number; how many calls there were.
int N(native_each)(int threads, void (*f)(int number, void *argument), void *argument);
// The same with `by_name`, which the guest defines.
int N(native_by_name)(int threads);
// Tasks of a region, each of which calls `f`.
int N(native_tasks)(int tasks, void (*f)(int number, void *argument), void *argument);
// The thread's number, the team's size and the level, as the library's own runtime sees them here.
void N(native_view)(int view[3]);
void N(native_set_num_threads)(int n);
int N(native_max_threads)(void);
// The file that the library's `omp_get_thread_num` comes from.
const char *N(native_runtime)(void);
#endif
