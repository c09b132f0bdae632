//! A rank that serves: it executes the requests of rank 0 on its own devices.
//!
//! The main thread takes commands. Each channel has a thread, which executes its requests in order,
//! so that a long kernel delays no other thread of the program. Devices are discovered when rank 0
//! asks for them. [`super::execute`] executes what needs no message of its own, [`super::stream`]
//! copies memory in pieces.
//!
//! Numbers stand for images and kernels, so a request of rank 0 contains no address of this process
//! other than device addresses, which devices check.

use super::channel::{Broken, Channel, Link};
use super::execute::done;
use super::near::{ProcessMemory, Proof};
use super::output::Output;
use super::protocol::{Answer, CONTROL, Command, Reply, Request, Source};
use super::stream;
use crate::FAILED;
use crate::device::{Device, Failure, Image, Kernel, Queue, Result, STAGING_BYTES};
use crate::options::OffloadOptions;
use hashbrown::HashMap;
use ompvm_memory::internal_thread::{self, InternalThread};
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

/// Devices of a rank, and what is wrong with others.
pub type Discovered = (Vec<Arc<dyn Device>>, Vec<String>);

/// A device that is served.
#[derive(Debug)]
pub(super) struct Served {
    /// The device.
    pub device: Arc<dyn Device>,
    /// Kernels by their numbers.
    pub kernels: RwLock<Vec<Kernel>>,
}

/// An image that is loaded on a device.
#[derive(Debug)]
pub(super) struct ServedImage {
    /// The image.
    pub image: Box<dyn Image>,
    /// Index of its device.
    pub device: u32,
    /// Numbers of the kernels that were looked up.
    pub numbers: Mutex<HashMap<String, u64>>,
}

/// The devices and images of a rank.
#[derive(Debug)]
pub struct Server {
    link: Arc<Link>,
    pub(super) options: OffloadOptions,
    rank: u32,
    discover: fn(u32) -> Discovered,
    devices: OnceLock<(Vec<Served>, Vec<String>)>,
    pub(super) images: RwLock<HashMap<u32, Arc<ServedImage>>>,
    pub(super) next_image: AtomicU32,
    output: Option<Output>,
    /// Rank 0's memory, once it is known to be accessible.
    near: OnceLock<ProcessMemory>,
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Exit status of rank 0.
    pub status: i32,
    /// True if the ranks finalize MPI.
    pub finalize: bool,
}

/// Launches that a channel has begun, and copies ahead of them.
#[derive(Debug, Default)]
struct Begun {
    /// The first failure since the last wait.
    failure: Option<Failure>,
}

impl Begun {
    /// Keeps a failure, unless there is an earlier one.
    fn note(&mut self, result: Result<()>) {
        if let (None, Err(failure)) = (&self.failure, result) {
            self.failure = Some(failure);
        }
    }
}

/// Continuation of a request in its channel.
enum Next {
    Answer(Result<Reply>),
    Receive {
        device: u32,
        queue: Queue,
        to: u64,
        len: usize,
        ahead: bool,
    },
    Send {
        device: u32,
        queue: Queue,
        from: u64,
        len: usize,
    },
    /// Copies directly between rank 0's memory at `host` and the device.
    Reach {
        device: u32,
        queue: Queue,
        address: u64,
        host: u64,
        len: usize,
        uploads: bool,
    },
    Nothing,
    Close,
}

/// Ends the process when its thread panics, instead of leaving rank 0 without an answer.
struct EndOnPanic;

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // SAFETY: ends the process.
            unsafe { libc::_exit(FAILED) }
        }
    }
}

impl Server {
    /// Creates the server of a rank for rank 0. `discover` returns the rank's devices. The output
    /// of device code is captured in `output`.
    pub fn new(
        link: Arc<Link>,
        rank: u32,
        options: OffloadOptions,
        discover: fn(u32) -> Discovered,
        output: Option<Output>,
    ) -> Server {
        Server {
            link,
            rank,
            options,
            discover,
            devices: OnceLock::new(),
            images: RwLock::default(),
            next_image: AtomicU32::new(0),
            output,
            near: OnceLock::new(),
        }
    }

    /// Tries to access rank 0's memory, and returns true if that works.
    pub(super) fn approach(&self, proof: Option<Proof>) -> bool {
        let process = self.link.process;
        let found = process.zip(proof);
        match found.and_then(|(process, proof)| ProcessMemory::of(process, proof)) {
            Some(memory) => *self.near.get_or_init(|| memory) == memory,
            None => false,
        }
    }

    /// Executes commands and requests until the run ends.
    ///
    /// # Errors
    /// The reason why rank 0 cannot be heard any more.
    pub fn run(self: &Arc<Self>) -> std::result::Result<End, Broken> {
        let mut threads: Vec<InternalThread> = Vec::new();
        let mut control = Channel::new(self.link.clone(), CONTROL);
        loop {
            match control.get::<Command>()? {
                Command::Welcome => {}
                Command::Channel(tag) => {
                    let server = self.clone();
                    let work = move || server.work(Channel::new(server.link.clone(), tag));
                    match internal_thread::spawn(c"ompvm rank", work) {
                        Some(thread) => threads.push(thread),
                        None => return Err(Broken::Failed("there is no thread left".into())),
                    }
                }
                Command::End { status, finalize } => {
                    if finalize {
                        threads.into_iter().for_each(InternalThread::join);
                    }
                    if let Some(output) = &self.output {
                        output.release();
                    }
                    return Ok(End { status, finalize });
                }
            }
        }
    }

    /// Executes the requests of a channel. If it breaks, the process ends, as rank 0 waits for an
    /// answer; if rank 0 has ended, the main thread sees that, too.
    fn work(&self, mut channel: Channel) {
        let _guard = EndOnPanic;
        let mut begun = Begun::default();
        let mut buffer = Vec::new();
        loop {
            match self.step(&mut channel, &mut begun, &mut buffer) {
                Ok(true) => {}
                Ok(false) | Err(Broken::Ended | Broken::Closed) => return,
                Err(Broken::Failed(why)) => {
                    ompvm_support::message!(RankLost, "rank {} cannot serve: {why}", self.rank);
                    // SAFETY: ends the process.
                    unsafe { libc::_exit(FAILED) }
                }
            }
        }
    }

    /// Executes a request. Returns false after the last one.
    fn step(
        &self,
        channel: &mut Channel,
        begun: &mut Begun,
        buffer: &mut Vec<u8>,
    ) -> std::result::Result<bool, Broken> {
        let next = self.next(channel.get()?, begun);
        let result = match next {
            Next::Answer(result) => result,
            Next::Nothing => return Ok(true),
            Next::Close => return Ok(false),
            Next::Receive {
                device,
                queue,
                to,
                len,
                ahead,
            } => {
                let device = self.device(device).map(|served| &*served.device);
                let received = stream::receive(channel, buffer, (device, queue), to, len)?;
                if ahead {
                    begun.note(received);
                    return Ok(true);
                }
                received.map(done)
            }
            Next::Reach {
                device,
                queue,
                address,
                host,
                len,
                uploads,
            } => self.device(device).and_then(|served| {
                let near = self.near.get().copied();
                let near = near.ok_or_else(|| Failure::Lost("its rank is on no host".into()))?;
                let device = (&*served.device, queue);
                match uploads {
                    true => stream::pull(near, buffer, device, address, host, len),
                    false => stream::push(near, buffer, device, host, address, len),
                }
            }),
            Next::Send {
                device,
                queue,
                from,
                len,
            } => match self.device(device) {
                Err(failure) => Err(failure),
                Ok(served) => {
                    let begin = |channel: &mut Channel| self.answer(channel, Ok(Reply::Pieces));
                    let source = (&*served.device, queue);
                    match stream::send(channel, buffer, source, from, len, begin)? {
                        Ok(()) => return Ok(true),
                        Err(failure) => Err(failure),
                    }
                }
            },
        };
        self.answer(channel, result)?;
        Ok(true)
    }

    fn answer(
        &self,
        channel: &mut Channel,
        result: Result<Reply>,
    ) -> std::result::Result<(), Broken> {
        let printed = self.output.as_ref().map(Output::take).unwrap_or_default();
        channel.put(&Answer { printed, result })
    }

    fn next(&self, request: Request<'_>, begun: &mut Begun) -> Next {
        match request {
            Request::Close => Next::Close,
            Request::Upload {
                device,
                queue,
                to,
                len,
                ahead,
                source: Source::Pieces,
            } => Next::Receive {
                device,
                queue: Queue(queue),
                to,
                len: len as usize,
                ahead,
            },
            Request::Upload {
                device,
                queue,
                to,
                len,
                source: Source::Address(host),
                ..
            } => Next::Reach {
                device,
                queue: Queue(queue),
                address: to,
                host,
                len: len as usize,
                uploads: true,
            },
            Request::Download {
                device,
                queue,
                from,
                len,
                to: Some(host),
            } => Next::Reach {
                device,
                queue: Queue(queue),
                address: from,
                host,
                len: len as usize,
                uploads: false,
            },
            request @ Request::Upload { ahead: true, .. } => {
                begun.note(self.execute(request).map(drop));
                Next::Nothing
            }
            Request::Download {
                device,
                queue,
                from,
                len,
                to: None,
            } if len as usize > STAGING_BYTES => Next::Send {
                device,
                queue: Queue(queue),
                from,
                len: len as usize,
            },
            Request::Begin { device, launch } => {
                if begun.failure.is_none() {
                    let started = self.launch(device, &launch, |device, kernel, launch| {
                        device.launch_async(kernel, launch)
                    });
                    begun.note(started);
                }
                Next::Nothing
            }
            Request::Await {
                device,
                kernel,
                ranges,
            } => Next::Answer(self.finish(device, kernel, &ranges, begun.failure.take())),
            request => Next::Answer(self.execute(request)),
        }
    }

    /// Returns the devices, and discovers them at the first call.
    pub(super) fn devices(&self) -> &(Vec<Served>, Vec<String>) {
        self.devices.get_or_init(|| {
            let (devices, problems) = (self.discover)(self.rank);
            let served = |device| Served {
                device,
                kernels: RwLock::default(),
            };
            (devices.into_iter().map(served).collect(), problems)
        })
    }

    pub(super) fn device(&self, number: u32) -> Result<&Served> {
        let found = self.devices().0.get(number as usize);
        found.ok_or_else(|| Failure::Lost("the rank has no such device".into()))
    }

    pub(super) fn image(&self, number: u32) -> Result<Arc<ServedImage>> {
        let found = self.images.read().get(&number).cloned();
        found.ok_or_else(|| Failure::Image("it is not loaded".into()))
    }
}
