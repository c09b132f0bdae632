//! Names of functions: the device's counterparts, and the reasons why others have none.
//!
//! The reasons are what `inspect --offload` and `--offload-report` print, so each says what the
//! program does, not which function is missing. `support::math_functions` lists the functions.

use ompvm_support::math_functions::{DeviceSupport, function};

/// Returns the device's name for a function of `math.h`.
pub(super) fn device_math_name(name: &str) -> Option<String> {
    let (plain, support) = function(name)?;
    if support == DeviceSupport::Host {
        return None;
    }
    let suffix = &name[plain.len()..];
    // `long` has 64 bits on host and device.
    let plain = match plain {
        "lrint" => "llrint",
        "lround" => "llround",
        other => other,
    };
    Some(format!("__nv_{plain}{suffix}"))
}

/// Names, or with `*` beginnings of names, and what such functions do that a device cannot. The
/// first that fits counts.
const REASONS: &[(&str, &str)] = &[
    ("omp_get_thread_num", "the thread number is queried"),
    ("omp_get_num_threads", "the number of threads is queried"),
    ("omp_set_lock", "a lock"),
    ("omp_unset_lock", "a lock"),
    ("omp_test_lock", "a lock"),
    ("omp_set_nest_lock", "a lock"),
    ("omp_unset_nest_lock", "a lock"),
    (
        "omp_*",
        "the runtime is queried for something that iterations do not have",
    ),
    ("__kmpc_critical*", "a critical region"),
    ("__kmpc_end_critical*", "a critical region"),
    ("__kmpc_ordered*", "an ordered region"),
    (
        "__kmpc_doacross*",
        "iterations wait for each other (`ordered` with `depend`)",
    ),
    ("__kmpc_flush", "a flush: threads may wait for each other"),
    ("__kmpc_barrier*", "a barrier inside the region"),
    ("__kmpc_cancel*", "cancellation"),
    ("__kmpc_single*", "a `single` or `masked` construct"),
    ("__kmpc_master*", "a `single` or `masked` construct"),
    ("__kmpc_masked*", "a `single` or `masked` construct"),
    ("__kmpc_copyprivate*", "a `single` or `masked` construct"),
    ("__kmpc_fork*", "a parallel region inside the region"),
    ("__kmpc_serialized*", "a parallel region inside the region"),
    ("__kmpc_push*", "a parallel region inside the region"),
    ("__kmpc_omp_task*", "tasks"),
    ("__kmpc_taskloop*", "tasks"),
    ("__kmpc_taskgroup*", "tasks"),
    ("__kmpc_task*", "tasks"),
    ("__kmpc_threadprivate*", "a threadprivate variable"),
    ("__kmpc_atomic*", "an atomic update that needs the runtime"),
    ("__kmpc_alloc*", "memory is allocated"),
    ("__kmpc_*", "the runtime's entry"),
    ("__tgt_*", "a `target` region inside the region"),
    ("printf", "output"),
    ("fprintf", "output"),
    ("vprintf", "output"),
    ("puts", "output"),
    ("putchar", "output"),
    ("fputs", "output"),
    ("fputc", "output"),
    ("putc", "output"),
    ("fwrite", "output"),
    ("write", "output"),
    ("_ZNSo*", "output"),
    ("_ZSt*", "the C++ library"),
    ("_ZNS*", "the C++ library"),
    ("fread", "input"),
    ("read", "input"),
    ("fgets", "input"),
    ("scanf", "input"),
    ("fscanf", "input"),
    ("malloc", "memory is allocated"),
    ("calloc", "memory is allocated"),
    ("realloc", "memory is allocated"),
    ("free", "memory is freed"),
    ("_Znw*", "memory is allocated"),
    ("_Zna*", "memory is allocated"),
    ("_Zd*", "memory is freed"),
    ("rand", "a generator whose state all threads share"),
    ("random", "a generator whose state all threads share"),
    ("drand48", "a generator whose state all threads share"),
    ("exit", "the program may end there"),
    ("abort", "the program may end there"),
    ("__assert_fail", "an assertion"),
    ("__cxa_*", "an exception"),
    ("_Unwind*", "an exception"),
    ("__clang_call_terminate", "an exception"),
];

/// Returns the reason why a function cannot be called on a device.
pub(super) fn reason(name: &str) -> String {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    match REASONS.iter().find(|(pattern, _)| fits(pattern)) {
        Some((_, what)) => format!("{what} (`{name}`)"),
        None => format!("`{name}` is called, which is not part of the program"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn math_functions_have_device_names() {
        assert_eq!(device_math_name("exp").as_deref(), Some("__nv_exp"));
        assert_eq!(device_math_name("expf").as_deref(), Some("__nv_expf"));
        assert_eq!(device_math_name("erf").as_deref(), Some("__nv_erf"));
        assert_eq!(device_math_name("erff").as_deref(), Some("__nv_erff"));
        assert_eq!(device_math_name("modf").as_deref(), Some("__nv_modf"));
        assert_eq!(device_math_name("lround").as_deref(), Some("__nv_llround"));
        assert_eq!(device_math_name("printf"), None);
    }

    #[test]
    fn reasons_fit_whole_names_or_beginnings() {
        assert!(reason("omp_get_thread_num").starts_with("the thread number"));
        assert!(reason("omp_get_level").starts_with("the runtime is queried"));
        assert!(reason("__kmpc_critical_with_hint").starts_with("a critical region"));
        assert!(reason("free").starts_with("memory is freed"));
        for own in [
            "freeze",
            "reader",
            "random_r",
            "rand_r",
            "write_row",
            "exit_code",
        ] {
            assert!(reason(own).contains("not part of the program"), "{own}");
        }
    }
}
