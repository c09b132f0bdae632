// levels: O1 O2
/* A product with an element that is found by an index, where the other factor, the indices or
   both are arrays of the function's own. */
#include <stdio.h>

#define KEEP __attribute__((noinline))

KEEP static void fill(double *w, int *k) {
    for (int i = 0; i < 4; i++) {
        w[i] = i + 0.5;
        k[i] = (i * 3 + 1) % 4;
    }
}
KEEP static double factor(const double *a, const int *idx, int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[2] * a[idx[n]] + s;
}
KEEP static double first(const double *a, const int *idx, int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[0] * a[idx[n]] + s;
}
KEEP static double indices(const double *a, const double *b, int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return b[n] * a[k[1]] + s;
}
KEEP static double both(const double *a, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[3] * a[k[2]] + s;
}
KEEP static double all(int n, double s) {
    double w[4];
    int k[4];
    fill(w, k);
    return w[3] * w[k[n]] + s;
}

int main(void) {
    static const double a[4] = {1, 20, 300, 4000}, b[4] = {2, 3, 5, 7};
    static const int idx[4] = {2, 1, 3, 0};
    for (int n = 0; n < 4; n++) {
        printf("%g %g\n", factor(a, idx, n, 0.25), first(a, idx, n, 0.25));
        printf("%g %g %g\n", indices(a, b, n, 0.25), both(a, 0.25), all(n, 0.25));
    }
    return 0;
}
