// exit: 10
// Switches inside loops with state carried around, as -O2 threads jumps through them.
#include <stdio.h>
static unsigned run(const char *s) {
  unsigned st = 0, n = 0;
  for (; *s; s++) switch (st) {
    case 0: st = *s == 'a' ? 1 : 0; break;
    case 1: st = *s == 'b' ? 2 : *s == 'a' ? 1 : 0; break;
    case 2:
      if (*s == 'c') {
        n++;
        st = 3;
      } else
        st = *s == 'a';
      break;
    case 3: st = *s == '!' ? 7 : *s == 'a'; break;
    case 7:
      n += 100;
      st = 0;
      break;
    }
  return n * 8 + st;
}
int main(void) {
  printf("%u %u %u %u\n", run("abcabcxabc"), run("aababcab"), run("abc!abc!x"), run(""));
  return (int)run("abcab");
}
