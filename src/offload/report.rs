//! The report of `--offload-report`: for each region where it ran, bytes moved, times, and why it
//! ran on the host; for a group of devices, how it divided the region and where each array lay.

use hashbrown::HashMap;
use ompvm_support::demangle;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The report of a process.
struct Report {
    enabled: AtomicBool,
    rows: Mutex<Option<HashMap<Key, Row>>>,
    /// Messages that were told; see [`tell_once`].
    told: Mutex<Vec<String>>,
    /// Lines about all regions.
    notes: Mutex<Vec<&'static str>>,
}

/// The report of this process, on its devices: it ends with the process and covers all programs.
static REPORT: Report = Report {
    enabled: AtomicBool::new(false),
    rows: Mutex::new(None),
    told: Mutex::new(Vec::new()),
    notes: Mutex::new(Vec::new()),
};

/// Key of a row: source location (or kernel name) and device.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    place: String,
    device: String,
}

/// Totals over all runs of a region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Number of runs.
    pub runs: u64,
    /// Bytes copied to the device.
    pub to: u64,
    /// Bytes copied from the device.
    pub from: u64,
    /// Kernel time in nanoseconds.
    pub kernel: u64,
    /// Copy time in nanoseconds.
    pub transfer: u64,
    /// Remaining launch time in nanoseconds.
    pub launch: u64,
    /// Reason why the region ran on the host.
    pub host_reason: Option<String>,
    /// How a group of devices ran it.
    pub group: Option<GroupRun>,
}

/// How a group of devices ran a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRun {
    /// Number of devices that ran it together, or the reason why one ran it alone.
    pub devices: Result<usize, String>,
    /// The arrays that it used.
    pub arrays: Vec<ArrayUse>,
}

/// Use of an array by a region on a group of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayUse {
    /// Index of the kernel's argument that leads to it.
    pub argument: usize,
    /// Its name in the source, if that is known.
    pub name: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Where it lay, and why.
    pub placement: &'static str,
    /// Bytes of it that were copied between devices.
    pub copied: u64,
}

impl GroupRun {
    /// Adds a later run of the same region, or of another of its kernels.
    fn add(&mut self, later: GroupRun) {
        self.devices = later.devices;
        for array in later.arrays {
            let known = self
                .arrays
                .iter_mut()
                .find(|a| a.argument == array.argument);
            match known {
                Some(known) => {
                    known.size = array.size;
                    known.placement = array.placement;
                    known.copied += array.copied;
                }
                None => self.arrays.push(array),
            }
        }
    }

    fn render(&self, out: &mut String) {
        match &self.devices {
            Ok(devices) => out.push_str(&format!(
                "ompvm: offload:   divided among {devices} devices\n"
            )),
            Err(why) => out.push_str(&format!("ompvm: offload:   on one device: {why}\n")),
        }
        for array in &self.arrays {
            let name = match &array.name {
                Some(name) => format!("`{name}`"),
                None => format!("argument {}", array.argument),
            };
            out.push_str(&format!(
                "ompvm: offload:   {name}, {} bytes: {}, {} bytes between devices\n",
                array.size, array.placement, array.copied
            ));
        }
    }
}

/// Enables the report.
pub fn enable() {
    REPORT.enabled.store(true, Ordering::Relaxed);
}

/// Returns true if the report is enabled.
#[inline]
pub fn is_enabled() -> bool {
    REPORT.enabled.load(Ordering::Relaxed)
}

/// Prints a message on standard error, unless it was printed before.
pub(super) fn tell_once(message: &str) {
    let mut told = REPORT.told.lock();
    if !told.iter().any(|t| t == message) {
        ompvm_support::message!(Note, "{message}");
        told.push(message.to_owned());
    }
}

/// Adds a line about all regions, unless it was added before.
pub(super) fn note(text: &'static str) {
    let mut notes = REPORT.notes.lock();
    if !notes.contains(&text) {
        notes.push(text);
    }
}

/// Adds the description of a launch to those of a region's earlier launches, if there is a report.
pub fn describe(group: &mut Option<GroupRun>, launch: impl FnOnce() -> Option<GroupRun>) {
    if !is_enabled() {
        return;
    }
    match (group.as_mut(), launch()) {
        (Some(group), Some(later)) => group.add(later),
        (None, first) => *group = first,
        (Some(_), None) => {}
    }
}

/// Adds to the row of a region on a device.
pub fn add(place: &str, device: &str, more: &Row) {
    let mut rows = REPORT.rows.lock();
    let key = Key {
        place: demangle::source_name(place).into_owned(),
        device: device.to_owned(),
    };
    let row = rows.get_or_insert_default().entry(key).or_default();
    row.runs += more.runs;
    row.to += more.to;
    row.from += more.from;
    row.kernel += more.kernel;
    row.transfer += more.transfer;
    row.launch += more.launch;
    if more.host_reason.is_some() {
        row.host_reason.clone_from(&more.host_reason);
    }
    match (&mut row.group, &more.group) {
        (Some(group), Some(later)) => group.add(later.clone()),
        (group @ None, Some(first)) => *group = Some(first.clone()),
        (_, None) => {}
    }
}

/// Returns the report, with one line per region and device, sorted by location.
pub fn render() -> String {
    let rows = REPORT.rows.lock();
    let mut list: Vec<(&Key, &Row)> = rows.iter().flatten().collect();
    list.sort_by(|a, b| a.0.cmp(b.0));
    let mut out = String::new();
    if list.is_empty() {
        out.push_str("ompvm: offload: no region was reached\n");
    }
    for note in &*REPORT.notes.lock() {
        out.push_str(&format!("ompvm: offload: {note}\n"));
    }
    let ms = |n: u64| n as f64 / 1e6;
    for (key, row) in list {
        out.push_str(&format!(
            "ompvm: offload: {}: {} on {}, {} bytes to, {} from, kernel {:.3} ms, transfer {:.3} \
             ms, launch {:.3} ms",
            key.place,
            if row.runs == 1 {
                "once".to_owned()
            } else {
                format!("{} times", row.runs)
            },
            key.device,
            row.to,
            row.from,
            ms(row.kernel),
            ms(row.transfer),
            ms(row.launch),
        ));
        if let Some(host_reason) = &row.host_reason {
            out.push_str(&format!(" ({host_reason})"));
        }
        out.push('\n');
        if let Some(group) = &row.group {
            group.render(&mut out);
        }
    }
    out
}
