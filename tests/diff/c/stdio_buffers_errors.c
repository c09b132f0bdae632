// exit: 29
// flags: -D_GNU_SOURCE
// setvbuf, fputs, fputc, perror-free errors, ferror, freopen-free, dprintf, fmemopen, open_memstream.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char *buf;
  size_t n;
  FILE *m = open_memstream(&buf, &n);
  for (int i = 0; i < 10; i++) fprintf(m, "%d,", i * i);
  fclose(m);
  printf("%s %zu\n", buf, n);
  FILE *r = fmemopen(buf, n, "r");
  int s = 0, x;
  while (fscanf(r, "%d,", &x) == 1) s += x;
  fclose(r);
  free(buf);
  setvbuf(stdout, 0, _IOLBF, 256);
  fputs("line ", stdout);
  fputc('c', stdout);
  putc('\n', stdout);
  dprintf(1, "dprintf %d\n", s);
  FILE *bad = fopen("/nonexistent", "r");
  FILE *t = tmpfile();
  fputs("x", t);
  int e0 = ferror(t);
  fclose(t);
  printf("%d %d\n", bad == 0, e0);
  return s & 127;
}
