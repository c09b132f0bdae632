// An interpreter interpreted: a Brainfuck program with jumps resolved by a stack.
#include <stdio.h>
int main(void) {
  const char *p =
      "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++.";
  unsigned char t[64] = {0};
  int jmp[200], st[20], sp = 0, d = 0;
  long steps = 0;
  for (int i = 0; p[i]; i++)
    if (p[i] == '[')
      st[sp++] = i;
    else if (p[i] == ']') {
      jmp[i] = st[--sp];
      jmp[st[sp]] = i;
    }
  for (int i = 0; p[i]; i++, steps++) switch (p[i]) {
    case '>': d++; break;
    case '<': d--; break;
    case '+': t[d]++; break;
    case '-': t[d]--; break;
    case '.': putchar(t[d]); break;
    case '[':
      if (!t[d]) i = jmp[i];
      break;
    case ']':
      if (t[d]) i = jmp[i];
      break;
    }
  printf("%ld\n", steps);
  return 0;
}
