//! The log: events of the crate `tracing`, as lines on standard error.
//!
//! `OMPVM_LOG=tier=debug,offload=trace` selects events by [target](TARGETS) and level. [`start`]
//! registers the subscriber; nothing is registered without a filter, and an event then costs one
//! relaxed load and one branch. Even so, events belong to rare work such as a compilation or a
//! launch, and not to dispatch, fork and join, barriers, loop scheduling or single tasks.
//!
//! The log runs inside the guest's process, so an event takes no lock, allocates only for lines
//! over [`INLINE`] bytes, keeps `errno`, raises no signal (the guest may have limited the size of
//! files, or closed the reader of a pipe), and ignores failures: the guest may have closed standard
//! error. A child of the guest's `fork` may log. Signal handlers may not.
//!
//! Warnings and errors for users are messages and no events. The record of compilations that
//! `--stats` and `--explain` print is `Compiler` in the crate `ompvm-tier`.

use crate::fp_env::DefaultFpEnv;
use crate::hook::Hook;
use crate::write_signal::NoWriteSignal;
use std::fmt::{self, Write};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, NoSubscriber};
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;

/// Prefix of the targets' names in `tracing`, for embedding programs with a subscriber of their
/// own.
const PREFIX: &str = "ompvm::";

/// A target of events.
#[derive(Debug)]
pub struct LogTarget {
    /// Name in filters.
    pub name: &'static str,
    /// Name of the constant in this module.
    pub constant: &'static str,
    /// Events: a noun phrase in Markdown.
    pub events: &'static str,
}

/// Defines a constant per target, and [`TARGETS`].
macro_rules! targets {
    ($($constant:ident = $name:literal, $events:literal;)*) => {
        $(
            #[doc = concat!("Target of ", $events, ".")]
            pub const $constant: &str = concat!("ompvm::", $name);
        )*

        /// The targets. A filter for `tier` covers `tier::queue`, too.
        pub static TARGETS: &[LogTarget] = &[
            $(LogTarget {
                name: $name,
                constant: stringify!($constant),
                events: $events,
            },)*
        ];
    };
}

targets! {
    BASELINE = "baseline", "compilations of the baseline compiler, with the address of the code";
    CACHE = "cache", "hits and misses in the cache of compiled programs, stored, damaged and \
        evicted files";
    INTERP = "interp", "functions that become bytecode, with sizes and times";
    BYTECODE = "interp::bytecode", "the bytecode of each function";
    JIT = "jit", "units that are linked into the process, with their symbols and addresses";
    KMPC = "kmpc", "threads of the OpenMP runtime, its settings, places and tools";
    LLVM = "llvm", "units that LLVM reads, optimizes and generates code for, and its contained \
        failures";
    IR = "llvm::ir", "the IR of each unit before its passes, of auto-offload kernels, and of \
        emulated device images";
    MEMORY = "memory", "images, native libraries, and symbols that are bound to the process";
    OFFLOAD = "offload", "devices, images for them, launches, transfers, and regions that stay on \
        the host";
    TIER = "tier", "functions that become hot, are compiled, switched or left in a lower tier";
    QUEUE = "tier::queue", "compile jobs and the threads that take them";
}

/// A filter of events, such as `tier=debug,offload=trace`.
#[derive(Clone, Debug, PartialEq)]
pub struct LogFilter {
    targets: Targets,
    /// The most detailed level that some target has.
    level: LevelFilter,
    /// Text that a line must contain.
    word: Option<String>,
}

impl LogFilter {
    /// Parses a filter, in the grammar of the crate `env_logger`: `LEVEL`, `TARGET` or
    /// `TARGET=LEVEL`, separated by commas; the most specific one applies to an event. `/WORD` at
    /// the end leaves out lines that do not contain the word. Returns `None` for a level or a
    /// target that does not exist.
    ///
    /// # Examples
    /// ```
    /// use ompvm_support::log::LogFilter;
    ///
    /// assert!(LogFilter::parse("tier=debug,offload=trace").is_some());
    /// assert!(LogFilter::parse("info,tier::queue=off/main").is_some());
    /// assert!(LogFilter::parse("tyre=debug").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<LogFilter> {
        let (list, word) = match text.split_once('/') {
            Some((list, word)) => (list, Some(word.to_owned())),
            None => (text, None),
        };
        let mut targets = Targets::new();
        let mut most = LevelFilter::OFF;
        for part in list.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (target, level) = match part.split_once('=') {
                Some((target, level)) => (Some(target.trim()), parse_level(level.trim())?),
                None => match parse_level(part) {
                    Some(level) => (None, level),
                    None => (Some(part), LevelFilter::TRACE),
                },
            };
            most = most.max(level);
            targets = match target {
                None => targets.with_default(level),
                Some(name) if is_known(name) => {
                    targets.with_target(format!("{PREFIX}{name}"), level)
                }
                Some(_) => return None,
            };
        }
        Some(LogFilter {
            targets,
            level: most,
            word,
        })
    }

    /// Returns true if the filter selects events of this target and level.
    fn selects(&self, target: &str, level: &Level) -> bool {
        // The program may link other crates that have events.
        target.starts_with(PREFIX) && self.targets.would_enable(target, level)
    }
}

impl std::str::FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<LogFilter, String> {
        LogFilter::parse(text).ok_or_else(|| {
            let names: Vec<_> = TARGETS.iter().map(|t| t.name).collect();
            format!(
                "expected LEVEL or TARGET=LEVEL, separated by commas, with a LEVEL of off, error, \
                 warn, info, debug or trace and a TARGET of {}",
                names.join(", ")
            )
        })
    }
}

/// Parses a level by its name.
fn parse_level(text: &str) -> Option<LevelFilter> {
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic());
    text.parse().ok().filter(|_| is_name)
}

fn is_known(target: &str) -> bool {
    TARGETS.iter().any(|t| t.name == target)
}

/// Starts the log, unless one is started. If an embedding program has a subscriber of its own, that
/// one gets the events.
pub fn start(filter: LogFilter) {
    register(filter, Output::Descriptor(libc::STDERR_FILENO));
}

/// Starts the log with a receiver of its lines, which any thread calls at any point of the guest's
/// execution. Returns false if a log is started already.
pub fn send(filter: LogFilter, receiver: impl Fn(&[u8]) + Send + Sync + 'static) -> bool {
    register(filter, Output::Receiver(Box::new(receiver)))
}

fn register(filter: LogFilter, output: Output) -> bool {
    let log = Log {
        filter,
        start: Instant::now(),
        output,
    };
    let none = tracing::dispatcher::get_default(|now| now.is::<NoSubscriber>());
    // Another thread may have been quicker.
    none && tracing::dispatcher::set_global_default(Dispatch::new(log)).is_ok()
}

/// Returns a time for a field of an event, in milliseconds.
pub fn ms(time: Duration) -> Milliseconds {
    Milliseconds(time)
}

/// A time that is displayed in milliseconds, without floating-point operations: those of the
/// guest's threads may trap.
#[derive(Clone, Copy, Debug)]
pub struct Milliseconds(Duration);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:03}",
            self.0.as_millis(),
            self.0.subsec_micros() % 1000
        )
    }
}

/// Returns the global OpenMP number of the calling thread, if it has one.
pub type NumberHook = fn() -> Option<u32>;

static NUMBER_HOOK: Hook<NumberHook> = crate::hook!(NumberHook);

/// Registers the function that knows the threads' numbers.
pub fn set_number_hook(hook: NumberHook) {
    NUMBER_HOOK.set(hook);
}

/// A function that gets the lines.
type Receiver = dyn Fn(&[u8]) + Send + Sync;

/// Where the lines go.
enum Output {
    Descriptor(libc::c_int),
    Receiver(Box<Receiver>),
}

/// The subscriber.
struct Log {
    filter: LogFilter,
    start: Instant,
    output: Output,
}

impl Subscriber for Log {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        match self.enabled(metadata) {
            true => Interest::always(),
            false => Interest::never(),
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && self.filter.selects(metadata.target(), metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.filter.level)
    }

    fn event(&self, event: &Event<'_>) {
        let _environment = DefaultFpEnv::enter();
        let mut line = Line::default();
        self.head(event.metadata(), &mut line);
        event.record(&mut Message(&mut line));
        event.record(&mut Fields(&mut line));
        if let Some(word) = &self.filter.word
            && !contains(line.bytes(), word.as_bytes())
        {
            return;
        }
        line.push(b"\n");
        event.record(&mut Text(&mut line));
        match &self.output {
            Output::Descriptor(descriptor) => write(*descriptor, line.bytes()),
            Output::Receiver(receive) => receive(line.bytes()),
        }
    }

    // No event is inside a span.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Log {
    /// Writes the time since the start, the level, the target and the thread.
    fn head(&self, metadata: &Metadata<'_>, line: &mut Line) {
        let target = metadata.target();
        let target = target.strip_prefix(PREFIX).unwrap_or(target);
        let at = ms(self.start.elapsed());
        let _ = write!(line, "[{at} ms {} {target} ", metadata.level());
        match NUMBER_HOOK.get().and_then(|number| number()) {
            Some(number) => {
                let _ = write!(line, "thread {number}");
            }
            None => line.push(thread_name(&mut [0; 16])),
        }
        line.push(b"]");
    }
}

/// Returns the system's name of the calling thread.
fn thread_name(buffer: &mut [u8; 16]) -> &[u8] {
    // SAFETY: the call writes at most 16 bytes, with a zero at the end.
    unsafe { libc::prctl(libc::PR_GET_NAME, buffer.as_mut_ptr()) };
    buffer.split(|&b| b == 0).next().unwrap_or_default()
}

fn contains(line: &[u8], word: &[u8]) -> bool {
    word.is_empty() || line.windows(word.len()).any(|part| part == word)
}

/// Writes a line with one call, so that those of several threads do not mix.
fn write(descriptor: libc::c_int, mut bytes: &[u8]) {
    let _no_signal = NoWriteSignal::begin();
    // SAFETY: the address of the thread's `errno` is valid while the thread lives.
    let errno = unsafe { *libc::__errno_location() };
    while !bytes.is_empty() {
        // SAFETY: the bytes are live.
        let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {
            }
            _ => break,
        }
    }
    // SAFETY: the thread lives, and nothing else writes its `errno` now.
    unsafe { *libc::__errno_location() = errno };
}

/// Longest line that needs no allocation, in bytes.
const INLINE: usize = 512;

/// A line under construction.
struct Line {
    short: [u8; INLINE],
    used: usize,
    /// The whole line, once it is longer.
    long: Vec<u8>,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            short: [0; INLINE],
            used: 0,
            long: Vec::new(),
        }
    }
}

impl Line {
    fn bytes(&self) -> &[u8] {
        match self.long.is_empty() {
            true => &self.short[..self.used],
            false => &self.long,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.long.is_empty() {
            let end = self.used + bytes.len();
            if let Some(room) = self.short.get_mut(self.used..end) {
                room.copy_from_slice(bytes);
                self.used = end;
                return;
            }
            self.long.extend_from_slice(&self.short[..self.used]);
        }
        self.long.extend_from_slice(bytes);
    }
}

impl Write for Line {
    /// Appends text; a line break becomes `\n`, so that an event stays one line.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (i, part) in text.split('\n').enumerate() {
            if i > 0 {
                self.push(b"\\n");
            }
            self.push(part.as_bytes());
        }
        Ok(())
    }
}

/// Name of the field that `tracing` makes of the text of an event.
const MESSAGE: &str = "message";
/// Name of a field with lines of its own, which follow that of the event.
const TEXT: &str = "text";

/// Appends the message.
struct Message<'a>(&'a mut Line);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == MESSAGE {
            let _ = write!(self.0, " {value:?}");
        }
    }
}

/// Appends the fields, as `name=value`.
struct Fields<'a>(&'a mut Line);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '=');
        match field.name() {
            MESSAGE | TEXT => {}
            _ if !value.is_empty() && value.chars().all(is_plain) => {
                let _ = write!(self.0, " {field}={value}");
            }
            _ => {
                let _ = write!(self.0, " {field}={value:?}");
            }
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !matches!(field.name(), MESSAGE | TEXT) {
            let _ = write!(self.0, " {field}={value:?}");
        }
    }
}

/// Appends the lines of the field [`TEXT`].
struct Text<'a>(&'a mut Line);

impl Visit for Text<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == TEXT && !value.is_empty() {
            self.0.push(value.trim_end().as_bytes());
            self.0.push(b"\n");
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};
    use std::os::fd::AsRawFd;

    fn filter(text: &str) -> LogFilter {
        LogFilter::parse(text).unwrap_or_else(|| panic!("{text} should be a filter"))
    }

    #[test]
    fn a_level_alone_applies_to_all_targets() {
        let debug = filter("debug");
        assert!(debug.selects(TIER, &Level::DEBUG) && debug.selects(CACHE, &Level::INFO));
        assert!(!debug.selects(TIER, &Level::TRACE));
        assert!(!debug.selects("hyper::client", &Level::INFO));
        assert_eq!(debug.level, LevelFilter::DEBUG);
    }

    #[test]
    fn blanks_and_empty_parts_do_not_count() {
        let several = filter(" info , tier=debug,,tier::queue = off,");
        assert_eq!(several, filter("info,tier=debug,tier::queue=off"));
    }

    #[test]
    fn a_target_covers_those_below_it() {
        let tier = filter("warn,tier=debug,llvm::ir=TRACE");
        assert!(tier.selects(TIER, &Level::DEBUG) && tier.selects(QUEUE, &Level::DEBUG));
        assert!(tier.selects(IR, &Level::TRACE) && !tier.selects(LLVM, &Level::INFO));
        assert!(tier.selects(LLVM, &Level::WARN));
        let without = filter("tier=debug,tier::queue=off");
        assert!(without.selects(TIER, &Level::DEBUG) && !without.selects(QUEUE, &Level::ERROR));
        assert_eq!(filter("offload").targets, filter("offload=trace").targets);
    }

    #[test]
    fn a_word_follows_a_slash() {
        let word = filter("tier=debug/main/x");
        assert_eq!(word.word.as_deref(), Some("main/x"));
        assert!(contains(b"[1 ms] main/x=3", b"main/x") && !contains(b"main", b"main/x"));
        assert!(contains(b"anything", b""));
    }

    #[test]
    fn wrong_levels_and_unknown_targets_are_refused() {
        for wrong in [
            "tier=loud",
            "tyre=debug",
            "tier=",
            "=debug",
            "tier=debug=info",
            "debgu",
            "tier=3",
            "4",
            "tier::none=debug",
            "ompvm::tier=debug",
            "tier[{x}]=debug",
            "info;tier=debug",
            "Tier",
        ] {
            assert_eq!(LogFilter::parse(wrong), None, "{wrong}");
        }
        let why = "tyre".parse::<LogFilter>().unwrap_err();
        assert!(
            why.contains("trace") && why.contains("tier::queue"),
            "{why}"
        );
    }

    #[test]
    fn an_empty_filter_selects_nothing() {
        for empty in ["", ",", " ,, ", "off", "/word"] {
            assert!(!filter(empty).selects(TIER, &Level::ERROR), "{empty}");
            assert_eq!(filter(empty).level, LevelFilter::OFF);
        }
    }

    #[test]
    fn names_of_targets_are_unique_and_rows_complete() {
        let names: std::collections::HashSet<_> = TARGETS.iter().map(|t| t.name).collect();
        assert_eq!(names.len(), TARGETS.len());
        for target in TARGETS {
            assert!(!target.events.is_empty() && !target.events.contains('|'));
            // `Targets` compares prefixes.
            let covers = |other: &LogTarget| other.name.starts_with(target.name);
            let below = format!("{}::", target.name);
            let is_below =
                |other: &LogTarget| other.name == target.name || other.name.starts_with(&below);
            assert!(TARGETS.iter().all(|t| covers(t) == is_below(t)));
        }
    }

    #[test]
    fn times_are_displayed_without_floating_point() {
        let text = |nanoseconds| ms(Duration::from_nanos(nanoseconds)).to_string();
        assert_eq!(text(999), "0.000");
        assert_eq!(text(1_020_345), "1.020");
        assert_eq!(text(61_000_000_000), "61000.000");
    }

    #[test]
    fn an_event_is_one_line_and_long_ones_are_whole() {
        let mut file = tempfile::tempfile().unwrap();
        let log = Log {
            filter: filter("tier=debug/hot"),
            start: Instant::now(),
            output: Output::Descriptor(file.as_raw_fd()),
        };
        // The tests of this crate have no other events.
        tracing::dispatcher::set_global_default(Dispatch::new(log)).unwrap();
        let long = "hot ".repeat(400);
        let nothing: Option<u32> = None;
        tracing::debug!(target: TIER, function = "main", n = 3, ms = %ms(Duration::ZERO), "is hot");
        tracing::debug!(
            target: TIER,
            why = "hot\nspot",
            nothing,
            text = "one\n\ntwo\n",
            "{}",
            "a\nb",
        );
        tracing::debug!(target: TIER, "cold");
        tracing::trace!(target: TIER, "hot, but too detailed");
        tracing::debug!(target: CACHE, "hot elsewhere");
        tracing::info!(target: TIER, long, "long");
        // A program's own subscriber stays.
        start(filter("trace"));
        tracing::trace!(target: TIER, "hot, but too detailed");
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6, "{text}");
        assert!(lines[0].starts_with('[') && lines[0].contains(" ms DEBUG tier "));
        assert!(
            lines[0].ends_with("] is hot function=main n=3 ms=0.000"),
            "{text}"
        );
        assert!(lines[1].ends_with("] a\\nb why=\"hot\\nspot\""), "{text}");
        assert_eq!(lines[2..5], ["one", "", "two"]);
        assert!(lines[5].contains(" ms INFO tier ") && lines[5].ends_with(&format!("{long:?}")));
    }

    #[test]
    fn a_closed_descriptor_is_no_failure_and_errno_stays() {
        let file = tempfile::tempfile().unwrap();
        let descriptor = file.as_raw_fd();
        // SAFETY: sets and reads the thread's own `errno`.
        unsafe { *libc::__errno_location() = 7 };
        write(descriptor, b"a line");
        write(-1, b"a line");
        // SAFETY: reads the thread's own `errno`.
        assert_eq!(unsafe { *libc::__errno_location() }, 7);
    }
}
