//! Connects the ranks: starts MPI, and lets the other ranks greet rank 0.
//!
//! A rank that cannot take part leads to one message of rank 0, as far as ranks can know of each
//! other: without MPI they cannot.

use super::channel::{Broken, Link, ProcessState};
use super::launcher::Launched;
use super::mpi::Mpi;
use super::peer::{self, Peer};
use super::protocol::{CONTROL, Command, FRAME, Greeting, VERSION};
use super::wire::Wire;
use super::{Ranks, Serving, devices};
use ompvm_support::log;
use ompvm_support::settings::Settings;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Time in which all ranks must have greeted rank 0.
const GREETING_TIME: Duration = Duration::from_secs(60);

/// Reason why a rank cannot join.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The caller reports it.
    #[error("{0}")]
    Reported(String),
    /// Rank 0 reports it.
    #[error("rank 0 reports why the ranks cannot work together")]
    Silent,
}

impl From<String> for JoinError {
    fn from(message: String) -> JoinError {
        JoinError::Reported(message)
    }
}

/// Connects the ranks. Returns `None` in rank 0, which must call [`super::end_others`] if the
/// program cannot be started. `problem` says why this rank cannot do its part.
///
/// # Errors
/// The reason in words, for a message: once for all ranks, as far as they can know.
pub fn join(
    launched: &Launched,
    settings: &Settings,
    problem: Option<&str>,
) -> Result<Option<Serving>, JoinError> {
    let since = Instant::now();
    let host = host_name();
    // A program that the guest starts, such as itself, is not this rank.
    // SAFETY: the program has not started, and no other thread reads the environment.
    unsafe { std::env::set_var("OMPVM_MPI", "off") };
    let mpi = match Mpi::start(launched, settings) {
        Ok(mpi) => Arc::new(mpi),
        Err(why) => return Err(without_mpi(launched.rank, &host, &why)),
    };
    tracing::info!(
        target: log::OFFLOAD,
        rank = launched.rank,
        size = launched.size,
        library = mpi.library(),
        ms = %log::ms(since.elapsed()),
        "started MPI"
    );
    let state = Arc::<ProcessState>::default();
    let link = |peer, process| {
        Arc::new(Link {
            wire: mpi.clone(),
            peer,
            process,
            state: state.clone(),
        })
    };
    let own = Greeting {
        version: version(),
        host,
        processes: process_space(),
        process: std::process::id(),
        problem: problem.unwrap_or_default().to_owned(),
    };
    if launched.rank > 0 {
        let link = greet(&link(0, None), &own).map_err(|why| format!("rank 0 is lost: {why}"))?;
        return Ok(Some(Serving { mpi, link }));
    }
    let greetings = collect(&*mpi, launched.size)?;
    let mut peers = Vec::new();
    for (peer, greeting) in (1..).zip(&greetings) {
        let near = greeting.as_ref().filter(|g| g.processes == own.processes);
        let link = link(peer, near.map(|g| g.process));
        let host = greeting.as_ref().map_or("an unknown host", |g| &g.host);
        peers.push(Arc::new(Peer::new(link, host.to_owned())));
    }
    let ranks = Ranks {
        mpi: mpi.clone(),
        peers,
        state,
        process: std::process::id(),
        ending: AtomicBool::new(false),
    };
    let ranks = devices::ranks().get_or_init(|| ranks);
    peer::watch_forks();
    super::end_others_at_exit();
    if problem.is_some() {
        return Ok(None);
    }
    if let Some(why) = objection(&own, &greetings) {
        return Err(why.into());
    }
    for peer in &ranks.peers {
        peer.command(Command::Welcome)
            .map_err(|why| format!("rank {} on {}: {why}", peer.link.peer, peer.host))?;
    }
    tracing::info!(
        target: log::OFFLOAD,
        ranks = launched.size,
        ms = %log::ms(since.elapsed()),
        "joined the ranks"
    );
    Ok(None)
}

/// Returns the error of a rank without MPI. The ranks of one host most likely fail for the same
/// reason, so rank 0 reports it and lets the others know.
fn without_mpi(rank: u32, host: &str, why: &str) -> JoinError {
    const TIME: Duration = Duration::from_secs(1);
    const PAUSE: Duration = Duration::from_millis(20);
    let message = format!(
        "rank {rank} on {host} cannot use MPI: {why} (OMPVM_MPI=off: each rank runs the program)"
    );
    // The launcher is the parent of all ranks of a host.
    let name = format!("ompvm-ranks-{}", std::os::unix::process::parent_id());
    let Ok(address) = SocketAddr::from_abstract_name(name) else {
        return JoinError::Reported(message);
    };
    if rank == 0 {
        let _listener = UnixListener::bind_addr(&address);
        ompvm_support::message!(Resources, "{message}");
        std::thread::sleep(TIME);
        return JoinError::Silent;
    }
    let since = Instant::now();
    while since.elapsed() < TIME {
        if UnixStream::connect_addr(&address).is_ok() {
            return JoinError::Silent;
        }
        std::thread::sleep(PAUSE);
    }
    JoinError::Reported(message)
}

/// Greets rank 0 and exchanges process numbers. Returns the link that watches rank 0's process.
fn greet(link: &Arc<Link>, own: &Greeting) -> Result<Arc<Link>, Broken> {
    link.send(CONTROL, &own.encode())?;
    let mut bytes = vec![0; FRAME];
    let len = link.receive(CONTROL, &mut bytes)?;
    let first = Greeting::decode(&bytes[..len]);
    let near = first.filter(|g| g.processes == own.processes);
    Ok(Arc::new(Link {
        wire: link.wire.clone(),
        peer: link.peer,
        process: near.map(|g| g.process),
        state: link.state.clone(),
    }))
}

/// Receives the greetings of all other ranks and answers them. `None` stands for a rank whose
/// message is no greeting.
fn collect(wire: &dyn Wire, size: u32) -> Result<Vec<Option<Greeting>>, String> {
    let own = Greeting {
        version: version(),
        host: host_name(),
        processes: process_space(),
        process: std::process::id(),
        problem: String::new(),
    }
    .encode();
    let mut buffers = vec![vec![0_u8; FRAME]; size as usize - 1];
    let mut waiting = Vec::new();
    for (peer, buffer) in (1..).zip(&mut buffers) {
        // SAFETY: the buffers outlive the transfers, or the process ends.
        let begun = unsafe { wire.receive(peer, CONTROL, buffer.as_mut_ptr(), FRAME) };
        waiting.push(begun.map_err(|why| format!("rank {peer}: {why}"))?);
    }
    let since = Instant::now();
    let mut lengths = vec![None; waiting.len()];
    while lengths.contains(&None) {
        for (n, transfer) in waiting.iter_mut().enumerate() {
            if lengths[n].is_none() {
                let polled = wire.poll(transfer);
                lengths[n] = polled.map_err(|why| format!("rank {}: {why}", n + 1))?;
            }
        }
        if since.elapsed() > GREETING_TIME {
            let missing = lengths.iter().position(Option::is_none).unwrap_or(0);
            // The buffers belong to transfers that are not complete.
            std::mem::forget(buffers);
            return Err(format!(
                "rank {} does not answer; start ompvm with the same program on all ranks",
                missing + 1
            ));
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    let mut greetings = Vec::new();
    for (n, buffer) in buffers.iter().enumerate() {
        // SAFETY: `own` outlives the transfer, which is waited for.
        let sent = unsafe { wire.send(n as u32 + 1, CONTROL, own.as_ptr(), own.len()) };
        let mut sent = sent.map_err(|why| format!("rank {}: {why}", n + 1))?;
        while matches!(wire.poll(&mut sent), Ok(None)) {
            std::thread::yield_now();
        }
        greetings.push(Greeting::decode(&buffer[..lengths[n].unwrap_or(0)]));
    }
    Ok(greetings)
}

/// Returns why the ranks do not work together, if so: the first of them that cannot.
pub(super) fn objection(own: &Greeting, others: &[Option<Greeting>]) -> Option<String> {
    (1..).zip(others).find_map(|(rank, greeting)| {
        let Some(greeting) = greeting else {
            return Some(format!(
                "rank {rank} runs something else; start ompvm with the same program on all ranks"
            ));
        };
        let host = &greeting.host;
        if greeting.version != own.version {
            return Some(format!(
                "rank {rank} on {host} runs ompvm {}, but rank 0 on {} runs {}; install the same \
                 executable on all hosts",
                greeting.version, own.host, own.version
            ));
        }
        (!greeting.problem.is_empty()).then(|| {
            format!(
                "rank {rank} on {host}: {}; every rank reads the program, so it must have the same \
                 path on all hosts",
                greeting.problem
            )
        })
    })
}

/// Returns the version for comparison: executables of one version differ in size if they were built
/// from different sources.
fn version() -> String {
    let size = std::fs::metadata("/proc/self/exe").map_or(0, |m| m.len());
    format!(
        "{} (protocol {}, {size} bytes)",
        env!("CARGO_PKG_VERSION"),
        VERSION
    )
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
    name.map_or_else(|_| "an unknown host".into(), |name| name.trim().to_owned())
}

/// Identifies the kernel and the namespace in which a process number is valid.
fn process_space() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", boot.trim(), space.display())
}
