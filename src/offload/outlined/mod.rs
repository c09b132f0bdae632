//! Parallel loops of programs that say nothing of devices, run on one.
//!
//! What: [`choose`] says whether; [`register`] notes the regions of a program, of which
//! `llvm::outlined` makes kernels, and the runtime offers each region that starts to [`offered`].
//! [`launch`] finds the memory that a region uses in the tables of [`heap`], has [`residency`] bring it
//! to the device, and starts the kernel. What is there stays there; the host's pages of it cannot be
//! accessed meanwhile, and come back when they are. [`library`] is what a program's calls of the C
//! library go through for that. [`walk`] does what is around several loops. [`policy`] decides where a
//! region runs when it is left to us, by the rules of [`choice`], and [`preparation`] when kernels are made
//! for that.
//!
//! A kernel that fails leaves nothing behind: the region then runs on the host.
//!
//! What not: pointers in memory that lead on; more than one device at a time.

mod choice;
pub mod heap;
mod launch;
mod library;
mod policy;
mod preparation;
mod residency;
mod slices;
mod walk;

use super::device::{Code, Failure, Image, Kernel};
use super::devices::State;
use super::{nvptx, report};
use crate::kmpc::hooks;
use crate::kmpc::ident;
use crate::llvm::Input;
use crate::llvm::cache::Shelf;
use crate::llvm::outlined::{Outlined, Plan, outline};
use crate::memory::{image, signals};
use hashbrown::HashMap;
pub use library::overrides;
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether regions of the host run on devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Never.
    #[default]
    Off,
    /// Where that is faster.
    Auto,
    /// Wherever they can.
    Force,
}

static MODE: AtomicU8 = AtomicU8::new(0);

/// Says whether, for programs that are started from now on.
pub fn choose(mode: Mode) {
    MODE.store(mode as u8, Ordering::Release);
    if mode != Mode::Off {
        image::keep_apart();
    }
}

/// What was said.
pub fn mode() -> Mode {
    match MODE.load(Ordering::Acquire) {
        1 => Mode::Auto,
        2 => Mode::Force,
        _ => Mode::Off,
    }
}

/// What a text such as `auto` means.
pub fn parse(text: &str) -> Option<Mode> {
    match text.trim().to_ascii_lowercase().as_str() {
        "off" | "host" | "0" => Some(Mode::Off),
        "auto" => Some(Mode::Auto),
        "force" => Some(Mode::Force),
        _ => None,
    }
}

/// A region that may run on a device.
#[derive(Debug)]
struct Region {
    program: Arc<Program>,
    /// Its function.
    name: String,
    plan: Result<Plan, String>,
    policy: policy::Region,
    /// Why the device does not take it after all.
    refused: Mutex<Option<String>>,
}

/// A program's regions.
#[derive(Debug)]
struct Program {
    id: u64,
    name: String,
    files: Vec<Input>,
    /// Addresses of functions, by name.
    functions: HashMap<String, usize>,
    /// Addresses and sizes of variables, by name.
    variables: HashMap<String, (usize, usize)>,
    /// Addresses of constants, by name.
    constants: HashMap<String, usize>,
    outlined: OnceLock<Result<Outlined, String>>,
    loaded: OnceLock<Result<Loaded, Failure>>,
    /// Whether the device and the kernels are ready, where it is left to us.
    prepared: AtomicBool,
}

/// A program's kernels on the device.
#[derive(Debug)]
struct Loaded {
    image: Box<dyn Image>,
    kernels: Mutex<HashMap<String, Option<Kernel>>>,
}

/// Regions by the address of their function.
static REGIONS: RwLock<Option<HashMap<usize, Arc<Region>>>> = RwLock::new(None);

/// Why regions that are in no table run on the host, for the report.
static UNKNOWN: Mutex<Option<String>> = Mutex::new(None);

/// What a program has that its regions may use.
#[derive(Debug, Default)]
pub struct Contents {
    /// Its name.
    pub name: String,
    /// Its files.
    pub files: Vec<(String, Vec<u8>)>,
    /// Addresses of functions, by name.
    pub functions: Vec<(String, usize)>,
    /// Addresses and sizes of variables, by name.
    pub variables: Vec<(String, usize, usize)>,
    /// Addresses of constants, by name.
    pub constants: Vec<(String, usize)>,
}

/// Keeps a program's regions registered.
#[derive(Debug)]
pub struct Registration(Arc<Program>);

/// Registers a program that is placed in memory; nothing where regions stay on the host.
pub fn register(contents: Contents) -> Option<Registration> {
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    if mode() == Mode::Off {
        return None;
    }
    let files = contents.files.into_iter();
    let program = Arc::new(Program {
        id: NUMBER.fetch_add(1, Ordering::Relaxed),
        name: contents.name,
        files: files.map(|(name, bytes)| Input { name, bytes }).collect(),
        functions: contents.functions.into_iter().collect(),
        variables: contents
            .variables
            .into_iter()
            .map(|(name, at, size)| (name, (at, size)))
            .collect(),
        constants: contents.constants.into_iter().collect(),
        outlined: OnceLock::new(),
        loaded: OnceLock::new(),
        prepared: AtomicBool::new(false),
    });
    for &(start, size) in program.variables.values() {
        heap::add(start, size, heap::Kind::Variable);
    }
    signals::set_absent_hook(residency::absent);
    hooks::set_elsewhere(offered);
    if mode() == Mode::Auto {
        preparation::begin(&program);
    } else {
        program.prepare(&|_| policy::Region::default());
    }
    Some(Registration(program))
}

impl Drop for Registration {
    fn drop(&mut self) {
        residency::bring_all_back();
        if mode() == Mode::Auto {
            preparation::end(&self.0);
        }
        for &(start, _) in self.0.variables.values() {
            heap::remove(start);
        }
        if let Some(regions) = &mut *REGIONS.write() {
            regions.retain(|_, r| r.program.id != self.0.id);
        }
    }
}

/// The name of the kernels in the cache.
const NAME: &str = "outlined";

/// Where what is made of these files is kept, if anywhere.
fn shelf(files: &[Input]) -> Option<Shelf> {
    let pieces = files.iter().map(|f| &*f.bytes);
    nvptx::shelf(pieces.chain([NAME.as_bytes()]))
}

/// The kernels of a program's regions, from the cache where they are there.
fn outlined(files: &[Input]) -> Result<Outlined, String> {
    let shelf = shelf(files);
    if let Some(shelf) = &shelf
        && let Some(bytes) = shelf.bytes(NAME)
        && let Ok(outlined) = postcard::from_bytes(&bytes)
    {
        return Ok(outlined);
    }
    let outlined = outline(files)?;
    if let Some(shelf) = &shelf
        && let Ok(bytes) = postcard::to_allocvec(&outlined)
    {
        shelf.put_bytes(NAME, &bytes);
    }
    Ok(outlined)
}

impl Program {
    /// Where what is made of it is kept, if anywhere.
    fn shelf(&self) -> Option<Shelf> {
        shelf(&self.files)
    }

    /// Makes its kernels, and notes its regions, with what is `known` of each function.
    fn prepare(self: &Arc<Program>, known: &dyn Fn(&str) -> policy::Region) {
        let outlined = self.outlined.get_or_init(|| outlined(&self.files));
        let regions = match outlined {
            Ok(outlined) => &outlined.regions,
            Err(why) => {
                eprintln!("ompvm: no region runs on a device: {why}");
                *UNKNOWN.lock() = Some(why.clone());
                return;
            }
        };
        let mut table = REGIONS.write();
        let table = table.get_or_insert_default();
        for region in regions {
            let Some(&address) = self.functions.get(&region.function) else {
                continue;
            };
            let plan = region.verdict.clone().map_err(|refusal| {
                let at = refusal.place.map_or(String::new(), |p| format!(" at {p}"));
                format!("{}{at}", refusal.reason)
            });
            let region = Region {
                program: self.clone(),
                plan,
                policy: known(&region.function),
                name: region.function.clone(),
                refused: Mutex::default(),
            };
            table.insert(address, Arc::new(region));
        }
    }

    /// Whether its kernels are on the device.
    fn is_prepared(&self) -> bool {
        self.prepared.load(Ordering::Acquire)
    }

    /// Bytes of its bitcode.
    fn bytes(&self) -> usize {
        self.files.iter().map(|f| f.bytes.len()).sum()
    }

    /// Its kernels on a device, made when they are first needed.
    fn load(&self, state: &State) -> Result<&Loaded, Failure> {
        let loaded = self.loaded.get_or_init(|| {
            let Some(Ok(outlined)) = self.outlined.get() else {
                return Err(Failure::Image("it has no kernels".into()));
            };
            let code = Code {
                units: vec![outlined.unit.clone()],
                arch: "sm_70".into(),
                name: format!("the regions of {}", self.name),
                teams: 0,
            };
            let image = state.device.load(&code)?;
            Ok(Loaded {
                image,
                kernels: Mutex::default(),
            })
        });
        loaded.as_ref().map_err(Failure::clone)
    }
}

impl Loaded {
    fn kernel(&self, name: &str) -> Option<Kernel> {
        let mut kernels = self.kernels.lock();
        *kernels
            .entry_ref(name)
            .or_insert_with(|| self.image.kernel(name))
    }
}

/// Has the host have memory before the system or a device accesses it, for who knows nothing of pages.
pub fn touch(start: usize, size: usize, write: bool) {
    residency::touch(start, size, write);
}

/// The region of a function; none that is not to be looked at now.
fn region_of(function: usize) -> Option<Arc<Region>> {
    let regions = REGIONS.read();
    let region = regions.as_ref()?.get(&function)?;
    (!region.policy.skips()).then(|| region.clone())
}

/// Runs a region that starts on the device, or says that it did not.
///
/// # Safety
/// A region of the runtime's.
unsafe fn offered(start: &hooks::Region) -> bool {
    preparation::wait(start);
    let Some(region) = region_of(start.microtask as usize) else {
        if mode() == Mode::Force && report::is_on() {
            let unknown = UNKNOWN.lock();
            let why = unknown.as_deref();
            note_host(
                start,
                why.unwrap_or("no file of the program has its function"),
            );
        }
        let watches = preparation::watches(start);
        if watches {
            // SAFETY: the caller's contract.
            unsafe { preparation::observe(start) };
        }
        return watches;
    };
    if mode() == Mode::Auto {
        // SAFETY: the caller's contract.
        return unsafe { policy::run(&region, start) };
    }
    // SAFETY: the caller's contract.
    match unsafe { attempt(&region, start) } {
        Ok(_) => true,
        Err(why) => {
            note_host(start, &why);
            false
        }
    }
}

/// Runs a region on the device; why it did not.
///
/// # Safety
/// A region of the runtime's.
unsafe fn attempt(region: &Region, start: &hooks::Region) -> Result<launch::Done, String> {
    if let Some(why) = &*region.refused.lock() {
        return Err(why.clone());
    }
    let plan = region.plan.as_ref().map_err(String::clone)?;
    let state = super::region::device_for(-1).map_err(|why| why.to_string())?;
    // SAFETY: the caller's contract.
    let done = unsafe { launch::launch(region, plan, state, start) };
    match done {
        Ok(done) => {
            note(start, state, &done);
            Ok(done)
        }
        Err(launch::Problem::Memory(why)) => Err(why),
        Err(launch::Problem::Device(failure)) => {
            let why = format!("{}: {failure}", state.device.name());
            match failure {
                // It may have room, or other data, the next time.
                Failure::OutOfMemory { .. } => {}
                Failure::Lost(_) => state.take_out(),
                _ => *region.refused.lock() = Some(why.clone()),
            }
            Err(why)
        }
    }
}

/// A program's regions that were found, and their functions.
fn regions_of(program: &Arc<Program>) -> Vec<(String, Arc<Region>)> {
    let table = REGIONS.read();
    let regions = table.iter().flat_map(HashMap::values);
    regions
        .filter(|r| Arc::ptr_eq(&r.program, program))
        .map(|r| (r.name.clone(), r.clone()))
        .collect()
}

fn place(start: &hooks::Region) -> String {
    // SAFETY: the compiler's constant, or null.
    let place = unsafe { ident::describe(start.ident) };
    place.unwrap_or_else(|| "a parallel region, place unknown".into())
}

fn note_host(start: &hooks::Region, why: &str) {
    if report::is_on() {
        let row = report::Row {
            runs: 1,
            why: Some(why.to_owned()),
            ..report::Row::default()
        };
        report::add(&place(start), "the host", &row);
    }
}

fn note(start: &hooks::Region, state: &State, done: &launch::Done) {
    if report::is_on() {
        let row = report::Row {
            runs: 1,
            to: done.to,
            from: done.from,
            kernel: done.kernel,
            transfer: done.transfer,
            launch: done.rest,
            why: None,
        };
        report::add(&place(start), &state.device.name(), &row);
    }
}
