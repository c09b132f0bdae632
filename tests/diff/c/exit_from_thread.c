// exit: 21
// flags: -pthread
// exit called by a second thread runs the atexit handlers and sets the status.
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <unistd.h>
static void bye(void) { puts("handler"); }
static void *f(void *a) {
  (void)a;
  puts("leaving");
  exit(21);
}
int main(void) {
  atexit(bye);
  pthread_t t;
  pthread_create(&t, 0, f, 0);
  for (;;) pause();
}
