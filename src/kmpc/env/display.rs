//! Listings of `OMP_DISPLAY_ENV`, `omp_display_env` and `KMP_SETTINGS`, in libomp 22's format: its
//! rows, their order and its quoting, so that tools which parse libomp's listing can parse this
//! one.
//!
//! A row shows the value in force. Variables that only tune libomp's internals show their setting,
//! or libomp's default, although nothing here uses them.

use std::fmt::Write as _;

use crate::affinity::places::{self, AffinityOrder, PlacesRequest};
use crate::alloc::traits;
use crate::env::boolean;
use crate::icv::{self, Library, Settings, TargetOffload, WaitPolicy};
use ompvm_support::machine::{TopologyLevel, format_cpu_list};
use ompvm_support::topology;

/// Quoting of a value.
enum Value {
    /// `'X'` in both listings.
    Quoted(String),
    /// `'X'` in the first, `X` in the second.
    Plain(String),
    /// `'TRUE'` in the first, `true` in the second.
    Bool(bool),
    /// `X` in both.
    Bare(String),
    /// Without the closing quote, as libomp writes a time.
    Open(String),
    /// A text after a colon.
    AfterColon(String),
    Undefined,
}

use Value::{AfterColon, Bare, Bool, Open, Plain, Quoted, Undefined};

/// The `_OPENMP` that libomp 22 announces.
const OPENMP: &str = "201611";

/// Variables that only tune libomp, with its defaults; `'` quotes in both listings.
const TUNING: &[(&str, &str)] = &[
    ("KMP_ABORT_DELAY", "0"),
    ("KMP_ADAPTIVE_LOCK_PROPS", "'1,1024"),
    ("KMP_ALIGN_ALLOC", "64"),
    ("KMP_ALL_THREADPRIVATE", "128"),
    ("KMP_ATOMIC_MODE", "2"),
    ("KMP_CPUINFO_FILE", ""),
    ("KMP_DETERMINISTIC_REDUCTION", "?0"),
    ("KMP_DISP_NUM_BUFFERS", "7"),
    ("KMP_DUPLICATE_LIB_OK", "?0"),
    ("KMP_ENABLE_TASK_THROTTLING", "?1"),
    ("KMP_FORCE_MONOTONIC_DYNAMIC_SCHEDULE", "?0"),
    ("KMP_FORCE_REDUCTION", ""),
    ("KMP_FOREIGN_THREADS_THREADPRIVATE", "?1"),
    ("KMP_FORKJOIN_BARRIER", "'2,2"),
    ("KMP_FORKJOIN_BARRIER_PATTERN", "'hyper,hyper"),
    ("KMP_FORKJOIN_FRAMES", "?1"),
    ("KMP_FORKJOIN_FRAMES_MODE", "3"),
    ("KMP_GTID_MODE", "3"),
    ("KMP_HANDLE_SIGNALS", "?0"),
    (
        "KMP_HIDDEN_HELPER_AFFINITY",
        "'noverbose,warnings,granularity=core,none",
    ),
    ("KMP_HOT_TEAMS_MAX_LEVEL", "1"),
    ("KMP_HOT_TEAMS_MODE", "0"),
    ("KMP_INIT_AT_FORK", "?1"),
    ("KMP_ITT_PREPARE_DELAY", "0"),
    ("KMP_LOCK_KIND", "queuing"),
    ("KMP_MALLOC_POOL_INCR", "1M"),
    ("KMP_MWAIT_HINTS", "0"),
    ("KMP_NESTING_MODE", "=0"),
    ("KMP_NUM_LOCKS_IN_BLOCK", "1"),
    ("KMP_PLAIN_BARRIER", "'2,2"),
    ("KMP_PLAIN_BARRIER_PATTERN", "'hyper,hyper"),
    ("KMP_REDUCTION_BARRIER", "'1,1"),
    ("KMP_REDUCTION_BARRIER_PATTERN", "'hyper,hyper"),
    ("KMP_SCHEDULE", "'static,balanced;guided,iterative"),
    ("KMP_SETTINGS", "?0"),
    ("KMP_SPIN_BACKOFF_PARAMS", "'4096,100"),
    ("KMP_STACKOFFSET", "64"),
    ("KMP_STACKPAD", "0"),
    ("KMP_STORAGE_MAP", "?0"),
    ("KMP_TASKING", "2"),
    ("KMP_TASKLOOP_MIN_TASKS", "0"),
    ("KMP_TASK_STEALING_CONSTRAINT", "1"),
    ("KMP_TOPOLOGY_METHOD", "all"),
    ("KMP_TPAUSE", "0"),
    ("KMP_USER_LEVEL_MWAIT", "?0"),
    ("KMP_USE_YIELD", "1"),
    ("KMP_VERSION", "?0"),
    ("LIBOMP_NUM_HIDDEN_HELPER_THREADS", "7"),
    ("LIBOMP_USE_HIDDEN_HELPER_TASK", "?1"),
];

fn text(value: impl ToString) -> Value {
    Plain(value.to_string())
}

fn optional(value: Option<&String>) -> Value {
    value.map_or(Undefined, text)
}

/// Formats a size with the largest unit that leaves no remainder; in units of `least` bytes if even
/// kilobytes leave one.
fn size(bytes: usize, least: usize) -> String {
    let units = [(30, "G"), (20, "M"), (10, "k")];
    units
        .iter()
        .find(|(shift, _)| bytes.trailing_zeros() >= *shift)
        .map_or_else(
            || (bytes / least).to_string(),
            |(shift, unit)| format!("{}{unit}", bytes >> shift),
        )
}

fn blocktime(micros: u32) -> String {
    match micros {
        u32::MAX => format!("{}ms", i32::MAX / 1000),
        us if us % 1000 == 0 => format!("{}ms", us / 1000),
        us => format!("{us}us"),
    }
}

/// Returns places as `OMP_PLACES` displays them.
fn places(s: &Settings) -> Option<String> {
    if !s.bind {
        return None;
    }
    let braces = |list: &[Vec<usize>]| {
        let each: Vec<_> = list
            .iter()
            .map(|p| format!("{{{}}}", format_cpu_list(p)))
            .collect();
        each.join(",")
    };
    let plain = |list: &[Vec<usize>]| {
        let each: Vec<_> = list.iter().map(|p| format_cpu_list(p)).collect();
        each.join(",")
    };
    match (&s.places, &s.kmp_affinity) {
        (Some(PlacesRequest::Each(level, None)), _) => Some(places::level_name(*level).to_owned()),
        (Some(PlacesRequest::Each(level, Some(n))), _) => {
            Some(format!("{}({n})", places::level_name(*level)))
        }
        (Some(PlacesRequest::List(list)), _) => Some(braces(list)),
        (None, Some(kmp)) => match &kmp.order {
            AffinityOrder::Explicit(list) => Some(plain(list)),
            AffinityOrder::Compact(_) => {
                Some(places::level_name(kmp.granularity.unwrap_or(TopologyLevel::Core)).into())
            }
            AffinityOrder::Unspecified => Some("cores".to_owned()),
            _ => None,
        },
        (None, None) => Some("cores".to_owned()),
    }
}

/// Returns `KMP_AFFINITY` as displayed.
fn kmp_affinity(s: &Settings) -> String {
    let kmp = s.kmp_affinity.as_ref();
    let mut granularity = kmp.and_then(|k| k.granularity);
    let mut tail = "none".to_owned();
    if s.bind {
        tail = match (&s.places, kmp.map(|k| (&k.order, k.offset))) {
            (Some(PlacesRequest::List(_)), _) => {
                granularity = Some(TopologyLevel::Thread);
                format!("proclist=[{}],explicit", places(s).unwrap_or_default())
            }
            (Some(PlacesRequest::Each(level, _)), _) => {
                granularity = Some(*level);
                "compact,0,0".to_owned()
            }
            (None, Some((AffinityOrder::Compact(p), offset))) => format!("compact,{p},{offset}"),
            (None, Some((AffinityOrder::Scatter(p), offset))) => format!("scatter,{p},{offset}"),
            (None, Some((AffinityOrder::Balanced, _))) => "balanced,0,0".to_owned(),
            (None, Some((AffinityOrder::Explicit(_), _))) => {
                format!("proclist=[{}],explicit", places(s).unwrap_or_default())
            }
            _ => "compact,0,0".to_owned(),
        };
    } else if kmp.is_some_and(|k| k.order == AffinityOrder::Disabled) {
        return "disabled".to_owned();
    }
    let verbose = if kmp.is_some_and(|k| k.verbose) {
        ""
    } else {
        "no"
    };
    let respect = if kmp.is_none_or(|k| k.respect) {
        ""
    } else {
        "no"
    };
    let reset = if kmp.is_some_and(|k| k.reset) {
        ""
    } else {
        "no"
    };
    let level = match granularity.unwrap_or(TopologyLevel::Core) {
        TopologyLevel::Thread => "thread",
        TopologyLevel::Core => "core",
        TopologyLevel::Cache => "ll_cache",
        TopologyLevel::Numa => "numa_domain",
        TopologyLevel::Socket => "socket",
        TopologyLevel::Machine => "group",
    };
    format!("{verbose}verbose,warnings,{respect}respect,{reset}reset,granularity={level},{tail}")
}

fn proc_bind(s: &Settings) -> String {
    let name = |&b: &u8| ["false", "true", "primary", "close", "spread", "intel"][b as usize % 6];
    match s.proc_bind.as_slice() {
        [] => "false".to_owned(),
        list => list.iter().map(name).collect::<Vec<_>>().join(","),
    }
}

/// Returns a predefined allocator's name; libomp names no other.
fn allocator(s: &Settings) -> &'static str {
    match s.allocator {
        traits::AllocatorRequest::Predefined(handle) => traits::ALLOCATORS[handle as usize - 1],
        traits::AllocatorRequest::Made(_) => traits::ALLOCATORS[0],
    }
}

/// Returns the row of a variable that tunes libomp and that ompvm does not read.
fn tuning_row(
    name: &'static str,
    default: &str,
    var: &dyn Fn(&str) -> Option<String>,
) -> (&'static str, Value) {
    let given = var(name).filter(|text| !text.is_empty());
    let (kind, default) = match default.as_bytes().first() {
        Some(b'\'' | b'?' | b'=') => default.split_at(1),
        _ => ("", default),
    };
    let value = given.as_deref().unwrap_or(default).to_owned();
    let value = match kind {
        "'" => Quoted(value),
        "=" => Bare(value),
        "?" => Bool(boolean(&value).unwrap_or(default == "1")),
        _ if value.is_empty() => Undefined,
        _ => Plain(value),
    };
    (name, value)
}

/// Returns the rows of the other variables that OpenMP does not define.
fn kmp_rows(s: &Settings, active: bool) -> Vec<(&'static str, Value)> {
    let library = match (s.library, active) {
        (Library::Serial, _) => "serial",
        (_, true) => "turnaround",
        _ => "throughput",
    };
    let mut rows = vec![
        ("KMP_BLOCKTIME", Open(blocktime(icv::spin_micros_of(s)))),
        ("KMP_DEVICE_THREAD_LIMIT", text(s.device_thread_limit)),
        ("KMP_INHERIT_FP_CONTROL", Bool(s.inherit_fp_control)),
        ("KMP_LIBRARY", text(library)),
        ("KMP_STACKSIZE", text(size(s.stack_size, 1))),
        (
            "KMP_TEAMS_PROC_BIND",
            text(match s.kmp_teams_proc_bind {
                2 => "primary",
                3 => "close",
                _ => "spread",
            }),
        ),
        (
            "KMP_TEAMS_THREAD_LIMIT",
            text(
                s.kmp_teams_thread_limit
                    .unwrap_or(topology::usable_cpus() as u32),
            ),
        ),
        ("KMP_WARNINGS", Bool(s.warnings)),
    ];
    if let Some(subset) = &s.hw_subset {
        rows.push(("KMP_HW_SUBSET", text(subset)));
    }
    rows
}

/// Returns all rows; those of OpenMP alone unless `verbose`.
fn rows(
    s: &Settings,
    verbose: bool,
    var: &dyn Fn(&str) -> Option<String>,
) -> Vec<(&'static str, Value)> {
    let mut rows = Vec::new();
    let active = s.wait_policy == Some(WaitPolicy::Active) || s.library == Library::Turnaround;
    if verbose {
        rows.extend(
            TUNING
                .iter()
                .map(|&(name, default)| tuning_row(name, default, var)),
        );
        rows.extend(kmp_rows(s, active));
    }
    let display = var("OMP_DISPLAY_ENV").unwrap_or_default();
    let display = match display.trim().to_ascii_lowercase().as_str() {
        "verbose" => text("VERBOSE"),
        other => Bool(boolean(other).unwrap_or(false)),
    };
    let threads: Vec<_> = s.nthreads.iter().map(u32::to_string).collect();
    let offload = match s.target_offload {
        TargetOffload::Disabled => "DISABLED",
        TargetOffload::Default => "DEFAULT",
        TargetOffload::Mandatory => "MANDATORY",
    };
    rows.extend([
        ("OMP_AFFINITY_FORMAT", Quoted(s.affinity_format.clone())),
        ("OMP_ALLOCATOR", text(allocator(s))),
        ("OMP_CANCELLATION", Bool(s.cancellation)),
        ("OMP_DEFAULT_DEVICE", text(s.default_device)),
        ("OMP_DISPLAY_AFFINITY", Bool(s.display_affinity)),
        ("OMP_DISPLAY_ENV", display),
        ("OMP_DYNAMIC", Bool(s.dynamic)),
        ("OMP_MAX_ACTIVE_LEVELS", text(s.max_active_levels)),
        ("OMP_MAX_TASK_PRIORITY", text(s.max_task_priority)),
        (
            "OMP_NESTED",
            AfterColon(format!(
                "deprecated; max-active-levels-var={}",
                s.max_active_levels
            )),
        ),
        ("OMP_NUM_TEAMS", text(s.num_teams)),
        (
            "OMP_NUM_THREADS",
            if threads.is_empty() {
                Undefined
            } else {
                Quoted(threads.join(","))
            },
        ),
        ("OMP_PLACES", places(s).map_or(Undefined, Quoted)),
        ("OMP_PROC_BIND", Quoted(proc_bind(s))),
        ("OMP_SCHEDULE", Quoted(s.schedule_text.clone())),
        ("OMP_STACKSIZE", text(size(s.stack_size, 1024))),
        ("OMP_TARGET_OFFLOAD", Bare(offload.to_owned())),
        ("OMP_TEAMS_THREAD_LIMIT", text(s.teams_thread_limit)),
        ("OMP_THREAD_LIMIT", text(s.thread_limit)),
        (
            "OMP_TOOL",
            text(if s.tool { "enabled" } else { "disabled" }),
        ),
        ("OMP_TOOL_LIBRARIES", optional(s.tool_libraries.as_ref())),
        (
            "OMP_TOOL_VERBOSE_INIT",
            optional(s.tool_verbose_init.as_ref()),
        ),
        (
            "OMP_WAIT_POLICY",
            text(if active { "ACTIVE" } else { "PASSIVE" }),
        ),
    ]);
    // libomp sorts by name.
    rows.sort_by_key(|(name, _)| *name);
    if verbose {
        rows.push(("KMP_AFFINITY", Quoted(kmp_affinity(s))));
    }
    rows
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the listing of `OMP_DISPLAY_ENV` and `omp_display_env`.
pub fn listing(s: &Settings, verbose: bool) -> String {
    list_with(s, verbose, &environment)
}

fn list_with(s: &Settings, verbose: bool, var: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = format!("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n   _OPENMP='{OPENMP}'\n");
    for (name, value) in rows(s, verbose, var) {
        let _ = match value {
            Quoted(v) | Plain(v) => writeln!(out, "  [host] {name}='{v}'"),
            Bool(on) => writeln!(
                out,
                "  [host] {name}='{}'",
                if on { "TRUE" } else { "FALSE" }
            ),
            Bare(v) => writeln!(out, "  [host] {name}={v}"),
            Open(v) => writeln!(out, "  [host] {name}='{v}"),
            AfterColon(v) => writeln!(out, "  [host] {name}: {v}"),
            Undefined => writeln!(out, "  [host] {name}: value is not defined"),
        };
    }
    out.push_str("OPENMP DISPLAY ENVIRONMENT END\n\n\n");
    out
}

/// Returns the listing of `KMP_SETTINGS`: the variables that are set, and the values in force.
fn settings_with(
    s: &Settings,
    given: &[(String, String)],
    var: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut out = String::from("\nUser settings:\n\n");
    for (name, value) in given {
        let _ = writeln!(out, "   {name}={value}");
    }
    out.push_str("\nEffective settings:\n\n");
    for (name, value) in rows(s, true, var) {
        let _ = match value {
            Quoted(v) => writeln!(out, "   {name}='{v}'"),
            Plain(v) | Bare(v) | Open(v) => writeln!(out, "   {name}={v}"),
            Bool(on) => writeln!(out, "   {name}={on}"),
            AfterColon(v) => writeln!(out, "   {name}: {v}"),
            Undefined => writeln!(out, "   {name}: value is not defined"),
        };
    }
    out.push('\n');
    out
}

/// Prints the listings that the environment requests at the start of the runtime.
pub fn at_start(s: &Settings) {
    let on = |name| environment(name).is_some_and(|t| boolean(&t) == Some(true));
    if on("KMP_VERSION") {
        ompvm_support::eprintln!(
            "ompvm OpenMP runtime, version {}\nOpenMP API version: 5.0 ({OPENMP})",
            env!("CARGO_PKG_VERSION")
        );
    }
    if on("KMP_SETTINGS") {
        let ours = ["OMP_", "KMP_", "GOMP_", "LIBOMP_"];
        let mut given: Vec<_> = std::env::vars_os()
            .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
            .filter(|(name, _)| ours.iter().any(|prefix| name.starts_with(prefix)))
            .collect();
        given.sort();
        ompvm_support::eprint!("{}", settings_with(s, &given, &environment));
    }
    let Some(text) = environment("OMP_DISPLAY_ENV") else {
        return;
    };
    match (text.trim().eq_ignore_ascii_case("verbose"), boolean(&text)) {
        (true, _) => ompvm_support::eprint!("{}", listing(s, true)),
        (_, Some(true)) => ompvm_support::eprint!("{}", listing(s, false)),
        (_, Some(false)) => {}
        (_, None) if s.warnings => {
            ompvm_support::eprintln!(
                "OMP: Warning #42: OMP_DISPLAY_ENV={text:?} is not true, false or verbose; using \
                 the default"
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env;

    fn shown(vars: &[(&str, &str)], verbose: bool) -> String {
        let mut settings = Settings::new();
        let var = |name: &str| {
            let found = vars.iter().find(|(n, _)| *n == name);
            found.map(|(_, v)| (*v).to_owned())
        };
        env::read(&mut settings, &var, &mut |w| panic!("{w}"));
        list_with(&settings, verbose, &var)
    }

    #[test]
    fn kmpc_display_env_has_libomps_rows() {
        let out = shown(&[("OMP_DISPLAY_ENV", "true")], false);
        let expected = "
OPENMP DISPLAY ENVIRONMENT BEGIN
   _OPENMP='201611'
  [host] OMP_AFFINITY_FORMAT='OMP: pid %P tid %i thread %n bound to OS proc set {%A}'
  [host] OMP_ALLOCATOR='omp_default_mem_alloc'
  [host] OMP_CANCELLATION='FALSE'
  [host] OMP_DEFAULT_DEVICE='0'
  [host] OMP_DISPLAY_AFFINITY='FALSE'
  [host] OMP_DISPLAY_ENV='TRUE'
  [host] OMP_DYNAMIC='FALSE'
  [host] OMP_MAX_ACTIVE_LEVELS='1'
  [host] OMP_MAX_TASK_PRIORITY='0'
  [host] OMP_NESTED: deprecated; max-active-levels-var=1
  [host] OMP_NUM_TEAMS='0'
  [host] OMP_NUM_THREADS: value is not defined
  [host] OMP_PLACES: value is not defined
  [host] OMP_PROC_BIND='false'
  [host] OMP_SCHEDULE='static'
  [host] OMP_STACKSIZE='8M'
  [host] OMP_TARGET_OFFLOAD=DEFAULT
  [host] OMP_TEAMS_THREAD_LIMIT='0'
  [host] OMP_THREAD_LIMIT='2147483647'
  [host] OMP_TOOL='enabled'
  [host] OMP_TOOL_LIBRARIES: value is not defined
  [host] OMP_TOOL_VERBOSE_INIT: value is not defined
  [host] OMP_WAIT_POLICY='PASSIVE'
OPENMP DISPLAY ENVIRONMENT END


";
        assert_eq!(out, expected);
    }

    #[test]
    fn kmpc_display_env_shows_what_is_set() {
        let row = |vars: &[(&str, &str)], row: &str| {
            let out = shown(vars, true);
            assert!(out.contains(&format!("  [host] {row}\n")), "{row}\n{out}");
        };
        row(&[("OMP_PLACES", "sockets(1)")], "OMP_PLACES='sockets(1)'");
        row(&[("OMP_PLACES", "{0},{1}")], "OMP_PLACES='{0},{1}'");
        row(&[("OMP_PROC_BIND", "true")], "OMP_PROC_BIND='spread'");
        row(
            &[("OMP_SCHEDULE", "monotonic:dynamic,4")],
            "OMP_SCHEDULE='monotonic:dynamic,4'",
        );
        row(&[("OMP_STACKSIZE", "1500")], "KMP_STACKSIZE='1500k'");
        row(&[("OMP_STACKSIZE", "123456B")], "OMP_STACKSIZE='120'");
        row(&[("KMP_BLOCKTIME", "7us")], "KMP_BLOCKTIME='7us");
        row(&[("OMP_WAIT_POLICY", "active")], "KMP_LIBRARY='turnaround'");
        row(&[("KMP_TASKING", "1")], "KMP_TASKING='1'");
        row(
            &[("KMP_AFFINITY", "scatter,granularity=fine,verbose")],
            "KMP_AFFINITY='verbose,warnings,respect,noreset,granularity=thread,scatter,0,0'",
        );
        row(
            &[("KMP_AFFINITY", "explicit,proclist=[0,1]")],
            "KMP_AFFINITY='noverbose,warnings,respect,noreset,granularity=core,proclist=[0,1],explicit'",
        );
        row(
            &[("OMP_TARGET_OFFLOAD", "mandatory")],
            "OMP_TARGET_OFFLOAD=MANDATORY",
        );
    }

    #[test]
    fn kmpc_settings_quotes_less() {
        let s = Settings::new();
        let out = settings_with(&s, &[("KMP_SETTINGS".into(), "1".into())], &|_| None);
        assert!(
            out.starts_with("\nUser settings:\n\n   KMP_SETTINGS=1\n\nEffective settings:\n\n")
        );
        assert!(out.contains("   OMP_DYNAMIC=false\n   OMP_MAX_ACTIVE_LEVELS=1\n"));
        assert!(out.contains("   OMP_SCHEDULE='static'\n   OMP_STACKSIZE=8M\n"));
    }
}
