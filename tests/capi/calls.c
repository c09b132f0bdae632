// Calls of every kind, callbacks, faults, exits, and several threads, through the C library.
// Takes the path of the guest's bitcode.
#define _POSIX_C_SOURCE 200809L
#include <ompvm.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Ends the test if a condition does not hold.
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

// Ends the test with the message of an error.
static void succeed(ompvm_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", ompvm_error_message(error));
    exit(1);
  }
}

// Checks the kind of an error and a part of its message.
static void fail(ompvm_error *error, ompvm_error_kind kind, const char *part) {
  CHECK(error != NULL);
  if (ompvm_error_get_kind(error) != kind || !strstr(ompvm_error_message(error), part)) {
    fprintf(stderr, "%d: %s\n", ompvm_error_get_kind(error), ompvm_error_message(error));
    exit(1);
  }
  ompvm_error_free(error);
}

static const ompvm_function *look_up(ompvm_process *process, const char *name,
                                     const char *signature) {
  const ompvm_function *function = NULL;
  succeed(ompvm_process_function(process, name, signature, &function));
  return function;
}

static void host_add(void *data, const ompvm_value *arguments, ompvm_value *result) {
  __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
  result->i32 = arguments[0].i32 + arguments[1].i32;
}

static void host_weight(void *data, const ompvm_value *arguments, ompvm_value *result) {
  const double *values = arguments[0].pointer;
  double sum = 0;
  for (long i = 0; i < arguments[1].i64; i++)
    sum += values[i];
  result->f64 = sum + *(double *)data;
}

static void calls(ompvm_process *process, int *added) {
  double a[1000], b[1000];
  for (int i = 0; i < 1000; i++)
    a[i] = i, b[i] = 1;
  ompvm_value result;
  const ompvm_function *dot = look_up(process, "dot", "double (long, const double *, const double *)");
  CHECK(ompvm_function_arity(dot) == 3);
  succeed(ompvm_call(dot, (ompvm_value[]){{.i64 = 1000}, {.pointer = a}, {.pointer = b}}, &result));
  CHECK(result.f64 == 2 * 499500.0);
  double *scale = ompvm_process_variable(process, "scale");
  CHECK(scale && *scale == 2.0);
  *scale = 4.0;
  succeed(ompvm_call(dot, (ompvm_value[]){{.i64 = 1000}, {.pointer = a}, {.pointer = b}}, &result));
  CHECK(result.f64 == 4 * 499500.0);
  *scale = 2.0;

  float in_place[3] = {1, 2, 3};
  succeed(ompvm_call(look_up(process, "negate", NULL),
                     (ompvm_value[]){{.i64 = 3}, {.pointer = in_place}}, NULL));
  CHECK(in_place[2] == -3);

  const ompvm_function *narrow =
      look_up(process, "narrow", "signed char (signed char, unsigned short, bool)");
  succeed(ompvm_call(narrow, (ompvm_value[]){{.i64 = -128}, {.i64 = -1}, {.i64 = 1}}, &result));
  CHECK(result.i64 == 127);
  succeed(ompvm_call(narrow, (ompvm_value[]){{.i64 = -3}, {.i64 = 0x80}, {.i64 = 0}}, &result));
  CHECK(result.i64 == -128);

  succeed(ompvm_call(look_up(process, "mixed", "float (float, double, int, const char *, float)"),
                     (ompvm_value[]){{.f32 = 0.5f}, {.f64 = 2}, {.i32 = -3}, {.pointer = "A"}, {.f32 = 0.25f}},
                     &result));
  CHECK(result.f32 == 64.75f);
  ompvm_value eight[8] = {{.i64 = 1}, {.i64 = 1}, {.i64 = 1}, {.i64 = 1},
                          {.i64 = 1}, {.i64 = 1}, {.i64 = -1}, {.f64 = 0.5}};
  succeed(ompvm_call(look_up(process, "many", NULL), eight, &result));
  CHECK(result.i64 == 18);

  succeed(ompvm_call(look_up(process, "team", "int (int)"), (ompvm_value[]){{.i32 = 64}}, &result));
  CHECK(result.i32 == 5);

  int before = *added;
  succeed(ompvm_call(look_up(process, "through", "int (int)"), (ompvm_value[]){{.i32 = 2}}, &result));
  CHECK(result.i32 == 42 && *added == before + 1);
  succeed(ompvm_call(look_up(process, "weigh", NULL), (ompvm_value[]){{.i64 = 16}}, &result));
  CHECK(result.f64 == 121);
}

static void failures(ompvm_engine *engine, ompvm_process *process) {
  const ompvm_function *function = NULL;
  fail(ompvm_process_function(process, "missing", NULL, &function), OMPVM_ERROR_HOST,
       "no function `missing`");
  fail(ompvm_process_function(process, "through", "int (long)", &function), OMPVM_ERROR_HOST,
       "`through` is i32(i32), not i32(i64)");
  fail(ompvm_process_function(process, "through", "int", &function), OMPVM_ERROR_HOST,
       "is not a signature");
  CHECK(function == NULL);
  CHECK(ompvm_process_variable(process, "missing") == NULL);

  for (int i = 0; i < 3; i++) {
    ompvm_error *error =
        ompvm_call(look_up(process, "fault", NULL), (ompvm_value[]){{.pointer = (void *)16}}, NULL);
    ompvm_trap trap;
    CHECK(error && ompvm_error_trap(error, &trap) == 1);
    CHECK(trap.kind == OMPVM_TRAP_BAD_ADDRESS && trap.address == 16 && trap.signal == 11);
    CHECK(trap.function && strcmp(trap.function, "fault") == 0 && trap.detail == NULL);
    CHECK(trap.place && strstr(trap.place, "guest.c:"));
    CHECK(ompvm_error_trap_region(error) == NULL);
    fail(error, OMPVM_ERROR_TRAP, "null pointer");
    error = ompvm_call(look_up(process, "fault_in_team", NULL), (ompvm_value[]){{.pointer = (void *)16}}, NULL);
    const char *region = ompvm_error_trap_region(error);
    CHECK(region && strstr(region, "fault_in_team") && strstr(region, "guest.c:"));
    fail(error, OMPVM_ERROR_TRAP, "fault_in_team");
    fail(ompvm_call(look_up(process, "leave", NULL), (ompvm_value[]){{.i32 = 7}}, NULL),
         OMPVM_ERROR_HOST, "status 7");
  }
  ompvm_module *module = NULL;
  fail(ompvm_module_from_file(engine, "/missing.bc", &module), OMPVM_ERROR_INPUT, "/missing.bc");
  fail(ompvm_module_from_bytes(engine, "bytes", "BC", 2, &module), OMPVM_ERROR_INPUT, "bytes");
  fail(ompvm_module_from_bytes(engine, "empty", NULL, 0, &module), OMPVM_ERROR_INPUT, "empty");
  const char text[] = "target triple = \"x86_64-unknown-linux-gnu\"\n"
                      "declare void @missing()\ndefine void @f() { call void @missing() ret void }";
  succeed(ompvm_module_from_bytes(engine, "text.ll", text, sizeof text - 1, &module));
  ompvm_process *none = NULL;
  ompvm_error *error = ompvm_module_start(engine, module, NULL, &none);
  ompvm_trap trap;
  CHECK(error && none == NULL && ompvm_error_trap(error, &trap) == 0);
  CHECK(ompvm_error_trap_region(error) == NULL);
  fail(error, OMPVM_ERROR_UNRESOLVED, "`missing` (used in `f`)");
  ompvm_module_free(module);
  const char *options[] = {"-DD=2"};
  const char source[] = "double half(double x) { return x / D; }";
  fail(ompvm_module_from_source(engine, OMPVM_LANGUAGE_C, "half.c", source, NULL, 0, &module),
       OMPVM_ERROR_INPUT, "half.c:1:36: error: ");
  succeed(ompvm_module_from_source(engine, OMPVM_LANGUAGE_C, "half.c", source, options, 1, &module));
  succeed(ompvm_module_start(engine, module, NULL, &none));
  ompvm_value result;
  succeed(ompvm_call(look_up(none, "half", NULL), (ompvm_value[]){{.f64 = 3}}, &result));
  CHECK(result.f64 == 1.5);
  ompvm_process_free(none);
  ompvm_module_free(module);
  ompvm_config *config = ompvm_config_new();
  fail(ompvm_config_set_devices(config, "toaster"), OMPVM_ERROR_HOST, "toaster");
  ompvm_config_free(config);
}

struct work {
  ompvm_process *process;
  int *added;
};

static void *thread(void *argument) {
  struct work *work = argument;
  for (int i = 0; i < 200; i++) {
    const ompvm_function *narrow = look_up(work->process, "narrow", NULL);
    ompvm_value result;
    succeed(ompvm_call(narrow, (ompvm_value[]){{.i64 = i % 100}, {.i64 = 0}, {.i64 = 1}}, &result));
    CHECK(result.i64 == i % 100 - 1);
    ompvm_error *error =
        ompvm_call(look_up(work->process, "fault", NULL), (ompvm_value[]){{.u64 = 8}}, NULL);
    fail(error, OMPVM_ERROR_TRAP, "null pointer");
  }
  return NULL;
}

// The kind of the trap that ends an endless call.
static int endless(ompvm_process *process) {
  long go = 1;
  ompvm_error *error =
      ompvm_call(look_up(process, "spin", NULL), (ompvm_value[]){{.pointer = &go}}, NULL);
  ompvm_trap trap;
  CHECK(error && ompvm_error_trap(error, &trap) == 1);
  ompvm_error_free(error);
  if (trap.kind == OMPVM_TRAP_OUT_OF_FUEL) {
    // Each thread of the region may have given a share of 4,096 back.
    CHECK(ompvm_process_fuel(process) < 50000);
    succeed(ompvm_process_set_fuel(process, 50000));
    CHECK(ompvm_process_fuel(process) == 50000);
  }
  succeed(ompvm_call(look_up(process, "nothing", NULL), NULL, NULL));
  return trap.kind;
}

static void *cancel_soon(void *cancel) {
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  ompvm_cancel_calls(cancel);
  return NULL;
}

static void limits(ompvm_program *program, int tier) {
  ompvm_cancel *cancel = ompvm_cancel_new();
  ompvm_config *config = ompvm_config_new();
  ompvm_config_set_tier(config, tier);
  ompvm_config_set_time_limit(config, 50000000);
  ompvm_config_set_cancel(config, cancel);
  ompvm_process *limited, *free;
  succeed(ompvm_program_start(program, config, &limited));
  ompvm_config_set_time_limit(config, 0);
  succeed(ompvm_program_start(program, config, &free));
  ompvm_config_free(config);
  for (int i = 0; i < 2; i++) {
    CHECK(endless(limited) == OMPVM_TRAP_OUT_OF_TIME);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_soon, cancel) == 0);
    CHECK(endless(free) == OMPVM_TRAP_CANCELLED);
    pthread_join(thread, NULL);
  }
  CHECK(ompvm_process_fuel(free) == UINT64_MAX && ompvm_process_memory_used(free) == SIZE_MAX);
  fail(ompvm_process_set_fuel(free, 1), OMPVM_ERROR_HOST, "without fuel");
  ompvm_process_free(limited);
  ompvm_process_free(free);
  ompvm_cancel_free(cancel);
}

// Limits of instructions and of memory.
static void counted_limits(ompvm_program *program) {
  ompvm_config *config = ompvm_config_new();
  ompvm_config_set_fuel(config, 1000000);
  ompvm_config_set_memory_limit(config, 1 << 20);
  ompvm_process *process;
  succeed(ompvm_program_start(program, config, &process));
  CHECK(ompvm_process_memory_used(process) == 0);
  for (int i = 0; i < 2; i++)
    CHECK(endless(process) == OMPVM_TRAP_OUT_OF_FUEL);
  ompvm_process_free(process);
  ompvm_config_set_tier(config, OMPVM_TIER_OPT);
  fail(ompvm_program_start(program, config, &process), OMPVM_ERROR_HOST, "interpreter");
  ompvm_config_free(config);
}

static void count_lines(void *data, const char *line, size_t size) {
  if (size > 0 && line[size - 1] == '\n')
    __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

// Reads in a process of its own; the module has all functions of the host-read one.
static void contained(ompvm_engine *engine, const char *path) {
  ompvm_module *module;
  ompvm_engine_contain_reading(engine, 1);
  succeed(ompvm_module_from_file(engine, path, &module));
  ompvm_module_free(module);
  const char *damaged = "BC\xC0\xDE and more";
  fail(ompvm_module_from_bytes(engine, "damaged", damaged, strlen(damaged), &module), OMPVM_ERROR_INPUT,
       "damaged: damaged or truncated LLVM bitcode");
  ompvm_engine_contain_reading(engine, 0);
}

// A program that grows by cells: values, functions of the host, warnings, errors, faults, exit.
static void cells(ompvm_engine *engine) {
  int added = 0;
  ompvm_session *session;
  ompvm_config *config = ompvm_config_new();
  ompvm_config_set_tier(config, OMPVM_TIER_AUTO);
  succeed(ompvm_session_new(engine, config, &session));
  ompvm_config_free(config);
  succeed(ompvm_linker_define(ompvm_session_linker(session), "host_add", "int (int, int)", host_add,
                              &added));
  CHECK(ompvm_session_completeness(session, "int n = 3;") == OMPVM_CELL_COMPLETE);
  CHECK(ompvm_session_completeness(session, "#pragma omp parallel") == OMPVM_CELL_UNFINISHED);
  CHECK(ompvm_session_completeness(session, "int f(void) {") == OMPVM_CELL_OPEN);
  CHECK(ompvm_session_completeness(session, "\xff") == OMPVM_CELL_COMPLETE);
  ompvm_evaluation done;
  succeed(ompvm_session_run(session, "int host_add(int, int); double sum = 0; int n = 1000;", &done));
  CHECK(!done.value && !done.warnings[0] && !done.exited && !done.status);
  succeed(ompvm_session_run(session,
                            "#pragma omp parallel for reduction(+ : sum)\n"
                            "for (int i = 0; i < n; i++) sum += i;",
                            NULL));
  succeed(ompvm_session_run(session, "sum / n", &done));
  CHECK(done.value && strcmp(done.value, "499.5") == 0);
  succeed(ompvm_session_run(session, "host_add(n, 2)", &done));
  CHECK(done.value && strcmp(done.value, "1002") == 0 && added == 1);
  succeed(ompvm_session_run(session, "n * (n = 3, 1.5); 1", &done));
  CHECK(done.warnings[0]);
  fail(ompvm_session_run(session, "missing", &done), OMPVM_ERROR_INPUT, "'missing'");
  CHECK(done.warnings[0]);
  fail(ompvm_session_run(session, "*(volatile int *)0 = 1;", NULL), OMPVM_ERROR_TRAP, "cell-7");
  fail(ompvm_session_run(session, "\xff", NULL), OMPVM_ERROR_HOST, "UTF-8");
  succeed(ompvm_session_run(session, "#include <stdlib.h>\nexit(n + 1);", &done));
  CHECK(done.exited == 1 && done.status == 4);
  ompvm_session_free(session);
  ompvm_session_free(NULL);
  succeed(ompvm_session_new(engine, NULL, &session));
  ompvm_session_free(session);
}

int main(int argc, char **argv) {
  CHECK(argc == 2 && ompvm_abi() == OMPVM_ABI && ompvm_version()[0]);
  static int lines;
  fail(ompvm_set_log("tyre=debug", count_lines, &lines), OMPVM_ERROR_HOST, "TARGET");
  succeed(ompvm_set_log("memory=debug", count_lines, &lines));
  fail(ompvm_set_log("memory=debug", count_lines, &lines), OMPVM_ERROR_HOST, "elsewhere");
  ompvm_engine *engine = ompvm_engine_new();
  ompvm_module *module;
  succeed(ompvm_module_from_file(engine, argv[1], &module));

  int added = 0;
  double extra = 1;
  ompvm_linker *linker = ompvm_linker_new(engine);
  fail(ompvm_linker_define(linker, "host_add", "int (struct pair)", host_add, &added),
       OMPVM_ERROR_HOST, "struct pair");
  succeed(ompvm_linker_define(linker, "host_add", "int (int, int)", host_add, &added));
  succeed(ompvm_linker_define(linker, "host_weight", "double (const double *, long)", host_weight, &extra));
  ompvm_program *program;
  ompvm_linker *careful = ompvm_linker_new(engine);
  ompvm_linker_deny_native(careful, 1);
  succeed(ompvm_linker_link(careful, module, &program));
  ompvm_program_free(program);
  ompvm_linker_allow_native(careful, "@files");
  fail(ompvm_linker_link(careful, module, &program), OMPVM_ERROR_HOST, "@files");
  ompvm_linker_free(careful);
  succeed(ompvm_linker_link(linker, module, &program));
  ompvm_linker_free(linker);
  ompvm_module_free(module);

  for (int tier = OMPVM_TIER_INTERP; tier <= OMPVM_TIER_AUTO; tier++) {
    ompvm_config *config = ompvm_config_new();
    ompvm_config_set_tier(config, tier);
    ompvm_config_set_threads(config, 3);
    ompvm_config_set_thread_limit(config, 5);
    ompvm_config_add_argument(config, "guest");
    ompvm_config_add_argument(config, "last");
    ompvm_config_set_reports(config, tier == OMPVM_TIER_INTERP);
    ompvm_process *process;
    succeed(ompvm_program_start(program, config, &process));
    ompvm_config_free(config);
    calls(process, &added);
    failures(engine, process);
    pthread_t threads[4];
    struct work work = {process, &added};
    for (int i = 0; i < 4; i++)
      CHECK(pthread_create(&threads[i], NULL, thread, &work) == 0);
    for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
    char *text = ompvm_process_statistics(process);
    CHECK(text && text[0]);
    ompvm_text_free(text);
    int status = -1;
    succeed(ompvm_process_run_main(process, &status));
    CHECK(status == 2);
    fail(ompvm_process_run_main(process, &status), OMPVM_ERROR_HOST, "main has been called before");
    ompvm_process_free(process);
    limits(program, tier);
  }
  counted_limits(program);
  char *report = ompvm_compile_report("dot");
  CHECK(report != NULL);
  ompvm_text_free(report);
  ompvm_text_free(ompvm_offload_report());
  CHECK(lines > 0);
  ompvm_program_free(program);
  contained(engine, argv[1]);
  cells(engine);
  ompvm_engine_free(engine);
  ompvm_error_free(NULL);
  ompvm_process_free(NULL);
  puts("ok");
  return 0;
}
