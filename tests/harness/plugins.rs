//! Libraries that a program opens with `dlopen`, and that refer to the program's symbols.
//!
//! Natively they find what the executable exports: everything with `-rdynamic`, else next to
//! nothing. Each check compares a start under ompvm with one without it.

use crate::compile::llvm_bin;
use crate::compilers::Place;
use libtest_mimic::Trial;

/// Opens a plugin that reads and writes a variable of the program and calls its function, whose
/// address is one for both.
const PROGRAM: &str = "\
#include <dlfcn.h>
#include <stdio.h>
int counter = 40;
int twice(int n) { return 2 * n; }
int main(void) {
  void *plugin = dlopen(\"./plugin.so\", RTLD_NOW);
  if (!plugin) { puts(\"no plugin\"); return 0; }
  int (*run)(int (*)(int)) = (int (*)(int (*)(int)))dlsym(plugin, \"run\");
  printf(\"%d %d\\n\", run(twice), counter);
}
";

const PLUGIN: &str = "\
extern int counter;
int twice(int);
int run(int (*f)(int)) {
  counter += twice(1);
  return f == twice ? f(5) : -1;
}
";

/// Checks what a plugin of a C program finds.
fn symbols(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("plugin-{level}"))?;
    p.write("main.c", PROGRAM)?;
    p.write("plugin.c", PLUGIN)?;
    p.build(&format!(
        "ompvm cc -{level} -rdynamic main.c -o exports
         ompvm cc -{level} main.c -o hides
         ompvm cc -{level} -Wl,--export-dynamic-symbol=counter main.c -o counts
         ompvm cc -{level} -c main.c -o main.o
         ompvm cc -{level} -shared -fPIC plugin.c -o plugin.so"
    ))?;
    for file in ["exports", "hides", "counts"] {
        let expected = if file == "exports" {
            "10 42\n"
        } else {
            "no plugin\n"
        };
        p.prints(&format!("./{file}"), expected)?;
        p.prints(&format!("env OMPVM_OFF=1 ./{file}"), expected)?;
        p.prints(&format!("ompvm run --tier=interp ./{file}"), expected)?;
    }
    p.prints("ompvm run main.o", "no plugin\n")?;
    for option in [
        "--export-dynamic",
        "-rdynamic",
        "-Wl,-E",
        "-Xlinker -export-dynamic",
    ] {
        p.prints(&format!("ompvm run {option} main.o"), "10 42\n")?;
    }
    // A plugin of another compiler.
    p.build(&format!(
        "clang -{level} -shared -fPIC plugin.c -o plugin.so"
    ))?;
    p.prints("./exports", "10 42\n")
}

/// Checks a plugin whose class derives from the program's, and that throws the program's exception.
fn classes(level: &str) -> Result<(), String> {
    let p = Place::new(&format!("plugin-cpp-{level}"))?;
    p.write(
        "shape.h",
        "\
struct Shape { virtual ~Shape(); virtual double area() const = 0; };
struct Refused { int code; Refused(int code); ~Refused(); };
",
    )?;
    p.write(
        "main.cpp",
        "\
#include \"shape.h\"
#include <atomic>
#include <dlfcn.h>
#include <stdio.h>
static std::atomic<int> alive;
Shape::~Shape() { alive--; }
Refused::Refused(int code) : code(code) { alive++; }
Refused::~Refused() { alive--; }
int main() {
  void *plugin = dlopen(\"./plugin.so\", RTLD_LAZY);
  if (!plugin) { puts(dlerror()); return 1; }
  auto make = (Shape * (*)(double)) dlsym(plugin, \"make\");
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = -1; i < 4; i++) {
    try {
      Shape *shape = make(i);
      sum += shape->area();
      alive++;
      delete shape;
    } catch (const Refused &refused) {
      sum += refused.code;
    }
  }
  printf(\"%g %d\\n\", sum, alive.load());
}
",
    )?;
    p.write(
        "plugin.cpp",
        "\
#include \"shape.h\"
template <class T> struct Square : Shape {
  T side;
  Square(T side) : side(side) {}
  double area() const override { return side * side; }
};
extern \"C\" Shape *make(double side) {
  if (side < 0) throw Refused(100);
  return new Square<double>(side);
}
",
    )?;
    p.build(&format!(
        "ompvm c++ -fopenmp -{level} -rdynamic main.cpp -o main
         ompvm c++ -{level} -shared -fPIC plugin.cpp -o plugin.so"
    ))?;
    p.prints("./main", "114 0\n")?;
    p.prints("ompvm run --tier=interp ./main", "114 0\n")?;
    p.prints("env OMPVM_OFF=1 ./main", "114 0\n")
}

/// Checks a plugin in Fortran that changes a common block of the program.
fn common_block() -> Result<(), String> {
    let p = Place::new("plugin-fortran")?;
    p.write(
        "main.f90",
        "\
program main
  use iso_c_binding
  interface
    function dlopen(name, mode) bind(c)
      import; type(c_ptr) :: dlopen; character(kind=c_char) :: name(*); integer(c_int), value :: mode
    end function
    function dlsym(handle, name) bind(c)
      import; type(c_funptr) :: dlsym; type(c_ptr), value :: handle; character(kind=c_char) :: name(*)
    end function
    subroutine work() bind(c)
    end subroutine
  end interface
  common /shared/ total, count
  real(8) :: total
  integer :: count
  procedure(work), pointer :: step
  total = 1.5d0
  count = 1
  call c_f_procpointer(dlsym(dlopen('./plugin.so' // c_null_char, 2), 'step' // c_null_char), step)
  call step()
  print '(F4.1, I3)', total, count
end program
",
    )?;
    p.write(
        "plugin.f90",
        "\
subroutine step() bind(c)
  common /shared/ total, count
  real(8) :: total
  integer :: count
  total = total * 2
  count = count + 6
end subroutine
",
    )?;
    p.build(
        "ompvm fc -rdynamic main.f90 -o main
         ompvm fc -shared -fPIC plugin.f90 -o plugin.so",
    )?;
    p.prints("./main", " 3.0  7\n")?;
    p.prints("ompvm run --tier=interp ./main", " 3.0  7\n")?;
    p.prints("env OMPVM_OFF=1 ./main", " 3.0  7\n")
}

/// Checks that `inspect` describes a library, and tells which libraries of a program are native.
fn inspection() -> Result<(), String> {
    let p = Place::new("inspected-libraries")?;
    p.write("with.c", "int with(void) { return 2; }\n")?;
    p.write("without.c", "int without(void) { return 3; }\n")?;
    p.write(
        "main.c",
        "int with(void), without(void); int main(void) { return with() + without() - 5; }\n",
    )?;
    p.build(
        "mkdir lib
         ompvm cc -shared -fPIC with.c -o lib/libwith.so
         clang -shared -fPIC without.c -o lib/libwithout.so
         ompvm cc main.c -Llib -lwith -lwithout -o main
         env LD_LIBRARY_PATH=lib ./main",
    )?;
    let ompvm = crate::ompvm().display();
    let told = |line: &str| Ok::<_, String>(p.ran(line, "")?.stdout);
    let text = told(&format!("env LD_LIBRARY_PATH=lib {ompvm} inspect main"))?;
    let native: Vec<&str> = text
        .lines()
        .filter(|l| l.contains("a shared library"))
        .collect();
    if native.len() != 1 || !native[0].contains("lib/libwithout.so") {
        return Err(format!("one native library should be listed: {text}"));
    }
    let text = told("ompvm inspect lib/libwith.so")?;
    match text.contains("with") && text.contains("Functions (1)") {
        true => Ok(()),
        false => Err(format!("the library's function should be listed: {text}")),
    }
}

/// Returns the trials.
pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Box<dyn FnOnce() -> Result<(), String> + Send>| {
        trials.push(Trial::test(format!("plugins/{name}"), move || Ok(check()?)));
    };
    for level in ["O0", "O2"] {
        add(format!("symbols/{level}"), Box::new(move || symbols(level)));
        add(format!("classes/{level}"), Box::new(move || classes(level)));
    }
    if llvm_bin().join("flang").exists() {
        add("common_block".into(), Box::new(common_block));
    }
    add("inspection".into(), Box::new(inspection));
    trials
}
