// flags: -D_GNU_SOURCE
// File input and output through tmpfile: formatted, binary, seek, tell, ungetc, eof, getline.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  FILE *f = tmpfile();
  for (int i = 0; i < 20; i++) fprintf(f, "line %d %g\n", i, i / 4.0);
  long end = ftell(f);
  rewind(f);
  int n;
  double d, s = 0;
  while (fscanf(f, " line %d %lf", &n, &d) == 2) s += n * d;
  printf("%ld %g %d\n", end, s, !!feof(f));
  rewind(f);
  char *l = 0;
  size_t c = 0;
  long t = 0;
  ssize_t k;
  while ((k = getline(&l, &c, f)) > 0) t = t * 3 + k;
  free(l);
  fseek(f, 5, SEEK_SET);
  int ch = fgetc(f);
  ungetc('Q', f);
  int q = fgetc(f);
  printf("%ld %c %c %ld\n", t, ch, q, ftell(f));
  fseek(f, 0, SEEK_END);
  struct {
    int a;
    double b;
  } r[3] = {{1, .5}, {2, .25}, {3, .125}}, g[3];
  memset(g, 0, sizeof g);
  fwrite(r, sizeof *r, 3, f);
  fseek(f, end, SEEK_SET);
  printf("%zu %d %g %zu\n", fread(g, sizeof *g, 3, f), g[2].a, g[1].b, fread(g, 1, 1, f));
  char buf[8];
  rewind(f);
  printf("%s", fgets(buf, 8, f));
  puts("");
  fclose(f);
  return 0;
}
