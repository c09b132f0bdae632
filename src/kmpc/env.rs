//! The environment variables of OpenMP 5.2, chapter 21, that this runtime honours, and
//! `KMP_BLOCKTIME`, `KMP_STACKSIZE` of libomp.
//!
//! A value that cannot be understood is reported once and its default taken. Variables of parts
//! that are not there yet (affinity format, target offload, tools) are not looked at.

use std::fmt::Write as _;

use crate::kmpc::icv::{RunSchedule, SCHEDULE_MONOTONIC, Settings, TRAPEZOIDAL, WaitPolicy};

/// Reads the variables through `var` into `settings`; `warn` gets one text per bad value.
pub fn read(
    settings: &mut Settings,
    var: &dyn Fn(&str) -> Option<String>,
    warn: &mut dyn FnMut(String),
) {
    let mut each = |name: &str, expected: &str, take: &mut dyn FnMut(&str) -> Option<()>| {
        if let Some(text) = var(name)
            && take(text.trim()).is_none()
        {
            warn(format!(
                "{name}={text:?} is not {expected}; using the default"
            ));
        }
    };
    let s = settings;
    each("OMP_NUM_THREADS", "a list of positive integers", &mut |t| {
        s.nthreads = t.split(',').map(positive).collect::<Option<_>>()?;
        Some(())
    });
    each("OMP_THREAD_LIMIT", "a positive integer", &mut |t| {
        s.thread_limit = positive(t)?;
        Some(())
    });
    each("OMP_DYNAMIC", "true or false", &mut |t| {
        s.dynamic = boolean(t)?;
        Some(())
    });
    if s.nthreads.len() > 1 {
        s.max_active_levels = i32::MAX as u32;
    }
    each("OMP_NESTED", "true or false", &mut |t| {
        s.max_active_levels = if boolean(t)? { i32::MAX as u32 } else { 1 };
        Some(())
    });
    each(
        "OMP_PROC_BIND",
        "true, false or a list of primary, close, spread",
        &mut |t| {
            let list: Option<Vec<u8>> = t.split(',').map(proc_bind).collect();
            s.proc_bind = list?;
            s.bind = s.proc_bind.first().is_some_and(|&b| b != 0);
            if s.proc_bind.len() > 1 {
                s.max_active_levels = i32::MAX as u32;
            }
            Some(())
        },
    );
    each(
        "OMP_MAX_ACTIVE_LEVELS",
        "a non-negative integer",
        &mut |t| {
            s.max_active_levels = natural(t)?;
            Some(())
        },
    );
    each("OMP_SCHEDULE", "[modifier:]kind[,chunk]", &mut |t| {
        s.schedule = schedule(t)?;
        Some(())
    });
    each("KMP_STACKSIZE", "a size", &mut |t| {
        s.stack_size = size(t, 1)?;
        Some(())
    });
    each(
        "OMP_STACKSIZE",
        "a size (number with B, K, M or G)",
        &mut |t| {
            s.stack_size = size(t, 1024)?;
            Some(())
        },
    );
    s.stack_size = s.stack_size.max(64 << 10);
    each("OMP_WAIT_POLICY", "active or passive", &mut |t| {
        s.wait_policy = Some(match t.to_ascii_lowercase().as_str() {
            "active" => WaitPolicy::Active,
            "passive" => WaitPolicy::Passive,
            _ => return None,
        });
        Some(())
    });
    each(
        "KMP_BLOCKTIME",
        "a time in milliseconds or infinite",
        &mut |t| {
            s.blocktime_us = Some(blocktime(t)?);
            Some(())
        },
    );
    each("OMP_DEFAULT_DEVICE", "a non-negative integer", &mut |t| {
        s.default_device = natural(t)? as i32;
        Some(())
    });
    each("OMP_CANCELLATION", "true or false", &mut |t| {
        s.cancellation = boolean(t)?;
        Some(())
    });
    each("KMP_ENABLE_TASK_THROTTLING", "true or false", &mut |t| {
        s.task_throttling = boolean(t)?;
        Some(())
    });
    each("OMP_NUM_TEAMS", "a positive integer", &mut |t| {
        s.num_teams = positive(t)?;
        Some(())
    });
    each("OMP_TEAMS_THREAD_LIMIT", "a positive integer", &mut |t| {
        s.teams_thread_limit = positive(t)?;
        Some(())
    });
    each(
        "OMP_MAX_TASK_PRIORITY",
        "a non-negative integer",
        &mut |t| {
            s.max_task_priority = natural(t)? as i32;
            Some(())
        },
    );
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
        "true" | "1" | "yes" | "on" | "t" => Some(true),
        "false" | "0" | "no" | "off" | "f" => Some(false),
        _ => None,
    }
}

fn proc_bind(text: &str) -> Option<u8> {
    match text.trim().to_ascii_lowercase().as_str() {
        "false" => Some(0),
        "true" => Some(1),
        "master" | "primary" => Some(2),
        "close" => Some(3),
        "spread" => Some(4),
        _ => None,
    }
}

/// `[modifier:]kind[,chunk]`.
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

/// The chunk size of a schedule kind that is given none; 0 leaves even shares.
pub fn default_chunk(kind: u32) -> i32 {
    i32::from(matches!(kind, 2..=4 | TRAPEZOIDAL))
}

/// A number with an optional unit letter; `unit` bytes where none is given.
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

/// Whether `OMP_DISPLAY_ENV` asks for a listing, and for the verbose one.
pub fn display_env(var: &dyn Fn(&str) -> Option<String>) -> Option<bool> {
    let text = var("OMP_DISPLAY_ENV")?;
    if text.trim().eq_ignore_ascii_case("verbose") {
        return Some(true);
    }
    boolean(&text).filter(|&on| on).map(|_| false)
}

/// The listing of `OMP_DISPLAY_ENV` and `omp_display_env`.
pub fn display(s: &Settings, verbose: bool) -> String {
    let list = |values: &[u32]| {
        values
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    let kind = match s.schedule.kind & !SCHEDULE_MONOTONIC {
        1 => "STATIC",
        2 => "DYNAMIC",
        3 => "GUIDED",
        4 => "AUTO",
        _ => "TRAPEZOIDAL",
    };
    let chunk = if s.schedule.chunk > 0 {
        format!(",{}", s.schedule.chunk)
    } else {
        String::new()
    };
    let bind = ["FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"];
    let bind = match s.proc_bind.as_slice() {
        [] => "FALSE".to_owned(),
        list => list
            .iter()
            .map(|&b| bind[b as usize % 5])
            .collect::<Vec<_>>()
            .join(","),
    };
    let upper = |b: bool| if b { "TRUE" } else { "FALSE" };
    let mut out = String::from("OPENMP DISPLAY ENVIRONMENT BEGIN\n   _OPENMP='201811'\n");
    let mut row = |name: &str, value: String| {
        let _ = writeln!(out, "  [host] {name}='{value}'");
    };
    row("OMP_DYNAMIC", upper(s.dynamic).into());
    row(
        "OMP_NUM_THREADS",
        if s.nthreads.is_empty() {
            s.processors.to_string()
        } else {
            list(&s.nthreads)
        },
    );
    row("OMP_SCHEDULE", format!("{kind}{chunk}"));
    row("OMP_PROC_BIND", bind);
    row("OMP_STACKSIZE", format!("{}B", s.stack_size));
    row(
        "OMP_WAIT_POLICY",
        if s.wait_policy == Some(WaitPolicy::Active) {
            "ACTIVE"
        } else {
            "PASSIVE"
        }
        .into(),
    );
    row("OMP_MAX_ACTIVE_LEVELS", s.max_active_levels.to_string());
    row("OMP_THREAD_LIMIT", s.thread_limit.to_string());
    row("OMP_CANCELLATION", upper(s.cancellation).into());
    row("OMP_DEFAULT_DEVICE", s.default_device.to_string());
    row("OMP_NUM_TEAMS", s.num_teams.to_string());
    row("OMP_TEAMS_THREAD_LIMIT", s.teams_thread_limit.to_string());
    row("OMP_MAX_TASK_PRIORITY", s.max_task_priority.to_string());
    if verbose {
        row(
            "KMP_BLOCKTIME",
            s.blocktime_us
                .map_or("default".into(), |us| format!("{us}us")),
        );
    }
    out.push_str("OPENMP DISPLAY ENVIRONMENT END\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let mut settings = Settings::new(4);
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
        ]);
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
}
