// exit: 118
// flags: -pthread
// C11 threads.h: thrd_create, mtx, cnd, call_once, tss.
#include <stdio.h>
#include <threads.h>
static mtx_t m;
static cnd_t c;
static once_flag o = ONCE_FLAG_INIT;
static int inits, stage, total;
static tss_t key;
static void init(void) { inits++; }
static void del(void *p) { total += *(int *)p; }
static int f(void *a) {
  call_once(&o, init);
  static thread_local int v;
  v = *(int *)a;
  tss_set(key, a);
  mtx_lock(&m);
  while (stage < v) cnd_wait(&c, &m);
  stage++;
  cnd_broadcast(&c);
  mtx_unlock(&m);
  return v * 2;
}
int main(void) {
  mtx_init(&m, mtx_plain);
  cnd_init(&c);
  tss_create(&key, del);
  thrd_t t[4];
  int id[4], s = 0, r;
  for (int i = 3; i >= 0; i--) {
    id[i] = i;
    thrd_create(&t[i], f, &id[i]);
  }
  for (int i = 0; i < 4; i++) {
    thrd_join(t[i], &r);
    s = s * 10 + r;
  }
  printf("%d %d %d %d\n", s, inits, stage, total);
  return s & 127;
}
