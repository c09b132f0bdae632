//! Programs whose heap memory is limited: requests beyond the limit fail as natively, in each tier
//! and language, and other programs of the process have what they want.

use ompvm::api::{
    Config, Engine, Language, Linker, Module, Process, Program, Session, Source, Tier,
};

const C: &str = r#"
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
static void *held[1000], *of_openmp;
static int hold(void *p) { return (held[0] = p) ? 0 : errno; }
int by_malloc(int n) { return hold(malloc(n)); }
int by_calloc(int n) { return hold(calloc(n / 4, 4)); }
int by_realloc(int n) { return hold(realloc(malloc(n / 2), n)); }
int by_aligned(int n) { return hold(aligned_alloc(64, n)); }
int by_posix(int n) { return posix_memalign(&held[0], 64, n); }
int by_openmp(int n) { return (of_openmp = omp_alloc(n, omp_null_allocator)) ? 0 : ENOMEM; }
int give_back(int n) {
  for (int i = 0; i < 1000; i++) free(held[i]), held[i] = 0;
  omp_free(of_openmp, omp_null_allocator), of_openmp = 0;
  return 0;
}
int on_all_threads(int n) {
  int failed = 0;
#pragma omp parallel for num_threads(4) reduction(+ : failed)
  for (int i = 0; i < 1000; i++) {
    held[i] = malloc(n);
    if (held[i]) memset(held[i], 1, n);
    else failed++;
  }
  return failed;
}
int grow(int n) {
  char *p = 0;
  for (int size = 16; size <= n; size *= 2) {
    char *q = realloc(p, size);
    if (!q) return free(p), size / 2;
    p = q;
  }
  return free(p), n;
}
int copies(int n) {
  for (int i = 0; i < n; i++) free(strdup("a text that the library copies"));
  return 0;
}
"#;

const CPP: &str = r#"
#include <memory>
#include <new>
#include <vector>
struct alignas(64) Wide { double d[16]; };
extern "C" int fill(int n) {
  std::vector<std::unique_ptr<int[]>> all;
  try {
    for (int i = 0; i < n; i++) all.emplace_back(new int[1000]);
  } catch (const std::bad_alloc &) {
    return (int)all.size();
  }
  return n;
}
extern "C" int wide(int n) {
  try {
    return std::vector<Wide>(n).size();
  } catch (const std::bad_alloc &) {
    return -1;
  }
}
char *volatile block;
extern "C" int quiet(int n) {
  block = new (std::nothrow) char[n];
  int result = block ? 0 : -1;
  delete[] block;
  return result;
}
"#;

const FORTRAN: &str = "
integer(c_int) function fill(n) bind(c)
  use iso_c_binding
  integer(c_int), value :: n
  real(8), allocatable :: a(:), b(:)
  integer :: failed
  allocate(a(n), stat=failed)
  fill = merge(1, 0, failed /= 0)
  if (failed /= 0) return
  a = 1
  allocate(b(n), stat=failed)
  if (failed /= 0) fill = 2
end function
";

const TIERS: [Tier; 4] = [Tier::Interp, Tier::Baseline, Tier::Opt, Tier::Auto];
const LIMIT: usize = 1 << 20;

fn program(language: Language, name: &str, text: &str) -> Program {
    let engine = Engine::default();
    let module = Module::from_source(&engine, &Source::text(language, name, text)).unwrap();
    Linker::new(&engine).link(&module).unwrap()
}

fn start(program: &Program, tier: Tier) -> Process {
    let config = Config::new().tier(tier).memory_limit(LIMIT);
    program.start(config).unwrap()
}

fn call(process: &Process, name: &str, n: usize) -> i32 {
    // SAFETY: the guest's functions have this type.
    let function = unsafe { process.typed_func::<(i32,), i32>(name).unwrap() };
    function.call((n as i32,)).unwrap()
}

#[test]
fn requests_beyond_the_limit_fail() {
    let _turn = super::one_at_a_time();
    let program = program(Language::C, "allocating.c", C);
    for tier in TIERS {
        let process = start(&program, tier);
        let other = program.start(Config::new().tier(tier)).unwrap();
        assert_eq!(
            (process.memory_used(), other.memory_used()),
            (Some(0), None)
        );
        for name in [
            "by_malloc",
            "by_calloc",
            "by_realloc",
            "by_posix",
            "by_aligned",
            "by_openmp",
        ] {
            assert_eq!(call(&process, name, LIMIT / 2), 0, "{name} {tier:?}");
            let held = Some(LIMIT / 2 + 16);
            assert_eq!(process.memory_used(), held, "{name} {tier:?}");
            call(&process, "give_back", 0);
            assert_eq!(process.memory_used(), Some(0), "{name} {tier:?}");
            assert_eq!(call(&other, name, 2 * LIMIT), 0, "{name} {tier:?}");
            call(&other, "give_back", 0);
            if name != "by_realloc" {
                assert_eq!(call(&process, name, LIMIT), libc::ENOMEM, "{name} {tier:?}");
                assert_eq!(process.memory_used(), Some(0), "{name} {tier:?}");
            }
        }
        assert_eq!(call(&process, "grow", 4 * LIMIT), LIMIT as i32 / 2);
        assert_eq!(call(&process, "copies", 100), 0);
        assert_eq!(process.memory_used(), Some(0), "{tier:?}");
    }
}

#[test]
fn threads_share_the_limit() {
    let _turn = super::one_at_a_time();
    let program = program(Language::C, "allocating.c", C);
    for tier in TIERS {
        let process = start(&program, tier);
        for _ in 0..5 {
            let fit = LIMIT / 2016;
            let failed = call(&process, "on_all_threads", 2000);
            assert_eq!(failed as usize, 1000 - fit, "{tier:?}");
            assert_eq!(process.memory_used(), Some(fit * 2016), "{tier:?}");
            call(&process, "give_back", 0);
            assert_eq!(process.memory_used(), Some(0), "{tier:?}");
        }
    }
}

#[test]
fn operators_of_cpp_throw() {
    let _turn = super::one_at_a_time();
    let program = program(Language::Cpp, "allocating.cpp", CPP);
    for tier in TIERS {
        let process = start(&program, tier);
        let fit = call(&process, "fill", 1000);
        assert!((200..262).contains(&fit), "{fit} {tier:?}");
        assert_eq!(call(&process, "wide", 100), 100, "{tier:?}");
        assert_eq!(call(&process, "wide", 100_000), -1, "{tier:?}");
        assert_eq!(call(&process, "quiet", LIMIT / 2), 0, "{tier:?}");
        assert_eq!(call(&process, "quiet", LIMIT), -1, "{tier:?}");
        assert_eq!(process.memory_used(), Some(0), "{tier:?}");
    }
}

#[test]
fn allocatable_arrays_count() {
    let _turn = super::one_at_a_time();
    let program = program(Language::Fortran, "allocating.f90", FORTRAN);
    for tier in TIERS {
        let process = start(&program, tier);
        assert_eq!(call(&process, "fill", LIMIT / 32), 0, "{tier:?}");
        assert_eq!(call(&process, "fill", LIMIT / 12), 2, "{tier:?}");
        assert_eq!(call(&process, "fill", LIMIT / 4), 1, "{tier:?}");
        assert_eq!(process.memory_used(), Some(0), "{tier:?}");
    }
}

#[test]
fn cells_of_a_session_share_the_limit() {
    let _turn = super::one_at_a_time();
    let config = Config::new().memory_limit(LIMIT);
    let mut session = Session::new(&Engine::default(), config).unwrap();
    let mut value = |cell: &str| session.run(cell).unwrap().value;
    value("#include <stdlib.h>\nchar *p = 0, *q = 0; void *get(int n) { return malloc(n); }");
    assert_eq!(value("p = malloc(700000); p != 0").as_deref(), Some("1"));
    assert_eq!(value("q = malloc(700000); q != 0").as_deref(), Some("0"));
    assert_eq!(
        value("free(p); q = get(700000); q != 0").as_deref(),
        Some("1")
    );
    assert_eq!(value("p = get(700000); p != 0").as_deref(), Some("0"));
}

#[test]
fn native_programs_have_no_limit() {
    let _turn = super::one_at_a_time();
    let program = program(Language::C, "allocating.c", C);
    let refused = program.start(Config::new().native(true).memory_limit(LIMIT));
    assert!(refused.is_err_and(|e| e.to_string().contains("embedded")));
}
