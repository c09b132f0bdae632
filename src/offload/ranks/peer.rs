//! Another rank, as rank 0 sees it: its channels, and requests to it.
//!
//! A thread takes a channel for a request or a sequence of them, so threads do not wait for each
//! other. A rank whose process has ended, or that MPI cannot reach, ends the run: it may hold the
//! only copy of the program's data.

use super::channel::{Broken, Channel, Link};
use super::devices;
use super::output;
use super::protocol::{Answer, CONTROL, Command, FIRST_CHANNEL, Reply, Request};
use crate::FAILED;
use crate::device::{Failure, Result};
use ompvm_support::internal_work;
use ompvm_support::message::{Kind, Message};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Another rank.
#[derive(Debug)]
pub struct Peer {
    /// The connection.
    pub link: Arc<Link>,
    /// Name of its host.
    pub host: String,
    channels: Mutex<Channels>,
}

#[derive(Debug)]
struct Channels {
    idle: Vec<Channel>,
    /// Number of channels that threads have taken.
    taken: usize,
    /// Set when the run ends: no thread takes a channel any more.
    closed: bool,
    next: i32,
    control: Channel,
}

/// A channel that a thread has taken. Returns to the rank when dropped.
#[derive(Debug)]
pub struct Taken {
    peer: Arc<Peer>,
    channel: Option<Channel>,
}

impl Peer {
    /// Creates the rank at the other end of a link.
    pub fn new(link: Arc<Link>, host: String) -> Peer {
        let channels = Channels {
            idle: Vec::new(),
            taken: 0,
            closed: false,
            next: FIRST_CHANNEL,
            control: Channel::new(link.clone(), CONTROL),
        };
        Peer {
            link,
            host,
            channels: Mutex::new(channels),
        }
    }

    /// Takes a channel, the one that was used last or a new one. Does not return once the rank is
    /// closed.
    ///
    /// # Errors
    /// [`Failure::Lost`] in a child of `fork`.
    pub fn take(self: &Arc<Self>) -> Result<Taken> {
        if self.link.state.forked.load(Ordering::Relaxed) {
            return Err(Failure::Lost(format!(
                "a child of `fork` cannot use devices of rank {}",
                self.link.peer
            )));
        }
        let mut channels = self.channels.lock();
        if channels.closed {
            drop(channels);
            stop();
        }
        let channel = match channels.idle.pop() {
            Some(channel) => channel,
            None => {
                let tag = channels.next;
                channels.next += 1;
                let _own = internal_work::enter();
                let told = channels.control.put(&Command::Channel(tag));
                self.check(told);
                Channel::new(self.link.clone(), tag)
            }
        };
        channels.taken += 1;
        drop(channels);
        Ok(Taken {
            peer: self.clone(),
            channel: Some(channel),
        })
    }

    /// Ends the run if the rank cannot be reached.
    fn check<T>(&self, result: std::result::Result<T, Broken>) -> T {
        match result {
            Ok(value) => value,
            Err(Broken::Closed) => stop(),
            Err(why) => self.end_run(&why),
        }
    }

    /// Reports once that the rank is lost, and ends the process.
    fn end_run(&self, why: &Broken) -> ! {
        if self.link.state.reported.swap(true, Ordering::AcqRel) {
            stop();
        }
        // SAFETY: null flushes every stream, so earlier output of the program precedes the report.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        let text = format_args!(
            "rank {} on {} is lost: {why}; the program cannot go on, because its data may be there \
             (see the messages of that rank and of the launcher)",
            self.link.peer, self.host
        );
        // In one piece, since launchers forward only what they have read when the last rank ends.
        Message::new(Kind::RankLost, &text).print();
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: ends the process without exit handlers, which would wait for the other rank.
        unsafe { libc::_exit(FAILED) }
    }

    /// Tells the rank that the run ends, and ends its channels if none is in use. `all_idle` says
    /// whether other ranks are idle, too. Returns false if the rank cannot be reached.
    pub fn end(&self, status: i32, all_idle: bool) -> bool {
        let mut channels = self.channels.lock();
        let idle = std::mem::take(&mut channels.idle);
        if all_idle {
            for mut channel in idle {
                if channel.put(&Request::Close).is_err() {
                    return false;
                }
            }
        }
        let end = Command::End {
            status,
            finalize: all_idle,
        };
        channels.control.put(&end).is_ok()
    }

    /// Sends a command.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn command(&self, command: Command) -> std::result::Result<(), Broken> {
        self.channels.lock().control.put(&command)
    }

    /// Closes the rank to all threads if none uses it, and returns true if it is closed.
    pub fn close_if_idle(&self) -> bool {
        let mut channels = self.channels.lock();
        channels.closed |= channels.taken == 0;
        channels.closed
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The failure of the request.
    pub fn call(self: &Arc<Self>, request: &Request<'_>) -> Result<Reply> {
        self.take()?.call(request)
    }
}

impl Taken {
    fn channel(&mut self) -> &mut Channel {
        let channel = self.channel.as_mut();
        channel.unwrap_or_else(|| ompvm_support::bug!("a channel was returned before its use"))
    }

    /// Sends a request.
    pub fn put(&mut self, request: &Request<'_>) {
        let _own = internal_work::enter();
        let sent = self.channel().put(request);
        self.peer.check(sent);
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// The failure of the request.
    pub fn get(&mut self) -> Result<Reply> {
        let _own = internal_work::enter();
        let answer = self.channel().get::<Answer>();
        let answer = self.peer.check(answer);
        output::print(&answer.printed);
        answer.result
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The failure of the request.
    pub fn call(&mut self, request: &Request<'_>) -> Result<Reply> {
        self.put(request);
        self.get()
    }

    /// Sends memory in pieces.
    ///
    /// # Safety
    /// `len` bytes at `from` must be readable until the call returns.
    pub unsafe fn put_memory(&mut self, from: *const u8, len: usize) {
        let _own = internal_work::enter();
        // SAFETY: by this function's contract.
        let sent = unsafe { self.channel().put_memory(from, len) };
        self.peer.check(sent);
    }

    /// Receives memory in pieces. Returns false if the rank failed in between.
    ///
    /// # Safety
    /// `len` bytes at `to` must be writable, and used by nobody else, until the call returns.
    pub unsafe fn get_memory(&mut self, to: *mut u8, len: usize) -> bool {
        let _own = internal_work::enter();
        // SAFETY: by this function's contract.
        let received = unsafe { self.channel().get_memory(to, len) };
        self.peer.check(received)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(channel) = self.channel.take() {
            let mut channels = self.peer.channels.lock();
            channels.idle.push(channel);
            channels.taken -= 1;
        }
    }
}

/// Stops a thread of a process that ends.
fn stop() -> ! {
    loop {
        std::thread::park();
    }
}

/// Notes that children of `fork` have no connection.
pub fn watch_forks() {
    extern "C" fn in_child() {
        if let Some(ranks) = devices::ranks().get() {
            ranks.state.forked.store(true, Ordering::Relaxed);
        }
    }
    // SAFETY: the handler only stores to an atomic that exists for good.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}
