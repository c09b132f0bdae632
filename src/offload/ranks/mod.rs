//! Devices of other ranks of MPI.
//!
//! Under a launcher (`mpiexec -n 4 ompvm run x.bc`) rank 0 runs the program, and the other ranks
//! serve with their devices. [`join()`] connects the ranks: the others greet rank 0, which checks
//! that they run the same version. [`remote_devices`] returns the devices of the other ranks
//! ([`remote`]), whose operations are requests ([`protocol`]) that travel through channels
//! ([`channel`]) to the other rank's server ([`serve`]). At its exit, rank 0 tells the others to
//! end with its status.
//!
//! [`launcher`] recognizes the launcher, and [`mpi`] loads the library that belongs to it. A
//! program that uses MPI itself is left alone; the caller decides that.
//!
//! A rank serves whole devices. Dividing a region among ranks is left to what groups devices.

mod channel;
mod execute;
mod join;
mod launcher;
mod mpi;
mod near;
mod output;
mod peer;
mod protocol;
mod remote;
mod remote_image;
mod serve;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

use super::FAILED;
use super::device::Device;
use super::devices;
use super::options::OffloadOptions;
use channel::{Link, ProcessState};
pub use join::{JoinError, join};
pub use launcher::{Launched, Launcher};
use mpi::Mpi;
use near::Proof;
use ompvm_support::log;
use ompvm_support::settings::{MpiChoice, Settings};
use output::Output;
use peer::Peer;
use protocol::{Reply, Request};
use remote::Remote;
pub use serve::Discovered;
use serve::Server;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The ranks, as rank 0 sees them. A process has them once, with its devices.
#[derive(Debug)]
pub(super) struct Ranks {
    mpi: Arc<Mpi>,
    peers: Vec<Arc<Peer>>,
    state: Arc<ProcessState>,
    /// Number of this process: a child of `fork` is no rank.
    process: u32,
    /// Set once the other ranks are being told to end.
    ending: AtomicBool,
}

/// Time that the end of the program waits for requests of other threads.
const PATIENCE: Duration = Duration::from_secs(5);

/// A rank that has joined and serves.
#[derive(Debug)]
pub struct Serving {
    mpi: Arc<Mpi>,
    link: Arc<Link>,
}

/// Returns how a launcher of MPI started this process with others, unless the settings forbid to
/// care.
pub fn launched(settings: &Settings) -> Option<Launched> {
    match settings.mpi {
        MpiChoice::Off => None,
        _ => launcher::detect(settings),
    }
}

impl Serving {
    /// Serves with the devices of this process, until rank 0 ends. Returns the status to exit with.
    pub fn run(self, rank: u32, options: OffloadOptions) -> i32 {
        let output = match Output::capture() {
            Ok(output) => Some(output),
            Err(why) => {
                tracing::info!(target: log::OFFLOAD, %why, "cannot capture the output");
                None
            }
        };
        let state = self.link.state.clone();
        let server = Arc::new(Server::new(
            self.link,
            rank,
            options,
            devices::of_rank,
            output,
        ));
        match server.run() {
            Ok(end) => {
                state.closed.store(true, Ordering::Release);
                if !end.finalize {
                    // SAFETY: ends the process without exit handlers: threads are at work.
                    unsafe { libc::_exit(end.status) };
                }
                self.mpi.finalize();
                end.status
            }
            // Rank 0 or the launcher reports it.
            Err(why) => {
                tracing::info!(target: log::OFFLOAD, %why, "rank 0 is lost");
                // SAFETY: ends the process without exit handlers: threads are at work.
                unsafe { libc::_exit(FAILED) }
            }
        }
    }
}

/// Returns the devices of the other ranks, which get numbers from `first` on. `known` are unique
/// identifiers of this rank's own devices: ranks of one host may see the same ones.
pub fn remote_devices(first: usize, mut known: Vec<String>) -> Vec<Arc<dyn Device>> {
    let mut found: Vec<Arc<dyn Device>> = Vec::new();
    let Some(ranks) = devices::ranks().get() else {
        return found;
    };
    // Discovery takes a while in each rank, so all begin before the first answer.
    let asked: Vec<_> = ranks
        .peers
        .iter()
        .map(|peer| {
            let mut channel = peer.take().ok()?;
            let is_here = peer.link.process.is_some();
            let proof = is_here.then(Proof::of_this_process);
            channel.put(&Request::Describe { proof });
            Some((peer, channel))
        })
        .collect();
    for (peer, mut channel) in asked.into_iter().flatten() {
        let Ok(Reply::Devices {
            devices,
            problems,
            is_near,
        }) = channel.get()
        else {
            continue;
        };
        for problem in problems {
            ompvm_support::message!(Note, "rank {} on {}: {problem}", peer.link.peer, peer.host);
        }
        for (index, description) in (0..).zip(devices) {
            if let Some(uid) = &description.uid {
                if known.contains(uid) {
                    continue;
                }
                known.push(uid.clone());
            }
            let number = (first + found.len()) as i32;
            if let Some(device) = Remote::new(peer.clone(), index, number, description) {
                found.push(Arc::new(device.reached(is_near)));
            }
        }
    }
    found
}

/// Registers [`end_others`] to run at exit, after the guest's handlers.
fn end_others_at_exit() {
    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    extern "C" fn at_exit(status: c_int, _: *mut c_void) {
        end_others(status);
    }
    // SAFETY: the handler lives as long as the process.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
}

/// Waits for requests of other threads, such as one that loads code ahead of its use, and lets no
/// thread begin another one. Returns false if some go on after [`PATIENCE`]. MPI cannot be finalized
/// beside them, and a launcher takes a rank that ends without that for one that has failed.
fn close_all(peers: &[Arc<Peer>]) -> bool {
    let since = Instant::now();
    loop {
        // All that are idle are closed before others are waited for.
        if peers.iter().filter(|peer| !peer.close_if_idle()).count() == 0 {
            return true;
        }
        if since.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Tells the other ranks to end with this status, and finalizes MPI. Further calls do nothing.
pub fn end_others(status: i32) {
    let Some(ranks) = devices::ranks().get() else {
        return;
    };
    if ranks.process != std::process::id() || ranks.state.closed.load(Ordering::Acquire) {
        return;
    }
    if ranks.ending.swap(true, Ordering::AcqRel) {
        return;
    }
    let idle = close_all(&ranks.peers);
    let mut reached = true;
    for peer in &ranks.peers {
        reached &= peer.end(status & 0xff, idle);
    }
    ranks.state.closed.store(true, Ordering::Release);
    if idle && reached {
        ranks.mpi.finalize();
    }
}
