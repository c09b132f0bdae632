// ompvm for C++17: owners of the handles of ompvm.h, calls with types, and exceptions.
//
//     ompvm::Process process = ompvm::open("kernel.bc");
//     auto dot = process.function<double(long, const double *, const double *)>("dot");
//     double sum = dot(3, x, y);
//
// Every failure is an ompvm::Error. A process must outlive its functions.
#ifndef OMPVM_HPP
#define OMPVM_HPP

#include "ompvm.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace ompvm {

// A failure; for a fault of the guest, `trap()` tells about it.
class Error : public std::runtime_error {
  std::shared_ptr<ompvm_error> error;

public:
  explicit Error(ompvm_error *e)
      : std::runtime_error(ompvm_error_message(e)), error(e, ompvm_error_free) {}
  ompvm_error_kind kind() const { return ompvm_error_get_kind(error.get()); }
  // Returns true and fills `out` if the guest faulted. Its texts live as long as the error.
  bool trap(ompvm_trap &out) const { return ompvm_error_trap(error.get(), &out) != 0; }
  // Returns the OpenMP construct in which the guest faulted, or null. It lives as long as the error.
  const char *trap_region() const { return ompvm_error_trap_region(error.get()); }
};

namespace detail {

inline void check(ompvm_error *error) {
  if (error)
    throw Error(error);
}

template <typename T, void (*free)(T *)> struct Free {
  void operator()(T *handle) const { free(handle); }
};
template <typename T, void (*free)(T *)> using Owner = std::unique_ptr<T, Free<T, free>>;

// Writes a type as ompvm.h takes it.
template <typename T> std::string type_name() {
  if constexpr (std::is_void_v<T>)
    return "void";
  else if constexpr (std::is_pointer_v<T>)
    return "void *";
  else if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, float>)
    return "float";
  else if constexpr (std::is_same_v<T, double>)
    return "double";
  else {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "not a type that can be passed");
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)) + "_t";
  }
}

template <typename T> ompvm_value pack(T value) {
  ompvm_value packed{};
  if constexpr (std::is_pointer_v<T>)
    packed.pointer = const_cast<void *>(static_cast<const void *>(value));
  else if constexpr (std::is_same_v<T, float>)
    packed.f32 = value;
  else if constexpr (std::is_same_v<T, double>)
    packed.f64 = value;
  else
    packed.i64 = static_cast<int64_t>(value);
  return packed;
}

template <typename T> T unpack(const ompvm_value &value) {
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(value.pointer);
  else if constexpr (std::is_same_v<T, float>)
    return value.f32;
  else if constexpr (std::is_same_v<T, double>)
    return value.f64;
  else
    return static_cast<T>(value.i64);
}

template <typename R, typename... A> std::string signature() {
  std::string text = type_name<R>() + " (";
  const char *separator = "";
  ((text += separator, text += type_name<A>(), separator = ", "), ...);
  return text + ")";
}

template <typename R, typename... A, size_t... I>
void call(R (*function)(A...), const ompvm_value *arguments, ompvm_value *result,
          std::index_sequence<I...>) {
  (void)arguments;
  if constexpr (std::is_void_v<R>)
    function(unpack<A>(arguments[I])...);
  else
    *result = pack<R>(function(unpack<A>(arguments[I])...));
}

// Defines a function of the host in a linker.
template <typename R, typename... A>
void define(ompvm_linker *linker, const std::string &name, R (*function)(A...)) {
  auto callback = [](void *data, const ompvm_value *arguments, ompvm_value *result) {
    call(reinterpret_cast<R (*)(A...)>(data), arguments, result, std::index_sequence_for<A...>());
  };
  std::string type = signature<R, A...>();
  check(ompvm_linker_define(linker, name.c_str(), type.c_str(), callback,
                            reinterpret_cast<void *>(function)));
}

} // namespace detail

class Engine {
  detail::Owner<ompvm_engine, ompvm_engine_free> handle;

public:
  Engine() : handle(ompvm_engine_new()) {}
  ompvm_engine *get() const { return handle.get(); }
};

class Module {
  detail::Owner<ompvm_module, ompvm_module_free> handle;

public:
  // Reads a file.
  Module(const Engine &engine, const std::string &path) {
    ompvm_module *module;
    detail::check(ompvm_module_from_file(engine.get(), path.c_str(), &module));
    handle.reset(module);
  }
  // Reads bitcode or textual IR from memory.
  Module(const Engine &engine, const std::string &name, const void *bytes, size_t size) {
    ompvm_module *module;
    detail::check(ompvm_module_from_bytes(engine.get(), name.c_str(), bytes, size, &module));
    handle.reset(module);
  }
  ompvm_module *get() const { return handle.get(); }
};

// Ends running calls from another thread.
class Cancel {
  detail::Owner<ompvm_cancel, ompvm_cancel_free> handle;

public:
  Cancel() : handle(ompvm_cancel_new()) {}
  void cancel() const { ompvm_cancel_calls(get()); }
  ompvm_cancel *get() const { return handle.get(); }
};

class Config {
  detail::Owner<ompvm_config, ompvm_config_free> handle;

public:
  Config() : handle(ompvm_config_new()) {}
  Config &tier(ompvm_tier tier) { return ompvm_config_set_tier(get(), tier), *this; }
  Config &threads(uint32_t count) { return ompvm_config_set_threads(get(), count), *this; }
  // Limits the OpenMP threads that exist at once for each thread of the host.
  Config &thread_limit(uint32_t count) {
    return ompvm_config_set_thread_limit(get(), count), *this;
  }
  Config &argument(const std::string &text) {
    return ompvm_config_add_argument(get(), text.c_str()), *this;
  }
  // Limits the wall time of each call.
  Config &time_limit(std::chrono::nanoseconds limit) {
    uint64_t count = limit.count() > 0 ? static_cast<uint64_t>(limit.count()) : 1;
    return ompvm_config_set_time_limit(get(), count), *this;
  }
  // Limits the bytes of heap memory that the program holds at once.
  Config &memory_limit(size_t bytes) {
    return ompvm_config_set_memory_limit(get(), bytes ? bytes : 1), *this;
  }
  // Limits the instructions that the program executes; needs OMPVM_TIER_INTERP.
  Config &fuel(uint64_t instructions) {
    return ompvm_config_set_fuel(get(), instructions ? instructions : 1), *this;
  }
  Config &cancelled_by(const Cancel &cancel) {
    return ompvm_config_set_cancel(get(), cancel.get()), *this;
  }
  ompvm_config *get() const { return handle.get(); }
};

template <typename Type> class Function;

// A function of the guest with its type.
template <typename R, typename... A> class Function<R(A...)> {
  const ompvm_function *handle = nullptr;

public:
  Function(ompvm_process *process, const std::string &name) {
    std::string signature = detail::signature<R, A...>();
    detail::check(ompvm_process_function(process, name.c_str(), signature.c_str(), &handle));
  }
  R operator()(A... arguments) const {
    ompvm_value packed[sizeof...(A) + 1] = {detail::pack<A>(arguments)...};
    ompvm_value result;
    detail::check(ompvm_call(handle, packed, &result));
    if constexpr (!std::is_void_v<R>)
      return detail::unpack<R>(result);
  }
};

class Process {
  detail::Owner<ompvm_process, ompvm_process_free> handle;

public:
  explicit Process(ompvm_process *process) : handle(process) {}
  // Runs main and the exit handlers, and returns the exit status. A second call throws.
  int run_main() const {
    int status;
    detail::check(ompvm_process_run_main(get(), &status));
    return status;
  }
  template <typename Type> Function<Type> function(const std::string &name) const {
    return Function<Type>(get(), name);
  }
  // Returns the address of a variable, or null.
  template <typename T> T *variable(const std::string &name) const {
    return static_cast<T *>(ompvm_process_variable(get(), name.c_str()));
  }
  // Returns the bytes of heap memory that the program holds; without a limit nothing.
  std::optional<size_t> memory_used() const {
    size_t used = ompvm_process_memory_used(get());
    return used == SIZE_MAX ? std::nullopt : std::optional<size_t>(used);
  }
  // Returns the instructions that the program may still execute; without a limit nothing.
  std::optional<uint64_t> fuel() const {
    uint64_t left = ompvm_process_fuel(get());
    return left == UINT64_MAX ? std::nullopt : std::optional<uint64_t>(left);
  }
  // Sets the number of instructions that the program may execute from now on.
  void set_fuel(uint64_t instructions) const {
    detail::check(ompvm_process_set_fuel(get(), instructions));
  }
  ompvm_process *get() const { return handle.get(); }
};

class Linker {
  detail::Owner<ompvm_linker, ompvm_linker_free> handle;

public:
  explicit Linker(const Engine &engine) : handle(ompvm_linker_new(engine.get())) {}
  // Allows only listed native functions; no boundary in memory.
  Linker &deny_native(bool denied = true) { return ompvm_linker_deny_native(handle.get(), denied), *this; }
  // Allows a function by its name, or a group such as "@threads".
  Linker &allow_native(const std::string &name) {
    return ompvm_linker_allow_native(handle.get(), name.c_str()), *this;
  }
  // Defines a function of the host. It must not throw.
  template <typename R, typename... A> Linker &define(const std::string &name, R (*function)(A...)) {
    detail::define(get(), name, function);
    return *this;
  }
  // Links and starts a module.
  Process start(const Module &module, const Config &config = Config()) const {
    ompvm_program *program;
    detail::check(ompvm_linker_link(get(), module.get(), &program));
    detail::Owner<ompvm_program, ompvm_program_free> owner(program);
    ompvm_process *process;
    detail::check(ompvm_program_start(program, config.get(), &process));
    return Process(process);
  }
  ompvm_linker *get() const { return handle.get(); }
};

// Result of a cell.
struct Evaluation {
  std::optional<std::string> value; // of the last expression, if the cell ends with one
  std::string warnings;             // of the compiler
  std::optional<int> status;        // set if the cell called exit
};

// A program in C that grows by cells.
class Session {
  detail::Owner<ompvm_session, ompvm_session_free> handle;

public:
  explicit Session(const Engine &engine, const Config &config = Config()) {
    ompvm_session *session;
    detail::check(ompvm_session_new(engine.get(), config.get(), &session));
    handle.reset(session);
  }
  // Defines a function of the host, which cells declare. It must not throw.
  template <typename R, typename... A> Session &define(const std::string &name, R (*function)(A...)) {
    detail::define(ompvm_session_linker(get()), name, function);
    return *this;
  }
  ompvm_completeness completeness(const std::string &cell) const {
    return ompvm_session_completeness(get(), cell.c_str());
  }
  // Compiles and runs a cell on this thread.
  Evaluation run(const std::string &cell) {
    ompvm_evaluation done;
    detail::check(ompvm_session_run(get(), cell.c_str(), &done));
    Evaluation result;
    if (done.value)
      result.value = done.value;
    result.warnings = done.warnings;
    if (done.exited)
      result.status = done.status;
    return result;
  }
  ompvm_session *get() const { return handle.get(); }
};

// Opens a file as the command line does: with OMPVM_TIER_AUTO and the user's cache.
inline Process open(const std::string &path) {
  ompvm_process *process;
  detail::check(ompvm_open(path.c_str(), &process));
  return Process(process);
}

} // namespace ompvm

#endif
