//! Refuses native functions that a guest is not allowed to use (`--deny-native`).
//!
//! Linking asks for each symbol that the guest does not define itself. OpenMP's runtime, functions of
//! the embedder and helpers of compilers are always allowed; of the C library, the groups of
//! [`GROUPS`] that are so by default, and what the user adds. Everything else is reported with its
//! places before the first instruction runs, or at the call with `--late`: inline assembly, native
//! members and libraries, too.
//!
//! This is no boundary in memory. The guest shares the address space with its host, and can compute a
//! function's address or write through any pointer. It keeps a program from calling by accident, or
//! by plain means, what its user did not expect. `SECURITY.md` says more.

use super::builtins;
use super::late;
use super::link::{Environment, RuntimeLookup};
use hashbrown::HashSet;
use ompvm_ir::{Callee, Module};
use ompvm_memory::image::SymbolKind;
use ompvm_support::error::{Error, Unsupported};

/// A set of functions that are allowed together.
#[derive(Debug)]
struct Group {
    /// Name, which follows `@` in `--allow-native`.
    name: &'static str,
    /// True if the group is allowed unless something else is said.
    usual: bool,
    /// Names, separated by blanks. `*` at the end stands for any rest.
    names: &'static str,
    /// Parts of names that are no members although they fit.
    except: &'static str,
}

/// The groups. Functions that check their arguments (`__memcpy_chk`) and the variants of standards
/// (`__isoc99_sscanf`) belong to the group of the plain name.
const GROUPS: [Group; 9] = [
    Group {
        name: "memory",
        usual: true,
        names: "memcpy memmove memset memcmp memchr memrchr memmem mempcpy rawmemchr bcmp bcopy bzero strlen \
            strnlen strcpy strncpy stpcpy stpncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr \
            strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strtok strtok_r strsep strdup strndup \
            strcoll strxfrm strerror strerror_r wcslen wcscpy wcsncpy wcscmp wcsncmp wcschr wmemcpy wmemmove \
            wmemset wmemcmp malloc calloc realloc reallocarray free aligned_alloc posix_memalign memalign \
            malloc_usable_size abs labs llabs div ldiv lldiv atoi atol atoll atof strtol strtoll \
            strtoul strtoull strtof strtod strtold strtoimax strtoumax qsort qsort_r bsearch rand srand \
            rand_r random srandom drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48 isalnum isalpha \
            isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit tolower \
            toupper __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location setjmp _setjmp \
            __sigsetjmp sigsetjmp longjmp _longjmp siglongjmp ffs ffsl ffsll sprintf snprintf vsprintf \
            vsnprintf sscanf vsscanf asprintf vasprintf",
        except: "",
    },
    Group {
        name: "math",
        usual: true,
        names: "acos* asin* atan* cos* sin* tan* exp exp2* expf expl exp10* expm1* frexp* ilogb* ldexp* log logf \
            logl log2* log10* log1p* logb* modf* scalb* cbrt* fabs* hypot* pow* sqrt* erf* erfc* lgamma* \
            tgamma* gamma* ceil* floor* nearbyint* rint* lrint* llrint* round* lround* llround* roundeven* \
            trunc truncf truncl fmod* remainder* remquo* drem* copysign* nan nanf nanl nextafter* nexttoward* fdim* \
            fmax* fmin* fma fmaf fmal j0* j1* jn* y0* y1* yn* signgam significand* finite* isnan* isinf* __isnan* \
            __isinf* __finite* __signbit* __fpclassify* fegetround fesetround fegetexcept feenableexcept \
            fedisableexcept feclearexcept feraiseexcept fetestexcept fegetenv fesetenv feholdexcept \
            feupdateenv cabs* carg* cimag* creal* conj* cproj* cexp* clog* cpow* csqrt* cacos* casin* catan* \
            ccos* csin* ctan* _ZGV*",
        except: "",
    },
    Group {
        name: "stdio",
        usual: true,
        names: "stdin stdout stderr _ZSt4cout printf vprintf fprintf vfprintf puts fputs fputc putc putchar \
            _IO_putc fwrite fflush perror setvbuf setbuf setlinebuf ferror feof clearerr scanf vscanf fscanf \
            vfscanf getchar getc _IO_getc fgetc fgets ungetc fread getline getdelim flockfile funlockfile \
            putchar_unlocked fputs_unlocked fputc_unlocked fwrite_unlocked",
        except: "",
    },
    Group {
        name: "time",
        usual: true,
        names: "time clock gettimeofday clock_gettime clock_getres difftime mktime timegm gmtime gmtime_r \
            localtime localtime_r asctime asctime_r ctime ctime_r strftime times getrusage",
        except: "",
    },
    Group {
        name: "exit",
        usual: true,
        names: "exit _exit _Exit quick_exit abort atexit at_quick_exit __cxa_atexit __cxa_finalize \
            __assert_fail __stack_chk_fail __dso_handle",
        except: "",
    },
    Group {
        name: "c++",
        usual: false,
        names: "_Zn* _Zd* __cxa_* __gxx_personality_v0 _Unwind_* _ZSt* _ZNSt* _ZNKSt* _ZNSo* _ZNSi* _ZNSs* _ZNKSs* \
            _ZTISt* _ZTVSt* _ZTSSt* _ZTI* _ZTVN10__cxxabiv1* __dynamic_cast _ZN9__gnu_cxx*",
        except: "filebuf fstream __basic_file filesystem 6thread random_device sync_with",
    },
    Group {
        name: "threads",
        usual: false,
        names: "pthread_* sem_init sem_destroy sem_wait sem_trywait sem_timedwait sem_post sem_getvalue \
            sched_yield nanosleep usleep sleep thrd_* mtx_* cnd_* tss_* call_once _ZNSt6thread*",
        except: "pthread_kill pthread_sigqueue pthread_atfork",
    },
    Group {
        name: "environment",
        usual: false,
        names: "getenv secure_getenv environ __environ sysconf getpid gettid getppid sched_getcpu \
            sched_getaffinity get_nprocs get_nprocs_conf gethostname uname setlocale localeconv",
        except: "",
    },
    // Code that only its file describes; checked apart from names.
    Group {
        name: "libraries",
        usual: false,
        names: "",
        except: "",
    },
];

/// Allows inline assembly and assembly outside of functions.
const ASSEMBLY: &str = "asm";

impl Group {
    fn has(&self, name: &str) -> bool {
        let fits = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == pattern,
        };
        self.names.split_whitespace().any(fits)
            && !self
                .except
                .split_whitespace()
                .any(|part| name.contains(part))
    }
}

/// The native functions that a guest may use.
#[derive(Clone, Debug)]
pub struct NativePolicy {
    groups: Vec<&'static Group>,
    names: HashSet<String>,
    assembly: bool,
}

impl NativePolicy {
    /// Creates the policy that allows the usual groups, and these names and groups (`@threads`).
    ///
    /// # Errors
    /// Names a group that does not exist, and those that do.
    pub fn new<'a>(more: impl IntoIterator<Item = &'a str>) -> Result<NativePolicy, Error> {
        let mut policy = NativePolicy {
            groups: GROUPS.iter().filter(|group| group.usual).collect(),
            names: HashSet::new(),
            assembly: false,
        };
        for name in more.into_iter().map(str::trim).filter(|n| !n.is_empty()) {
            let Some(group) = name.strip_prefix('@') else {
                policy.names.insert(name.to_owned());
                continue;
            };
            match GROUPS.iter().find(|known| known.name == group) {
                Some(group) => policy.groups.push(group),
                None if group == ASSEMBLY => policy.assembly = true,
                None => {
                    let known: Vec<_> = GROUPS.iter().map(|g| format!("@{}", g.name)).collect();
                    return Err(Error::Host(format!(
                        "there is no group `{name}` of native functions; there are {} and @{ASSEMBLY}",
                        known.join(", ")
                    )));
                }
            }
        }
        Ok(policy)
    }

    /// Returns true if the guest may use a function or variable of the C library.
    pub fn allows(&self, name: &str) -> bool {
        let listed = |name: &str| {
            self.names.contains(name) || self.groups.iter().any(|group| group.has(name))
        };
        listed(name) || plain(name).is_some_and(listed)
    }

    /// Returns true if native code of libraries and archives is allowed.
    fn libraries(&self) -> bool {
        self.groups.iter().any(|group| group.name == "libraries")
    }

    /// Checks the libraries that are to be opened. Opening one runs its code.
    ///
    /// # Errors
    /// Names every library beside those that each program has.
    pub fn check_libraries(&self, names: &[String]) -> Result<(), Error> {
        const USUAL: [&str; 6] = ["c", "m", "pthread", "dl", "rt", "gcc_s"];
        let refused = names.iter().filter(|name| !USUAL.contains(&name.as_str()));
        let refused: Vec<_> = refused
            .map(|name| anywhere(format!("the native library `{name}` (@libraries)")))
            .collect();
        match self.libraries() || refused.is_empty() {
            true => Ok(()),
            false => Err(Error::NotAllowed(refused)),
        }
    }
}

/// Returns the plain name of a variant that checks its arguments or belongs to a standard.
fn plain(name: &str) -> Option<&str> {
    if let Some(rest) = name
        .strip_prefix("__isoc99_")
        .or(name.strip_prefix("__isoc23_"))
    {
        return Some(rest);
    }
    if let Some(rest) = name.strip_prefix("__").and_then(|n| n.strip_suffix("_chk")) {
        return Some(rest);
    }
    // `-ffinite-math-only` of older headers.
    name.strip_prefix("__")
        .and_then(|n| n.strip_suffix("_finite"))
}

/// Returns true for helpers that compilers call for arithmetic, which touch no memory but their
/// arguments.
fn is_helper(name: &str) -> bool {
    const STARTS: [&str; 12] = [
        "__float",
        "__fix",
        "__mul",
        "__div",
        "__udiv",
        "__mod",
        "__umod",
        "__extend",
        "__trunc",
        "__powi",
        "__atomic_",
        "__popcount",
    ];
    builtins::fallback(name).is_some() || STARTS.iter().any(|start| name.starts_with(start))
}

fn anywhere(what: String) -> Unsupported {
    Unsupported {
        what,
        place: None,
        function: None,
    }
}

/// Answer about a symbol that the guest does not define.
pub(super) enum Permission {
    /// It may be used.
    Granted,
    /// It may not; the text names it.
    Refused(String),
}

impl Environment {
    /// Returns whether the guest may use a name.
    pub(super) fn permission(&self, name: &str) -> Permission {
        let Some(policy) = &self.policy else {
            return Permission::Granted;
        };
        let own =
            !matches!((self.runtime)(name), RuntimeLookup::Unknown) || self.host.contains_key(name);
        let library = policy.libraries()
            && (self.libraries.find_named(name).is_some()
                || self
                    .natives
                    .as_ref()
                    .is_some_and(|n| n.address(name).is_some()));
        match own || library || is_helper(name) || policy.allows(name) {
            true => Permission::Granted,
            false => Permission::Refused(format!("`{name}`")),
        }
    }

    /// Returns a stand-in for a refused function, whose call ends a program that was started with
    /// `--late`. Returns `None` if the refusal cannot wait for the call.
    pub(super) fn refusal_at_call(
        &self,
        what: &str,
        kind: SymbolKind,
    ) -> Option<Result<usize, Error>> {
        let exit = self.overrides.get("exit").copied();
        let late = self.late && kind == SymbolKind::Function;
        late.then(|| late::stub_for(Error::NotAllowed, what.to_owned(), exit))
    }

    /// Returns the assembly and the native members that the guest may not bring along.
    pub(super) fn refused_code(&self, module: &Module) -> Vec<Unsupported> {
        let Some(policy) = &self.policy else {
            return Vec::new();
        };
        let mut refused = Vec::new();
        if self.natives.is_some() && !policy.libraries() {
            refused.push(anywhere(
                "native code in objects and archives (@libraries)".to_owned(),
            ));
        }
        if policy.assembly {
            return refused;
        }
        if self.assembly.is_some() {
            refused.push(anywhere(format!(
                "assembly outside of functions (@{ASSEMBLY})"
            )));
        }
        for function in module.functions.values() {
            for inst in function.body.iter().flat_map(|b| &b.insts) {
                // Empty templates are barriers for the optimizer.
                if let Some(Callee::Asm(asm)) = inst.op.as_call().map(|c| &c.callee)
                    && !asm.template.trim().is_empty()
                {
                    refused.push(Unsupported {
                        what: format!("inline assembly (@{ASSEMBLY})"),
                        place: inst.loc.map(|l| module.debug.describe(l)),
                        function: Some(function.name.to_string()),
                    });
                }
            }
        }
        refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_groups_reach_no_file_process_or_loader() {
        let policy = NativePolicy::new([]).unwrap();
        for name in [
            "memcpy",
            "__memcpy_chk",
            "__isoc99_sscanf",
            "cosf",
            "puts",
            "time",
            "exit",
            "__exp_finite",
        ] {
            assert!(policy.allows(name), "{name}");
        }
        for name in [
            "system",
            "execve",
            "fork",
            "open",
            "fopen",
            "freopen",
            "unlink",
            "socket",
            "syscall",
            "dlopen",
            "dlsym",
            "mmap",
            "mprotect",
            "ptrace",
            "kill",
            "getenv",
            "pthread_create",
            "popen",
            "write",
            "ioctl",
            "prctl",
            "signal",
            "sigaction",
            "environ",
            "remove",
            "truncate",
            "truncate64",
            "rename",
            "tmpfile",
            "logwtmp",
            "execl",
        ] {
            assert!(!policy.allows(name), "{name}");
        }
    }

    #[test]
    fn names_and_groups_are_added() {
        let policy = NativePolicy::new(["getenv", "@threads", "@c++", " "]).unwrap();
        for name in [
            "getenv",
            "pthread_create",
            "_ZNSo3putEc",
            "__cxa_throw",
            "_Znwm",
        ] {
            assert!(policy.allows(name), "{name}");
        }
        for name in [
            "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
            "pthread_kill",
        ] {
            assert!(!policy.allows(name), "{name}");
        }
        let wrong = NativePolicy::new(["@files"]).unwrap_err().to_string();
        assert!(
            wrong.contains("@files") && wrong.contains("@threads"),
            "{wrong}"
        );
    }
}
