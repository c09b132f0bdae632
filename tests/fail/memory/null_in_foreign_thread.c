// A fault in a thread made by pthread_create.
// levels: O0 O2
// signal: 11
// stderr-has: null_in_foreign_thread.c:8
#include <pthread.h>
int *volatile nowhere;
static void *body(void *arg) {
  *nowhere = 1;
  return arg;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, body, 0);
  pthread_join(t, 0);
  return 0;
}
