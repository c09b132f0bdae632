// A double that both lanes of products take is read once, before the stores that follow: also for
// products behind a store, a call or a branch, and in loops.
// levels: O1 O2 O3
#include <stdio.h>
#include <string.h>

typedef double pair __attribute__((vector_size(16)));

double b[16];

#define APART __attribute__((noinline))

APART void behind_a_store(double *a, long i, pair m, pair other) {
    double x = a[2 * i];
    pair v = {x, x};
    *(pair *)(a + 2 * i) = m * v;
    *(pair *)(a + 2 * i + 2) = other * v;
}

APART void as_a_factor_and_more(double *a, pair m) {
    double x = *a;
    pair v = {x, x};
    *(pair *)a = m * v;
    *(pair *)(a + 2) = m * v + m;
    *(pair *)(a + 4) = m - m * v;
}

APART void overwrite(double *a) { *a = -1; }

APART void behind_a_call(double *a, pair m, pair other) {
    double x = *a;
    pair v = {x, x};
    pair first = m * v;
    overwrite(a);
    *(pair *)(a + 2) = first + other * v;
}

APART void in_a_branch(double *a, pair m, pair other, int more) {
    double x = *a;
    pair v = {x, x};
    pair first = m * v;
    *a = -2;
    if (more) {
        first -= other * v;
    }
    *(pair *)(a + 2) = first;
}

APART void in_a_loop(double *a, pair m, int n) {
    double x = a[0];
    pair v = {x, x};
    for (int i = 0; i < n; i++) {
        pair *at = (pair *)(a + 2 * i);
        *at = *at * v + m * v;
    }
}

APART void in_another_block(double *a, pair m, int n) {
    double x = a[0];
    while (n-- > 0) {
        a[0] += 1;
    }
    pair v = {x, x};
    *(pair *)(a + 2) = m * v;
    *(pair *)(a + 4) = v * (m + m);
}

static void print(const char *what) {
    printf("%s:", what);
    for (int i = 0; i < 8; i++) {
        printf(" %g", b[i]);
    }
    puts("");
    for (int i = 0; i < 16; i++) {
        b[i] = i + 2;
    }
}

int main(void) {
    pair m = {10, 100};
    print("start");
    behind_a_store(b, 1, m, m + m);
    print("behind a store");
    as_a_factor_and_more(b, m);
    print("as a factor and more");
    behind_a_call(b, m, m - 3);
    print("behind a call");
    in_a_branch(b, m, m + 7, 1);
    print("in a branch");
    in_a_loop(b, m, 4);
    print("in a loop");
    in_another_block(b, m, 3);
    print("in another block");
}
