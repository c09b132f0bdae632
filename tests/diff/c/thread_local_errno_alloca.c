// flags: -pthread
// errno per thread, and threads with deep stacks and VLAs.
#include <stdio.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
static int deep(int n) {
  int v[n + 1];
  v[n] = n;
  return n ? v[n] + deep(n - 1) : 0;
}
static void *f(void *a) {
  errno = (int)(long)a;
  close(-1);
  int e = errno;
  return (void *)(long)(deep(100) * 10 + (e == EBADF));
}
int main(void) {
  errno = 77;
  pthread_t t[3];
  long s = 0;
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, f, (void *)i);
  for (int i = 0; i < 3; i++) {
    void *r;
    pthread_join(t[i], &r);
    s += (long)r;
  }
  printf("%ld %d\n", s, errno);
  return 0;
}
