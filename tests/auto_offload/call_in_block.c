// A thread waits in a system call that writes to one part of a block, while loops use another part. The call must not
// fail, and the loops must not wait for it: what it reads is written behind them.
// env: OMPVM_TEST=1
// flags: -g
// stderr-has: times on the host
// stderr-has: a system call of another thread uses its memory
#include "../check.h"
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
enum { N = 30000, KINDS = 4, GOT = 64 };
static struct {
  char got[GOT];
  int plain[N];
} block;
static int ends[2];
static void *receive(void *kind) {
  struct iovec parts[] = {{block.got, GOT / 2}, {block.got + GOT / 2, GOT / 2}};
  ssize_t size = -1;
  switch ((long)kind) {
  case 0: size = read(ends[0], block.got, GOT); break;
  case 1: size = recv(ends[0], block.got, GOT, 0); break;
  case 2: size = readv(ends[0], parts, 2); break;
  case 3: {
    FILE *stream = fdopen(dup(ends[0]), "r");
    size = fread(block.got, 1, GOT, stream);
    fclose(stream);
  }
  }
  CHECK(size == GOT);
  return NULL;
}
static void add(int v) {
#pragma omp parallel for
  for (int i = 0; i < N; i++) block.plain[i] += v;
}
int main(void) {
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  for (long kind = 0; kind < KINDS; kind++) {
    pthread_t receiver;
    pthread_create(&receiver, NULL, receive, (void *)kind);
    usleep(50000);
    for (int r = 0; r < 3; r++) add(1);
    char sent[GOT];
    memset(sent, 'a' + kind, GOT);
    CHECK(write(ends[1], sent, GOT) == GOT);
    pthread_join(receiver, NULL);
    add(1);
    CHECK(block.got[0] == 'a' + kind && block.got[GOT - 1] == 'a' + kind);
  }
  for (int i = 0; i < N; i++) CHECK(block.plain[i] == 4 * KINDS);
  return DONE();
}
