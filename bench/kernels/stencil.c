/* Two-dimensional five-point stencil: neighbouring loads, double adds, nested loops. */
#include <stdio.h>

enum { N = 256, STEPS = 120 };
static double grid[2][N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) grid[0][i][j] = (i * 31 + j * 17) % 101;
    for (int s = 0; s < STEPS; s++) {
        double(*from)[N] = grid[s & 1], (*to)[N] = grid[~s & 1];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                to[i][j] = 0.2 * (from[i][j] + from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
    }
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += grid[0][i][j];
    printf("%.6f\n", sum);
    return 0;
}
