// Loops whose time on several devices is compared with that on one.
//
// Compiled twice: as plain `parallel for`, and with TARGET as `target` regions. `cases
// [small|medium|large] [CASE...]` prints `CASE SECONDS VALUE` for each case: the median time of its
// regions with data that stays on the devices, or comes from the host in the cases named `host_`, and
// a result that must not depend on the number of devices.
// Medium sizes are for processors. Large ones keep four GPUs busy for milliseconds, as work worth
// dividing does: four times the elements, and as many bodies. Elements are checked against the same
// computation on the processor; `WRONG` in place of the value is a failure.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#define TEXT(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))
#ifdef TARGET
#define LOOP(...) PRAGMA(omp target teams distribute parallel for __VA_ARGS__)
#define HOST_LOOP(...) LOOP(__VA_ARGS__)
#define SEND(pointer, count) PRAGMA(omp target enter data map(to : pointer[ : count]))
#define FETCH(pointer, count) PRAGMA(omp target exit data map(from : pointer[ : count]))
#define DROP(pointer, count) PRAGMA(omp target exit data map(release : pointer[ : count]))
#else
#define LOOP(...) PRAGMA(omp parallel for __VA_ARGS__)
#define HOST_LOOP(...) LOOP()
#define SEND(pointer, count)
#define FETCH(pointer, count)
#define DROP(pointer, count)
#endif

static int shrink = 0; // halvings of the sizes; negative: doublings

static long sized(long n, int halvings) { return halvings < 0 ? n << -halvings : n >> halvings; }

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

template <class Region> static double median(int runs, Region region) {
  region();
  std::vector<double> times;
  for (int i = 0; i < runs; i++) {
    double since = now();
    region();
    times.push_back(now() - since);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static bool near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

static void tell(const char *name, double seconds, double value, bool right) {
  if (right)
    std::printf("%s %.6g %.10g\n", name, seconds, value);
  else
    std::printf("%s %.6g WRONG %.10g\n", name, seconds, value);
  std::fflush(stdout);
}

template <class T> static T *array(long n) { return static_cast<T *>(std::malloc(sizeof(T) * n)); }

static void daxpy() {
  long n = 1L << (28 - shrink);
  double *x = array<double>(n), *y = array<double>(n);
  for (long i = 0; i < n; i++)
    x[i] = double(i % 1024), y[i] = 1;
  SEND(x, n)
  SEND(y, n)
  int runs = 20;
  double time = median(runs, [=] {
    LOOP()
    for (long i = 0; i < n; i++)
      y[i] += 0.5 * x[i];
  });
  FETCH(y, n)
  DROP(x, n)
  bool right = true;
  for (long i = 0; i < n; i += n / 997)
    right &= y[i] == 1 + 0.5 * double(i % 1024) * (runs + 1);
  tell("daxpy", time, y[n - 1], right);
  std::free(x), std::free(y);
}

static void dot() {
  long n = 1L << (28 - shrink);
  double *x = array<double>(n), *y = array<double>(n), sum = 0;
  for (long i = 0; i < n; i++)
    x[i] = double(i % 8), y[i] = 0.5;
  SEND(x, n)
  SEND(y, n)
  double time = median(20, [=, &sum] {
    double s = 0;
    LOOP(reduction(+ : s))
    for (long i = 0; i < n; i++)
      s += x[i] * y[i];
    sum = s;
  });
  DROP(x, n)
  DROP(y, n)
  tell("dot", time, sum, sum == double(n) * 3.5 * 0.5);
  std::free(x), std::free(y);
}

static void stencil() {
  long n = sized(16384, shrink / 2);
  double *a = array<double>(n * n), *b = array<double>(n * n);
  for (long i = 0; i < n * n; i++)
    a[i] = b[i] = double(i % 13);
  SEND(a, n * n)
  SEND(b, n * n)
  auto step = [n](const double *from, double *to) {
    LOOP(collapse(2))
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        to[i * n + j] = 0.2 * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] +
                               from[(i - 1) * n + j] + from[(i + 1) * n + j]);
  };
  double time = median(10, [=] { step(a, b), step(b, a); }) / 2;
  FETCH(a, n * n)
  DROP(b, n * n)
  // The middle keeps the mean of what was there.
  double sum = 0;
  for (long i = n / 4; i < n / 4 + 13; i++)
    for (long j = n / 4; j < n / 4 + 13; j++)
      sum += a[i * n + j];
  tell("stencil", time, sum, near(sum / 169, 6, 0.01));
  std::free(a), std::free(b);
}

struct Body {
  double x[3], v[3], mass;
  long id;
};

static void structure_sum() {
  long n = 1L << (25 - shrink);
  Body *bodies = array<Body>(n);
  double energy = 0;
  for (long i = 0; i < n; i++)
    bodies[i] = {{double(i), 0, 0}, {1, 2, 2}, double(i % 4), i};
  SEND(bodies, n)
  double time = median(20, [=, &energy] {
    double e = 0;
    LOOP(reduction(+ : e))
    for (long i = 0; i < n; i++) {
      const Body &b = bodies[i];
      e += 0.5 * b.mass * (b.v[0] * b.v[0] + b.v[1] * b.v[1] + b.v[2] * b.v[2]);
    }
    energy = e;
  });
  DROP(bodies, n)
  tell("structure_sum", time, energy, energy == 0.5 * 9 * 1.5 * double(n));
  std::free(bodies);
}

struct Vector {
  double x, y, z;
  Vector operator+(const Vector &o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vector operator-(const Vector &o) const { return {x - o.x, y - o.y, z - o.z}; }
  Vector operator*(double f) const { return {x * f, y * f, z * f}; }
  double dot(const Vector &o) const { return x * o.x + y * o.y + z * o.z; }
};

static void structure_add() {
  long n = 1L << (26 - shrink);
  Vector *a = array<Vector>(n), *b = array<Vector>(n), *c = array<Vector>(n);
  for (long i = 0; i < n; i++)
    a[i] = {double(i), 1, 2}, b[i] = {1, double(i % 7), 3}, c[i] = {0, 0, 0};
  SEND(a, n)
  SEND(b, n)
  SEND(c, n)
  double time = median(20, [=] {
    LOOP()
    for (long i = 0; i < n; i++)
      c[i] = a[i] + b[i];
  });
  FETCH(c, n)
  DROP(a, n)
  DROP(b, n)
  bool right = true;
  for (long i = 0; i < n; i += n / 991)
    right &= c[i].x == double(i + 1) && c[i].y == 1 + double(i % 7) && c[i].z == 5;
  tell("structure_add", time, c[n - 1].x, right);
  std::free(a), std::free(b), std::free(c);
}

static void kmeans() {
  constexpr int K = 8;
  long n = 1L << (26 - shrink);
  float *x = array<float>(n), *y = array<float>(n);
  for (long i = 0; i < n; i++)
    x[i] = float(i * 7919 % 1009), y[i] = float(i * 104729 % 997);
  SEND(x, n)
  SEND(y, n)
  double centres[2 * K], sums[3 * K];
  auto assign = [&, x, y, n] {
    double total[3 * K] = {0};
    LOOP(reduction(+ : total[ : 3 * K]))
    for (long i = 0; i < n; i++) {
      int best = 0;
      double nearest = 1e30;
      for (int c = 0; c < K; c++) {
        double dx = x[i] - centres[2 * c], dy = y[i] - centres[2 * c + 1];
        double d = dx * dx + dy * dy;
        if (d < nearest)
          nearest = d, best = c;
      }
      for (int c = 0; c < K; c++) {
        total[3 * c] += c == best ? x[i] : 0;
        total[3 * c + 1] += c == best ? y[i] : 0;
        total[3 * c + 2] += c == best ? 1 : 0;
      }
    }
    std::memcpy(sums, total, sizeof sums);
  };
  for (int c = 0; c < K; c++)
    centres[2 * c] = c * 120 + 60, centres[2 * c + 1] = c * 370 % 1000;
  double time = median(10, assign);
  double count = 0;
  for (int c = 0; c < K; c++)
    count += sums[3 * c + 2];
  DROP(x, n)
  DROP(y, n)
  tell("kmeans", time, sums[2] + 3 * sums[5], count == double(n));
  std::free(x), std::free(y);
}

static void nbody() {
  long n = sized(524288, shrink);
  float *x = array<float>(n), *y = array<float>(n), *z = array<float>(n), *v = array<float>(3 * n);
  for (long i = 0; i < n; i++) {
    x[i] = float(i % 641) / 641, y[i] = float(i % 1009) / 1009, z[i] = float(i % 769) / 769;
    v[3 * i] = v[3 * i + 1] = v[3 * i + 2] = 0;
  }
  std::vector<float> first(x, x + n), second(y, y + n), third(z, z + n);
  SEND(x, n)
  SEND(y, n)
  SEND(z, n)
  SEND(v, 3 * n)
  // Forces grow with the number of bodies; velocities must not.
  float dt = 1e-9f * 524288 / n;
  auto step = [=] {
    LOOP()
    for (long i = 0; i < n; i++) {
      float ax = 0, ay = 0, az = 0;
      for (long j = 0; j < n; j++) {
        float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        float r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-2f);
        float f = r * r * r;
        ax += f * dx, ay += f * dy, az += f * dz;
      }
      v[3 * i] += dt * ax, v[3 * i + 1] += dt * ay, v[3 * i + 2] += dt * az;
    }
    LOOP()
    for (long i = 0; i < n; i++)
      x[i] += v[3 * i], y[i] += v[3 * i + 1], z[i] += v[3 * i + 2];
  };
  double time = median(3, step);
  FETCH(x, n)
  DROP(y, n)
  DROP(z, n)
  FETCH(v, 3 * n)
  // Forces change little in these steps.
  bool right = true;
  for (long i = 5; i < n; i += n / 7) {
    double ax = 0, size = 0;
    for (long j = 0; j < n; j++) {
      double dx = first[j] - first[i], dy = second[j] - second[i], dz = third[j] - third[i];
      double r = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-2);
      ax += r * r * r * dx;
      size += std::abs(r * r * r * dx);
    }
    right &= std::abs(v[3 * i] / (4 * dt) - ax) < 0.05 * size;
  }
  tell("nbody", time, x[n / 3], right);
  std::free(x), std::free(y), std::free(z), std::free(v);
}

static void monte_carlo() {
  long n = 1L << (23 - shrink);
  long hits = 0;
  int samples = 1024;
  double time = median(5, [=, &hits] {
    long h = 0;
    LOOP(reduction(+ : h))
    for (long i = 0; i < n; i++) {
      uint64_t state = 0x9e3779b97f4a7c15u * uint64_t(i + 1);
      for (int s = 0; s < samples; s++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t a = uint32_t(state >> 33);
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t b = uint32_t(state >> 33);
        float x = float(a) * 0x1p-31f, y = float(b) * 0x1p-31f;
        h += x * x + y * y < 1;
      }
    }
    hits = h;
  });
  tell("monte_carlo", time, double(hits), near(4.0 * double(hits) / double(n) / samples, M_PI, 1e-3));
}

static float normal(float d) { return 0.5f * std::erfc(-d * 0.70710678f); }
static void price(float s, float k, float t, float *call, float *put) {
  float r = 0.02f, v = 0.3f, root = std::sqrt(t);
  float d1 = (std::log(s / k) + (r + 0.5f * v * v) * t) / (v * root), d2 = d1 - v * root;
  float discount = std::exp(-r * t);
  *call = s * normal(d1) - k * discount * normal(d2);
  *put = k * discount * normal(-d2) - s * normal(-d1);
}

struct Options {
  float *s, *k, *t, *call, *put;
  explicit Options(long n)
      : s(array<float>(n)), k(array<float>(n)), t(array<float>(n)), call(array<float>(n)),
        put(array<float>(n)) {
    for (long i = 0; i < n; i++)
      s[i] = 5 + float(i % 25), k[i] = 1 + float(i % 99), t[i] = 0.25f + float(i % 40) / 4,
      call[i] = put[i] = 0;
  }
  ~Options() { std::free(s), std::free(k), std::free(t), std::free(call), std::free(put); }
  bool right(long n) const {
    bool all = true;
    for (long i = 0; i < n; i += n / 983) {
      float c, p;
      price(s[i], k[i], t[i], &c, &p);
      all &= near(call[i], c, 1e-4) && near(put[i], p, 1e-4);
    }
    return all;
  }
};

static void black_scholes() {
  long n = 1L << (26 - shrink);
  Options of(n);
  float *s = of.s, *k = of.k, *t = of.t, *call = of.call, *put = of.put;
  SEND(s, n)
  SEND(k, n)
  SEND(t, n)
  SEND(call, n)
  SEND(put, n)
  double time = median(20, [=] {
    LOOP()
    for (long i = 0; i < n; i++)
      price(s[i], k[i], t[i], &call[i], &put[i]);
  });
  FETCH(call, n)
  FETCH(put, n)
  DROP(s, n)
  DROP(k, n)
  DROP(t, n)
  tell("black_scholes", time, call[n / 2 + 3], of.right(n));
}

/// A ray, and objects that it may hit.
struct Ray {
  Vector from, to;
  Vector at(double distance) const { return from + to * distance; }
};
class Sphere {
  Vector centre;
  double radius, mirror;

public:
  Sphere() : centre{0, 0, 0}, radius(0), mirror(0) {}
  Sphere(Vector c, double r, double m) : centre(c), radius(r), mirror(m) {}
  double reflects() const { return mirror; }
  Vector normal(const Vector &point) const { return (point - centre) * (1 / radius); }
  double hit(const Ray &ray) const {
    Vector o = ray.from - centre;
    double b = o.dot(ray.to), d = b * b - o.dot(o) + radius * radius;
    if (d < 0)
      return 1e30;
    double t = -b - std::sqrt(d);
    return t > 1e-6 ? t : 1e30;
  }
};
class Scene {
  const Sphere *spheres;
  int count;

public:
  Scene(const Sphere *s, int n) : spheres(s), count(n) {}
  double shade(Ray ray) const {
    double light = 0, weight = 1;
    for (int depth = 0; depth < 4; depth++) {
      double nearest = 1e30;
      int which = -1;
      for (int n = 0; n < count; n++) {
        double t = spheres[n].hit(ray);
        if (t < nearest)
          nearest = t, which = n;
      }
      if (which < 0)
        return light + weight * (0.5 + 0.5 * ray.to.y);
      Vector point = ray.at(nearest), up = spheres[which].normal(point);
      light += weight * (1 - spheres[which].reflects()) * std::max(0.1, up.dot({0.6, 0.8, 0}));
      weight *= spheres[which].reflects();
      ray = {point, ray.to - up * (2 * up.dot(ray.to))};
    }
    return light;
  }
};

static Ray camera(long pixel, long width, long height) {
  double x = double(pixel % width) / double(width) - 0.5;
  double y = 0.5 - double(pixel / width) / double(height);
  double length = 1 / std::sqrt(x * x + y * y + 1);
  return {{0, 0, -12}, {x * length, y * length, length}};
}

static void ray_tracer() {
  constexpr int COUNT = 96;
  long width = sized(3840, shrink / 2), height = sized(2160, shrink / 2), pixels = width * height;
  Sphere *spheres = array<Sphere>(COUNT);
  for (int n = 0; n < COUNT; n++)
    spheres[n] = Sphere({n * 37 % 19 - 9.0, n * 53 % 11 - 5.0, n * 29 % 13 - 4.0},
                        0.5 + n % 5 * 0.15, n % 3 * 0.3);
  float *image = array<float>(pixels);
  for (long p = 0; p < pixels; p++)
    image[p] = 0;
  SEND(spheres, COUNT)
  SEND(image, pixels)
  double time = median(5, [=] {
    LOOP()
    for (long p = 0; p < pixels; p++)
      image[p] = float(Scene(spheres, COUNT).shade(camera(p, width, height)));
  });
  FETCH(image, pixels)
  DROP(spheres, COUNT)
  bool right = true;
  double sum = 0;
  for (long p = 7; p < pixels; p += pixels / 499) {
    // A ray that grazes a sphere may go either way.
    right &= near(image[p], Scene(spheres, COUNT).shade(camera(p, width, height)), 1e-3);
    sum += image[p];
  }
  tell("ray_tracer", time, std::round(sum * 100) / 100, right);
  std::free(spheres), std::free(image);
}

// Prices options that lie in host memory: a GPU waits for copies in both directions.
static void host_options() {
  long n = 1L << (25 - shrink);
  Options of(n);
  float *s = of.s, *k = of.k, *t = of.t, *call = of.call, *put = of.put;
  double time = median(24, [=] {
    HOST_LOOP(map(to : s[ : n], k[ : n], t[ : n]) map(from : call[ : n], put[ : n]))
    for (long i = 0; i < n; i++)
      price(s[i], k[i], t[i], &call[i], &put[i]);
  });
  tell("host_options", time, call[n / 2 + 3], of.right(n));
}

constexpr int CENTERS = 24, SIZE = 8;

static int nearest_center(const float *point, const float *centers) {
  int best = 0;
  float least = 1e30f;
  for (int c = 0; c < CENTERS; c++) {
    float distance = 0;
    for (int k = 0; k < SIZE; k++) {
      float difference = point[k] - centers[c * SIZE + k];
      distance += difference * difference;
    }
    if (distance < least)
      least = distance, best = c;
  }
  return best;
}

// Finds the nearest center for points that lie in host memory.
static void host_nearest() {
  long n = 1L << (24 - shrink);
  float *points = array<float>(n * SIZE), *centers = array<float>(CENTERS * SIZE);
  int *nearest = array<int>(n);
  for (long i = 0; i < n * SIZE; i++)
    points[i] = float(i * 2654435761 % 1009);
  for (int i = 0; i < CENTERS * SIZE; i++)
    centers[i] = float(i * 7919 % 1009);
  double time = median(24, [=] {
    HOST_LOOP(map(to : points[ : n * SIZE], centers[ : CENTERS * SIZE]) map(from : nearest[ : n]))
    for (long i = 0; i < n; i++)
      nearest[i] = nearest_center(points + i * SIZE, centers);
  });
  bool right = true;
  double sum = 0;
  for (long i = 1; i < n; i += n / 997)
    right &= nearest[i] == nearest_center(points + i * SIZE, centers), sum += nearest[i];
  tell("host_nearest", time, sum, right);
  std::free(points), std::free(centers), std::free(nearest);
}

int main(int argc, char **argv) {
  struct {
    const char *name;
    void (*run)();
  } cases[] = {
      {"nbody", nbody},
      {"monte_carlo", monte_carlo},
      {"black_scholes", black_scholes},
      {"ray_tracer", ray_tracer},
      {"daxpy", daxpy},
      {"dot", dot},
      {"stencil", stencil},
      {"structure_sum", structure_sum},
      {"structure_add", structure_add},
      {"kmeans", kmeans},
      {"host_options", host_options},
      {"host_nearest", host_nearest},
  };
  bool all = true;
  for (int i = 1; i < argc; i++)
    if (std::strcmp(argv[i], "small") == 0)
      shrink = 10;
    else if (std::strcmp(argv[i], "medium") == 0)
      shrink = 4;
    else if (std::strcmp(argv[i], "large") == 0)
      shrink = -2;
    else
      all = false;
  for (auto &one : cases) {
    bool wanted = all;
    for (int i = 1; i < argc; i++)
      wanted |= std::strcmp(argv[i], one.name) == 0;
    if (wanted)
      one.run();
  }
}
