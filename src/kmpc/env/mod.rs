//! The environment variables of OpenMP 5.2, chapter 21, and those of libomp that have a meaning
//! here; docs/src/environment.md lists them.
//!
//! A value that cannot be parsed is reported once, and the default is used. Variables that only
//! tune libomp's internals are ignored, except for displaying them ([`display`]).

pub mod display;

use crate::affinity::partition::BY_NUMBER;
use crate::affinity::places::{self, AffinityOrder};
use crate::alloc::traits;
use crate::icv::{
    Library, RunSchedule, SCHEDULE_MONOTONIC, Settings, TRAPEZOIDAL, TargetOffload, WaitPolicy,
};

/// A variable whose value is parsed by itself.
struct Variable {
    name: &'static str,
    /// The values that are understood, for the message about others.
    expected: &'static str,
    /// Parses a value into the settings; `None` refuses it.
    take: fn(&mut Settings, &str) -> Option<()>,
}

/// Shortens a row of the tables below.
const fn variable(
    name: &'static str,
    expected: &'static str,
    take: fn(&mut Settings, &str) -> Option<()>,
) -> Variable {
    Variable {
        name,
        expected,
        take,
    }
}

const BOOLEAN: &str = "true or false";
const POSITIVE: &str = "a positive integer";
const NATURAL: &str = "a non-negative integer";

/// Variables about teams, which are read before binding: a list of bindings raises the number of
/// active levels again.
const TEAMS: &[Variable] = &[
    variable("OMP_NUM_THREADS", "a list of positive integers", |s, t| {
        s.nthreads = t.split(',').map(positive).collect::<Option<_>>()?;
        Some(())
    }),
    variable("OMP_THREAD_LIMIT", POSITIVE, |s, t| {
        s.thread_limit = positive(t)?;
        Some(())
    }),
    variable("KMP_WARNINGS", BOOLEAN, |s, t| {
        s.warnings = boolean(t)?;
        Some(())
    }),
    variable("KMP_ALL_THREADS", POSITIVE, device_thread_limit),
    variable("KMP_MAX_THREADS", POSITIVE, device_thread_limit),
    variable("KMP_DEVICE_THREAD_LIMIT", POSITIVE, device_thread_limit),
    variable("KMP_TEAMS_THREAD_LIMIT", POSITIVE, |s, t| {
        s.kmp_teams_thread_limit = Some(positive(t)?);
        Some(())
    }),
    variable("KMP_TEAMS_PROC_BIND", "spread, close or primary", |s, t| {
        s.kmp_teams_proc_bind = match t.to_ascii_lowercase().as_str() {
            "spread" => 4,
            "close" => 3,
            "primary" | "master" => 2,
            _ => return None,
        };
        Some(())
    }),
    variable("OMP_DYNAMIC", BOOLEAN, |s, t| {
        s.dynamic = boolean(t)?;
        Some(())
    }),
];

/// All other variables. Of two that set the same, the later one counts.
const OTHERS: &[Variable] = &[
    variable("OMP_DISPLAY_AFFINITY", BOOLEAN, |s, t| {
        s.display_affinity = boolean(t)?;
        Some(())
    }),
    variable(
        "OMP_TARGET_OFFLOAD",
        "mandatory, disabled or default",
        |s, t| {
            s.target_offload = target_offload(t)?;
            Some(())
        },
    ),
    variable("OMP_TOOL", "enabled or disabled", |s, t| {
        s.tool = match t.to_ascii_lowercase().as_str() {
            "enabled" | "" => true,
            "disabled" => false,
            _ => return None,
        };
        Some(())
    }),
    variable("KMP_LIBRARY", "serial, turnaround or throughput", |s, t| {
        s.library = match t.to_ascii_lowercase().as_str() {
            "serial" => Library::Serial,
            "turnaround" => Library::Turnaround,
            "throughput" => Library::Throughput,
            _ => return None,
        };
        Some(())
    }),
    variable("OMP_MAX_ACTIVE_LEVELS", NATURAL, |s, t| {
        s.max_active_levels = natural(t)?;
        Some(())
    }),
    variable("OMP_SCHEDULE", "[modifier:]kind[,chunk]", |s, t| {
        s.schedule = schedule(t)?;
        s.schedule_text = t.to_ascii_lowercase().replace(' ', "");
        Some(())
    }),
    variable("KMP_STACKSIZE", "a size", |s, t| {
        s.stack_size = size(t, 1)?;
        Some(())
    }),
    variable(
        "OMP_STACKSIZE",
        "a size (number with B, K, M or G)",
        |s, t| {
            s.stack_size = size(t, 1024)?;
            Some(())
        },
    ),
    variable("OMP_WAIT_POLICY", "active or passive", |s, t| {
        s.wait_policy = Some(match t.to_ascii_lowercase().as_str() {
            "active" => WaitPolicy::Active,
            "passive" => WaitPolicy::Passive,
            _ => return None,
        });
        Some(())
    }),
    variable(
        "KMP_BLOCKTIME",
        "a time in milliseconds or infinite",
        |s, t| {
            s.blocktime_us = Some(blocktime(t)?);
            Some(())
        },
    ),
    variable("OMP_DEFAULT_DEVICE", NATURAL, |s, t| {
        // Names of kinds of devices are left to the layer that selects devices.
        if !t.starts_with(|c: char| c.is_ascii_alphabetic()) {
            s.default_device = natural(t)? as i32;
        }
        Some(())
    }),
    variable("OMP_CANCELLATION", BOOLEAN, |s, t| {
        s.cancellation = boolean(t)?;
        Some(())
    }),
    variable("KMP_ENABLE_TASK_THROTTLING", BOOLEAN, |s, t| {
        s.task_throttling = boolean(t)?;
        Some(())
    }),
    variable("KMP_INHERIT_FP_CONTROL", BOOLEAN, |s, t| {
        s.inherit_fp_control = boolean(t)?;
        Some(())
    }),
    variable("OMP_NUM_TEAMS", POSITIVE, |s, t| {
        s.num_teams = positive(t)?;
        Some(())
    }),
    variable("OMP_TEAMS_THREAD_LIMIT", POSITIVE, |s, t| {
        s.teams_thread_limit = positive(t)?;
        Some(())
    }),
    variable("OMP_MAX_TASK_PRIORITY", NATURAL, |s, t| {
        s.max_task_priority = natural(t)? as i32;
        Some(())
    }),
];

fn device_thread_limit(s: &mut Settings, text: &str) -> Option<()> {
    s.device_thread_limit = positive(text)?;
    Some(())
}

/// The variables as they are given, and a receiver of one text per bad value.
struct Reader<'a> {
    var: &'a dyn Fn(&str) -> Option<String>,
    warn: &'a mut dyn FnMut(String),
}

impl Reader<'_> {
    /// Reads a variable that is set; reports a value that `take` refuses.
    fn read(&mut self, name: &str, expected: &str, take: impl FnOnce(&str) -> Option<()>) {
        if let Some(text) = (self.var)(name)
            && take(text.trim()).is_none()
        {
            (self.warn)(format!(
                "#42: {name}={text:?} is not {expected}; using the default"
            ));
        }
    }

    fn read_all(&mut self, table: &[Variable], settings: &mut Settings) {
        for variable in table {
            self.read(variable.name, variable.expected, |text| {
                (variable.take)(settings, text)
            });
        }
    }
}

/// Reads the variables through `var` into `settings`; `warn` receives one text per bad value.
pub fn read(
    settings: &mut Settings,
    var: &dyn Fn(&str) -> Option<String>,
    warn: &mut dyn FnMut(String),
) {
    let mut reader = Reader { var, warn };
    let s = settings;
    reader.read_all(TEAMS, s);
    if s.nthreads.len() > 1 {
        s.max_active_levels = i32::MAX as u32;
    }
    reader.read("OMP_NESTED", BOOLEAN, |t| {
        s.max_active_levels = if boolean(t)? { i32::MAX as u32 } else { 1 };
        Some(())
    });
    read_binding(&mut reader, s);
    s.hw_subset = var("KMP_HW_SUBSET").or_else(|| var("KMP_PLACE_THREADS"));
    check_buffers(&mut reader);
    if let Some(text) = var("OMP_AFFINITY_FORMAT") {
        s.affinity_format = text;
    }
    read_allocator(&mut reader, s);
    s.tool_libraries = var("OMP_TOOL_LIBRARIES");
    s.tool_verbose_init = var("OMP_TOOL_VERBOSE_INIT");
    reader.read_all(OTHERS, s);
    s.stack_size = s.stack_size.max(64 << 10);
}

/// Reads the variables that bind threads to places. `KMP_AFFINITY` goes before those of OpenMP.
fn read_binding(reader: &mut Reader, s: &mut Settings) {
    let mut bind_given = false;
    reader.read(
        "OMP_PROC_BIND",
        "true, false or a list of primary, close, spread",
        |t| {
            let list: Vec<u8> = t.split(',').map(proc_bind).collect::<Option<_>>()?;
            if list.len() > 1 {
                if list.iter().any(|&b| b < 2) || t.to_ascii_lowercase().contains("true") {
                    return None;
                }
                s.max_active_levels = i32::MAX as u32;
            }
            s.proc_bind = list;
            bind_given = true;
            Some(())
        },
    );
    let places_given = read_places(reader, s);
    reader.read("GOMP_CPU_AFFINITY", "a list of processors", |t| {
        s.kmp_affinity = Some(places::parse_gomp(t)?);
        Some(())
    });
    reader.read(
        "KMP_AFFINITY",
        "a type of affinity with its modifiers",
        |t| {
            s.kmp_affinity = Some(places::parse_kmp(t)?);
            Some(())
        },
    );
    match s.kmp_affinity.as_ref().map(|k| &k.order) {
        // Modifiers only.
        None | Some(AffinityOrder::Unspecified) => {
            // As in libomp: if places are given, threads are spread over them.
            if places_given && !bind_given {
                s.proc_bind = vec![4];
            }
        }
        Some(order) => {
            s.proc_bind = match order {
                AffinityOrder::None | AffinityOrder::Disabled => Vec::new(),
                _ => vec![BY_NUMBER],
            };
            for (given, name) in [(bind_given, "OMP_PROC_BIND"), (places_given, "OMP_PLACES")] {
                if given {
                    (reader.warn)(format!(
                        "#182: {name} is ignored because KMP_AFFINITY is defined"
                    ));
                }
            }
            s.places = None;
        }
    }
    s.bind = s.proc_bind.first().is_some_and(|&b| b != 0);
}

/// Reads the list of places. Returns true if one is given, even a bad one.
fn read_places(reader: &mut Reader, s: &mut Settings) -> bool {
    let Some(text) = (reader.var)("OMP_PLACES") else {
        return false;
    };
    s.places = places::parse(&text);
    if s.places.is_none() {
        s.places = places::parse_leniently(&text);
        let level = match s.places {
            Some(places::PlacesRequest::Each(level, _)) => places::level_name(level),
            _ => "cores",
        };
        (reader.warn)(format!(
            "#250: OMP_PLACES={text:?} is not a list of places, using {level}"
        ));
    }
    true
}

/// Checks the number of dispatch buffers, which is fixed here.
fn check_buffers(reader: &mut Reader) {
    let Some(text) = (reader.var)("KMP_DISP_NUM_BUFFERS") else {
        return;
    };
    let wrong = match text.trim().parse::<i64>() {
        Ok(1..=4096) => return,
        Ok(..1) => "too small",
        Ok(_) => "too large",
        Err(_) => "not a number",
    };
    (reader.warn)(format!("#80: KMP_DISP_NUM_BUFFERS={text:?} is {wrong}"));
}

fn read_allocator(reader: &mut Reader, s: &mut Settings) {
    let Some(text) = (reader.var)("OMP_ALLOCATOR") else {
        return;
    };
    match traits::parse(&text) {
        Ok(request) => s.allocator = request,
        Err(traits::AllocatorError::Malformed) => (reader.warn)(format!(
            "#42: OMP_ALLOCATOR={text:?} is not an allocator or a memory space with traits; \
             using the default"
        )),
        Err(traits::AllocatorError::Unavailable) => (reader.warn)(format!(
            "#190: OMP_ALLOCATOR={text:?} requests memory that is not available; using \
             the default"
        )),
    }
}

/// Parses a value of `OMP_TARGET_OFFLOAD`.
pub fn target_offload(text: &str) -> Option<TargetOffload> {
    match text.trim().to_ascii_lowercase().as_str() {
        "mandatory" => Some(TargetOffload::Mandatory),
        "disabled" => Some(TargetOffload::Disabled),
        "default" => Some(TargetOffload::Default),
        _ => None,
    }
}

fn natural(text: &str) -> Option<u32> {
    let value: u64 = text.trim().parse().ok()?;
    Some(value.min(i32::MAX as u64) as u32)
}

fn positive(text: &str) -> Option<u32> {
    natural(text).filter(|&n| n > 0)
}

fn boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" | "t" | ".true." | ".t." | "enabled" => Some(true),
        "false" | "0" | "no" | "off" | "f" | ".false." | ".f." | "disabled" => Some(false),
        _ => None,
    }
}

fn proc_bind(text: &str) -> Option<u8> {
    match text.trim().to_ascii_lowercase().as_str() {
        "false" => Some(0),
        // libomp's choice of a policy.
        "true" => Some(4),
        "master" | "primary" => Some(2),
        "close" => Some(3),
        "spread" => Some(4),
        _ => None,
    }
}

/// Parses `[modifier:]kind[,chunk]`.
fn schedule(text: &str) -> Option<RunSchedule> {
    let lower = text.to_ascii_lowercase();
    let (monotonic, rest) = match lower.split_once(':') {
        Some(("monotonic", rest)) => (SCHEDULE_MONOTONIC, rest),
        Some(("nonmonotonic", rest)) => (0, rest),
        Some(_) => return None,
        None => (0, lower.as_str()),
    };
    let (kind, chunk) = match rest.split_once(',') {
        Some((kind, chunk)) => (kind, positive(chunk)? as i32),
        None => (rest, 0),
    };
    let kind = match kind.trim() {
        "static" => 1,
        "dynamic" | "static_steal" => 2,
        "guided" => 3,
        "auto" => 4,
        "trapezoidal" => TRAPEZOIDAL,
        _ => return None,
    };
    Some(RunSchedule {
        kind: kind | monotonic,
        chunk: chunk.max(default_chunk(kind)),
    })
}

/// Returns the default chunk size of a schedule kind; 0 stands for even shares.
pub fn default_chunk(kind: u32) -> i32 {
    i32::from(matches!(kind, 2..=4 | TRAPEZOIDAL))
}

/// Parses a number with an optional unit letter; the default unit is `unit` bytes.
fn size(text: &str, unit: usize) -> Option<usize> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let scale = match text[digits.len()..].trim() {
        "" => unit,
        "b" => 1,
        "k" | "kb" => 1 << 10,
        "m" | "mb" => 1 << 20,
        "g" | "gb" => 1 << 30,
        _ => return None,
    };
    let number: usize = digits.trim().parse().ok()?;
    number.checked_mul(scale).filter(|&n| n > 0)
}

fn blocktime(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    if text == "infinite" || text == "infinity" {
        return Some(u64::MAX);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "ms" => 1000,
        "us" => 1,
        "s" => 1_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok().map(|n| n.saturating_mul(scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let mut settings = Settings::new();
        let mut warnings = Vec::new();
        let var = |name: &str| {
            vars.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| (*v).to_owned())
        };
        read(&mut settings, &var, &mut |w| warnings.push(w));
        (settings, warnings)
    }

    #[test]
    fn kmpc_env_reads_every_form() {
        let (s, w) = with(&[
            ("OMP_NUM_THREADS", "4, 3,2"),
            ("OMP_SCHEDULE", "monotonic:dynamic,7"),
            ("OMP_STACKSIZE", "2M"),
            ("OMP_WAIT_POLICY", "PASSIVE"),
            ("OMP_PROC_BIND", "spread,close"),
            ("KMP_BLOCKTIME", "3us"),
            ("OMP_PLACES", "cores"),
            ("OMP_DISPLAY_AFFINITY", ".true."),
            ("OMP_TARGET_OFFLOAD", "Disabled"),
            ("KMP_LIBRARY", "turnaround"),
            ("KMP_ALL_THREADS", "9"),
            ("OMP_TOOL", "disabled"),
        ]);
        assert!(s.bind && s.display_affinity && !s.tool && s.places.is_some());
        assert_eq!(s.device_thread_limit, 9);
        assert!(w.is_empty(), "{w:?}");
        assert_eq!(s.nthreads, [4, 3, 2]);
        assert_eq!(
            s.schedule,
            RunSchedule {
                kind: 2 | SCHEDULE_MONOTONIC,
                chunk: 7
            }
        );
        assert_eq!(s.stack_size, 2 << 20);
        assert_eq!(s.wait_policy, Some(WaitPolicy::Passive));
        assert_eq!(s.proc_bind, [4, 3]);
        assert_eq!(s.blocktime_us, Some(3));
        assert!(s.max_active_levels > 1);
    }

    #[test]
    fn kmpc_env_reports_each_bad_value_once_and_keeps_the_default() {
        let (s, w) = with(&[
            ("OMP_NUM_THREADS", "0"),
            ("OMP_SCHEDULE", "fast"),
            ("OMP_DYNAMIC", "maybe"),
            ("OMP_STACKSIZE", "12Q"),
        ]);
        assert_eq!(w.len(), 4, "{w:?}");
        assert!(s.nthreads.is_empty());
        assert_eq!(s.schedule.kind, 1);
        assert_eq!(s.stack_size, 8 << 20);
    }

    #[test]
    fn kmpc_env_decides_who_binds() {
        let policy = |vars: &[(&str, &str)]| {
            let (s, w) = with(vars);
            (s.bind, s.proc_bind, w.len())
        };
        assert_eq!(policy(&[]), (false, vec![], 0));
        assert_eq!(policy(&[("OMP_PLACES", "cores")]), (true, vec![4], 0));
        assert_eq!(policy(&[("OMP_PROC_BIND", "true")]), (true, vec![4], 0));
        let off = [("OMP_PROC_BIND", "false"), ("OMP_PLACES", "cores")];
        assert_eq!(policy(&off), (false, vec![0], 0));
        assert_eq!(
            policy(&[("OMP_PROC_BIND", "close,true")]),
            (false, vec![], 1)
        );
        let both = [("OMP_PROC_BIND", "close"), ("KMP_AFFINITY", "compact")];
        assert_eq!(policy(&both), (true, vec![BY_NUMBER], 1));
        let modifiers = [("OMP_PROC_BIND", "close"), ("KMP_AFFINITY", "verbose")];
        assert_eq!(policy(&modifiers), (true, vec![3], 0));
        assert_eq!(policy(&[("KMP_AFFINITY", "bad")]), (false, vec![], 1));
    }
}
