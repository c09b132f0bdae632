// Calls a function with a parallel loop from C. The book shows the lines below.
#include <ompvm.h>
#include <stdio.h>
int main(void) {
  ompvm_process *process; const ompvm_function *dot; ompvm_value sum;
  ompvm_value arguments[] = {{.i64 = 3}, {.pointer = (double[]){1, 2, 3}}, {.pointer = (double[]){4, 5, 6}}};
  ompvm_check(ompvm_open("kernel.bc", &process));
  ompvm_check(ompvm_process_function(process, "dot", NULL, &dot));
  ompvm_check(ompvm_call(dot, arguments, &sum));
  printf("%g\n", sum.f64);
}
