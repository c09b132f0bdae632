//! The functions of the CUDA driver, loaded from `libcuda.so.1` when devices are discovered.
//!
//! They are looked up by name at run time, because a machine with a GPU has the driver but not
//! necessarily the rest of CUDA. The types follow the driver's documented interface; the versions
//! are the oldest that every driver for `sm_70` has. Error codes become [`Failure`]s here and
//! nowhere else.

use crate::device::{Failure, Fault};
use std::ffi::{CStr, OsStr, c_char, c_int, c_uint, c_void};
use std::ptr::null;

/// Result of every function: 0 or an error code.
pub(super) type CuResult = c_int;
/// Ordinal of a device.
pub(super) type DeviceNumber = c_int;
/// Device address.
pub(super) type Address = u64;

macro_rules! handles {
    ($($name:ident)*) => {$(
        /// A handle of the driver.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(transparent)]
        pub(super) struct $name(pub *mut c_void);
        // SAFETY: the driver's handles may be used on every thread.
        unsafe impl Send for $name {}
        // SAFETY: the driver synchronizes concurrent uses of a handle.
        unsafe impl Sync for $name {}
    )*};
}
handles!(Context Module Function Stream Event Link);

/// Defines a table of functions of the driver by their names in the library.
macro_rules! functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident = $symbol:literal ($($arg:ty),*);)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $table {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> CuResult,)*
        }

        impl $table {
            /// Looks the functions up.
            ///
            /// # Safety
            /// The library must be the CUDA driver, and never be unloaded.
            unsafe fn of(library: &libloading::Library) -> Result<$table, String> {
                // SAFETY: the names and types are those of the driver's documentation.
                unsafe {
                    Ok($table {
                        $($name: *library
                            .get($symbol.as_bytes())
                            .map_err(|_| format!("the CUDA driver lacks `{}`", $symbol))?,)*
                    })
                }
            }
        }
    };
}

functions! {
    /// The functions that every driver has.
    Functions {
        init = "cuInit" (c_uint);
        version = "cuDriverGetVersion" (*mut c_int);
        count = "cuDeviceGetCount" (*mut c_int);
        device = "cuDeviceGet" (*mut DeviceNumber, c_int);
        name = "cuDeviceGetName" (*mut c_char, c_int, DeviceNumber);
        uuid = "cuDeviceGetUuid" (*mut [u8; 16], DeviceNumber);
        attribute = "cuDeviceGetAttribute" (*mut c_int, c_int, DeviceNumber);
        memory = "cuDeviceTotalMem_v2" (*mut usize, DeviceNumber);
        retain_context = "cuDevicePrimaryCtxRetain" (*mut Context, DeviceNumber);
        set_context = "cuCtxSetCurrent" (Context);
        synchronize = "cuCtxSynchronize" ();
        free_memory = "cuMemGetInfo_v2" (*mut usize, *mut usize);
        alloc = "cuMemAlloc_v2" (*mut Address, usize);
        free = "cuMemFree_v2" (Address);
        alloc_host = "cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
        free_host = "cuMemFreeHost" (*mut c_void);
        alloc_managed = "cuMemAllocManaged" (*mut Address, usize, c_uint);
        advise = "cuMemAdvise" (Address, usize, c_int, DeviceNumber);
        register = "cuMemHostRegister_v2" (*mut c_void, usize, c_uint);
        unregister = "cuMemHostUnregister" (*mut c_void);
        upload = "cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, Stream);
        download = "cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, Stream);
        copy = "cuMemcpyDtoDAsync_v2" (Address, Address, usize, Stream);
        fill = "cuMemsetD8Async" (Address, u8, usize, Stream);
        stream = "cuStreamCreate" (*mut Stream, c_uint);
        await_stream = "cuStreamSynchronize" (Stream);
        stream_idle = "cuStreamQuery" (Stream);
        event = "cuEventCreate" (*mut Event, c_uint);
        record = "cuEventRecord" (Event, Stream);
        await_event = "cuEventSynchronize" (Event);
        follow_event = "cuStreamWaitEvent" (Stream, Event, c_uint);
        load = "cuModuleLoadDataEx" (*mut Module, *const c_void, c_uint, *mut c_int,
                                     *mut *mut c_void);
        unload = "cuModuleUnload" (Module);
        function = "cuModuleGetFunction" (*mut Function, Module, *const c_char);
        global = "cuModuleGetGlobal_v2" (*mut Address, *mut usize, Module, *const c_char);
        occupancy = "cuOccupancyMaxActiveBlocksPerMultiprocessor" (*mut c_int, Function, c_int,
                                                                   usize);
        set_function = "cuFuncSetAttribute" (Function, c_int, c_int);
        function_attribute = "cuFuncGetAttribute" (*mut c_int, c_int, Function);
        launch = "cuLaunchKernel" (Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint,
                                   Stream, *mut *mut c_void, *mut *mut c_void);
        link = "cuLinkCreate_v2" (c_uint, *mut c_int, *mut *mut c_void, *mut Link);
        link_add = "cuLinkAddData_v2" (Link, c_int, *mut c_void, usize, *const c_char, c_uint,
                                       *mut c_int, *mut *mut c_void);
        link_complete = "cuLinkComplete" (Link, *mut *mut c_void, *mut usize);
        drop_link = "cuLinkDestroy" (Link);
        error_name = "cuGetErrorName" (CuResult, *mut *const c_char);
        error_text = "cuGetErrorString" (CuResult, *mut *const c_char);
    }
}

functions! {
    /// The functions that map physical memory of several devices into one range of addresses.
    /// Drivers before 10.2 lack them.
    Mapping {
        granularity = "cuMemGetAllocationGranularity" (*mut usize, *const Physical, c_uint);
        reserve = "cuMemAddressReserve" (*mut Address, usize, usize, Address, u64);
        unreserve = "cuMemAddressFree" (Address, usize);
        create = "cuMemCreate" (*mut u64, usize, *const Physical, u64);
        release = "cuMemRelease" (u64);
        map = "cuMemMap" (Address, usize, usize, u64, u64);
        unmap = "cuMemUnmap" (Address, usize);
        set_access = "cuMemSetAccess" (Address, usize, *const Access, usize);
    }
}

functions! {
    /// The functions by which GPUs access each other's memory.
    Peers {
        can_reach = "cuDeviceCanAccessPeer" (*mut c_int, DeviceNumber, DeviceNumber);
        reach = "cuCtxEnablePeerAccess" (Context, c_uint);
    }
}

functions! {
    /// The functions by which processes of a host access each other's device memory.
    Sharing {
        export = "cuIpcGetMemHandle" (*mut MemoryHandle, Address);
        import = "cuIpcOpenMemHandle_v2" (*mut Address, MemoryHandle, c_uint);
        close = "cuIpcCloseMemHandle" (Address);
    }
}

/// Handle of device memory for other processes (`CUipcMemHandle`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct MemoryHandle(pub [u8; 64]);

/// The CUDA driver.
#[derive(Debug)]
pub(super) struct Driver {
    functions: Functions,
    pub mapping: Option<Mapping>,
    pub peers: Option<Peers>,
    pub sharing: Option<Sharing>,
    // The library is never unloaded, because the driver has threads of its own.
    _library: std::mem::ManuallyDrop<libloading::Library>,
}

impl std::ops::Deref for Driver {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

/// Location of physical memory (`CUmemLocation`): a device.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Location {
    /// 1: a device.
    pub kind: c_uint,
    pub device: DeviceNumber,
}

/// Properties of physical memory (`CUmemAllocationProp`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Physical {
    /// 1: pinned memory, the only kind.
    pub kind: c_uint,
    pub exported: c_uint,
    pub location: Location,
    pub metadata: usize,
    pub flags: u64,
}

/// Access of a device to a range of addresses (`CUmemAccessDesc`).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Access {
    pub location: Location,
    /// 3: reads and writes.
    pub rights: c_uint,
}

/// Device attributes (`CUdevice_attribute`).
pub(super) mod attribute {
    pub const BLOCK_THREADS: i32 = 1;
    pub const GRID_BLOCKS: i32 = 5;
    pub const WARP: i32 = 10;
    pub const MULTIPROCESSORS: i32 = 16;
    pub const MULTIPROCESSOR_THREADS: i32 = 39;
    pub const MAJOR: i32 = 75;
    pub const MINOR: i32 = 76;
    pub const MULTIPROCESSOR_REGISTERS: i32 = 82;
    pub const PAGEABLE_MEMORY: i32 = 88;
    pub const PAGED_MANAGED_MEMORY: i32 = 89;
    pub const DYNAMIC_SHARED: i32 = 97;
}

/// Error codes (`CUresult`) that are handled specially.
pub(super) mod code {
    pub const NO_MEMORY: i32 = 2;
    pub const NO_DEVICE: i32 = 100;
    pub const NOT_READY: i32 = 600;
    pub const ALREADY_REACHABLE: i32 = 704;
    pub const ALREADY_REGISTERED: i32 = 712;
}

/// Options of the linker: buffer and size of its error log.
pub(super) const ERROR_LOG: [c_int; 2] = [5, 6];
/// Stream flag: no implicit synchronization with other streams.
pub(super) const NON_BLOCKING: c_uint = 1;
/// Event flag: no timing.
pub(super) const NO_TIMING: c_uint = 2;
/// Host memory flag: accessible in all contexts.
pub(super) const PORTABLE: c_uint = 1;
/// Host memory flag: mapped into the device's address space.
pub(super) const MAPPED: c_uint = 2;
/// Flag for imported memory: links to its device are set up at its first use.
pub(super) const LINK_LATER: c_uint = 1;
/// Managed memory flag: accessible from every stream.
pub(super) const GLOBAL: c_uint = 1;
/// Advice for managed memory: pages stay at a place.
pub(super) const PREFER_PLACE: c_int = 3;
/// Advice for managed memory: a device accesses pages where they are, without faults.
pub(super) const KEEP_MAPPED: c_int = 5;
/// The host as a place for managed memory (`CU_DEVICE_CPU`).
pub(super) const HOST_PLACE: DeviceNumber = -1;
/// Function attribute: maximum bytes of dynamic shared memory.
pub(super) const FUNCTION_DYNAMIC_SHARED: c_int = 8;
/// Function attribute: bytes of local memory per thread.
pub(super) const FUNCTION_LOCAL: c_int = 3;
/// Function attribute: registers per thread.
pub(super) const FUNCTION_REGISTERS: c_int = 4;
/// Function attribute: maximum threads per block.
pub(super) const FUNCTION_THREADS: c_int = 0;
/// Linker input type: PTX.
pub(super) const PTX: c_int = 1;

impl Driver {
    /// Loads and initializes the driver in `file`, by default the system's. Returns `None` if there
    /// is no driver or no GPU.
    ///
    /// # Errors
    /// A description of why the driver does not work.
    pub(super) fn open(file: Option<&OsStr>) -> Result<Option<Driver>, String> {
        let name = file.unwrap_or(OsStr::new("libcuda.so.1"));
        // SAFETY: the driver's library runs its own initializers, as in every program that uses it.
        let Ok(library) = (unsafe { libloading::Library::new(name) }) else {
            return Ok(None);
        };
        // SAFETY: the library is the driver, and is kept.
        let driver = unsafe {
            Driver {
                functions: Functions::of(&library)?,
                mapping: Mapping::of(&library).ok(),
                peers: Peers::of(&library).ok(),
                sharing: Sharing::of(&library).ok(),
                _library: std::mem::ManuallyDrop::new(library),
            }
        };
        // SAFETY: `cuInit` has no preconditions; its flags must be 0.
        match unsafe { (driver.init)(0) } {
            0 => Ok(Some(driver)),
            code::NO_DEVICE => Ok(None),
            other => Err(format!(
                "the CUDA driver does not start: {}",
                driver.text(other)
            )),
        }
    }

    /// Returns the driver's description of an error code.
    pub(super) fn text(&self, code: CuResult) -> String {
        let word = |ask: unsafe extern "C" fn(CuResult, *mut *const c_char) -> CuResult| {
            let mut text = null();
            // SAFETY: the driver returns a string that lives as long as the driver.
            unsafe {
                if ask(code, &mut text) != 0 || text.is_null() {
                    return None;
                }
                Some(CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        match (word(self.error_name), word(self.error_text)) {
            (Some(name), Some(text)) => format!("{text} ({name})"),
            _ => format!("error {code} of the CUDA driver"),
        }
    }

    /// Converts an error code to a failure; `doing` names the operation.
    pub(super) fn failure(&self, code: CuResult, doing: &str, size: u64) -> Failure {
        let fault = |what: &str| {
            Failure::Fault(Box::new(Fault {
                what: format!("{what}, detected while {doing}"),
                place: None,
                thread: None,
                help: Some(
                    "`--device emulated` runs the region with every access checked".to_owned(),
                ),
            }))
        };
        match code {
            code::NO_MEMORY => Failure::OutOfMemory { size },
            700 => fault("a kernel accessed an invalid address"),
            710 => fault("an assertion failed in a kernel"),
            714 => fault("a kernel overflowed its stack"),
            715 => fault("a kernel trapped"),
            716 => fault("a kernel accessed a misaligned address"),
            717 | 718 => fault("a kernel jumped to an invalid address"),
            719 => fault("a kernel trapped or failed"),
            702 => fault("a kernel ran longer than the driver allows"),
            200 | 209 | 218 | 220 | 221 | 222 | 300 => {
                Failure::Image(format!("{doing}: {}", self.text(code)))
            }
            1 | 701 | 500 => Failure::Unsupported {
                reason: format!("{doing}: {}", self.text(code)),
                place: None,
            },
            _ => Failure::Lost(format!("{doing}: {}", self.text(code))),
        }
    }
}

/// Returns true if the context is unusable after this error code.
pub(super) fn is_sticky(code: CuResult) -> bool {
    matches!(
        code,
        46 | 214 | 201 | 700 | 702 | 709 | 710 | 714..=719 | 999
    )
}
