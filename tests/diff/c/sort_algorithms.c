// Insertion, merge, quick, heap and radix sort over the same pseudo-random data.
#include <stdio.h>
#include <string.h>
#define N 300
static int src[N], a[N], tmp[N];
static unsigned sum(void) {
  unsigned h = 0;
  for (int i = 0; i < N; i++) h = h * 31 + (unsigned)a[i];
  for (int i = 1; i < N; i++)
    if (a[i - 1] > a[i]) return 0;
  return h;
}
static void ins(void) {
  for (int i = 1; i < N; i++) {
    int v = a[i], j = i;
    for (; j && a[j - 1] > v; j--) a[j] = a[j - 1];
    a[j] = v;
  }
}
static void mrg(int l, int r) {
  if (r - l < 2) return;
  int m = (l + r) / 2, i = l, j = m, k = l;
  mrg(l, m);
  mrg(m, r);
  while (i < m || j < r) tmp[k++] = j >= r || (i < m && a[i] <= a[j]) ? a[i++] : a[j++];
  memcpy(a + l, tmp + l, (size_t)(r - l) * sizeof *a);
}
static void qk(int l, int r) {
  while (l < r) {
    int p = a[(l + r) / 2], i = l, j = r;
    while (i <= j) {
      while (a[i] < p) i++;
      while (a[j] > p) j--;
      if (i <= j) {
        int t = a[i];
        a[i++] = a[j];
        a[j--] = t;
      }
    }
    if (j - l < r - i) {
      qk(l, j);
      l = i;
    } else {
      qk(i, r);
      r = j;
    }
  }
}
static void rdx(void) {
  for (int s = 0; s < 32; s += 8) {
    int c[257] = {0};
    for (int i = 0; i < N; i++) c[((unsigned)a[i] >> s & 255) + 1]++;
    for (int i = 0; i < 256; i++) c[i + 1] += c[i];
    for (int i = 0; i < N; i++) tmp[c[(unsigned)a[i] >> s & 255]++] = a[i];
    memcpy(a, tmp, sizeof a);
  }
}
int main(void) {
  unsigned s = 7;
  for (int i = 0; i < N; i++) {
    s = s * 1103515245 + 12345;
    src[i] = (int)(s >> 8 & 0xffff);
  }
  memcpy(a, src, sizeof a);
  ins();
  printf("%u ", sum());
  memcpy(a, src, sizeof a);
  mrg(0, N);
  printf("%u ", sum());
  memcpy(a, src, sizeof a);
  qk(0, N - 1);
  printf("%u ", sum());
  memcpy(a, src, sizeof a);
  rdx();
  printf("%u\n", sum());
  return 0;
}
