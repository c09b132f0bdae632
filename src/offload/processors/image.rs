//! Device code that is loaded into the process.

use super::functions;
use crate::device::{
    ALONE, Device, DeviceCode, Failure, Image, Kernel, Result, Symbol, run_constructors,
};
use crate::nvptx;
use hashbrown::HashMap;
use omp_abi::League;
use ompvm_llvm::nvptx::{DEVICE_NUMBER, Division, LEAGUE, SharedVariable};
use ompvm_llvm::processors::{LoadedCode, ProcessorCode, load};
use std::cell::UnsafeCell;
use std::sync::{Arc, Weak};

/// The share of the league that the host gives the device.
#[derive(Debug)]
pub(super) struct Share(UnsafeCell<League>);

// SAFETY: the host writes the share before launches, and reads and writes of different threads
// follow each other as their launches do.
unsafe impl Sync for Share {}
// SAFETY: plain data.
unsafe impl Send for Share {}

impl Share {
    /// Returns the share.
    pub(super) fn get(&self) -> League {
        // SAFETY: nobody writes it while a launch begins.
        unsafe { self.0.get().read() }
    }
}

/// A kernel as launches need it. Entries are leaked, since the handle of a kernel is the address of
/// its entry.
#[derive(Debug)]
pub(super) struct Entry {
    /// Name of the kernel.
    pub name: String,
    /// Function that takes the arguments from an array of words.
    pub kernel: Option<extern "C" fn(*const u64)>,
    /// Code of the image. A launch keeps it, which may outlive the image of a device that failed.
    pub code: Weak<LoadedCode>,
    /// Bytes of the memory of a block.
    pub block_bytes: u64,
    /// Share of the device.
    pub share: Arc<Share>,
    /// Reason why the kernel has no code, if it was refused.
    pub refused: Option<Failure>,
}

/// Returns the entry of a kernel.
pub(super) fn entry(kernel: &Kernel) -> &'static Entry {
    // SAFETY: handles of the device's kernels are addresses of entries that were leaked.
    unsafe { &*(kernel.handle as *const Entry) }
}

#[derive(Debug)]
struct Loaded {
    code: ProcessorCode,
    loaded: Arc<LoadedCode>,
    kernels: HashMap<String, Kernel>,
    share: Arc<Share>,
}

/// Compiles and links code; `number` is the device's.
pub(super) fn load_code(
    device: &dyn Device,
    code: &DeviceCode,
    number: u32,
) -> Result<Box<dyn Image>> {
    let compiled = nvptx::compile_for_processors(code, functions::is_provided)?;
    let loaded = Arc::new(load(&compiled, functions::address).map_err(Failure::Image)?);
    let share = Arc::new(Share(UnsafeCell::new(ALONE)));
    let mut kernels = HashMap::new();
    for known in &compiled.kernels {
        let refused = known.refused.as_ref().map(|refusal| Failure::Unsupported {
            reason: refusal.reason.clone(),
            place: refusal.place.clone(),
        });
        let address = match refused {
            None => loaded.kernel(&known.name),
            Some(_) => None,
        };
        // SAFETY: the address is that of such a function, whose code every launch keeps.
        let kernel = address.map(|address| unsafe {
            std::mem::transmute::<usize, extern "C" fn(*const u64)>(address)
        });
        let entry: &'static Entry = Box::leak(Box::new(Entry {
            name: known.name.clone(),
            kernel,
            code: Arc::downgrade(&loaded),
            block_bytes: compiled.block_bytes,
            share: Arc::clone(&share),
            refused,
        }));
        let handle = std::ptr::from_ref(entry) as u64;
        kernels.insert(known.name.clone(), nvptx::kernel(known, handle));
    }
    if let Some(at) = loaded.symbol(DEVICE_NUMBER) {
        // SAFETY: the variable has four bytes, and no kernel runs yet.
        unsafe { (at as *mut u32).write(number) };
    }
    let image = Loaded {
        code: compiled,
        loaded,
        kernels,
        share,
    };
    if !code.divided {
        image.construct(device)?;
    }
    Ok(Box::new(image))
}

impl Image for Loaded {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        if name == LEAGUE {
            return Some(Symbol {
                address: self.share.0.get() as u64,
                size: size_of::<League>() as u64,
            });
        }
        let mut variables = self.code.variables.iter();
        let size = variables.find(|(known, _)| known == name).map(|(_, n)| *n);
        Some(Symbol {
            address: self.loaded.symbol(name)? as u64,
            size: size.unwrap_or(0),
        })
    }

    fn kernel(&self, name: &str) -> Option<Kernel> {
        self.kernels.get(name).copied()
    }

    fn division(&self, name: &str) -> Option<Division> {
        let mut kernels = self.code.kernels.iter();
        kernels.find(|k| k.name == name)?.division.clone()
    }

    fn shared_variables(&self) -> &[SharedVariable] {
        &self.code.shared
    }

    fn construct(&self, device: &dyn Device) -> Result<()> {
        run_constructors(self, device)
    }
}
