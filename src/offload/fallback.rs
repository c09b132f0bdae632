//! Where a construct runs: selects its device, and handles what keeps it from running there.
//!
//! A construct that cannot run on a device falls back to the host. A fault of the program on a
//! device ends the program with a report. So does every failure if `OMP_TARGET_OFFLOAD` is
//! `mandatory`. Each run is recorded for the offload report, with the reason if it was on the host.
//!
//! The entries that compilers emit, in [`region`](super::region) and
//! [`data_entries`](super::data_entries), ask this file and act on the answer.

use super::device::Failure;
use super::devices::{self, DeviceState};
use super::map::data::Traffic;
use super::report::GroupRun;
use super::{FAILED, program, ranks, report};
use ompvm_kmpc::icv::TargetOffload;
use ompvm_kmpc::ident::{self, Ident};
use ompvm_kmpc::routines;
use ompvm_support::log;
use ompvm_support::message::{Kind, Message};
use std::fmt;

/// Source location of a construct, for messages.
#[derive(Clone, Copy, Debug)]
pub struct ConstructSite {
    ident: *const Ident,
    name: &'static str,
    /// Host address of the region's entry, which gives a location if `ident` has none (flang); 0
    /// for other constructs.
    region: usize,
}

impl ConstructSite {
    /// Describes a construct other than a region.
    pub fn new(ident: *const Ident, name: &'static str) -> ConstructSite {
        ConstructSite {
            ident,
            name,
            region: 0,
        }
    }

    /// Describes a region by the host address of its entry.
    pub(super) fn of_region(ident: *const Ident, region: usize) -> ConstructSite {
        ConstructSite {
            region,
            ..ConstructSite::new(ident, "target region")
        }
    }

    fn known_location(&self) -> Option<String> {
        // SAFETY: compilers pass a constant ident, or null.
        let location = unsafe { ident::describe(self.ident) };
        location.or_else(|| program::source_location(self.region))
    }

    /// Returns the source location, or words that say that it is unknown.
    pub(super) fn location(&self) -> String {
        self.known_location()
            .unwrap_or_else(|| format!("a {} at an unknown location", self.name))
    }
}

/// Reason why a construct does not run on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostReason {
    /// The program asks for the host: `device(omp_get_initial_device())`.
    Requested,
    /// Any other reason, in words.
    Other(String),
}

impl fmt::Display for HostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostReason::Requested => f.write_str("the program selects the host"),
            HostReason::Other(why) => f.write_str(why),
        }
    }
}

impl From<String> for HostReason {
    fn from(why: String) -> HostReason {
        HostReason::Other(why)
    }
}

/// Returns the device with the given number; -1 stands for the default device.
///
/// # Errors
/// The reason why the construct runs on the host.
pub fn device_for(number: i64) -> std::result::Result<&'static DeviceState, HostReason> {
    // SAFETY: the routine takes no arguments and reads a setting.
    let policy = unsafe { routines::get_target_offload() };
    if policy == TargetOffload::Disabled as i32 {
        return Err("OMP_TARGET_OFFLOAD is `disabled`".to_owned().into());
    }
    // -1 means that the construct has no `device` clause.
    let explicit = number != -1;
    let number = match number {
        // SAFETY: the routine takes no arguments and reads a setting.
        -1 => unsafe { routines::get_default_device() },
        n => i32::try_from(n).unwrap_or(i32::MAX),
    };
    match devices::get(number) {
        Some(state) => Ok(state),
        // Without devices, the initial device has number 0.
        None if explicit && number as usize == devices::all().len() => Err(HostReason::Requested),
        None if devices::all().is_empty() => Err("there is no device".to_owned().into()),
        None if devices::count() == 0 => Err(format!(
            "no device supports `{}`, which the program requires",
            missing_requirement(program::required())
        )
        .into()),
        None if number as usize == devices::all().len() => Err(HostReason::Requested),
        None if devices::all().get(number as usize).is_some() => {
            Err(format!("device {number} failed earlier").into())
        }
        None => Err(format!("there is no device {number}").into()),
    }
}

/// Names the requirement that no device fulfills.
fn missing_requirement(required: u64) -> &'static str {
    use program::requires;
    if required & requires::UNIFIED_SHARED_MEMORY != 0 {
        "unified_shared_memory"
    } else {
        "reverse_offload"
    }
}

pub(super) fn is_mandatory() -> bool {
    // SAFETY: the routine takes no arguments and reads a setting.
    (unsafe { routines::get_target_offload() }) == TargetOffload::Mandatory as i32
}

/// Handles a failure: ends the program, or returns the reason for running on the host.
pub(super) fn handle_failure(
    site: ConstructSite,
    state: Option<&DeviceState>,
    failure: &Failure,
) -> HostReason {
    tracing::info!(
        target: log::OFFLOAD,
        region = %site.location(),
        why = %failure,
        "a device failed",
    );
    let device = state.map_or_else(|| "a device".to_owned(), |s| s.device.name());
    if let Failure::Fault(_) = failure {
        abort_with_report(
            Kind::DeviceFault,
            site,
            &format!("the program failed on {device}: {failure}"),
        );
    }
    if is_mandatory() {
        let whose = state.map_or_else(String::new, |s| format!("{}: ", s.device.name()));
        abort_with_report(
            Kind::DeviceFailure,
            site,
            &format!("{whose}{failure}, and OMP_TARGET_OFFLOAD is `mandatory`"),
        );
    }
    if let Failure::Image(_) = failure {
        report_once(&failure.to_string());
    }
    // Other failures concern one program's code only, so the device stays enabled.
    if matches!(failure, Failure::OutOfMemory { .. } | Failure::Lost(_))
        && let Some(state) = state
    {
        state.disable(failure);
    }
    failure.to_string().into()
}

/// Returns the name of the device that failed: of a member of a group, if it is known.
fn failed_device(state: &DeviceState, failure: &Failure) -> String {
    let member = state.device.name_of_failed(failure);
    member.unwrap_or_else(|| state.device.name())
}

/// Reports once that a device is not used any more.
pub(super) fn report_disabled(state: &DeviceState, failure: &Failure) {
    let remedy = match failure {
        Failure::OutOfMemory { .. } => "map less, or divide it among more devices",
        _ => "see the messages of its driver, or select others by `--device` or `--devices`",
    };
    ompvm_support::message!(
        Note,
        "device {} is not used any more, and its regions run on the host: {}: {failure} ({remedy})",
        state.number,
        failed_device(state, failure)
    );
}

/// Ends the program, whose data was on a device that failed.
pub(super) fn end_without_data(state: &DeviceState, failure: &Failure) -> ! {
    end_for_lost_data(&format_args!(
        "device {} is lost with data of the program: {}: {failure} (select other devices by \
         `--device` or `--devices`; `target update from` keeps a copy on the host)",
        state.number,
        failed_device(state, failure)
    ))
}

/// Ends the program with a message: its data is lost. Other ranks end with the same status: a
/// launcher would kill them, and mix their signal into the status of the run.
pub fn end_for_lost_data(text: &dyn fmt::Display) -> ! {
    // SAFETY: null flushes every stream, so earlier output of the program precedes the report.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    Message::new(Kind::DataLost, text).print();
    ranks::end_others(FAILED);
    // SAFETY: ends the process without exit handlers, which may wait for the device.
    unsafe { libc::_exit(FAILED) }
}

/// Reports a damaged image once. Users would not look for it in the offload report.
fn report_once(what: &str) {
    report::tell_once(&format!(
        "{what}; target regions that need it run on the host"
    ));
}

/// Reports an error on a device and ends the program.
pub(super) fn abort_with_report(kind: Kind, site: ConstructSite, message: &str) -> ! {
    // SAFETY: null flushes every stream, so earlier output of the program precedes the report.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let location = site.known_location();
    let place = location.as_deref().unwrap_or("");
    let shown = location.as_deref().unwrap_or("an unknown location");
    Message::new(
        kind,
        &format_args!("{message}\n  in the {} at {shown}", site.name),
    )
    .region(site.name)
    .place(place)
    .signal(libc::SIGABRT)
    .print();
    ompvm_memory::signals::raise_trap(ompvm_support::error::TrapKind::Device, std::ptr::null())
}

/// Ends the program with a failure of its own work on a device.
pub fn abort_with_failure(failure: &Failure, what: &'static str) -> ! {
    abort_with_report(
        Kind::DeviceFailure,
        ConstructSite::new(std::ptr::null(), what),
        &failure.to_string(),
    )
}

/// Records that a construct runs on the host, or ends the program if offloading is mandatory.
pub(super) fn record_host_run(site: ConstructSite, why: &HostReason) {
    if is_mandatory() && *why != HostReason::Requested {
        abort_with_report(
            Kind::DeviceFailure,
            site,
            &format!("OMP_TARGET_OFFLOAD is `mandatory`, but {why}"),
        );
    }
    tracing::debug!(
        target: log::OFFLOAD,
        region = %site.location(),
        why = %why,
        "a target construct runs on the host"
    );
    if report::is_enabled() {
        let row = report::Row {
            runs: 1,
            host_reason: Some(why.to_string()),
            ..report::Row::default()
        };
        report::add(&site.location(), "the host", &row);
    }
}

/// Records a run on a device; `times` are those of the kernel and of the rest, in nanoseconds.
pub(super) fn record_device_run(
    site: ConstructSite,
    state: &DeviceState,
    traffic: Traffic,
    times: (u64, u64),
    group: Option<GroupRun>,
) {
    if report::is_enabled() {
        let row = report::Row {
            runs: 1,
            to: traffic.to,
            from: traffic.from,
            kernel: times.0,
            transfer: traffic.time,
            launch: times.1,
            host_reason: None,
            group,
        };
        report::add(&site.location(), &state.device.name(), &row);
    }
}
