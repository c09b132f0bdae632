//! The devices of this process, each with its mapping table and loaded programs.
//!
//! Devices are discovered when the program first queries or uses one, so programs without `target`
//! pay nothing; several that work together are opened beside a program that used them before, and
//! only where they pay ([`earlier_runs`](super::earlier_runs)). A device that fails is disabled for
//! the rest of the run: its mapped data is copied back, and its regions run on the host.

use super::device::{Device, DeviceCode, Failure, Image, Kernel, MemoryKind, Queue, Result};
use super::earlier_runs::{Formation, ThisRun};
use super::host_access;
use super::map::data::DataConstruct;
use super::map::items::MapItem;
use super::map::table::{Lifetime, MappedRange, MappingTable};
use super::program::{self, Program, requires};
use super::watched::Watched;
use super::{cuda, emulated, fallback, group, processors, ranks, report};
use hashbrown::HashMap;
use ompvm_cache::CacheEntry;
use ompvm_kmpc::hooks;
use ompvm_kmpc::icv;
use ompvm_memory::internal_thread;
use ompvm_support::log;
use ompvm_support::settings::{self, DeviceGroup, DeviceSelection, Settings};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Suffix of a reference pointer: a device variable that points to a variable of the program
/// (`declare target link`, or any under `unified_shared_memory`).
const REFERENCE_SUFFIX: &str = "_decl_tgt_ref_ptr";

/// A program loaded on one device.
#[derive(Debug)]
pub struct LoadedProgram {
    image: Box<dyn Image>,
    kernels: Mutex<HashMap<usize, Kernel>>,
}

/// A device with its mapping table and loaded programs.
#[derive(Debug)]
pub struct DeviceState {
    /// Device number.
    pub number: i32,
    /// The device.
    pub device: Arc<dyn Device>,
    /// Result of `omp_get_uid_from_device`.
    uid: CString,
    /// Mapped ranges.
    pub table: Mutex<MappingTable>,
    programs: RwLock<HashMap<u64, std::result::Result<Arc<LoadedProgram>, Failure>>>,
    disabled: AtomicBool,
    /// True if the host has the current contents of some mapped ranges.
    lent: AtomicBool,
    /// Blocks that the memory routines allocated, by address: freeing takes only the address.
    pub(super) allocations: Mutex<BTreeMap<u64, Allocation>>,
    /// Address and size of the scratch arena of auto-offload.
    pub scratch_arena: Mutex<Option<(u64, u64)>>,
    /// Address and size of the frame buffer of auto-offload; zeros if there is none.
    pub frame_buffer: Mutex<(u64, usize)>,
}

/// A block that the memory routines allocated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    /// Size in bytes.
    pub(super) size: usize,
    /// Kind of the memory.
    pub(super) kind: MemoryKind,
}

/// The devices of a process.
struct Devices {
    /// The selection, and the settings of the devices.
    selection: Mutex<(DeviceSelection, DeviceGroup, &'static Settings)>,
    list: OnceLock<Vec<DeviceState>>,
    /// The other ranks of MPI, in rank 0.
    ranks: OnceLock<ranks::Ranks>,
    /// The times of this run, which the cache keeps for later ones.
    run: ThisRun,
}

/// The devices of this process: OpenMP numbers the hardware that the process sees, and drivers keep
/// one context per process.
static DEVICES: Devices = Devices {
    selection: Mutex::new((
        DeviceSelection::Hardware,
        DeviceGroup::One,
        settings::DEFAULT,
    )),
    list: OnceLock::new(),
    ranks: OnceLock::new(),
    run: ThisRun::new(),
};

/// Returns the other ranks of MPI, which this process may join.
pub(super) fn ranks() -> &'static OnceLock<ranks::Ranks> {
    &DEVICES.ranks
}

/// Selects the devices and those that work together, with the `settings` of their memory and
/// driver, and registers the device hooks of the runtime. Has no effect on the devices once they
/// are discovered.
pub fn select(selection: DeviceSelection, group: DeviceGroup, settings: &'static Settings) {
    *DEVICES.selection.lock() = (selection, group, settings);
    hooks::set_devices(&hooks::Devices {
        count: || count() as i32,
        uid: |number| get(number).map(|state| state.uid.as_c_str()),
    });
}

/// Returns all devices and discovers them at the first call.
pub fn all() -> &'static [DeviceState] {
    if let Some(list) = DEVICES.list.get() {
        return list;
    }
    let since = Instant::now();
    let list = open();
    DEVICES.run.add_wait(since.elapsed());
    list
}

/// Discovers the devices, and opens the one that works alone; joining opens the members of a group.
fn open() -> &'static [DeviceState] {
    let list = discover();
    if let Some(first) = DEVICES.run.device_alone() {
        // A device that cannot be opened fails at its first use.
        let _ = list[first].device.open();
    }
    list
}

/// Records the time of a kernel.
pub fn add_kernel_time(time: Duration) {
    DEVICES.run.add_kernel(time);
}

/// Discovers the devices at the first call, and joins those that work together.
fn discover() -> &'static [DeviceState] {
    DEVICES.list.get_or_init(|| {
        let (selection, grouped, settings) = *DEVICES.selection.lock();
        let ranks = DEVICES.ranks.get().is_some();
        let instead = match grouped {
            DeviceGroup::WithProcessors(_) => true,
            _ => ranks && grouped == DeviceGroup::All,
        };
        let (mut list, problems) = local(selection, settings, 0, instead);
        for problem in problems {
            ompvm_support::message!(Note, "{problem}");
        }
        if matches!(grouped, DeviceGroup::Each | DeviceGroup::All) {
            let known = list.iter().filter_map(|device| device.uid()).collect();
            list.extend(ranks::remote_devices(list.len(), known));
        }
        if selection == DeviceSelection::Hardware {
            prefer_gpus(&mut list);
        }
        join(&mut list, grouped, settings);
        tracing::info!(
            target: log::OFFLOAD,
            ?selection,
            ?grouped,
            devices = list.len(),
            "found the devices",
        );
        list.into_iter()
            .enumerate()
            .map(|(n, device)| DeviceState::new(n as i32, device))
            .collect()
    })
}

/// Prepares for a program with code for devices that is about to start, if several devices are
/// selected to work together: records its run in its cache `entry` at exit, and if it has used
/// devices before, begins to open them beside it. Several contexts take longer than the first steps
/// of most programs. A program that has not used devices may leave them to its children, which
/// cannot use the context of another process.
pub fn expect(entry: impl FnOnce() -> Option<CacheEntry>) {
    let grouped = DEVICES.selection.lock().1;
    if matches!(grouped, DeviceGroup::One | DeviceGroup::Each) {
        return;
    }
    let Some(entry) = entry() else {
        return;
    };
    // A process has one record, that of its first program.
    if !DEVICES.run.expect(entry) {
        return;
    }
    extern "C" fn at_exit() {
        record_run();
    }
    // A guest may end by `exit`, while its program is registered.
    // SAFETY: the handler lives as long as the process and does not unwind.
    unsafe { libc::atexit(at_exit) };
    if DEVICES.list.get().is_some() || !DEVICES.run.earlier().any() {
        return;
    }
    // Without a thread, the first use opens them.
    drop(internal_thread::spawn(c"ompvm devices", || {
        open();
    }));
}

/// Records this run, if it has not been recorded.
pub fn record_run() {
    DEVICES.run.record();
}

/// Returns the devices of this process that are selected now, for a rank that serves.
pub fn of_rank(rank: u32) -> ranks::Discovered {
    let (selection, grouped, settings) = *DEVICES.selection.lock();
    local(selection, settings, rank, grouped == DeviceGroup::All)
}

/// Removes processors from devices among which are GPUs: a group gives all of its members equal
/// shares.
fn prefer_gpus(list: &mut Vec<Arc<dyn Device>>) {
    if list.iter().any(|device| is_gpu(&**device)) {
        list.retain(|device| is_gpu(&**device));
    }
}

/// Returns true if a device does not consist of processors.
fn is_gpu(device: &dyn Device) -> bool {
    device.target().arch != processors::ARCHITECTURE
}

/// Discovers the devices of this process, and says what is wrong with others. `instead`: the
/// processors stand in for GPUs that are not there.
fn local(
    selection: DeviceSelection,
    settings: &'static Settings,
    rank: u32,
    instead: bool,
) -> ranks::Discovered {
    let mut list: Vec<Arc<dyn Device>> = Vec::new();
    let mut problems = Vec::new();
    match selection {
        DeviceSelection::None => {}
        DeviceSelection::Hardware => match cuda::devices(settings) {
            Ok(found) if !found.is_empty() || !instead => list.extend(found),
            Err(why) if !instead => problems.push(format!("no GPU: {why}")),
            Ok(_) | Err(_) => list.push(Arc::new(processors::Device::new(0))),
        },
        DeviceSelection::Processors => list.push(Arc::new(processors::Device::new(0))),
        DeviceSelection::Emulated(count) => {
            for n in 0..count {
                match emulated::Device::of_rank(rank, n, settings) {
                    Ok(device) => list.push(Arc::new(device)),
                    Err(why) => problems.push(format!("no emulated device: {why}")),
                }
            }
        }
    }
    if let Some(injected) = settings.fail_device
        && let Some(device) = list.get_mut(injected.device as usize)
    {
        *device = Arc::new(Watched::new(Arc::clone(device), Some(injected)));
    }
    (list, problems)
}

/// Replaces the first of the devices that work together by their group. The others keep their
/// numbers, by which a program can still use each of them alone.
fn join(list: &mut [Arc<dyn Device>], grouped: DeviceGroup, settings: &'static Settings) {
    let numbers = match grouped {
        DeviceGroup::One | DeviceGroup::Each => return,
        DeviceGroup::All | DeviceGroup::Auto => u64::MAX,
        DeviceGroup::Numbers(numbers) | DeviceGroup::WithProcessors(numbers) => numbers,
    };
    let chosen: Vec<usize> = (0..list.len().min(64))
        .filter(|n| numbers >> n & 1 != 0)
        .collect();
    let Some(&first) = chosen.first() else {
        return;
    };
    let helps = matches!(grouped, DeviceGroup::WithProcessors(_))
        && chosen.iter().all(|&n| is_gpu(&*list[n]));
    if chosen.len() == 1 && !helps {
        return;
    }
    let free = matches!(grouped, DeviceGroup::All | DeviceGroup::Auto);
    if free && !list[first].predicts_no_speed() && DEVICES.run.earlier().prefer_one(chosen.len()) {
        let why = "one device works alone: several took longer in earlier runs";
        tracing::info!(target: log::OFFLOAD, why);
        report::note(why);
        DEVICES.run.set_formation(Formation::Alone(first));
        return;
    }
    let watched =
        |device, injected| -> Arc<dyn Device> { Arc::new(Watched::new(device, injected)) };
    let members = chosen.iter().map(|&n| watched(Arc::clone(&list[n]), None));
    let mut members: Vec<Arc<dyn Device>> = members.collect();
    if helps {
        let injected = settings.fail_device;
        let injected = injected.filter(|failure| failure.device as usize == list.len());
        let processors = Arc::new(processors::Device::new(first as u32));
        members.push(watched(processors, injected));
    }
    let (members, failed) = group::open(members);
    for why in failed {
        ompvm_support::message!(
            Note,
            "the devices work together without {why} (see the messages of its driver, or select \
             others by `--devices`)"
        );
    }
    if members.len() < 2 {
        // Without any, the first use of the first one fails with the reason.
        let mut rest = members.into_iter();
        if let Some(only) = rest.find(|member| !helps || is_gpu(&**member)) {
            list[first] = only;
        }
        return;
    }
    // Copies over slow links rarely pay, so `auto` leaves such devices alone.
    let separate = grouped != DeviceGroup::Auto;
    match group::Group::new(first as i32, members, separate) {
        Ok(group) => {
            list[first] = Arc::new(group);
            // Earlier runs compare groups of devices of one kind.
            if !helps {
                DEVICES.run.set_formation(Formation::Group);
            }
        }
        Err(why) if grouped == DeviceGroup::Auto => {
            tracing::info!(target: log::OFFLOAD, why, "the devices do not work together");
        }
        Err(why) => ompvm_support::message!(Note, "device {first} works alone: {why}"),
    }
}

/// Returns the number of devices that programs can use: 0 if a program requires a feature that a
/// device lacks.
pub fn count() -> usize {
    if program::required() & requires::REVERSE_OFFLOAD != 0 {
        return 0;
    }
    let all = all();
    if program::is_unified() && !all.iter().all(|s| s.device.accesses_host_memory()) {
        return 0;
    }
    all.len()
}

/// Returns a device by its number. Returns `None` for the host, for invalid numbers, and for
/// disabled devices.
pub fn get(number: i32) -> Option<&'static DeviceState> {
    if count() == 0 {
        return None;
    }
    let state = all().get(usize::try_from(number).ok()?)?;
    state.take_back();
    (!state.is_disabled()).then_some(state)
}

/// Unloads a program and removes its variables from the mapping tables.
pub(super) fn unload(program: &Program) {
    for state in DEVICES.list.get().into_iter().flatten() {
        state.programs.write().remove(&program.id);
        let mut table = state.table.lock();
        for entry in &program.entries {
            if entry.size > 0 {
                table.remove(entry.address);
            }
        }
    }
}

impl DeviceState {
    fn new(number: i32, device: Arc<dyn Device>) -> DeviceState {
        let uid = device.uid();
        let uid = uid.unwrap_or_else(|| format!("{number}: {}", device.name()));
        tracing::info!(
            target: log::OFFLOAD,
            number,
            name = device.name(),
            uid,
            arch = device.target().arch,
            limits = ?device.limits(),
            "found a device"
        );
        DeviceState {
            number,
            // An identifier with an interior zero byte is replaced by an empty one.
            uid: CString::new(uid).unwrap_or_default(),
            device,
            table: Mutex::default(),
            programs: RwLock::default(),
            disabled: AtomicBool::new(false),
            lent: AtomicBool::new(false),
            allocations: Mutex::default(),
            scratch_arena: Mutex::default(),
            frame_buffer: Mutex::default(),
        }
    }

    /// Returns true if the device has failed.
    pub fn is_disabled(&self) -> bool {
        self.disabled.load(Ordering::Acquire)
    }

    /// Gives the host the contents of what a region uses: it runs the region in place of the device.
    /// The device gets them back before it is used again.
    ///
    /// # Safety
    /// The items must be live host memory.
    pub(super) unsafe fn lend_to_host(&self, items: &[MapItem]) {
        if self.is_disabled() {
            return;
        }
        let mut table = self.table.lock();
        let mut data = DataConstruct::new(&*self.device, &mut table, Queue::SYNC);
        // SAFETY: by this function's contract.
        let lent = unsafe { data.lend_to_host(items) };
        if lent.as_ref().is_ok_and(|&any| any) {
            self.lent.store(true, Ordering::Release);
        }
        drop(table);
        if let Err(failure) = lent {
            self.disable(&failure);
        }
    }

    /// Takes back what the host was lent.
    fn take_back(&self) {
        if !self.lent.load(Ordering::Acquire) {
            return;
        }
        let mut table = self.table.lock();
        if !self.lent.swap(false, Ordering::AcqRel) || self.is_disabled() {
            return;
        }
        let mut data = DataConstruct::new(&*self.device, &mut table, Queue::SYNC);
        // SAFETY: the program mapped this host memory and has not unmapped it, so it is live.
        let taken = unsafe { data.take_back() };
        drop(table);
        if let Err(failure) = taken {
            self.disable(&failure);
        }
    }

    /// Disables the device because of its failure, and copies mapped data back. Ends the program if it
    /// cannot be read and the host does not have it.
    pub fn disable(&self, failure: &Failure) {
        if self.disabled.swap(true, Ordering::AcqRel) {
            return;
        }
        tracing::info!(target: log::OFFLOAD, number = self.number, "a device is not used any more");
        let table = self.table.lock();
        let changed = table.changed();
        if table.iter().any(|(_, range)| range.torn) || self.has_lost_allocations() {
            fallback::end_without_data(self, failure);
        }
        for (start, range) in table.iter().filter(|(_, range)| !range.on_host) {
            // SAFETY: the program mapped this host memory and has not unmapped it, so it is live.
            match unsafe { self.copy_back(start, range) } {
                Ok(()) => {}
                Err(Failure::Lost(_)) if changed.contains(&start) && is_writable(start, range) => {
                    fallback::end_without_data(self, failure)
                }
                // The host has the contents, or this range is not readable, for example that of a
                // function (`indirect`).
                Err(_) => continue,
            }
            for a in &range.attached {
                // SAFETY: attached slots lie in the mapped range, which is live host memory.
                unsafe { *(a.slot as *mut u64) = a.host };
            }
        }
        fallback::report_disabled(self, failure);
    }

    /// Returns true if the program has allocated memory on the device, and it is lost.
    fn has_lost_allocations(&self) -> bool {
        let allocations = self.allocations.lock();
        let mut own = allocations.iter();
        let device = own.find(|(_, block)| block.kind == MemoryKind::Device && block.size > 0);
        let mut byte = 0;
        device.is_some_and(|(&start, _)| {
            // SAFETY: the byte is writable, and the copy is synchronous.
            let read = unsafe { self.device.download(Queue::SYNC, &mut byte, start, 1) };
            matches!(read, Err(Failure::Lost(_)))
        })
    }

    /// Copies a mapped range to the host. A variable of the program is written only if the device
    /// changed it: it may be a constant.
    ///
    /// # Safety
    /// The range must be live host memory.
    unsafe fn copy_back(&self, start: usize, range: &MappedRange) -> Result<()> {
        let download = |to: *mut u8| {
            // SAFETY: `to` has room for the whole range in both calls below.
            unsafe {
                self.device
                    .download(Queue::SYNC, to, range.device, range.size)
            }
        };
        if range.life != Lifetime::Program {
            return host_access::during(start, range.size, true, || download(start as *mut u8));
        }
        let mut there = vec![0u8; range.size];
        download(there.as_mut_ptr())?;
        // SAFETY: live host memory by this function's contract; only what differs is written.
        unsafe {
            let here = std::slice::from_raw_parts(start as *const u8, range.size);
            if here != there {
                std::ptr::copy_nonoverlapping(there.as_ptr(), start as *mut u8, range.size);
            }
        }
        Ok(())
    }

    /// Loads all programs, which makes their variables known.
    ///
    /// # Errors
    /// The failure of the first program that cannot be loaded.
    pub fn load_all(&self) -> Result<()> {
        for program in program::all_programs() {
            self.load(&program)?;
        }
        Ok(())
    }

    /// Returns a program loaded on this device. The first call loads it.
    ///
    /// # Errors
    /// The reason why it cannot be loaded; later calls return the same.
    pub fn load(&self, program: &Program) -> Result<Arc<LoadedProgram>> {
        if let Some(known) = self.programs.read().get(&program.id) {
            return known.clone();
        }
        let mut programs = self.programs.write();
        if let Some(known) = programs.get(&program.id) {
            return known.clone();
        }
        let since = Instant::now();
        let fresh = self.load_uncached(program);
        tracing::debug!(
            target: log::OFFLOAD,
            number = self.number,
            program = program.name,
            images = program.images.len(),
            why = fresh.as_ref().err().map(ToString::to_string),
            ms = %log::ms(since.elapsed()),
            "loaded a program on a device"
        );
        programs.insert(program.id, fresh.clone());
        fresh
    }

    /// Loads code, on a device that works alone as on a member of a group.
    ///
    /// # Errors
    /// Fails as [`Device::load`] does.
    pub fn load_code(&self, code: DeviceCode) -> Result<Box<dyn Image>> {
        match DEVICES.run.device_alone() {
            Some(first) if first as i32 == self.number => self.load_like_member(code),
            _ => self.device.load(&code),
        }
    }

    /// Loads the code that a group's member would have: an earlier run has left it in the cache,
    /// compiled. Code that shares variables with other members is not for one device.
    fn load_like_member(&self, code: DeviceCode) -> Result<Box<dyn Image>> {
        let divided = DeviceCode {
            divided: true,
            ..code.clone()
        };
        let image = self.device.load(&divided)?;
        if !image.shared_variables().is_empty() {
            return self.device.load(&code);
        }
        image.construct(&*self.device)?;
        Ok(image)
    }

    fn load_uncached(&self, program: &Program) -> Result<Arc<LoadedProgram>> {
        let target = self.device.target();
        let unsupported = |reason: String| Failure::Unsupported {
            reason,
            place: None,
        };
        let fits: Vec<&super::image::Image> = program
            .images
            .iter()
            .filter(|i| i.triple == target.triple)
            .collect();
        let same = |arch: &str| fits.iter().filter(|i| i.arch == arch).count();
        // Prefers the device's own architecture, then the one with images of the most units, then
        // the latest.
        let arch = match same(&target.arch) {
            0 => fits
                .iter()
                .map(|i| i.arch.as_str())
                .max_by_key(|a| (same(a), architecture_number(a))),
            _ => Some(target.arch.as_str()),
        };
        let Some(arch) = arch else {
            return Err(unsupported(format!(
                "the program has no image for {}",
                target.triple
            )));
        };
        let units = fits.iter().filter(|i| i.arch == arch);
        let code = DeviceCode {
            units: units.map(|i| i.bytes.clone()).collect(),
            arch: arch.to_owned(),
            name: program.name.clone(),
            teams: icv::settings().num_teams,
            divided: false,
            options: program.options.clone(),
        };
        let image = self.load_code(code)?;
        let mut table = self.table.lock();
        for entry in program.entries.iter().filter(|e| e.size > 0) {
            let Some(symbol) = image.symbol(&entry.name) else {
                continue;
            };
            let mut address = symbol.address;
            let references_host = entry.link || entry.name.ends_with(REFERENCE_SUFFIX);
            if references_host && program::is_unified() {
                // The device's reference pointer receives the value of the host's pointer.
                host_access::during(entry.address, 8, false, || {
                    // SAFETY: the entry is a pointer variable of the program, which is never
                    // unmapped.
                    unsafe {
                        self.device
                            .upload(Queue::SYNC, address, entry.address as *const u8, 8)
                    }
                })?;
            }
            if entry.indirect {
                // The entry is a variable on the device that holds the function's address.
                let mut bytes = [0; 8];
                // SAFETY: `bytes` has eight bytes, and the copy is synchronous.
                unsafe {
                    self.device
                        .download(Queue::SYNC, bytes.as_mut_ptr(), address, 8)?;
                }
                address = u64::from_ne_bytes(bytes);
            }
            table.insert(
                entry.address,
                MappedRange {
                    is_data: !entry.indirect,
                    ..MappedRange::new(entry.size as usize, address, Lifetime::Program)
                },
            );
        }
        drop(table);
        Ok(Arc::new(LoadedProgram {
            image,
            kernels: Mutex::default(),
        }))
    }
}

impl LoadedProgram {
    /// Returns the kernel of an offload entry.
    ///
    /// # Errors
    /// [`Failure::Image`] if the image lacks it, or the reason why it was refused.
    pub fn kernel(&self, program: &Program, entry: usize) -> Result<Kernel> {
        let mut kernels = self.kernels.lock();
        if let Some(kernel) = kernels.get(&entry) {
            return Ok(*kernel);
        }
        let name = &program.entries[entry].name;
        if let Some(failure) = self.image.refusal(name) {
            return Err(failure);
        }
        let kernel = self
            .image
            .kernel(name)
            .ok_or_else(|| Failure::Image(format!("it lacks the kernel `{name}`")))?;
        kernels.insert(entry, kernel);
        Ok(kernel)
    }
}

/// Returns true if kernels may write a range: it is no constant of the program.
fn is_writable(start: usize, range: &MappedRange) -> bool {
    if range.life != Lifetime::Program {
        return true;
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let found = maps.lines().find(|line| {
        let edge = |text: &str| usize::from_str_radix(text, 16).ok();
        let (from, rest) = line.split_once('-').unwrap_or_default();
        let (to, _) = rest.split_once(' ').unwrap_or_default();
        edge(from)
            .zip(edge(to))
            .is_some_and(|(from, to)| (from..to).contains(&start))
    });
    found.is_none_or(|line| line.contains(" rw"))
}

/// Returns the number in an architecture such as `sm_90`.
fn architecture_number(arch: &str) -> u32 {
    let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
