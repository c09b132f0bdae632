# Runs the clauses that PyOMP lists as unsupported: schedule, ordered, copyin, proc_bind, priority,
# untied, and depend on taskwait. The book shows the lines below.
import array, ompvm

process = ompvm.compile("""
#include <omp.h>
#include <stdio.h>

int start = 7;
#pragma omp threadprivate(start)

/* schedule and ordered: the turns are taken in order, whoever takes them. */
void numbers(long n, long *out) {
  long next = 0;
  #pragma omp parallel for ordered schedule(dynamic, 3) proc_bind(spread)
  for (long i = 0; i < n; i++) {
    #pragma omp ordered
    out[next++] = i * i;
  }
}

/* copyin: every thread begins with the value of the first one. */
long copies(void) {
  long sum = 0;
  start = 9;
  #pragma omp parallel copyin(start) reduction(+ : sum) num_threads(4) proc_bind(close)
  sum += start;
  return sum;
}

/* priority, untied, and a taskwait for one of two values. */
double tasks(void) {
  double left = 0, right = 0, result = 0;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp task depend(out : left) priority(10) untied shared(left)
    left = 1.5;
    #pragma omp task depend(out : right) shared(right)
    right = 2.5;
    #pragma omp taskwait depend(in : left)
    result = left;
    #pragma omp taskwait
    result += 10 * right;
  }
  return result;
}
""", threads=4)

out = array.array("l", [0] * 10)
process.function("numbers")(10, out)
print(list(out))
print(process.function("copies")(), process.function("tasks")())
