//! Loads device code: the driver compiles PTX to machine code once per program and driver version.

use super::driver::{self, Function, Link, Module};
use super::gpu::Gpu;
use super::registers::{self, ResourceUsage};
use crate::device::{
    Device, DeviceCode, Failure, Image, Kernel, Queue, Result, Symbol, run_constructors,
};
use crate::nvptx;
use hashbrown::HashMap;
use ompvm_llvm::nvptx::{DEVICE_NUMBER, Division, Kernel as Known, Lowered, SharedVariable};
use ompvm_support::log;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

/// A kernel as launches need it. Entries are leaked, since the handle of a kernel is the address of
/// its entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub function: Function,
    /// Maximum threads of a block, according to the driver.
    pub threads: u32,
    /// Threads of a block, and the number of such blocks that a multiprocessor runs at once, as asked
    /// last: the upper and the lower half. 0 before.
    pub occupancy: AtomicU64,
    /// Description of the operation, for messages.
    pub doing: String,
    /// Reason why the kernel has no code, if it was refused.
    pub refused: Option<Failure>,
}

// SAFETY: plain data and a driver handle, which may be used on every thread.
unsafe impl Sync for Entry {}

/// Code loaded on a GPU.
#[derive(Debug)]
struct Loaded {
    kernels: HashMap<String, Kernel>,
    divisions: HashMap<String, Division>,
    shared: Vec<SharedVariable>,
    module: Option<Module>,
    driver: std::sync::Arc<driver::Driver>,
}

/// Compiles and loads code, and looks up its kernels.
pub(super) fn load(gpu: &Gpu, code: &DeviceCode) -> Result<Box<dyn Image>> {
    let compiled = nvptx::compile(code, gpu.architecture())?;
    let lowered = &compiled.lowered;
    let module = (!lowered.ptx.is_empty())
        .then(|| load_binary(gpu, &compiled))
        .transpose()?;
    if let (Some(module), false) = (module, code.divided) {
        tell_number(gpu, module)?;
    }
    let mut kernels = HashMap::new();
    let mut divisions = HashMap::new();
    for known in &lowered.kernels {
        let entry = entry(gpu, module, known)?;
        let handle = std::ptr::from_ref(entry) as u64;
        kernels.insert(known.name.clone(), nvptx::kernel(known, handle));
        if let Some(division) = &known.division {
            divisions.insert(known.name.clone(), division.clone());
        }
    }
    let loaded = Loaded {
        kernels,
        divisions,
        shared: lowered.shared.clone(),
        module,
        driver: std::sync::Arc::clone(&gpu.driver),
    };
    if !code.divided {
        loaded.construct(gpu)?;
    }
    Ok(Box::new(loaded))
}

/// Writes the number of the device to the variable of a module that reads it. It is 0 at first.
fn tell_number(gpu: &Gpu, module: Module) -> Result<()> {
    let number = gpu.ordinal();
    let (mut address, mut size) = (0, 0);
    let name = CString::new(DEVICE_NUMBER).unwrap_or_default();
    // SAFETY: the module is loaded and the name is a C string; the result pointers are valid.
    let code = unsafe { (gpu.driver.global)(&mut address, &mut size, module, name.as_ptr()) };
    if code != 0 || number == 0 {
        return Ok(());
    }
    // SAFETY: `number` has four bytes, which are read before the call returns.
    unsafe { gpu.upload(Queue::SYNC, address, (&raw const number).cast(), 4) }
}

/// Loads the module's machine code from the cache, or compiles the PTX and caches the result.
fn load_binary(gpu: &Gpu, compiled: &nvptx::Compiled) -> Result<Module> {
    let mut version = 0;
    // SAFETY: the result pointer is valid.
    unsafe { (gpu.driver.version)(&mut version) };
    let name = format!("device-sm_{}-driver-{version}", gpu.architecture());
    if let Some(cache_entry) = &compiled.cache_entry
        && let Some(bytes) = cache_entry.bytes(&name)
        && let Ok(module) = load_module(gpu, &bytes)
    {
        return Ok(module);
    }
    let since = Instant::now();
    let bytes = link(gpu, &compiled.lowered.ptx)?;
    tracing::debug!(
        target: log::OFFLOAD,
        arch = gpu.architecture(),
        ptx_bytes = compiled.lowered.ptx.len(),
        bytes = bytes.len(),
        ms = %log::ms(since.elapsed()),
        "the driver compiled an image"
    );
    let module = load_module(gpu, &bytes)?;
    let (bytes, module) = with_register_limit(gpu, &compiled.lowered, bytes, module);
    if let Some(cache_entry) = &compiled.cache_entry {
        cache_entry.put_bytes(&name, &bytes);
    }
    Ok(module)
}

/// Compiles the module again with a register limit for kernels of low occupancy. Returns the given
/// module if there are none or if the limit costs too much.
fn with_register_limit(
    gpu: &Gpu,
    lowered: &Lowered,
    bytes: Vec<u8>,
    module: Module,
) -> (Vec<u8>, Module) {
    let Ok(ptx) = std::str::from_utf8(&lowered.ptx) else {
        return (bytes, module);
    };
    let limit = gpu.register_limit();
    let mut large: Vec<(&str, ResourceUsage)> = lowered
        .kernels
        .iter()
        .filter(|k| k.refused.is_none())
        .filter_map(|k| Some((&*k.name, ResourceUsage::query(gpu, module, &k.name)?)))
        .filter(|(_, usage)| usage.registers > limit as i32)
        .collect();
    // First with all of them, then with those whose code the limit did not harm.
    while !large.is_empty() {
        let names: Vec<&str> = large.iter().map(|(name, _)| *name).collect();
        let Ok(other) = link(gpu, registers::bound(ptx, &names, limit).as_bytes()) else {
            break;
        };
        let Ok(loaded) = load_module(gpu, &other) else {
            break;
        };
        let count = large.len();
        large.retain(|(name, free)| {
            ResourceUsage::query(gpu, loaded, name).is_some_and(|bounded| free.accepts(bounded))
        });
        let unused = if large.len() == count { module } else { loaded };
        // SAFETY: no handle of that module has been handed out.
        unsafe { (gpu.driver.unload)(unused) };
        if large.len() == count {
            return (other, loaded);
        }
    }
    (bytes, module)
}

fn load_module(gpu: &Gpu, bytes: &[u8]) -> Result<Module> {
    let mut module = Module(null_mut());
    // SAFETY: the driver checks the machine code and copies it.
    let code = unsafe {
        (gpu.driver.load)(
            &mut module,
            bytes.as_ptr().cast(),
            0,
            null_mut(),
            null_mut(),
        )
    };
    gpu.check(code, "loading device code", bytes.len() as u64)?;
    Ok(module)
}

/// Compiles PTX with the driver.
fn link(gpu: &Gpu, ptx: &[u8]) -> Result<Vec<u8>> {
    let mut log = vec![0_u8; 8 << 10];
    let mut options = driver::ERROR_LOG;
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut link = Link(null_mut());
    let mut text = ptx.to_vec();
    text.push(0);
    let (mut made, mut size) = (null_mut(), 0);
    // SAFETY: the result pointers are valid. The log buffer and the PTX outlive the link object,
    // whose result is copied before the object is destroyed.
    unsafe {
        let code = (gpu.driver.link)(2, options.as_mut_ptr(), values.as_mut_ptr(), &mut link);
        gpu.check(code, "starting the driver's compiler", 0)?;
        let mut code = (gpu.driver.link_add)(
            link,
            driver::PTX,
            text.as_mut_ptr().cast(),
            text.len(),
            c"ompvm".as_ptr(),
            0,
            null_mut(),
            null_mut(),
        );
        if code == 0 {
            code = (gpu.driver.link_complete)(link, &mut made, &mut size);
        }
        let result = if code == 0 {
            Ok(std::slice::from_raw_parts(made.cast::<u8>(), size).to_vec())
        } else {
            let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
            let said = String::from_utf8_lossy(&log[..end]);
            let said = said.trim().lines().next().unwrap_or("").to_owned();
            Err(match gpu.driver.failure(code, "compiling device code", 0) {
                Failure::Image(what) if !said.is_empty() => {
                    Failure::Image(format!("{what}: {said}"))
                }
                other => other,
            })
        };
        (gpu.driver.drop_link)(link);
        result
    }
}

fn entry(gpu: &Gpu, module: Option<Module>, known: &Known) -> Result<&'static Entry> {
    let mut function = Function(null_mut());
    let mut threads = 0;
    let refused = known.refused.as_ref().map(|refusal| Failure::Unsupported {
        reason: refusal.reason.clone(),
        place: refusal.place.clone(),
    });
    if let (None, Some(module), Ok(name)) = (&refused, module, CString::new(known.name.as_str())) {
        // SAFETY: the module is loaded and the name is a C string; the result pointers are valid.
        unsafe {
            let code = (gpu.driver.function)(&mut function, module, name.as_ptr());
            gpu.check(code, "looking a kernel up", 0)?;
            let attribute = driver::FUNCTION_THREADS;
            let code = (gpu.driver.function_attribute)(&mut threads, attribute, function);
            gpu.check(code, "querying a kernel", 0)?;
        }
    }
    Ok(Box::leak(Box::new(Entry {
        function,
        threads: u32::try_from(threads)
            .ok()
            .filter(|&n| n > 0)
            .unwrap_or(u32::MAX),
        occupancy: AtomicU64::new(0),
        doing: format!("running the kernel `{}`", known.name),
        refused,
    })))
}

impl Image for Loaded {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        let name = CString::new(name).ok()?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: the module is loaded and the name is a C string; the result pointers are valid.
        let code =
            unsafe { (self.driver.global)(&mut address, &mut size, self.module?, name.as_ptr()) };
        (code == 0).then_some(Symbol {
            address,
            size: size as u64,
        })
    }

    fn kernel(&self, name: &str) -> Option<Kernel> {
        self.kernels.get(name).copied()
    }

    fn division(&self, name: &str) -> Option<Division> {
        self.divisions.get(name).cloned()
    }

    fn construct(&self, device: &dyn Device) -> Result<()> {
        run_constructors(self, device)
    }

    fn shared_variables(&self) -> &[SharedVariable] {
        &self.shared
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Some(module) = self.module {
            // SAFETY: no handle of the module is used after its image is dropped.
            unsafe { (self.driver.unload)(module) };
        }
    }
}
