//! A bar for steps that take long: compiling before the start of a program, and the runs of a
//! comparison.
//!
//! A bar appears on standard error if that is a terminal, half a second after its step has begun, so
//! short commands show none. A thread of its own draws it; [`Bar`] stops that thread and erases the
//! bar when it is dropped. Whoever writes a message erases it first
//! ([`mod@ompvm_support::progress`]), and it appears again below.
//!
//! With messages as JSON, a log, `TERM=dumb` or another rank of MPI than the first there is no bar.

use crate::api::ranks;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ompvm_memory::internal_thread::{self, InternalThread};
use ompvm_support::message;
use ompvm_support::progress::{self, Event};
use ompvm_support::settings::Settings;
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Time before a bar is drawn.
const DELAY: Duration = Duration::from_millis(500);
/// Time between two drawings.
const INTERVAL: Duration = Duration::from_millis(200);

/// A bar that is drawn until it is dropped; without a terminal it draws nothing.
#[derive(Debug, Default)]
pub struct Bar(Option<Drawer>);

#[derive(Debug)]
struct Drawer {
    shared: Arc<Shared>,
    thread: InternalThread,
}

/// The state that a bar and its thread share.
#[derive(Debug)]
struct Shared {
    bar: ProgressBar,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl Bar {
    /// Begins a bar of `total` pieces, which `unit` names. `done` returns their number so far;
    /// without it [`Bar::advance`] counts them.
    pub fn start(
        settings: &Settings,
        what: String,
        unit: &str,
        total: usize,
        done: Option<fn() -> usize>,
    ) -> Bar {
        let hidden = settings.dumb_terminal
            || settings.log.is_some()
            || message::is_json()
            || !std::io::stderr().is_terminal()
            || ranks::launched(settings).is_some_and(|launched| launched.rank > 0);
        if hidden {
            return Bar::default();
        }
        let template = format!("{{msg}} [{{wide_bar}}] {{pos}}/{{len}} {unit} {{elapsed}}");
        let Ok(style) = ProgressStyle::with_template(&template) else {
            return Bar::default();
        };
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(total as u64), hidden);
        bar.set_style(style.progress_chars("=> "));
        bar.set_message(what);
        let shared = Arc::new(Shared {
            bar,
            stopped: Mutex::new(false),
            stop: Condvar::new(),
        });
        let drawn = shared.clone();
        let thread = internal_thread::spawn(c"ompvm progress", move || drawn.draw(total, done));
        Bar(thread.map(|thread| Drawer { shared, thread }))
    }

    /// Names the piece that is under way.
    pub fn name(&self, what: impl FnOnce() -> String) {
        if let Some(drawer) = &self.0 {
            drawer.shared.bar.set_message(what());
        }
    }

    /// Counts a piece.
    pub fn advance(&self) {
        if let Some(drawer) = &self.0 {
            drawer.shared.bar.inc(1);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(Drawer { shared, thread }) = self.0.take() {
            *shared
                .stopped
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = true;
            shared.stop.notify_all();
            thread.join();
        }
    }
}

impl Shared {
    /// Draws the bar until it is stopped, and erases it.
    fn draw(&self, total: usize, done: Option<fn() -> usize>) {
        if self.is_stopped_within(DELAY) {
            return;
        }
        erase_before_panics();
        self.bar.set_draw_target(ProgressDrawTarget::stderr());
        loop {
            if let Some(done) = done {
                self.bar.set_position(done().min(total) as u64);
            }
            // First, so that a message which comes now finds the line.
            progress::line_is_drawn();
            self.bar.tick();
            if self.is_stopped_within(INTERVAL) {
                break;
            }
        }
        self.bar.finish_and_clear();
        progress::erase_line();
    }

    /// Waits for the end of the bar. Returns false if the time passes before.
    fn is_stopped_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stopped {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return false;
            }
            let waited = self.stop.wait_timeout(stopped, rest);
            stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// Lets the report of a panic, which the standard library writes, erase the bar first.
fn erase_before_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            progress::erase_line();
            report(panic);
        }));
    });
}

/// Shows the compilations of this process from now on.
pub fn show_compilation() {
    static BAR: Mutex<Option<Bar>> = Mutex::new(None);
    progress::observe(|event| {
        let bar = match event {
            Event::Begin { functions, steps } => {
                let what = match functions {
                    1 => "compiling 1 function".to_owned(),
                    _ => format!("compiling {functions} functions"),
                };
                let settings = ompvm_support::settings::current();
                let done = Some(progress::steps as fn() -> usize);
                Some(Bar::start(settings, what, "steps", steps, done))
            }
            Event::End => None,
        };
        // A bar that ends is dropped here, outside of the lock.
        let _ended = std::mem::replace(
            &mut *BAR.lock().unwrap_or_else(PoisonError::into_inner),
            bar,
        );
    });
}
