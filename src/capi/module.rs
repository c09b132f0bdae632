//! Engines and modules.

use super::{OmpvmError, free, store_handle, text};
use engine::api::{Engine, Error, Language, Module, Source};
use std::ffi::{c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::ptr;

fn new_engine(cached: bool) -> *mut Engine {
    let made = catch_unwind(|| match cached {
        true => Engine::new().user_cache(),
        false => Engine::new(),
    });
    made.map_or(ptr::null_mut(), |engine| Box::into_raw(Box::new(engine)))
}

/// `ompvm_engine_new`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_engine_new() -> *mut Engine {
    new_engine(false)
}

/// `ompvm_engine_new_cached`.
#[unsafe(no_mangle)]
pub extern "C" fn ompvm_engine_new_cached() -> *mut Engine {
    new_engine(true)
}

/// `ompvm_engine_contain_reading`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_engine_contain_reading(engine: *mut Engine, contained: c_int) {
    // SAFETY: the caller passes an engine that nothing else uses now.
    unsafe { *engine = (*engine).clone().contain_reading(contained != 0) };
}

/// `ompvm_engine_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_engine_free(engine: *mut Engine) {
    // SAFETY: the caller passes null or an engine that it uses no more.
    unsafe { free(engine) }
}

/// `ompvm_module_from_file`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_module_from_file(
    engine: *const Engine,
    path: *const c_char,
    module: *mut *mut Module,
) -> *mut OmpvmError {
    // SAFETY: the caller's contract, with one path.
    unsafe { ompvm_module_from_files(engine, &path, 1, module) }
}

/// `ompvm_module_from_files`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_module_from_files(
    engine: *const Engine,
    paths: *const *const c_char,
    count: usize,
    module: *mut *mut Module,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a live engine, `count` C strings and room for the result.
    unsafe {
        store_handle(module, || {
            let paths = (0..count).map(|i| text(*paths.add(i)).map(PathBuf::from));
            let paths = paths.collect::<Result<Vec<_>, Error>>()?;
            Module::from_files(&*engine, &paths)
        })
    }
}

/// `ompvm_module_from_bytes`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_module_from_bytes(
    engine: *const Engine,
    name: *const c_char,
    bytes: *const c_void,
    size: usize,
    module: *mut *mut Module,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a live engine, a C string, `size` bytes and room for the result.
    unsafe {
        store_handle(module, || {
            let bytes = match size {
                0 => &[][..],
                _ => std::slice::from_raw_parts(bytes.cast(), size),
            };
            Module::from_bytes(&*engine, text(name)?, bytes)
        })
    }
}

/// `ompvm_module_from_source`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_module_from_source(
    engine: *const Engine,
    language: c_int,
    name: *const c_char,
    source: *const c_char,
    options: *const *const c_char,
    count: usize,
    module: *mut *mut Module,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a live engine, C strings, `count` options and room for the result.
    unsafe {
        store_handle(module, || {
            let language = match language {
                0 => Language::C,
                1 => Language::Cpp,
                2 => Language::Fortran,
                _ => return Err(Error::Host(format!("{language} is not a language"))),
            };
            let options = (0..count).map(|i| text(*options.add(i)));
            let options = options.collect::<Result<Vec<_>, Error>>()?;
            let source = Source::text(language, text(name)?, text(source)?).flags(options);
            Module::from_source(&*engine, &source)
        })
    }
}

/// `ompvm_module_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_module_free(module: *mut Module) {
    // SAFETY: the caller passes null or a module that it uses no more.
    unsafe { free(module) }
}
