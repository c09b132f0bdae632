// Wide, char16_t, char32_t and UTF-8 strings and their functions in the C locale.
#include <stdio.h>
#include <wchar.h>
#include <uchar.h>
#include <string.h>
int main(void) {
  const wchar_t *w = L"wide \u00e9\U0001F600";
  const char16_t *u = u"\U0001F600x";
  const char32_t *v = U"\U0001F600";
  const char *s = u8"\u00e9\u20ac";
  printf("%zu %d %x %x %x %zu %x\n", wcslen(w), (int)w[6], u[0], u[1], (unsigned)v[0], strlen(s), (unsigned char)s[2]);
  wchar_t b[20];
  wcscpy(b, L"abc");
  wcscat(b, L"def");
  printf("%d %d %ld %ls\n", wcscmp(b, L"abcdef"), wcschr(b, L'd') == b + 3, wcstol(L"-77", 0, 10), b);
  return 0;
}
