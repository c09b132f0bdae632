//! Sessions: programs in C that grow by cells.

use super::error::c_string;
use super::{OmpvmError, free, store, store_handle, text};
use engine::api::{Completeness, Config, Engine, Linker, Session};
use std::ffi::{CString, c_char, c_int};
use std::ptr;

/// `ompvm_session`.
#[derive(Debug)]
pub struct OmpvmSession {
    session: Session,
    /// The texts of the last evaluation.
    value: Option<CString>,
    warnings: CString,
}

/// `ompvm_evaluation`.
#[derive(Debug)]
#[repr(C)]
pub struct OmpvmEvaluation {
    value: *const c_char,
    warnings: *const c_char,
    exited: c_int,
    status: c_int,
}

/// `ompvm_session_new`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_session_new(
    engine: *const Engine,
    config: *const Config,
    session: *mut *mut OmpvmSession,
) -> *mut OmpvmError {
    // SAFETY: the caller passes a live engine, null or a live configuration, and room for the
    // result.
    unsafe {
        store_handle(session, || {
            let config = config.as_ref().cloned().unwrap_or_default();
            Ok(OmpvmSession {
                session: Session::new(&*engine, config)?,
                value: None,
                warnings: CString::default(),
            })
        })
    }
}

/// `ompvm_session_linker`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_session_linker(session: *mut OmpvmSession) -> *mut Linker {
    // SAFETY: the caller passes a session that nothing else uses now. The linker lies in its box.
    unsafe { &mut *session }.session.linker()
}

/// `ompvm_session_completeness`; a text that is not UTF-8 counts as complete, so that running it
/// returns the error.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_session_completeness(
    session: *const OmpvmSession,
    cell: *const c_char,
) -> c_int {
    let mut completeness = 0;
    // SAFETY: the caller passes a session that nothing else uses now, and a C string.
    let error = unsafe {
        store(&raw mut completeness, || {
            Ok(match (*session).session.completeness(text(cell)?) {
                Completeness::Complete => 0,
                Completeness::Unfinished => 1,
                Completeness::Open => 2,
            })
        })
    };
    // SAFETY: null, or an error that was just made.
    unsafe { free(error) };
    completeness
}

/// `ompvm_session_run`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_session_run(
    session: *mut OmpvmSession,
    cell: *const c_char,
    evaluation: *mut OmpvmEvaluation,
) -> *mut OmpvmError {
    let mut unwanted = OmpvmEvaluation {
        value: ptr::null(),
        warnings: ptr::null(),
        exited: 0,
        status: 0,
    };
    let out = match evaluation.is_null() {
        true => &raw mut unwanted,
        false => evaluation,
    };
    // SAFETY: the caller passes a session that nothing else uses now, a C string, and null or room
    // for the result.
    unsafe {
        store(out, || {
            let session = &mut *session;
            let done = session.session.run(text(cell)?)?;
            session.value = done.value.as_deref().map(c_string);
            session.warnings = c_string(&done.warnings);
            Ok(OmpvmEvaluation {
                value: session.value.as_ref().map_or(ptr::null(), |v| v.as_ptr()),
                warnings: session.warnings.as_ptr(),
                exited: c_int::from(done.exit.is_some()),
                status: done.exit.map_or(0, |status| status.code()),
            })
        })
    }
}

/// `ompvm_session_free`.
///
/// # Safety
/// See `ompvm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompvm_session_free(session: *mut OmpvmSession) {
    // SAFETY: the caller passes null or a session that it uses no more.
    unsafe { free(session) }
}
