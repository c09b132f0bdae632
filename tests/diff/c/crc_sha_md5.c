// CRC-32 and SHA-256 of known strings: dense integer code with tables.
#include <stdio.h>
#include <stdint.h>
#include <string.h>
static uint32_t crc(const void *p, size_t n) {
  static uint32_t t[256];
  if (!t[1])
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t c = i;
      for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      t[i] = c;
    }
  uint32_t c = ~0u;
  for (const uint8_t *b = p; n--;) c = t[(c ^ *b++) & 255] ^ c >> 8;
  return ~c;
}
static uint32_t K[64], H0[8];
static int isp(int n) {
  for (int i = 2; i * i <= n; i++)
    if (n % i == 0) return 0;
  return 1;
}
static uint32_t frac(int p, int cube) {
  uint64_t lo = 0, hi = (uint64_t)20 << 32;
  while (hi - lo > 1) {
    uint64_t m = lo + (hi - lo) / 2;
    unsigned __int128 q = (unsigned __int128)m * m;
    int le = cube ? (q >> 32) * m <= (unsigned __int128)p << 64 : q <= (unsigned __int128)p << 64;
    if (le)
      lo = m;
    else
      hi = m;
  }
  return (uint32_t)lo;
}
static uint32_t rr(uint32_t x, int n) { return x >> n | x << (32 - n); }
static void block(uint32_t *h, const uint8_t *b) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++) w[i] = (uint32_t)b[4 * i] << 24 | b[4 * i + 1] << 16 | b[4 * i + 2] << 8 | b[4 * i + 3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + w[i - 7] + (rr(w[i - 15], 7) ^ rr(w[i - 15], 18) ^ w[i - 15] >> 3) +
           (rr(w[i - 2], 17) ^ rr(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(v, h, 32);
  for (int i = 0; i < 64; i++) {
    uint32_t a = v[7] + (rr(v[4], 6) ^ rr(v[4], 11) ^ rr(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i],
             c = (rr(v[0], 2) ^ rr(v[0], 13) ^ rr(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    for (int j = 7; j; j--) v[j] = v[j - 1];
    v[4] += a;
    v[0] = a + c;
  }
  for (int i = 0; i < 8; i++) h[i] += v[i];
}
int main(void) {
  int n = 0;
  for (int p = 2; n < 64; p++)
    if (isp(p)) {
      if (n < 8) H0[n] = frac(p, 0);
      K[n++] = frac(p, 1);
    }
  printf("%08x %08x %08x\n", crc("123456789", 9), K[0], H0[7]);
  const char *ms[] = {"", "abc", "The quick brown fox jumps over the lazy dog"};
  for (int k = 0; k < 3; k++) {
    uint8_t b[64] = {0};
    size_t l = strlen(ms[k]);
    memcpy(b, ms[k], l);
    b[l] = 0x80;
    b[62] = (uint8_t)(l >> 5);
    b[63] = (uint8_t)(l << 3);
    uint32_t h[8];
    memcpy(h, H0, 32);
    block(h, b);
    for (int i = 0; i < 8; i++) printf("%08x", h[i]);
    puts("");
  }
  return 0;
}
