// exit: 18
// A trie over a text with tolower, isalpha, and output in order by recursion.
#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>
struct t {
  struct t *k[26];
  int n;
};
static void walk(const struct t *t, char *b, int d) {
  if (t->n) {
    b[d] = 0;
    printf("%s:%d ", b, t->n);
  }
  for (int i = 0; i < 26; i++)
    if (t->k[i]) {
      b[d] = (char)('a' + i);
      walk(t->k[i], b, d + 1);
    }
}
static void drop(struct t *t) {
  for (int i = 0; i < 26; i++)
    if (t->k[i]) drop(t->k[i]);
  free(t);
}
int main(void) {
  const char *s = "It was the best of times, it was the worst of times; it was the age of wisdom...";
  struct t *r = calloc(1, sizeof *r), *c = r;
  char b[32];
  int words = 0;
  for (;; s++) {
    if (isalpha((unsigned char)*s)) {
      int i = tolower((unsigned char)*s) - 'a';
      if (!c->k[i]) c->k[i] = calloc(1, sizeof *c);
      c = c->k[i];
    } else {
      if (c != r) {
        c->n++;
        words++;
      }
      c = r;
      if (!*s) break;
    }
  }
  walk(r, b, 0);
  drop(r);
  puts("");
  return words;
}
