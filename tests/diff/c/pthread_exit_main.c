// flags: -pthread
// main ends by pthread_exit; the process lives on until the last thread ends, with status 0.
#include <stdio.h>
#include <pthread.h>
#include <unistd.h>
static pthread_t m;
static void *f(void *a) {
  pthread_join(m, 0);
  puts((char *)a);
  return 0;
}
int main(void) {
  pthread_t t;
  m = pthread_self();
  pthread_create(&t, 0, f, "after main");
  puts("main leaves");
  pthread_exit(0);
}
