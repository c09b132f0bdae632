// exit: 15
// A state machine of nested switches: a small tokenizer.
#include <stdio.h>
int main(void) {
  const char *s = "x1 = 42+foo*(3.5 - y) /*c*/ \"str\" >= 7";
  int st = 0, n = 0;
  unsigned h = 0;
  char cur[32];
  int l = 0;
  for (const char *p = s;;) {
    int c = *p;
    switch (st) {
    case 0:
      switch (c) {
      case ' ': p++; continue;
      case 0: goto done;
      case 'a' ... 'z': st = 1; break;
      case '0' ... '9': st = 2; break;
      case '"':
        st = 3;
        p++;
        break;
      case '/':
        if (p[1] == '*') {
          st = 4;
          p += 2;
          break;
        } /* fall through */
      default:
        printf("[%c]", c);
        n++;
        p++;
        break;
      }
      l = 0;
      break;
    case 1:
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        cur[l++] = (char)c;
        p++;
      } else {
        cur[l] = 0;
        printf("<%s>", cur);
        n++;
        st = 0;
      }
      break;
    case 2:
      if ((c >= '0' && c <= '9') || c == '.') {
        cur[l++] = (char)c;
        p++;
      } else {
        cur[l] = 0;
        printf("{%s}", cur);
        n++;
        st = 0;
      }
      break;
    case 3:
      if (c != '"')
        cur[l++] = (char)c;
      else {
        cur[l] = 0;
        printf("'%s'", cur);
        n++;
        st = 0;
      }
      p++;
      break;
    case 4:
      if (c == '*' && p[1] == '/') {
        st = 0;
        p += 2;
      } else
        p++;
      break;
    }
    h = h * 33 + (unsigned)st;
  }
done:
  printf("\n%u\n", h);
  return n;
}
