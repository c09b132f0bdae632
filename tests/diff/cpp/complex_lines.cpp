// Arrays of complex numbers: clang separates their parts and mixes the results; the packing of pairs
// (llvm/repack_vectors.cpp) keeps them together. Also loops that must stay separate.
#include <cstdint>
#include <cstdio>

namespace {

constexpr int MOST = 64;

template <class Real> struct Number {
    Real re, im;
};

// The butterflies of a Fourier transform: sums, and differences times a root.
template <class Real>
__attribute__((noinline)) void butterflies(int n, Number<Real> w, const Number<Real> *__restrict a,
                                           const Number<Real> *__restrict b, Number<Real> *__restrict c,
                                           Number<Real> *__restrict d)
{
    for (int i = 0; i < n; i++) {
        Number<Real> s = a[i], t = b[i];
        Real re = s.re - t.re, im = s.im - t.im;
        c[i].re = s.re + t.re;
        c[i].im = s.im + t.im;
        d[i].re = w.re * re - w.im * im;
        d[i].im = w.re * im + w.im * re;
    }
}

// Two numbers that both change.
template <class Real>
__attribute__((noinline)) void products(int n, const Number<Real> *__restrict a, const Number<Real> *__restrict b,
                                        Number<Real> *__restrict c)
{
    for (int i = 0; i < n; i++) {
        c[i].re = a[i].re * b[i].re - a[i].im * b[i].im;
        c[i].im = a[i].re * b[i].im + a[i].im * b[i].re;
    }
}

// The other's conjugate: a sum first, then a difference.
template <class Real>
__attribute__((noinline)) void conjugates(int n, Number<Real> w, const Number<Real> *__restrict a,
                                          Number<Real> *__restrict c)
{
    for (int i = 0; i < n; i++) {
        c[i].re = w.re * a[i].re + w.im * a[i].im;
        c[i].im = w.re * a[i].im - w.im * a[i].re;
    }
}

// Signs of products, of numbers, of one part, of a loop-invariant factor.
template <class Real>
__attribute__((noinline)) void signs(int n, Number<Real> w, const Number<Real> *__restrict a,
                                     const Number<Real> *__restrict b, Number<Real> *__restrict c)
{
    for (int i = 0; i < n; i++) {
        c[i].re = -a[i].im * w.re + b[i].re;
        c[i].im = a[i].re * w.re + -b[i].im;
    }
}

// Signs where both factors change.
template <class Real>
__attribute__((noinline)) void changing_signs(int n, const Number<Real> *__restrict a, const Number<Real> *__restrict b,
                                              Number<Real> *__restrict c)
{
    for (int i = 0; i < n; i++) {
        c[i].re = -a[i].im * b[i].im;
        c[i].im = a[i].re * b[i].re;
    }
}

// A sign of one part alone, also of a value that the next statement reads.
template <class Real>
__attribute__((noinline)) void negated(int n, Number<Real> w, const Number<Real> *a, Number<Real> *c, Number<Real> *d)
{
    for (int i = 0; i < n; i++) {
        c[i].re = -a[i].re;
        c[i].im = a[i].im;
        d[i].re = (w.re + a[i].re) * w.re;
        d[i].im = (w.im + a[i].im) * w.re;
    }
}

// Parts exchanged, one part twice.
template <class Real>
__attribute__((noinline)) void exchanged(int n, const Number<Real> *__restrict a, const Number<Real> *__restrict b,
                                         Number<Real> *__restrict c, Number<Real> *__restrict d)
{
    for (int i = 0; i < n; i++) {
        c[i].re = a[i].im + b[i].re;
        c[i].im = a[i].re + b[i].im;
        d[i].re = a[i].re - b[i].re;
        d[i].im = a[i].re + b[i].re;
    }
}

// A part that is also stored by itself, and different operations on both.
template <class Real>
__attribute__((noinline)) void elsewhere(int n, Number<Real> w, const Number<Real> *__restrict a,
                                         Number<Real> *__restrict c, Real *__restrict apart)
{
    for (int i = 0; i < n; i++) {
        Real re = w.re * a[i].re - w.im * a[i].im;
        apart[i] = re;
        c[i].re = re * Real(0.5);
        c[i].im = (w.re * a[i].im + w.im * a[i].re) / w.re;
    }
}

// With one rounding.
template <class Real>
__attribute__((noinline)) void fused(int n, Number<Real> w, const Number<Real> *__restrict a,
                                     const Number<Real> *__restrict b, Number<Real> *__restrict c)
{
    for (int i = 0; i < n; i++) {
        c[i].re = __builtin_fma(-a[i].im, w.im, b[i].re);
        c[i].im = __builtin_fma(a[i].re, w.im, b[i].im);
    }
}

// In place: later iterations read what earlier ones wrote.
template <class Real> __attribute__((noinline)) void in_place(int n, Number<Real> w, Number<Real> *a)
{
    for (int i = 0; i + 1 < n; i++) {
        Number<Real> s = a[i], t = a[i + 1];
        a[i + 1].re = s.re * w.re - t.im * w.im;
        a[i + 1].im = s.im * w.re + t.re * w.im;
    }
}

// A known length, so that the loop is unrolled completely.
template <class Real>
__attribute__((noinline)) void few(Number<Real> w, const Number<Real> *__restrict a, Number<Real> *__restrict c)
{
    for (int i = 0; i < 6; i++) {
        c[i].re = w.re * a[i].re - w.im * a[i].im + c[i].re;
        c[i].im = w.re * a[i].im + w.im * a[i].re + c[i].im;
    }
}

template <class Real> struct All {
    Number<Real> a[MOST], b[MOST], c[MOST], d[MOST];
    Real apart[MOST];

    explicit All(int seed)
    {
        for (int i = 0; i < MOST; i++) {
            a[i] = {Real((i * 7 + seed) % 23 - 11) / 8, Real((i * 5 + seed) % 19 - 9) / 3};
            b[i] = {Real((i * 3 + seed) % 29 - 14) / 7, Real((i + seed) % 13) / 5};
            c[i] = d[i] = {Real(i) / 9, Real(-i) / 11};
            apart[i] = Real(i);
        }
    }

    void show(const char *name, int n) const
    {
        uint64_t sum = 14695981039346656037u;
        auto bytes = reinterpret_cast<const unsigned char *>(this);
        for (unsigned long i = 0; i < sizeof *this; i++)
            sum = (sum ^ bytes[i]) * 1099511628211u;
        std::printf("%zu bytes, %s %d: %016llx %a %a\n", sizeof(Real), name, n, (unsigned long long)sum,
                    double(c[3].re), double(c[3].im));
    }
};

template <class Real> void run(int seed, int n)
{
    All<Real> all(seed);
    Number<Real> w = {Real(seed + 1) / 7, Real(-3) / Real(seed + 2)};
    butterflies(n, w, all.a, all.b, all.c, all.d);
    all.show("butterflies", n);
    products(n, all.a, all.b, all.c);
    all.show("products", n);
    conjugates(n, w, all.a, all.c);
    all.show("conjugates", n);
    signs(n, w, all.a, all.b, all.c);
    all.show("signs", n);
    changing_signs(n, all.a, all.b, all.c);
    all.show("changing signs", n);
    negated(n, w, all.a, all.c, all.d);
    all.show("negated", n);
    exchanged(n, all.a, all.b, all.c, all.d);
    all.show("exchanged", n);
    elsewhere(n, w, all.a, all.c, all.apart);
    all.show("elsewhere", n);
    fused(n, w, all.a, all.b, all.c);
    all.show("fused", n);
    in_place(n, w, all.a);
    all.show("in place", n);
    few(w, all.b, all.c);
    all.show("few", n);
}

} // namespace

int main()
{
    const int lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 33, MOST};
    int seed = 0;
    for (int n : lengths) {
        run<double>(seed, n);
        run<float>(seed++, n);
    }
    return 0;
}
