//! Parsing of each variable, and the warnings.

use super::table::{Parser, size};
use super::*;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn read(variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
    Settings::read(&|name| {
        let found = variables.iter().find(|v| v.0 == name);
        found.map(|v| v.1.into())
    })
}

/// Returns the settings of one variable, which must be understood.
fn understood(name: &str, value: &str) -> Settings {
    let (settings, warnings) = read(&[(name, value)]);
    assert!(warnings.is_empty(), "{warnings:?}");
    settings
}

#[test]
fn without_variables_the_defaults_apply() {
    assert_eq!(read(&[]), (Settings::DEFAULT, Vec::new()));
}

#[test]
fn names_are_unique_and_rows_complete() {
    let names: HashSet<_> = VARIABLES.iter().map(|v| v.name).collect();
    assert_eq!(names.len(), VARIABLES.len());
    for v in VARIABLES {
        for text in [v.values, v.default, v.meaning] {
            assert!(!text.is_empty() && !text.contains('|'), "{}", v.name);
            assert!(!text.ends_with('.'), "{}", v.name);
        }
        assert_eq!(v.section != Section::Other, v.name.starts_with("OMPVM_"));
    }
}

#[test]
fn the_defaults_in_the_table_are_those_of_the_code() {
    for (name, default) in [
        ("OMPVM_CACHE_LIMIT", 1 << 30),
        ("OMPVM_EMULATED_MEMORY", 4 << 30),
    ] {
        let row = VARIABLES.iter().find(|v| v.name == name).unwrap();
        assert_eq!(size(&row.default.replace('`', "")), Some(default));
    }
    for row in VARIABLES {
        if matches!(row.parser, Parser::Switch(_)) {
            let settings = understood(row.name, &row.default.replace('`', ""));
            assert_eq!(settings, Settings::DEFAULT, "{}", row.name);
        }
    }
}

#[test]
fn an_empty_value_counts_as_not_set() {
    for row in VARIABLES {
        assert_eq!(understood(row.name, ""), Settings::DEFAULT, "{}", row.name);
    }
}

#[test]
fn each_typed_value_is_parsed() {
    let seconds = |s| understood("OMPVM_TARGET_TIMEOUT", s).target_timeout;
    assert_eq!(seconds(" 0.5"), Some(Duration::from_millis(500)));
    assert_eq!(seconds("0"), None);
    assert_eq!(seconds("inf"), None);
    let watchdog = |s| understood("OMPVM_WATCHDOG", s).watchdog;
    assert_eq!(watchdog("2"), Some(Duration::from_secs(2)));
    assert_eq!(watchdog("0"), None);
    assert_eq!(read(&[("OMPVM_WATCHDOG", "on")]).1.len(), 1);
    assert_eq!(understood("OMPVM_CHAOS", "7").chaos, Some(7));
    assert!(understood("TERM", "dumb").dumb_terminal);
    assert!(!understood("TERM", "xterm").dumb_terminal);
    assert_eq!(understood("OMPVM_AHEAD", "never").eager, EagerPolicy::Never);
    assert_eq!(
        understood("OMPVM_OFFLOAD", "Force").offload,
        OffloadMode::Force
    );
    assert_eq!(understood("OMPVM_INTERPRET", "a,,b").interpret, ["a", "b"]);
    assert!(understood("OMPVM_DENY_NATIVE", "1").deny_native);
    let allowed = understood("OMPVM_ALLOW_NATIVE", "getenv,,@threads").allow_native;
    assert_eq!(allowed, ["getenv", "@threads"]);
    assert!(!understood("OMPVM_SPECULATE", "0").speculate);
    assert!(!understood("OMPVM_ADVICE", "off").advice);
    let driver = understood("OMPVM_CUDA_DRIVER", "/d.so").cuda_driver;
    assert_eq!(driver, Some("/d.so".into()));
}

#[test]
fn sizes_have_units() {
    for (text, bytes) in [
        ("0", Some(0)),
        ("12", Some(12)),
        ("12B", Some(12)),
        (" 3k", Some(3 << 10)),
        ("3 KB", Some(3 << 10)),
        ("3KiB", Some(3 << 10)),
        ("64M", Some(64 << 20)),
        ("2GiB", Some(2 << 30)),
        ("", None),
        ("M", None),
        ("-1", None),
        ("64Q", None),
        ("64iB", None),
        ("1.5G", None),
        ("18446744073709551615K", None),
    ] {
        assert_eq!(size(text), bytes, "{text}");
    }
}

#[test]
fn device_selections_are_parsed() {
    let devices = |text| understood("OMPVM_DEVICE", text).devices;
    assert_eq!(devices("cpu"), DeviceSelection::Processors);
    assert_eq!(devices("emulated"), DeviceSelection::Emulated(1));
    assert_eq!(devices("Emulated:2 "), DeviceSelection::Emulated(2));
    assert_eq!(devices("host"), DeviceSelection::None);
    for wrong in ["emulated:0", "emulated:65", "gpu"] {
        assert_eq!(DeviceSelection::parse(wrong), None);
    }
    // OpenMP's variable names devices, too, but ompvm's own wins, and numbers are OpenMP's.
    let openmp = |text| understood("OMP_DEFAULT_DEVICE", text).devices;
    assert_eq!(openmp("emulated"), DeviceSelection::Emulated(1));
    assert_eq!(openmp("1"), DeviceSelection::Hardware);
    let both = read(&[("OMP_DEFAULT_DEVICE", "emulated"), ("OMPVM_DEVICE", "host")]);
    assert_eq!(both.0.devices, DeviceSelection::None);
}

#[test]
fn the_log_takes_levels_and_the_targets_of_its_table() {
    let log = understood("OMPVM_LOG", "tier=debug,llvm::ir=trace/main").log;
    assert_eq!(log, LogFilter::parse("llvm::ir=trace,tier=debug/main"));
    let row = VARIABLES.iter().find(|v| v.name == "OMPVM_LOG").unwrap();
    let listed: Vec<_> = row.values.split('`').skip(1).step_by(2).collect();
    let names: Vec<_> = log::TARGETS.iter().map(|t| t.name).collect();
    assert!(listed.ends_with(&names), "{listed:?}");
    for wrong in ["tier=loud", "tyre=debug", "debug=tier"] {
        let (settings, warnings) = read(&[("OMPVM_LOG", wrong)]);
        assert_eq!(settings, Settings::DEFAULT);
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("is not LEVEL or TARGET=LEVEL"),
            "{warnings:?}"
        );
        assert!(
            warnings[0].contains("tier::queue; using the default (off)"),
            "{warnings:?}"
        );
    }
}

#[test]
fn failures_are_parsed() {
    let failure = understood("OMPVM_FAIL", "endless@full:hot").fail.unwrap();
    assert_eq!(failure.kind, FailureKind::Endless);
    assert!(failure.full && failure.name == "hot");
    for wrong in ["fatal", "unknown:f"] {
        assert_eq!(read(&[("OMPVM_FAIL", wrong)]).1.len(), 1, "{wrong}");
    }
    let failure = understood("OMPVM_FAIL_DEVICE", "wait:1:3").fail_device;
    let expected = DeviceFailure {
        step: DeviceStep::Wait,
        device: 1,
        count: 3,
        ends: false,
    };
    assert_eq!(failure, Some(expected));
    for wrong in ["wait", "wait:x", "stop:0", "open:0:1:1", "open:0:1:end:1"] {
        assert_eq!(read(&[("OMPVM_FAIL_DEVICE", wrong)]).1.len(), 1, "{wrong}");
    }
}

#[test]
fn the_cache_is_where_the_first_variable_says() {
    let folder = |variables: &[(&str, &str)]| read(variables).0.cache_folder;
    let (own, xdg, home) = (
        ("OMPVM_CACHE_DIR", "c"),
        ("XDG_CACHE_HOME", "/x"),
        ("HOME", "/h"),
    );
    assert_eq!(folder(&[home, xdg, own]), Some("c".into()));
    assert_eq!(folder(&[home, xdg]), Some("/x/ompvm".into()));
    assert_eq!(folder(&[home]), Some("/h/.cache/ompvm".into()));
    assert_eq!(folder(&[("XDG_CACHE_HOME", "x"), ("HOME", "h")]), None);
}

#[test]
fn a_warning_names_variable_value_and_what_is_accepted() {
    let (settings, warnings) = read(&[("OMPVM_EMULATED_MEMORY", "64Q"), ("OMPVM_DEVICE", "gpu")]);
    assert_eq!(settings, Settings::DEFAULT);
    assert_eq!(
        warnings,
        [
            "OMPVM_DEVICE=\"gpu\" is not cpu, emulated, emulated:N (N up to 64) or host; using the \
             default (the GPUs of the machine)",
            "OMPVM_EMULATED_MEMORY=\"64Q\" is not a size such as 64M; using the default (4G)",
        ]
    );
    for (name, value) in [
        ("OMPVM_CACHE_LIMIT", "lots"),
        ("OMPVM_ADVICE", "quiet"),
        ("OMPVM_SPECULATE", "2"),
        ("OMPVM_HUGE_PAGES", "never"),
        ("OMPVM_OFFLOAD", "on"),
        ("OMPVM_TARGET_TIMEOUT", "-1"),
        ("OMPVM_TARGET_TIMEOUT", "soon"),
        ("OMPVM_TARGET_TIMEOUT", "NaN"),
        ("OMPVM_CHAOS", "-1"),
        ("OMPVM_AHEAD", "sometimes"),
    ] {
        let (settings, warnings) = read(&[(name, value)]);
        assert_eq!(settings, Settings::DEFAULT);
        assert!(warnings[0].starts_with(&format!("{name}={value:?} is not ")));
    }
}

#[test]
fn bytes_that_are_no_text_are_a_path_or_get_a_warning() {
    let bytes = OsStr::from_bytes(b"/\xff");
    let of = |name: &str| {
        let value = bytes.to_owned();
        let name = name.to_owned();
        Settings::read(&move |asked| (asked == name).then(|| value.clone()))
    };
    let (settings, warnings) = of("OMPVM_CACHE_DIR");
    assert_eq!(settings.cache_folder, Some(PathBuf::from(bytes)));
    assert!(warnings.is_empty());
    assert_eq!(of("OMPVM_CHAOS").1.len(), 1);
}

#[test]
fn the_mpi_library_and_the_launcher_are_read() {
    let mpi = |text| understood("OMPVM_MPI", text).mpi;
    assert_eq!(mpi("off"), MpiChoice::Off);
    assert_eq!(mpi("auto"), MpiChoice::Auto);
    assert_eq!(
        mpi("/x/libmpi.so"),
        MpiChoice::Library("/x/libmpi.so".into())
    );
    let launcher = |name| understood(name, "3").launcher;
    assert_eq!(launcher("PMI_RANK").pmi.rank, Some(3));
    assert_eq!(launcher("OMPI_COMM_WORLD_SIZE").open_mpi.size, Some(3));
    assert_eq!(understood("PMI_SIZE", "many").launcher.pmi.size, None);
    let group = |text| understood("OMPVM_DEVICES", text).group;
    assert_eq!(group("each"), DeviceGroup::Each);
    assert_eq!(group("all,cpu"), DeviceGroup::WithProcessors(u64::MAX));
    assert_eq!(group("0,2, cpu"), DeviceGroup::WithProcessors(5));
    assert_eq!(group("1,2"), DeviceGroup::Numbers(6));
}
