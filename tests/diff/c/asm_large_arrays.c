/* Inline assembly that clobbers rbx in a function with a large array and one of variable length: large arrays
   are aligned to cache lines, for which compiled code keeps its frame in a register. */
#include <stdio.h>

static void fill(volatile char *p, long n)
{
    for (long i = 0; i < n; i += 64)
        p[i] = (char)i;
}

__attribute__((noinline)) static unsigned both(long n)
{
    char large[8192], more[n];
    fill(large, sizeof large);
    fill(more, n);
    unsigned a = 0, b = 0, c = 0, d = 0;
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(0), "2"(0));
    __asm__ volatile("movl $7, %%ebx" ::: "rbx", "memory");
    return (b != 0) + (unsigned char)large[64] + (unsigned char)more[128];
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 3; i++)
        printf("%u\n", both(1000 + argc));
    return 0;
}
