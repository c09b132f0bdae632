//! The devices of this process, and what the host keeps for each: its table and loaded programs.
//!
//! Devices are looked for when the program first asks or uses one: a program without `target` pays
//! nothing. A device that fails is out from then on: what is mapped there comes back to the host, and
//! regions run there.

use super::device::{Device, Failure, Image, Kernel, Queue, Result};
use super::map::table::{Life, Range, Table};
use super::program::{self, Program, requires};
use super::{cuda, emulated};
use crate::kmpc::hooks;
use crate::kmpc::icv::settings;
use hashbrown::HashMap;
use parking_lot::{Mutex, RwLock};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Which devices a process has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The hardware's.
    #[default]
    Hardware,
    /// So many emulated ones.
    Emulated(u32),
    /// None.
    None,
}

/// Ends the name of a pointer that stands for a variable where devices have none of their own.
const REFERENCE: &str = "_decl_tgt_ref_ptr";

/// What a program is on one device.
#[derive(Debug)]
pub struct Loaded {
    image: Box<dyn Image>,
    kernels: Mutex<HashMap<usize, Kernel>>,
}

/// A device with what is kept for it.
#[derive(Debug)]
pub struct State {
    /// Its number.
    pub number: i32,
    /// The device.
    pub device: Arc<dyn Device>,
    /// What `omp_get_uid_from_device` says.
    uid: CString,
    /// What is mapped.
    pub table: Mutex<Table>,
    programs: RwLock<HashMap<u64, std::result::Result<Arc<Loaded>, Failure>>>,
    out: AtomicBool,
}

static CHOICE: Mutex<Choice> = Mutex::new(Choice::Hardware);
static DEVICES: OnceLock<Vec<State>> = OnceLock::new();

/// Says which devices there are, and has the runtime ask here for their number. Once the program has
/// asked for devices it is too late.
pub fn choose(choice: Choice) {
    *CHOICE.lock() = choice;
    hooks::set_devices(&hooks::Devices {
        count: || count() as i32,
        uid: |number| get(number).map(|state| state.uid.as_c_str()),
    });
}

/// What a text such as `emulated`, `emulated:2` or `host` means.
pub fn parse(text: &str) -> Option<Choice> {
    let text = text.trim().to_ascii_lowercase();
    match text.as_str() {
        "host" | "none" => return Some(Choice::None),
        "emulated" => return Some(Choice::Emulated(1)),
        _ => {}
    }
    let count: u32 = text.strip_prefix("emulated:")?.parse().ok()?;
    (1..=64).contains(&count).then_some(Choice::Emulated(count))
}

/// All devices.
pub fn all() -> &'static [State] {
    DEVICES.get_or_init(|| {
        let mut list: Vec<Arc<dyn Device>> = Vec::new();
        match *CHOICE.lock() {
            Choice::None => {}
            Choice::Hardware => match cuda::devices() {
                Ok(found) => list.extend(found),
                Err(why) => eprintln!("ompvm: no GPU: {why}"),
            },
            Choice::Emulated(count) => {
                for n in 0..count {
                    match emulated::Device::new(n) {
                        Ok(device) => list.push(Arc::new(device)),
                        Err(why) => eprintln!("ompvm: no emulated device: {why}"),
                    }
                }
            }
        }
        list.into_iter()
            .enumerate()
            .map(|(n, device)| State::new(n as i32, device))
            .collect()
    })
}

/// How many devices programs can use: none, when one of them requires what devices lack.
pub fn count() -> usize {
    if program::required() & requires::REVERSE_OFFLOAD != 0 {
        return 0;
    }
    let all = all();
    if program::is_unified() && !all.iter().all(|s| s.device.reaches_host()) {
        return 0;
    }
    all.len()
}

/// The device of a number; `None` for the host, for numbers that are no device's, and for devices
/// that are out.
pub fn get(number: i32) -> Option<&'static State> {
    if count() == 0 {
        return None;
    }
    let state = all().get(usize::try_from(number).ok()?)?;
    (!state.is_out()).then_some(state)
}

/// Forgets a program that goes.
pub(super) fn forget(program: &Program) {
    for state in DEVICES.get().into_iter().flatten() {
        state.programs.write().remove(&program.id);
        let mut table = state.table.lock();
        for entry in &program.entries {
            if entry.size > 0 {
                table.remove(entry.address);
            }
        }
    }
}

impl State {
    fn new(number: i32, device: Arc<dyn Device>) -> State {
        let uid = device.uid();
        let uid = uid.unwrap_or_else(|| format!("{number}: {}", device.name()));
        State {
            number,
            // Without a name where that has a zero in it.
            uid: CString::new(uid).unwrap_or_default(),
            device,
            table: Mutex::default(),
            programs: RwLock::default(),
            out: AtomicBool::new(false),
        }
    }

    /// Whether it has failed.
    pub fn is_out(&self) -> bool {
        self.out.load(Ordering::Acquire)
    }

    /// Takes it out: what is mapped comes back as far as the device still gives it.
    pub fn take_out(&self) {
        if self.out.swap(true, Ordering::AcqRel) {
            return;
        }
        let table = self.table.lock();
        for (start, range) in table.iter() {
            // SAFETY: the program mapped this memory and has not unmapped it.
            let copied = unsafe {
                self.device
                    .download(Queue::SYNC, start as *mut u8, range.device, range.size)
            };
            if copied.is_err() {
                return;
            }
            for a in &range.attached {
                // SAFETY: a pointer in that memory.
                unsafe { *(a.slot as *mut u64) = a.host };
            }
        }
    }

    /// Makes sure that all programs are loaded, so that their variables are known.
    ///
    /// # Errors
    /// Why one of them cannot be.
    pub fn load_all(&self) -> Result<()> {
        for program in program::all() {
            self.load(&program)?;
        }
        Ok(())
    }

    /// A program on this device, loaded when it is first needed.
    ///
    /// # Errors
    /// Why it cannot be; the same each time.
    pub fn load(&self, program: &Program) -> Result<Arc<Loaded>> {
        if let Some(known) = self.programs.read().get(&program.id) {
            return known.clone();
        }
        let mut programs = self.programs.write();
        if let Some(known) = programs.get(&program.id) {
            return known.clone();
        }
        let fresh = self.make(program);
        programs.insert(program.id, fresh.clone());
        fresh
    }

    fn make(&self, program: &Program) -> Result<Arc<Loaded>> {
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
        // That of the device, else one that has an image of every unit, else the last one.
        let arch = match same(&target.arch) {
            0 => fits
                .iter()
                .map(|i| i.arch.as_str())
                .max_by_key(|a| (same(a), version(a))),
            _ => Some(target.arch.as_str()),
        };
        let Some(arch) = arch else {
            return Err(unsupported(format!(
                "the program has no image for {}",
                target.triple
            )));
        };
        let units = fits.iter().filter(|i| i.arch == arch);
        let code = super::device::Code {
            units: units.map(|i| i.bytes.clone()).collect(),
            arch: arch.to_owned(),
            name: program.name.clone(),
            teams: settings().num_teams,
        };
        let image = self.device.load(&code)?;
        let mut table = self.table.lock();
        for entry in program.entries.iter().filter(|e| e.size > 0) {
            let Some(symbol) = image.symbol(&entry.name) else {
                continue;
            };
            let mut address = symbol.address;
            let leads_to_host = entry.link || entry.name.ends_with(REFERENCE);
            if leads_to_host && program::is_unified() {
                // The device's pointer to a variable of the host leads to it as the host's own does.
                // SAFETY: a pointer of the program, which is never unmapped.
                unsafe {
                    self.device
                        .upload(Queue::SYNC, address, entry.address as *const u8, 8)?;
                }
            }
            if entry.indirect {
                // The device has a variable with the function's address there.
                let mut bytes = [0; 8];
                // SAFETY: eight bytes that live until the call returns.
                unsafe {
                    self.device
                        .download(Queue::SYNC, bytes.as_mut_ptr(), address, 8)?;
                }
                address = u64::from_ne_bytes(bytes);
            }
            table.insert(
                entry.address,
                Range {
                    size: entry.size as usize,
                    device: address,
                    allocation: None,
                    life: Life::Program,
                    count: 1,
                    held: 0,
                    attached: Vec::new(),
                },
            );
        }
        drop(table);
        Ok(Arc::new(Loaded {
            image,
            kernels: Mutex::default(),
        }))
    }
}

impl Loaded {
    /// The kernel of an entry of the program.
    ///
    /// # Errors
    /// When the image does not have it.
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
            .ok_or_else(|| Failure::Image(format!("it does not have the kernel `{name}`")))?;
        kernels.insert(entry, kernel);
        Ok(kernel)
    }
}

/// The number in `sm_90`.
fn version(arch: &str) -> u32 {
    let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
