// Calls, callbacks, faults and exits through the C++ header. Takes the path of the guest's bitcode.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ompvm.hpp>
#include <thread>
#include <vector>

static void check(bool condition, int line) {
  if (!condition) {
    std::fprintf(stderr, "line %d\n", line);
    std::exit(1);
  }
}
#define CHECK(condition) check(condition, __LINE__)

static int host_add(int a, int b) { return a + b; }

static double host_weight(const double *values, long count) {
  double sum = 0;
  for (long i = 0; i < count; i++)
    sum += values[i];
  return sum;
}

static void use(const ompvm::Process &process) {
  std::vector<double> a(1000, 2.0), b(1000, 1.5);
  auto dot = process.function<double(long, const double *, const double *)>("dot");
  CHECK(dot(1000, a.data(), b.data()) == 6000.0);
  *process.variable<double>("scale") = 1.0;
  CHECK(dot(1000, a.data(), b.data()) == 3000.0);
  *process.variable<double>("scale") = 2.0;
  CHECK(process.function<signed char(signed char, unsigned short, bool)>("narrow")(-128, 0, true) == 127);
  CHECK(process.function<float(float, double, int, const char *, float)>("mixed")(1, 2, 3, "A", .5) == 71.5f);
  CHECK(process.function<int(int)>("through")(2) == 42);
  CHECK(process.function<double(long)>("weigh")(4) == 6.0);
  process.function<void()>("nothing")();
  try {
    process.function<int(int *)>("fault")(nullptr);
    CHECK(false);
  } catch (const ompvm::Error &error) {
    ompvm_trap trap;
    CHECK(error.kind() == OMPVM_ERROR_TRAP && error.trap(trap));
    CHECK(trap.kind == OMPVM_TRAP_BAD_ADDRESS && std::strcmp(trap.function, "fault") == 0);
  }
  try {
    process.function<int(long)>("through");
    CHECK(false);
  } catch (const ompvm::Error &error) {
    CHECK(error.kind() == OMPVM_ERROR_HOST);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  ompvm::Engine engine;
  ompvm::Module module(engine, argv[1]);
  ompvm::Linker linker(engine);
  linker.define("host_add", host_add).define("host_weight", host_weight);
  for (ompvm_tier tier : {OMPVM_TIER_INTERP, OMPVM_TIER_OPT}) {
    ompvm::Config config;
    config.tier(tier).threads(2).thread_limit(5).argument("guest");
    ompvm::Process process = linker.start(module, config);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
      threads.emplace_back([&] { process.function<void()>("nothing")(); });
    for (std::thread &thread : threads)
      thread.join();
    use(process);
    try {
      process.function<int(int *)>("fault_in_team")(nullptr);
      CHECK(false);
    } catch (const ompvm::Error &error) {
      CHECK(error.kind() == OMPVM_ERROR_TRAP && error.trap_region() != nullptr);
    }
    CHECK(process.run_main() == 1);
  }
  ompvm::Cancel cancel;
  ompvm::Config config;
  config.time_limit(std::chrono::milliseconds(50)).cancelled_by(cancel);
  ompvm::Process process = linker.start(module, config);
  try {
    long go = 1;
    process.function<long(long *)>("spin")(&go);
    CHECK(false);
  } catch (const ompvm::Error &error) {
    ompvm_trap trap;
    CHECK(error.trap(trap) && trap.kind == OMPVM_TRAP_OUT_OF_TIME);
  }
  cancel.cancel();
  CHECK(!process.fuel() && !process.memory_used());
  ompvm::Config counted;
  counted.fuel(100000).memory_limit(1 << 20);
  ompvm::Process limited = linker.start(module, counted);
  CHECK(limited.fuel() && *limited.fuel() <= 100000 && limited.memory_used() == 0u);
  limited.set_fuel(5);
  CHECK(limited.fuel() == 5u);
  ompvm::Session session(engine);
  session.define("host_add", host_add);
  CHECK(session.completeness("int f(void) {") == OMPVM_CELL_OPEN);
  ompvm::Evaluation done = session.run("int host_add(int, int); int two = 2;");
  CHECK(!done.value && done.warnings.empty() && !done.status);
  CHECK(session.run("host_add(two, 40)").value == "42");
  try {
    session.run("missing");
    CHECK(false);
  } catch (const ompvm::Error &error) {
    CHECK(error.kind() == OMPVM_ERROR_INPUT);
  }
  CHECK(session.run("#include <stdlib.h>\nexit(two);").status == 2);
  std::puts("ok");
}
