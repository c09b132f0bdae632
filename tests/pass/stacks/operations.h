// Cases of a bytecode interpreter, each with values and a loop of its own; `i` is the position in the code.
static long work[64];

#define OP(k)                                                                                                          \
  case k: {                                                                                                            \
    long a = work[k], b = work[(k * 7 + i) & 63], c = a * b + k, d = a ^ (b << 3), e = c - d;                          \
    if (e & 1) {                                                                                                       \
      work[(e ^ c) & 63] += d;                                                                                         \
      a += c * e;                                                                                                      \
    } else {                                                                                                           \
      work[d & 63] ^= c;                                                                                               \
      b -= d * e;                                                                                                      \
    }                                                                                                                  \
    for (int j = 0; j < 2; j++) {                                                                                      \
      work[(a + j) & 63] += b + e;                                                                                     \
      a = a * 3 + d;                                                                                                   \
      b ^= a + c;                                                                                                      \
    }                                                                                                                  \
    work[k] = a + b + c + d + e;                                                                                       \
    break;                                                                                                             \
  }
#define OP4(k) OP(k) OP(k + 1) OP(k + 2) OP(k + 3)
#define OP16(k) OP4(k) OP4(k + 4) OP4(k + 8) OP4(k + 12)
