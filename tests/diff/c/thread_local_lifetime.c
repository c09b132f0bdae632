// flags: -pthread
// The initial thread's variables exist while other threads run and end, even before their first use.
#include <pthread.h>
#include <stdio.h>
static _Thread_local struct {
  int used;
  double values[40];
} mine;
static void *use(void *other) {
  mine.used++;
  *(void **)other = &mine;
  return 0;
}
int main(void) {
  void *ended[3];
  for (int k = 0; k < 3; k++) {
    pthread_t thread;
    pthread_create(&thread, 0, use, &ended[k]);
    pthread_join(thread, 0);
  }
  int distinct = 1;
  for (int k = 0; k < 3; k++) distinct &= ended[k] != (void *)&mine;
  printf("%d %d\n", distinct, mine.used);
  return 0;
}
