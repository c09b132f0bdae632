// Graph algorithms over pointers and indices: breadth-first search, Dijkstra, union-find, topological order.
#include <stdio.h>
#include <string.h>
#define N 40
static int w[N][N], dist[N], par[N];
static int find(int x) {
  while (par[x] != x) x = par[x] = par[par[x]];
  return x;
}
int main(void) {
  unsigned s = 3;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      s = s * 1664525 + 1013904223;
      w[i][j] = (s >> 24) < 30 ? (int)(s >> 16 & 15) + 1 : 0;
    }
  int q[N], h = 0, t = 0, lev[N];
  memset(lev, -1, sizeof lev);
  lev[0] = 0;
  q[t++] = 0;
  while (h < t) {
    int u = q[h++];
    for (int v = 0; v < N; v++)
      if (w[u][v] && lev[v] < 0) {
        lev[v] = lev[u] + 1;
        q[t++] = v;
      }
  }
  int done[N] = {0};
  for (int i = 0; i < N; i++) dist[i] = 1 << 20;
  dist[0] = 0;
  for (int k = 0; k < N; k++) {
    int b = -1;
    for (int i = 0; i < N; i++)
      if (!done[i] && (b < 0 || dist[i] < dist[b])) b = i;
    done[b] = 1;
    for (int v = 0; v < N; v++)
      if (w[b][v] && dist[b] + w[b][v] < dist[v]) dist[v] = dist[b] + w[b][v];
  }
  for (int i = 0; i < N; i++) par[i] = i;
  int comps = N;
  for (int i = 0; i < N; i++)
    for (int j = i + 1; j < N; j++)
      if (w[i][j] > 13 && find(i) != find(j)) {
        par[find(i)] = find(j);
        comps--;
      }
  unsigned hs = 0;
  for (int i = 0; i < N; i++) hs = hs * 31 + (unsigned)(lev[i] * 7 + dist[i]);
  printf("%d %d %u\n", t, comps, hs);
  return 0;
}
