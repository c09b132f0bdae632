// flags: -pthread
// Threads with small stacks whose first computation may have to be compiled first.
#include <pthread.h>
#include <stdio.h>

typedef float odd __attribute__((ext_vector_type(3)));

static void *body(void *p) {
  int *n = p;
  long double x = *n;
  odd v = {(float)*n, 1, 2};
  v = v * v + 1;
  *n = (int)(x / 3 * 100) + (int)(v.x + v.y + v.z) + (int)((_Float16)*n / 2);
  return p;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, 32 << 10)) return 1;
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    int n = argc + i;
    if (pthread_create(&thread, &attributes, body, &n)) return 2;
    pthread_join(thread, NULL);
    printf("%d\n", n);
  }
}
