//! Random calls of the C library that its header allows: texts of any kind, null where the header
//! says so, handles in any order of their lives. Counts each call.

use super::mutate::{self, Corpus, Random};
use super::surfaces::{Outcome, tells_of_failure};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

type Handle = *mut c_void;

/// A guest in textual IR, with functions of several signatures.
const GUEST: &[u8] = b"target triple = \"x86_64-unknown-linux-gnu\"
@scale = global double 2.0
declare i32 @host_add(i32, i32)
define i32 @add(i32 %a, i32 %b) { %c = add i32 %a, %b ret i32 %c }
define double @twice(double %x) { %s = load double, ptr @scale %y = fmul double %x, %s ret double %y }
define float @mixed(float %a, i8 %b, i16 %c, i64 %d) { ret float %a }
define void @nothing() { ret void }
define i32 @through(i32 %a) { %r = call i32 @host_add(i32 %a, i32 1) ret i32 %r }
define i32 @divide(i32 %a, i32 %b) { %c = sdiv i32 %a, %b ret i32 %c }
define i32 @main() { ret i32 3 }
";

/// Names and signatures, right and wrong.
const TEXTS: [&str; 30] = [
    "",
    "add",
    "twice",
    "mixed",
    "nothing",
    "through",
    "divide",
    "main",
    "scale",
    "host_add",
    "llvm.trap",
    "int (int, int)",
    "double (double)",
    "void (void)",
    "int (int)",
    "float (float, char, short, long)",
    "int (",
    "int ()",
    "(((((",
    "double (long, const double *)",
    "void (void *, ...)",
    "emulated:2",
    "host",
    "cpu",
    "emulated:99999999999",
    "@threads",
    "@nothing",
    "/",
    "no such file",
    "\u{7f}é",
];

macro_rules! library {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library.
        pub struct Library {
            $($name: unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            /// Loads the library.
            pub fn open(path: &Path) -> Library {
                let name = CString::new(path.display().to_string()).expect("no zero byte");
                // SAFETY: loads a library of this build; the types are those of its header.
                unsafe {
                    let library = libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
                    assert!(!library.is_null(), "{} cannot be loaded", path.display());
                    Library {
                        $($name: {
                            let name = concat!("ompvm_", stringify!($name), "\0");
                            let address = libc::dlsym(library, name.as_ptr().cast());
                            assert!(!address.is_null(), "{name} is missing");
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,
                            >(address)
                        },)*
                    }
                }
            }
        }
    };
}

library! {
    engine_new: fn() -> Handle;
    engine_contain_reading: fn(Handle, c_int);
    engine_free: fn(Handle);
    module_from_file: fn(Handle, *const c_char, *mut Handle) -> Handle;
    module_from_bytes: fn(Handle, *const c_char, *const c_void, usize, *mut Handle) -> Handle;
    module_free: fn(Handle);
    linker_new: fn(Handle) -> Handle;
    linker_define: fn(Handle, *const c_char, *const c_char, Callback, Handle) -> Handle;
    linker_deny_native: fn(Handle, c_int);
    linker_allow_native: fn(Handle, *const c_char);
    linker_link: fn(Handle, Handle, *mut Handle) -> Handle;
    linker_free: fn(Handle);
    program_start: fn(Handle, Handle, *mut Handle) -> Handle;
    program_free: fn(Handle);
    config_new: fn() -> Handle;
    config_set_tier: fn(Handle, c_int);
    config_add_argument: fn(Handle, *const c_char);
    config_set_devices: fn(Handle, *const c_char) -> Handle;
    config_set_reports: fn(Handle, c_int);
    config_free: fn(Handle);
    process_run_main: fn(Handle, *mut c_int) -> Handle;
    process_function: fn(Handle, *const c_char, *const c_char, *mut Handle) -> Handle;
    process_variable: fn(Handle, *const c_char) -> Handle;
    process_statistics: fn(Handle) -> *mut c_char;
    process_free: fn(Handle);
    function_arity: fn(Handle) -> usize;
    call: fn(Handle, *const u64, *mut u64) -> Handle;
    error_get_kind: fn(Handle) -> c_int;
    error_message: fn(Handle) -> *const c_char;
    error_trap: fn(Handle, *mut [u64; 8]) -> c_int;
    error_free: fn(Handle);
    compile_report: fn(*const c_char) -> *mut c_char;
    text_free: fn(*mut c_char);
}

type Callback = unsafe extern "C-unwind" fn(Handle, *const u64, *mut u64);

/// A function of the host, which reads no argument: its signature may have none.
unsafe extern "C-unwind" fn callback(_: Handle, _: *const u64, result: *mut u64) {
    // SAFETY: the library passes room for a result.
    unsafe { result.write(7) }
}

/// The calls of one input.
struct Calls<'l> {
    library: &'l Library,
    count: u64,
    failed: bool,
    /// True if LLVM failed on the module.
    contained: bool,
}

impl Calls<'_> {
    /// Looks at an error as a host may, and frees it.
    fn check(&mut self, error: Handle) {
        self.count += 1;
        if error.is_null() {
            return;
        }
        let l = self.library;
        self.contained |= tells_of_failure(&message(l, error));
        // SAFETY: the error is live until it is freed, and its texts are C strings.
        unsafe {
            assert!(
                (1..=5).contains(&(l.error_get_kind)(error)),
                "{}",
                message(l, error)
            );
            let _ = (l.error_trap)(error, &mut [0; 8]);
            (l.error_free)(error);
        }
        self.failed = true;
        self.count += 4;
    }
}

fn message(library: &Library, error: Handle) -> String {
    // SAFETY: the message is a C string that lives as long as the error.
    unsafe { std::ffi::CStr::from_ptr((library.error_message)(error)) }
        .to_string_lossy()
        .into_owned()
}

fn text(random: &mut Random) -> CString {
    CString::new(random.pick(&TEXTS)).expect("no zero byte")
}

impl Library {
    /// Makes a program's worth of calls.
    pub fn run(&self, corpus: &Corpus, random: &mut Random) -> Outcome {
        let mut calls = Calls {
            library: self,
            count: 0,
            failed: false,
            contained: false,
        };
        // SAFETY: the handles are live, used by this thread only and freed once; texts are C
        // strings.
        unsafe {
            let engine = (self.engine_new)();
            (self.engine_contain_reading)(engine, (random.below(64) == 0).into());
            let mut module = null_mut();
            let bytes = match random.below(8) {
                0 => mutate::bytes(corpus, random),
                1 => Vec::new(),
                _ => GUEST.to_vec(),
            };
            let name = text(random);
            let intact = bytes == GUEST;
            let at = bytes.as_ptr().cast();
            let read =
                (self.module_from_bytes)(engine, name.as_ptr(), at, bytes.len(), &mut module);
            calls.check(read);
            if module.is_null() {
                let file = text(random);
                calls.check((self.module_from_file)(engine, file.as_ptr(), &mut module));
            }
            // A damaged guest may do anything once it is started.
            if intact && !module.is_null() {
                self.link(&mut calls, random, engine, module);
            }
            (self.module_free)(module);
            (self.engine_free)(engine);
            calls.count += 4;
        }
        match calls.failed {
            _ if calls.contained => Outcome::Contained(calls.count),
            true => Outcome::Refused(calls.count),
            false => Outcome::Accepted(calls.count),
        }
    }

    /// # Safety
    /// The handles must be live.
    unsafe fn link(&self, calls: &mut Calls, random: &mut Random, engine: Handle, module: Handle) {
        // SAFETY: as in `run`.
        unsafe {
            let linker = (self.linker_new)(engine);
            let mut program = null_mut();
            let mut define = |name: &CStr, signature: &CStr| {
                let (name, signature) = (name.as_ptr(), signature.as_ptr());
                let define = self.linker_define;
                calls.check(define(linker, name, signature, callback, null_mut()));
            };
            for _ in 0..random.below(3) {
                define(&text(random), &text(random));
            }
            if random.below(4) > 0 {
                define(c"host_add", c"int (int, int)");
            }
            if random.below(8) == 0 {
                (self.linker_deny_native)(linker, 1);
                (self.linker_allow_native)(linker, text(random).as_ptr());
            }
            calls.check((self.linker_link)(linker, module, &mut program));
            (self.linker_free)(linker);
            calls.count += 4;
            if !program.is_null() {
                self.start(calls, random, program);
            }
            (self.program_free)(program);
        }
    }

    /// # Safety
    /// The program must be live.
    unsafe fn start(&self, calls: &mut Calls, random: &mut Random, program: Handle) {
        // SAFETY: as in `run`; functions are called with as many arguments as they take, which are
        // numbers.
        unsafe {
            let mut config = null_mut();
            if random.below(4) > 0 {
                config = (self.config_new)();
                (self.config_set_tier)(config, [0, 0, 0, 1, 7][random.below(5)]);
                (self.config_add_argument)(config, text(random).as_ptr());
                (self.config_set_reports)(config, random.below(2) as c_int);
                let devices = [c"emulated:99999999999", c"", c"nothing"][random.below(3)];
                calls.check((self.config_set_devices)(config, devices.as_ptr()));
            }
            let mut process = null_mut();
            calls.check((self.program_start)(program, config, &mut process));
            (self.config_free)(config);
            calls.count += 5;
            if process.is_null() {
                return;
            }
            for _ in 0..random.below(8) {
                let mut function = null_mut();
                let (name, signature) = (text(random), text(random));
                let signature = match random.below(2) {
                    0 => null(),
                    _ => signature.as_ptr(),
                };
                let found =
                    (self.process_function)(process, name.as_ptr(), signature, &mut function);
                calls.check(found);
                if function.is_null() {
                    continue;
                }
                let arity = (self.function_arity)(function);
                assert!(arity <= 8, "the guest has no such function");
                let arguments: [u64; 8] =
                    std::array::from_fn(|_| random.next() >> random.below(64));
                let mut result = 0;
                let to = [null_mut(), &raw mut result][random.below(2)];
                calls.check((self.call)(function, arguments.as_ptr(), to));
            }
            let _ = (self.process_variable)(process, text(random).as_ptr());
            if random.below(4) == 0 {
                (self.text_free)((self.process_statistics)(process));
                (self.text_free)((self.compile_report)(null()));
            }
            if random.below(2) == 0 {
                let mut status = 0;
                calls.check((self.process_run_main)(process, &mut status));
            }
            (self.process_free)(process);
            calls.count += 3;
        }
    }
}
