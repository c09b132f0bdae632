/* ompvm as a C library: load the bitcode that `clang -fopenmp` emits, run it, call into it.
 *
 *     ompvm_process *process;
 *     const ompvm_function *dot;
 *     ompvm_check(ompvm_open("kernel.bc", &process));
 *     ompvm_check(ompvm_process_function(process, "dot", NULL, &dot));
 *     ompvm_check(ompvm_call(dot, arguments, &result));
 *
 * Every function that can fail returns NULL, or an error that the caller frees. Results come through
 * the last parameter, which keeps its value if there is an error. Pointers are never NULL unless a
 * comment says so. Text is UTF-8 and ends with a zero byte.
 *
 * A guest shares the address space: its pointers are the host's pointers, arrays are passed in
 * place, and it is trusted like a shared library. A fault of the guest comes back as an error. The
 * rest of the interrupted call does not run, and locks that it held stay locked; that includes the
 * C library's, so after a fault inside of malloc or free end the process.
 *
 * Threads may use an engine, a module, a program, a process and its functions at the same time. A
 * linker, a configuration, a session and an error belong to one thread at a time.
 *
 * The library must stay loaded: it has thread-specific data, signal handlers and threads. */
#ifndef OMPVM_H
#define OMPVM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the binary interface. It changes when a program must be compiled again. */
#define OMPVM_ABI 1

/* Returns the binary interface of the loaded library, to compare with OMPVM_ABI. */
uint32_t ompvm_abi(void);
/* Returns the version, such as "0.1.0". */
const char *ompvm_version(void);

typedef struct ompvm_engine ompvm_engine;
typedef struct ompvm_module ompvm_module;
typedef struct ompvm_linker ompvm_linker;
typedef struct ompvm_program ompvm_program;
typedef struct ompvm_config ompvm_config;
typedef struct ompvm_cancel ompvm_cancel;
typedef struct ompvm_process ompvm_process;
typedef struct ompvm_function ompvm_function;
typedef struct ompvm_session ompvm_session;
typedef struct ompvm_error ompvm_error;

/* ---- Errors ---- */

typedef enum ompvm_error_kind {
  OMPVM_ERROR_INPUT = 1,       /* a file or a text cannot be used */
  OMPVM_ERROR_UNSUPPORTED = 2, /* the program uses unsupported features, or denied functions; all are listed */
  OMPVM_ERROR_UNRESOLVED = 3,  /* symbols that nothing defines */
  OMPVM_ERROR_TRAP = 4,        /* the guest faulted; see ompvm_error_trap */
  OMPVM_ERROR_HOST = 5,        /* the system refused something, or a signature differs */
  OMPVM_ERROR_DEFECT = 6       /* a defect of ompvm */
} ompvm_error_kind;

typedef enum ompvm_trap_kind {
  OMPVM_TRAP_BAD_ADDRESS = 1,
  OMPVM_TRAP_REFUSED_ACCESS = 2,
  OMPVM_TRAP_INTEGER_DIVISION = 3,
  OMPVM_TRAP_FLOATING_POINT = 4,
  OMPVM_TRAP_STACK_OVERFLOW = 5,
  OMPVM_TRAP_UNREACHABLE = 6,
  OMPVM_TRAP_BUILTIN_TRAP = 7,
  OMPVM_TRAP_BAD_CALL = 8,
  OMPVM_TRAP_BAD_JUMP = 9,
  OMPVM_TRAP_ABORT = 10,
  OMPVM_TRAP_DEVICE = 11,
  OMPVM_TRAP_UNCAUGHT_EXCEPTION = 12,
  OMPVM_TRAP_CANCELLED = 13,
  OMPVM_TRAP_OUT_OF_TIME = 14,
  OMPVM_TRAP_OUT_OF_FUEL = 15
} ompvm_trap_kind;

/* A fault of the guest. The texts live as long as the error. */
typedef struct ompvm_trap {
  ompvm_trap_kind kind;
  int32_t signal;       /* the signal that would end a native run */
  int32_t thread;       /* OpenMP thread number; -1 if not known */
  uintptr_t address;    /* of a bad access or call; else 0 */
  const char *place;    /* such as "kernel.c:12"; NULL if not known */
  const char *function; /* NULL if not known */
  const char *detail;   /* type of an uncaught exception; else NULL */
} ompvm_trap;

/* Returns the kind. Later versions may add kinds. */
ompvm_error_kind ompvm_error_get_kind(const ompvm_error *error);
/* Returns the whole message. It lives as long as the error. */
const char *ompvm_error_message(const ompvm_error *error);
/* Returns 1 and fills `trap` for OMPVM_ERROR_TRAP, else 0. */
int ompvm_error_trap(const ompvm_error *error, ompvm_trap *trap);
/* Returns the OpenMP construct in which the guest faulted, such as "parallel region at kernel.c:9 in `dot`";
 * NULL outside of constructs, and for errors of other kinds. It lives as long as the error. */
const char *ompvm_error_trap_region(const ompvm_error *error);
/* `error` may be NULL. */
void ompvm_error_free(ompvm_error *error);
/* Prints the message of an error and exits with status 125; returns for NULL. */
void ompvm_check(ompvm_error *error);

/* ---- Engine: what modules share ---- */

/* The first engine of a process installs fault handlers and reads the OMPVM_* variables. */
ompvm_engine *ompvm_engine_new(void);
/* Like ompvm_engine_new, with compiled code kept where the command line keeps it. */
ompvm_engine *ompvm_engine_new_cached(void);
/* Reads the bytes of modules from now on in a process of its own, which cannot open files: bytes from
 * others cannot take this process down until the program is started. It executes the `ompvm` that
 * OMPVM_READER names, or the one beside the library, in `../bin`, or in PATH. Default: 0. No other
 * thread may use the engine meanwhile. */
void ompvm_engine_contain_reading(ompvm_engine *engine, int contained);
/* Modules, programs and sessions may outlive the engine. `engine` may be NULL, as for all of these. */
void ompvm_engine_free(ompvm_engine *engine);

/* ---- Modules ---- */

/* Reads bitcode, textual IR, or an object or executable with bitcode inside. */
ompvm_error *ompvm_module_from_file(const ompvm_engine *engine, const char *path,
                                    ompvm_module **module);
/* Reads and links files; static archives add the members that are needed. */
ompvm_error *ompvm_module_from_files(const ompvm_engine *engine, const char *const *paths,
                                     size_t count, ompvm_module **module);
/* Reads bitcode or textual IR from memory. `name` is for messages. */
ompvm_error *ompvm_module_from_bytes(const ompvm_engine *engine, const char *name,
                                     const void *bytes, size_t size, ompvm_module **module);
/* Language of a source. */
typedef enum ompvm_language {
  OMPVM_LANGUAGE_C = 0,
  OMPVM_LANGUAGE_CXX = 1,
  OMPVM_LANGUAGE_FORTRAN = 2
} ompvm_language;

/* Compiles a text with the installed clang or flang, -O2 -g -fopenmp and `count` options. `name` is for
 * messages. */
ompvm_error *ompvm_module_from_source(const ompvm_engine *engine, ompvm_language language,
                                      const char *name, const char *text,
                                      const char *const *options, size_t count,
                                      ompvm_module **module);
void ompvm_module_free(ompvm_module *module);

/* ---- Linking, with functions of the host ---- */

/* An argument or a result. Integers shorter than 64 bits may be set and read through `i64` or `u64`:
 * the upper bits of an argument are ignored, and a result is extended by its type. */
typedef union ompvm_value {
  int64_t i64;
  uint64_t u64;
  int32_t i32;
  uint32_t u32;
  double f64;
  float f32;
  void *pointer;
} ompvm_value;

/* A function of the host that the guest calls; several threads may call it at once. */
typedef void (*ompvm_callback)(void *data, const ompvm_value *arguments, ompvm_value *result);

/* Makes a linker without functions of the host. */
ompvm_linker *ompvm_linker_new(const ompvm_engine *engine);
/* Defines `name` for the guest. `signature` is its type as in C without names of parameters, such as
 * "double (long, const double *)". The callback and `data` must live as long as the programs and
 * processes that are linked with it. */
ompvm_error *ompvm_linker_define(ompvm_linker *linker, const char *name, const char *signature,
                                 ompvm_callback callback, void *data);
/* Allows only listed native functions, as --deny-native does. This is no boundary in memory: the guest
 * shares the address space with the host. A program that uses others cannot be started, with an error
 * of kind OMPVM_ERROR_UNSUPPORTED. */
void ompvm_linker_deny_native(ompvm_linker *linker, int denied);
/* Allows a function by its name, or a group such as "@threads". Linking fails if there is no such group. */
void ompvm_linker_allow_native(ompvm_linker *linker, const char *name);
/* Links a module. The program does not need the linker or the module any more. */
ompvm_error *ompvm_linker_link(const ompvm_linker *linker, const ompvm_module *module,
                               ompvm_program **program);
void ompvm_linker_free(ompvm_linker *linker);
void ompvm_program_free(ompvm_program *program);

/* ---- Starting ---- */

typedef enum ompvm_tier {
  OMPVM_TIER_INTERP = 0,   /* interprets everything (default) */
  OMPVM_TIER_BASELINE = 1, /* compiles each function at its first call, quickly */
  OMPVM_TIER_OPT = 2,      /* compiles everything before the program starts */
  OMPVM_TIER_AUTO = 3      /* starts at once, and compiles hot code meanwhile */
} ompvm_tier;

/* Makes the default configuration: interpreted, without arguments and limits. */
ompvm_config *ompvm_config_new(void);
/* Selects the tier that executes the program. */
void ompvm_config_set_tier(ompvm_config *config, ompvm_tier tier);
/* Appends an element to argv; the first one is the program's name. */
void ompvm_config_add_argument(ompvm_config *config, const char *argument);
/* Sets a variable of the environment of the whole process when the program starts. */
void ompvm_config_set_variable(ompvm_config *config, const char *name, const char *value);
/* Sets OMP_NUM_THREADS. The runtime reads its variables once, before the first program starts. */
void ompvm_config_set_threads(ompvm_config *config, uint32_t threads);
/* Sets OMP_THREAD_LIMIT, as ompvm_config_set_threads does OMP_NUM_THREADS: teams get fewer threads than they ask for. */
void ompvm_config_set_thread_limit(ompvm_config *config, uint32_t threads);
/* Adds a library as `-l` does, or a path with a slash. */
void ompvm_config_add_library(ompvm_config *config, const char *name);
/* Adds a folder as `-L` does. */
void ompvm_config_add_library_path(ompvm_config *config, const char *folder);
/* Sets the bytes of the stack that calls run on; 0, the default, is the caller's own stack. */
void ompvm_config_set_stack_size(ompvm_config *config, size_t bytes);
/* Selects devices as OMPVM_DEVICE does, such as "emulated:2" or "host". */
ompvm_error *ompvm_config_set_devices(ompvm_config *config, const char *devices);
/* Counts instructions for ompvm_process_statistics, and runs for ompvm_offload_report. */
void ompvm_config_set_reports(ompvm_config *config, int enabled);
/* Ends each call after this time with the trap OMPVM_TRAP_OUT_OF_TIME; 0, the default, is no limit. */
void ompvm_config_set_time_limit(ompvm_config *config, uint64_t nanoseconds);
/* Limits the bytes of heap memory that the program holds at once; a request beyond it fails as natively without
 * memory. Memory that libraries allocate, mmap, stacks and static data are not counted. 0, the default, is no limit. */
void ompvm_config_set_memory_limit(ompvm_config *config, size_t bytes);
/* Limits the instructions of the bitcode that the program executes, on all threads together; the call that would
 * exceed it ends with the trap OMPVM_TRAP_OUT_OF_FUEL. Needs OMPVM_TIER_INTERP. 0, the default, is no limit. */
void ompvm_config_set_fuel(ompvm_config *config, uint64_t instructions);
/* Lets `cancel` end the calls of the programs that are started with the configuration. */
void ompvm_config_set_cancel(ompvm_config *config, const ompvm_cancel *cancel);
void ompvm_config_free(ompvm_config *config);

/* Makes a handle that ends calls. It may be freed before the processes that are started with it. */
ompvm_cancel *ompvm_cancel_new(void);
/* Ends the calls that run now with the trap OMPVM_TRAP_CANCELLED, in every tier and on all threads of
 * their regions. Any thread may call it; it does not wait for them. */
void ompvm_cancel_calls(const ompvm_cancel *cancel);
void ompvm_cancel_free(ompvm_cancel *cancel);

/* Starts a program: opens libraries, resolves symbols, places the data and runs constructors. A
 * program can be started several times; each process has its own data. `config` may be NULL. */
ompvm_error *ompvm_program_start(const ompvm_program *program, const ompvm_config *config,
                                 ompvm_process **process);
/* Links without functions of the host, and starts. */
ompvm_error *ompvm_module_start(const ompvm_engine *engine, const ompvm_module *module,
                                const ompvm_config *config, ompvm_process **process);

/* Opens a file as the command line does: with OMPVM_TIER_AUTO and the user's cache. */
ompvm_error *ompvm_open(const char *path, ompvm_process **process);

/* ---- Processes ---- */

/* Runs main on this thread and then the exit handlers. `status` is what main returned or exit got. A second
 * call is an error of kind OMPVM_ERROR_HOST. Other threads may call functions of the process meanwhile, but
 * not use what exit handlers destroy. */
ompvm_error *ompvm_process_run_main(ompvm_process *process, int *status);
/* Looks up a function. `signature` is its type as in C without names of parameters; it may be NULL
 * for the type that the program has, with every integer signed. The function lives as long as the
 * process. A look-up costs far more than a call: keep the result. */
ompvm_error *ompvm_process_function(ompvm_process *process, const char *name,
                                    const char *signature, const ompvm_function **function);
/* Returns the address of a variable; NULL if the program does not define it or it is thread-local. */
void *ompvm_process_variable(const ompvm_process *process, const char *name);
/* Returns the bytes of heap memory that the program holds; SIZE_MAX without a limit. */
size_t ompvm_process_memory_used(const ompvm_process *process);
/* Returns the instructions that the program may still execute; UINT64_MAX without a limit. */
uint64_t ompvm_process_fuel(const ompvm_process *process);
/* Sets the number of instructions that the program may execute from now on. It must have been started with fuel. */
ompvm_error *ompvm_process_set_fuel(const ompvm_process *process, uint64_t instructions);
/* Returns counts by region and thread as text, to be freed with ompvm_text_free. */
char *ompvm_process_statistics(const ompvm_process *process);
/* Runs the exit handlers unless main ran, and ends the process. No thread may be in a call. */
void ompvm_process_free(ompvm_process *process);

/* Returns the number of parameters. */
size_t ompvm_function_arity(const ompvm_function *function);
/* Calls the function on this thread. `arguments` may be NULL if there are none, and `result` if it
 * is not wanted. If the guest calls exit, the error is OMPVM_ERROR_HOST. */
ompvm_error *ompvm_call(const ompvm_function *function, const ompvm_value *arguments,
                        ompvm_value *result);

/* ---- Sessions: programs in C that grow by cells ---- */

/* Result of a cell. The texts live until the next cell runs or the session ends. */
typedef struct ompvm_evaluation {
  const char *value;    /* of the last expression, as text; NULL if the cell ends with none */
  const char *warnings; /* of the compiler; empty if there are none */
  int exited;           /* 1 if the cell called exit, else 0 */
  int status;           /* that of exit, else 0 */
} ompvm_evaluation;

/* How far a text is from a complete cell. */
typedef enum ompvm_completeness {
  OMPVM_CELL_COMPLETE = 0,   /* it can be run */
  OMPVM_CELL_UNFINISHED = 1, /* more may follow, such as the statement of a pragma */
  OMPVM_CELL_OPEN = 2        /* more must follow, such as a closing bracket */
} ompvm_completeness;

/* Starts a session without cells. Each cell runs with the configuration, which may be NULL. A cell is
 * compiled by the installed clang, -O2 -g -fopenmp. */
ompvm_error *ompvm_session_new(const ompvm_engine *engine, const ompvm_config *config,
                               ompvm_session **session);
/* Returns the session's linker, to define functions of the host, which cells declare. It lives as
 * long as the session, and is not freed by itself. */
ompvm_linker *ompvm_session_linker(ompvm_session *session);
/* Returns how far a text is from a complete cell. Runs nothing. */
ompvm_completeness ompvm_session_completeness(const ompvm_session *session, const char *cell);
/* Compiles and runs a cell on this thread; later cells see its variables, functions, types, macros and
 * headers. `evaluation` may be NULL. Of a cell that cannot be run nothing remains; after a trap what it
 * did and declared remains. */
ompvm_error *ompvm_session_run(ompvm_session *session, const char *cell,
                               ompvm_evaluation *evaluation);
/* Ends the processes of the cells. */
void ompvm_session_free(ompvm_session *session);

/* ---- Reports ---- */

/* Returns the compilations of this process as text; with `function` (or NULL) all events of the
 * functions whose name contains it. To be freed with ompvm_text_free. */
char *ompvm_compile_report(const char *function);
/* Returns the regions that ran on devices as text, to be freed with ompvm_text_free. */
char *ompvm_offload_report(void);
/* Frees a text that this library returned. `text` may be NULL. */
void ompvm_text_free(char *text);

/* Sends the log to a function instead of standard error: a line for each event that `filter`
 * selects, as OMPVM_LOG does ("tier=debug"). The line has `size` bytes, a line break at its end, and
 * no zero byte. Works once per process, before the first engine, and the callback stays for ever;
 * any thread may call it, also in the middle of a guest's call. */
typedef void (*ompvm_log_callback)(void *data, const char *line, size_t size);
ompvm_error *ompvm_set_log(const char *filter, ompvm_log_callback callback, void *data);

#ifdef __cplusplus
}
#endif

#endif
