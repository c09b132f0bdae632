// An access to the element before the first variable, or behind the last one, is undefined, but
// natively finds memory of the program.
// levels: O0 O2
// stdout: 7
#include <stdio.h>

int only[42];

__attribute__((noinline)) static void set(volatile int *array, int i, int value) {
    array[i] = value;
}

int main(void) {
    set(only, 0, 7);
    set(only, -1, 1);
    set(only, 42, 2);
    printf("%d\n", only[0]);
}
