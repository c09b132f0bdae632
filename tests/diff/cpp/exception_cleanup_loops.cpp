// env: OMPVM_CHAOS=1
// flags: -std=c++14
// An exception lands in a cleanup with a loop, and the loop continues in compiled code: the
// clause that caught it is found there, as is that of an exception thrown in the loop itself.
// Thirty similar functions, of which the seed selects some, at different loops.
#include <cstdio>

static int alive, made;
struct E {
  int v;
  E() : v(++made) {
    alive++;
    if (v % 4 == 0) {
      alive--;
      switch (v / 4 % 4) {
      case 0: throw v;
      case 1: throw v + 0.5;
      case 2: throw "text";
      default: throw 'c';
      }
    }
  }
  ~E() { alive--; }
};
struct Base {
  int n;
};
struct Derived : Base {
  Derived(int i) { n = i; }
};

__attribute__((noinline)) static void meet(int i) {
  switch (i % 5) {
  case 0: throw i;
  case 1: throw Derived(i);
  case 2: throw 1L * i;
  case 3: throw 0.25 * i;
  }
}

// The array's first part is destroyed in a loop, then the clause is searched.
template <int N> __attribute__((noinline)) static double array() {
  try {
    E *e = new E[6];
    delete[] e;
    return -1;
  } catch (const char *s) {
    return N + s[0];
  } catch (double d) {
    return N + d;
  } catch (int i) {
    return N - i;
  } catch (...) {
    return N + 1000;
  }
}

// The same types in another order.
template <int N> __attribute__((noinline)) static double backwards() {
  try {
    E *e = new E[6];
    delete[] e;
    return -1;
  } catch (char c) {
    return N + 2000 + c;
  } catch (int i) {
    return N - 2 * i;
  } catch (double d) {
    return N + 2 * d;
  } catch (const char *s) {
    return N + 2 * s[0];
  }
}

// Exceptions are caught in the loop, rethrown, and caught by an outer clause.
template <int N> __attribute__((noinline)) static long inside() {
  long sum = 0;
  try {
    for (int i = 0; i < 9 + N; i++) {
      try {
        meet(i);
        sum += 1;
      } catch (Base &b) {
        sum += 10 * b.n;
      } catch (long l) {
        sum += 100 * l;
      } catch (int x) {
        if (x > 8) throw Base{x + N};
        sum += 1000;
      } catch (...) {
        if (N % 3 == 0 && i > 6) throw;
        sum += 10000;
      }
    }
  } catch (double d) {
    sum += 7 * d;
  } catch (Base &b) {
    sum += 9 * b.n;
  }
  return sum;
}

// A clause's own block has the loop, and its exception is caught outside.
template <int N> __attribute__((noinline)) static int again() {
  int sum = 0;
  try {
    try {
      meet(N);
    } catch (int i) {
      for (int k = 0; k < 6; k++) try { meet(k + N); } catch (long) { sum += k; }
    } catch (double) {
      for (int k = 0; k < 6; k++) try { meet(k); } catch (Base &) { sum += 2 * k; } catch (int) { sum++; }
    } catch (Base &b) {
      for (int k = 0; k < 6; k++) sum += b.n;
      throw;
    }
  } catch (Derived &) {
    sum += 500;
  } catch (long l) {
    sum += 600 + l;
  } catch (double) {
    sum += 700;
  } catch (int) {
    sum += 800;
  }
  return sum;
}

// Only two types may leave, and a loop runs on the way.
template <int N> __attribute__((noinline)) static void only() throw(int, double) {
  E *e = new E[6];
  delete[] e;
}

template <int N> static void one() {
  std::printf("%d: %g", N, array<N>());
  std::printf(" %g", backwards<N>());
  std::printf(" %ld", inside<N>());
  std::printf(" %d", again<N>());
  while (made % 16 != 1 && made % 16 != 13) made++;
  try {
    only<N>();
  } catch (int i) {
    std::printf(" int %d", i);
  } catch (double d) {
    std::printf(" double %g", d);
  }
  std::printf(", %d alive\n", alive);
}
template <int N> struct All {
  static void run() {
    All<N - 1>::run();
    one<N>();
  }
};
template <> struct All<0> {
  static void run() {}
};
int main() { All<30>::run(); }
