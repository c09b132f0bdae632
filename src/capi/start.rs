//! Linking with functions of the host, configurations, and the start of programs.

use super::call::{OmpvmProcess, OmpvmValue};
use super::{Callback, OmpvmError, free, store, store_handle, text};
use engine::api::{
    CancelHandle, Config, Engine, Error, Linker, Module, Program, Tier, parse_devices,
};
use std::ffi::{c_char, c_int, c_void};
use std::time::Duration;

/// `ompvm_callback`.
type HostFunction = unsafe extern "C-unwind" fn(*mut c_void, *const OmpvmValue, *mut OmpvmValue);

impl Callback<HostFunction> {
    fn call(&self, slots: &[u64]) -> u64 {
        let mut result = OmpvmValue { u64: 0 };
        // SAFETY: a value is a slot; the header asks for a function that may be called with the
        // arguments of its signature.
        unsafe {
            (self.run)(self.data, slots.as_ptr().cast(), &raw mut result);
            result.u64
        }
    }
}

/// `ompvm_linker_new`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_linker_new(engine: *const Engine) -> *mut Linker {
    // SAFETY: the caller passes a live engine.
    Box::into_raw(Box::new(Linker::new(unsafe { &*engine })))
}

/// `ompvm_linker_define`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_linker_define(
    linker: *mut Linker,
    name: *const c_char,
    signature: *const c_char,
    callback: HostFunction,
    data: *mut c_void,
) -> *mut OmpvmError {
    let callback = Callback {
        run: callback,
        data,
    };
    // SAFETY: the caller passes a linker that nothing else uses now, and C strings.
    unsafe {
        store(&mut (), || {
            let run = move |slots: &[u64]| callback.call(slots);
            (*linker).func_of_slots(text(name)?, text(signature)?, run)?;
            Ok(())
        })
    }
}

/// `ompvm_linker_deny_native`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_linker_deny_native(linker: *mut Linker, denied: c_int) {
    // SAFETY: the caller passes a linker that nothing else uses now.
    unsafe { (*linker).deny_native(denied != 0) };
}

/// `ompvm_linker_allow_native`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_linker_allow_native(linker: *mut Linker, name: *const c_char) {
    // SAFETY: the caller passes a linker that nothing else uses now, and a C string.
    unsafe {
        let name = any_text(name);
        (*linker).allow_native(&name);
    }
}

/// `ompvm_linker_link`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_linker_link(
    linker: *const Linker,
    module: *const Module,
    program: *mut *mut Program,
) -> *mut OmpvmError {
    // SAFETY: the caller passes live handles and room for the result.
    unsafe { store_handle(program, || (*linker).link(&*module)) }
}

/// `ompvm_linker_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_linker_free(linker: *mut Linker) {
    // SAFETY: the caller passes null or a linker that it uses no more.
    unsafe { free(linker) }
}

/// `ompvm_program_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_program_free(program: *mut Program) {
    // SAFETY: the caller passes null or a program that it uses no more.
    unsafe { free(program) }
}

/// `ompvm_config_new`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_config_new() -> *mut Config {
    Box::into_raw(Box::new(Config::new()))
}

/// Replaces a configuration by a changed one.
///
/// # Safety
/// `config` must be a live configuration that nothing else uses now.
unsafe fn change(config: *mut Config, f: impl FnOnce(Config) -> Config) {
    // SAFETY: the configuration is ours by contract.
    let config = unsafe { &mut *config };
    *config = f(std::mem::take(config));
}

/// Returns a C string as text, in which bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `text` must be a C string.
unsafe fn any_text(text: *const c_char) -> String {
    // SAFETY: a C string by contract.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// `ompvm_config_set_tier`; an unknown number selects the default.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_tier(config: *mut Config, tier: c_int) {
    let tier = match tier {
        1 => Tier::Baseline,
        2 => Tier::Opt,
        3 => Tier::Auto,
        _ => Tier::Interp,
    };
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.tier(tier)) }
}

/// `ompvm_config_add_argument`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_add_argument(config: *mut Config, argument: *const c_char) {
    // SAFETY: the caller passes a configuration that nothing else uses now, and a C string.
    unsafe {
        let argument = any_text(argument);
        change(config, |c| c.arg(argument));
    }
}

/// `ompvm_config_set_variable`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_variable(
    config: *mut Config,
    name: *const c_char,
    value: *const c_char,
) {
    // SAFETY: the caller passes a configuration that nothing else uses now, and C strings.
    unsafe {
        let (name, value) = (any_text(name), any_text(value));
        change(config, |c| c.env(name, value));
    }
}

/// `ompvm_config_set_threads`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_threads(config: *mut Config, threads: u32) {
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.num_threads(threads)) }
}

/// `ompvm_config_set_thread_limit`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_thread_limit(config: *mut Config, threads: u32) {
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.thread_limit(threads)) }
}

/// `ompvm_config_add_library`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_add_library(config: *mut Config, name: *const c_char) {
    // SAFETY: the caller passes a configuration that nothing else uses now, and a C string.
    unsafe {
        let name = any_text(name);
        change(config, |c| c.library(name));
    }
}

/// `ompvm_config_add_library_path`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_add_library_path(config: *mut Config, folder: *const c_char) {
    // SAFETY: the caller passes a configuration that nothing else uses now, and a C string.
    unsafe {
        let folder = any_text(folder);
        change(config, |c| c.library_path(folder));
    }
}

/// `ompvm_config_set_stack_size`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_stack_size(config: *mut Config, bytes: usize) {
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.stack_size(bytes)) }
}

/// `ompvm_config_set_devices`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_devices(
    config: *mut Config,
    devices: *const c_char,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a configuration that nothing else uses now, and a C string.
    unsafe {
        store(&mut (), || {
            let devices = text(devices)?;
            let parsed = parse_devices(devices)
                .ok_or_else(|| Error::Host(format!("`{devices}` selects no devices")))?;
            change(config, |c| c.devices(parsed));
            Ok(())
        })
    }
}

/// `ompvm_config_set_reports`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_reports(config: *mut Config, enabled: c_int) {
    let enabled = enabled != 0;
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.stats(enabled).offload_report(enabled)) }
}

/// `ompvm_config_set_time_limit`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_time_limit(config: *mut Config, nanoseconds: u64) {
    let limit = (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds));
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.time_limit(limit)) }
}

/// `ompvm_config_set_memory_limit`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_memory_limit(config: *mut Config, bytes: usize) {
    let limit = (bytes > 0).then_some(bytes);
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.memory_limit(limit)) }
}

/// `ompvm_config_set_fuel`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_fuel(config: *mut Config, instructions: u64) {
    let fuel = (instructions > 0).then_some(instructions);
    // SAFETY: the caller passes a configuration that nothing else uses now.
    unsafe { change(config, |c| c.fuel(fuel)) }
}

/// `ompvm_config_set_cancel`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_set_cancel(config: *mut Config, cancel: *const CancelHandle) {
    // SAFETY: the caller passes a configuration that nothing else uses now, and a live handle.
    unsafe { change(config, |c| c.cancelled_by(&*cancel)) }
}

/// `ompvm_cancel_new`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_cancel_new() -> *mut CancelHandle {
    Box::into_raw(Box::new(CancelHandle::new()))
}

/// `ompvm_cancel_calls`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_cancel_calls(cancel: *const CancelHandle) {
    // SAFETY: the caller passes a live handle.
    unsafe { (*cancel).cancel() }
}

/// `ompvm_cancel_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_cancel_free(cancel: *mut CancelHandle) {
    // SAFETY: the caller passes null or a handle that it uses no more.
    unsafe { free(cancel) }
}

/// `ompvm_config_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_config_free(config: *mut Config) {
    // SAFETY: the caller passes null or a configuration that it uses no more.
    unsafe { free(config) }
}

/// Starts a program with a configuration, or with the default one for null.
///
/// # Safety
/// `config` must be null or live.
unsafe fn start(program: &Program, config: *const Config) -> Result<OmpvmProcess, Error> {
    // SAFETY: null or live by contract.
    let config = unsafe { config.as_ref() };
    let process = program.start(config.cloned().unwrap_or_default())?;
    Ok(OmpvmProcess::new(process))
}

/// `ompvm_program_start`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_program_start(
    program: *const Program,
    config: *const Config,
    process: *mut *mut OmpvmProcess,
) -> *mut OmpvmError {
    // SAFETY: the caller passes live handles and room for the result.
    unsafe { store_handle(process, || start(&*program, config)) }
}

/// `ompvm_module_start`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_module_start(
    engine: *const Engine,
    module: *const Module,
    config: *const Config,
    process: *mut *mut OmpvmProcess,
) -> *mut OmpvmError {
    // SAFETY: the caller passes live handles and room for the result.
    unsafe {
        store_handle(process, || {
            start(&Linker::new(&*engine).link(&*module)?, config)
        })
    }
}

/// `ompvm_open`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_open(
    path: *const c_char,
    process: *mut *mut OmpvmProcess,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a C string and room for the result.
    unsafe {
        store_handle(process, || {
            let engine = Engine::new().user_cache();
            let module = Module::from_files(&engine, &[text(path)?.into()])?;
            let program = Linker::new(&engine).link(&module)?;
            start(&program, &Config::new().tier(Tier::Auto))
        })
    }
}
