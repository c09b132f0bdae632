// flags: -pthread
// pthread_create with guest start routines, results through join, pthread_exit, detached threads and pthread_self.
#include <stdio.h>
#include <pthread.h>
static void *sq(void *a) {
  long n = (long)a, s = 0;
  for (long i = 0; i <= n; i++) s += i * i;
  return (void *)s;
}
static void *ex(void *a) {
  if (a) pthread_exit((char *)a + 1);
  return 0;
}
static pthread_t self;
static void *who(void *a) {
  (void)a;
  return (void *)(long)(pthread_equal(self, pthread_self()) != 0);
}
int main(void) {
  pthread_t t[6];
  long sum = 0;
  for (long i = 0; i < 6; i++) pthread_create(&t[i], 0, sq, (void *)(i * 10));
  for (int i = 0; i < 6; i++) {
    void *r;
    pthread_join(t[i], &r);
    sum = sum * 3 + (long)r;
  }
  void *r;
  pthread_create(&t[0], 0, ex, (void *)41);
  pthread_join(t[0], &r);
  printf("%ld %ld ", sum, (long)r);
  self = pthread_self();
  pthread_create(&t[0], 0, who, 0);
  pthread_join(t[0], &r);
  printf("%ld %ld\n", (long)r, (long)who(0));
  return 0;
}
