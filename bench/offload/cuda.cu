/* The measurements of offload, as CUDA: what the OpenMP version is compared with. */
#include "common.h"

enum { BLOCK = 256 };
#define BLOCKS(n) (unsigned)(((n) + BLOCK - 1) / BLOCK)
#define CHECK(call)                                                             \
  do {                                                                          \
    cudaError_t error_ = (call);                                                \
    if (error_ != cudaSuccess) {                                                \
      printf("WRONG %s: %s\n", #call, cudaGetErrorString(error_));              \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

template <class T> static T *device(long n) {
  T *p;
  CHECK(cudaMalloc(&p, sizeof(T) * (size_t)n));
  return p;
}
#define INDEX (long)blockIdx.x *blockDim.x + threadIdx.x

__global__ void set(int *p) { p[0] = 1; }
__global__ void increment(int *p) { p[0] += 1; }
__global__ void add_one(double *x, int n) {
  int i = INDEX;
  if (i < n)
    x[i] += 1;
}
__global__ void fill(double *x, long n, double v) {
  long i = INDEX;
  if (i < n)
    x[i] = v;
}
/* x[i] = i % m, as the OpenMP version has it. */
template <class T> __global__ void pattern(T *x, long n, int m) {
  long i = INDEX;
  if (i < n)
    x[i] = (T)(i % m);
}
__global__ void daxpy(double *y, const double *x, long n) {
  long i = INDEX;
  if (i < n)
    y[i] += 0.5 * x[i];
}
__global__ void stencil(double *b, const double *a, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, i = blockIdx.y + 1;
  if (j < n - 1)
    b[(long)i * n + j] = 0.2 * (a[(long)i * n + j] + a[(long)i * n + j - 1] + a[(long)i * n + j + 1] +
                                a[(long)(i - 1) * n + j] + a[(long)(i + 1) * n + j]);
}
template <class T> __device__ T block_sum(T v) {
  __shared__ T part[32];
  for (int d = 16; d; d /= 2)
    v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : T(0);
  if (threadIdx.x < 32)
    for (int d = 16; d; d /= 2)
      v += __shfl_down_sync(~0u, v, d);
  return v;
}
__global__ void dot(const double *x, const double *y, long n, double *sum) {
  double v = 0;
  for (long i = INDEX; i < n; i += (long)gridDim.x * blockDim.x)
    v += x[i] * y[i];
  v = block_sum(v);
  if (threadIdx.x == 0)
    atomicAdd(sum, v);
}
__global__ void total(const double *x, long n, double *sum) {
  double v = 0;
  for (long i = INDEX; i < n; i += (long)gridDim.x * blockDim.x)
    v += x[i];
  v = block_sum(v);
  if (threadIdx.x == 0)
    atomicAdd(sum, v);
}
__global__ void map(double *x, long n) {
  long i = INDEX;
  if (i < n)
    x[i] = exp(x[i]) * sqrt(x[i]) * 0.25;
}
__device__ float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float sum = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float c = 0.39894228f * expf(-0.5f * d * d) * sum;
  return d > 0 ? 1.0f - c : c;
}
__global__ void blackscholes(const float *s, const float *k, const float *t, float *c, float *p, long n) {
  long i = INDEX;
  if (i >= n)
    return;
  float root = sqrtf(t[i]);
  float d1 = (logf(s[i] / k[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t[i]) / (0.3f * root);
  float d2 = d1 - 0.3f * root;
  float n1 = normal(d1), n2 = normal(d2), e = expf(-0.02f * t[i]);
  c[i] = s[i] * n1 - k[i] * e * n2;
  p[i] = k[i] * e * (1.0f - n2) - s[i] * (1.0f - n1);
}
__global__ void start_options(float *s, float *k, float *t, long n) {
  long i = INDEX;
  if (i < n)
    s[i] = 20 + (float)(i % 80), k[i] = 10 + (float)(i % 90), t[i] = 0.25f + (float)(i % 10);
}
__global__ void montecarlo(long threads, long each, unsigned long long *hits) {
  long i = INDEX;
  unsigned long long mine = 0;
  if (i < threads) {
    unsigned long seed = (unsigned long)i * 2862933555777941757UL + 3037000493UL;
    for (long j = 0; j < each; j++) {
      seed = seed * 6364136223846793005UL + 1442695040888963407UL;
      float x = (float)(seed >> 40) * 0x1p-24f;
      seed = seed * 6364136223846793005UL + 1442695040888963407UL;
      float y = (float)(seed >> 40) * 0x1p-24f;
      mine += x * x + y * y < 1.0f;
    }
  }
  mine = block_sum(mine);
  if (threadIdx.x == 0)
    atomicAdd(hits, mine);
}
__global__ void nbody(const float *x, float *f, int n) {
  int i = INDEX;
  if (i >= n)
    return;
  float ax = 0, ay = 0, az = 0, px = x[4 * i], py = x[4 * i + 1], pz = x[4 * i + 2];
  for (int j = 0; j < n; j++) {
    float dx = x[4 * j] - px, dy = x[4 * j + 1] - py, dz = x[4 * j + 2] - pz;
    float r = dx * dx + dy * dy + dz * dz + 0.01f;
    float s = 1.0f / sqrtf(r);
    float w = x[4 * j + 3] * s * s * s;
    ax += dx * w, ay += dy * w, az += dz * w;
  }
  f[4 * i] = ax, f[4 * i + 1] = ay, f[4 * i + 2] = az;
}
struct Centres {
  Point at[CENTRES];
};
__global__ void start_points(Point *points, long n) {
  long i = INDEX;
  if (i < n)
    points[i].x = (float)(i * 7919L % 1009), points[i].y = (float)(i * 104729L % 997);
}
__global__ void kmeans(const Point *points, Centres centres, long n, double *sums) {
  double mine[CENTRES * 3] = {0};
  for (long i = INDEX; i < n; i += (long)gridDim.x * blockDim.x) {
    Point p = points[i];
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < CENTRES; c++) {
      float dx = p.x - centres.at[c].x, dy = p.y - centres.at[c].y, d = dx * dx + dy * dy;
      if (d < least)
        least = d, best = c;
    }
#pragma unroll
    for (int c = 0; c < CENTRES; c++)
      if (c == best)
        mine[3 * c] += p.x, mine[3 * c + 1] += p.y, mine[3 * c + 2] += 1;
  }
#pragma unroll
  for (int c = 0; c < CENTRES * 3; c++) {
    double v = block_sum(mine[c]);
    if (threadIdx.x == 0)
      atomicAdd(&sums[c], v);
    __syncthreads();
  }
}
__global__ void start_bodies(Body *bodies, long n) {
  long i = INDEX;
  if (i < n)
    for (int d = 0; d < 3; d++)
      bodies[i].v[d] = 0.5, bodies[i].mass = 1;
}
__global__ void structs(const Body *bodies, long n, double *sum) {
  double v = 0;
  for (long i = INDEX; i < n; i += (long)gridDim.x * blockDim.x) {
    const Body *b = &bodies[i];
    v += b->mass * (b->v[0] * b->v[0] + b->v[1] * b->v[1] + b->v[2] * b->v[2]);
  }
  v = block_sum(v);
  if (threadIdx.x == 0)
    atomicAdd(sum, v);
}
__global__ void matmul(const float *a, const float *b, float *c, int n) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j >= n)
    return;
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum += a[(long)i * n + k] * b[(long)k * n + j];
  c[(long)i * n + j] = sum;
}

int main(void) {
  double time, start = now();
  int *p = device<int>(4);
  set<<<1, 1>>>(p);
  CHECK(cudaDeviceSynchronize());
  tell("start", (now() - start) * 1e3, "ms", "less");

  BEST(time) for (int i = 0; i < EMPTY; i++) { set<<<1, 1>>>(p); cudaDeviceSynchronize(); }
  tell("empty", time / EMPTY * 1e6, "us", "less");

  double *x = device<double>(VECTOR), *y = device<double>(VECTOR);
  BEST(time) for (int r = 0; r < SMALL; r++) {
    add_one<<<BLOCKS(SMALL_N), BLOCK>>>(x, SMALL_N);
    cudaDeviceSynchronize();
  }
  tell("small1000", time * 1e6, "us", "less");

  int pair[4] = {1, 2, 3, 4};
  BEST(time) for (int i = 0; i < EMPTY; i++) {
    cudaMemcpy(p, pair, sizeof pair, cudaMemcpyHostToDevice);
    increment<<<1, 1>>>(p);
    cudaMemcpy(pair, p, sizeof pair, cudaMemcpyDeviceToHost);
  }
  tell("map16", time / EMPTY * 1e6, "us", "less");

  double sum = 0, *dsum = device<double>(1);
  fill<<<BLOCKS(1024), BLOCK>>>(x, 1024, 1.0);
  BEST(time) for (int r = 0; r < SMALL; r++) {
    sum = 0;
    cudaMemcpy(dsum, &sum, 8, cudaMemcpyHostToDevice);
    total<<<8, 128>>>(x, 1024, dsum);
    cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost);
  }
  expect("smallsum", sum, 1024, 0);
  tell("smallsum", time / SMALL * 1e6, "us", "less");

  long n = VECTOR;
  fill<<<BLOCKS(n), BLOCK>>>(x, n, 1.0);
  fill<<<BLOCKS(n), BLOCK>>>(y, n, 2.0);
  CHECK(cudaDeviceSynchronize());
  BEST(time) for (int r = 0; r < 10; r++) { daxpy<<<BLOCKS(n), BLOCK>>>(y, x, n); cudaDeviceSynchronize(); }
  tell("daxpy", 10.0 * 24 * (double)n / time / 1e9, "GB/s", "more");

  dim3 grid(BLOCKS(GRID - 2), GRID - 2);
  pattern<<<BLOCKS(n), BLOCK>>>(x, (long)GRID * GRID, 7);
  CHECK(cudaDeviceSynchronize());
  BEST(time) for (int r = 0; r < 10; r++) { stencil<<<grid, BLOCK>>>(y, x, GRID); cudaDeviceSynchronize(); }
  tell("stencil", 10.0 * 16 * (double)GRID * GRID / time / 1e9, "GB/s", "more");

  fill<<<BLOCKS(n), BLOCK>>>(x, n, 0.5);
  fill<<<BLOCKS(n), BLOCK>>>(y, n, 2.0);
  BEST(time) for (int r = 0; r < 10; r++) {
    sum = 0;
    cudaMemcpy(dsum, &sum, 8, cudaMemcpyHostToDevice);
    dot<<<132 * 8, BLOCK>>>(x, y, n, dsum);
    cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost);
  }
  expect("dot", sum, (double)n, 1e-9);
  tell("dot", 10.0 * 16 * (double)n / time / 1e9, "GB/s", "more");

  fill<<<BLOCKS(n), BLOCK>>>(x, n, 0.3);
  CHECK(cudaDeviceSynchronize());
  BEST(time) for (int r = 0; r < 10; r++) { map<<<BLOCKS(n), BLOCK>>>(x, n); cudaDeviceSynchronize(); }
  tell("map", 10.0 * (double)n / time / 1e9, "Gelem/s", "more");

  float *s = device<float>(OPTIONS), *k = device<float>(OPTIONS), *t = device<float>(OPTIONS);
  float *c = device<float>(OPTIONS), *q = device<float>(OPTIONS);
  start_options<<<BLOCKS(OPTIONS), BLOCK>>>(s, k, t, OPTIONS);
  CHECK(cudaDeviceSynchronize());
  BEST(time) for (int r = 0; r < 10; r++) {
    blackscholes<<<BLOCKS(OPTIONS), BLOCK>>>(s, k, t, c, q, OPTIONS);
    cudaDeviceSynchronize();
  }
  tell("blackscholes", 10.0 * (double)OPTIONS / time / 1e9, "Gopt/s", "more");

  long threads = 1L << 20;
  unsigned long long hits, *dhits = device<unsigned long long>(1);
  BEST(time) {
    hits = 0;
    cudaMemcpy(dhits, &hits, 8, cudaMemcpyHostToDevice);
    montecarlo<<<BLOCKS(threads), BLOCK>>>(threads, SAMPLES / threads, dhits);
    cudaMemcpy(&hits, dhits, 8, cudaMemcpyDeviceToHost);
  }
  expect("montecarlo", 4.0 * (double)hits / (double)SAMPLES, 3.14159265, 1e-3);
  tell("montecarlo", (double)SAMPLES / time / 1e9, "Gsamples/s", "more");

  float *b = device<float>(4 * BODIES), *f = device<float>(4 * BODIES);
  float *host = (float *)malloc(16 * (size_t)BODIES);
  for (int i = 0; i < 4 * BODIES; i++)
    host[i] = (float)((i * 7919L) % 1000) * 0.001f;
  CHECK(cudaMemcpy(b, host, 16 * (size_t)BODIES, cudaMemcpyHostToDevice));
  BEST(time) { nbody<<<BLOCKS(BODIES), BLOCK>>>(b, f, BODIES); cudaDeviceSynchronize(); }
  tell("nbody", (double)BODIES * BODIES / time / 1e9, "Ginter/s", "more");

  Point *points = device<Point>(POINTS);
  start_points<<<BLOCKS(POINTS), BLOCK>>>(points, POINTS);
  double sums[CENTRES * 3], *dsums = device<double>(CENTRES * 3);
  Centres centres;
  BEST(time) {
    for (int c = 0; c < CENTRES; c++)
      centres.at[c] = first_centre(c);
    for (int r = 0; r < 10; r++) {
      cudaMemset(dsums, 0, sizeof sums);
      kmeans<<<132 * 8, BLOCK>>>(points, centres, POINTS, dsums);
      cudaMemcpy(sums, dsums, sizeof sums, cudaMemcpyDeviceToHost);
      new_centres(centres.at, sums);
    }
  }
  tell("kmeans", 10.0 * (double)POINTS / time / 1e9, "Gpoints/s", "more");

  Body *bodies = device<Body>(BODIES_OF_MASS);
  start_bodies<<<BLOCKS(BODIES_OF_MASS), BLOCK>>>(bodies, BODIES_OF_MASS);
  BEST(time) for (int r = 0; r < 10; r++) {
    sum = 0;
    cudaMemcpy(dsum, &sum, 8, cudaMemcpyHostToDevice);
    structs<<<132 * 8, BLOCK>>>(bodies, BODIES_OF_MASS, dsum);
    cudaMemcpy(&sum, dsum, 8, cudaMemcpyDeviceToHost);
  }
  expect("structs", sum, 0.75 * (double)BODIES_OF_MASS, 1e-9);
  tell("structs", 10.0 * sizeof(Body) * (double)BODIES_OF_MASS / time / 1e9, "GB/s", "more");

  long all = (long)MATRIX * MATRIX;
  dim3 blocks(BLOCKS(MATRIX), MATRIX);
  float *ma = s, *mb = k, *mc = t;
  pattern<<<BLOCKS(all), BLOCK>>>(ma, all, 3);
  pattern<<<BLOCKS(all), BLOCK>>>(mb, all, 5);
  CHECK(cudaDeviceSynchronize());
  BEST(time) { matmul<<<blocks, BLOCK>>>(ma, mb, mc, MATRIX); cudaDeviceSynchronize(); }
  tell("matmul", 2.0 * MATRIX * (double)all / time / 1e9, "GFLOP/s", "more");

  long m = 128L << 20;
  double *pinned, *big = device<double>(m);
  CHECK(cudaMallocHost(&pinned, 8 * (size_t)m));
  memset(pinned, 1, 8 * (size_t)m);
  BEST(time) cudaMemcpy(big, pinned, 8 * (size_t)m, cudaMemcpyHostToDevice);
  tell("to_device", 8.0 * (double)m / time / 1e9, "GB/s", "more");
  BEST(time) cudaMemcpy(pinned, big, 8 * (size_t)m, cudaMemcpyDeviceToHost);
  tell("from_device", 8.0 * (double)m / time / 1e9, "GB/s", "more");
  double one = 1;
  BEST(time) for (int i = 0; i < EMPTY; i++) cudaMemcpy(big, &one, 8, cudaMemcpyHostToDevice);
  tell("to_8_bytes", time / EMPTY * 1e6, "us", "less");
  BEST(time) for (int i = 0; i < EMPTY; i++) cudaMemcpy(&one, big, 8, cudaMemcpyDeviceToHost);
  tell("from_8_bytes", time / EMPTY * 1e6, "us", "less");
  return 0;
}
