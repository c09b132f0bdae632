//! Messages between rank 0 and the ranks that serve.
//!
//! A request and its answer are one frame each, encoded with postcard. A frame that is longer than
//! [`FRAME`], and memory that is copied, follow in pieces ([`super::channel`]). The greeting is the
//! only message that other versions must understand, so its layout is fixed: see [`Greeting`].
//!
//! Knows neither MPI nor devices.

use super::near::Proof;
use crate::device::{Failure, Kernel, Limits, Section, Symbol};
use ompvm_llvm::nvptx::{Division, SharedVariable};
use serde::{Deserialize, Serialize};

/// Version of the messages. Ranks with different versions do not work together.
pub const VERSION: u32 = 1;
/// Maximum bytes of a frame.
pub const FRAME: usize = 48 << 10;
/// Maximum bytes of memory that travel inside of a frame.
pub const INLINE: usize = 8 << 10;
/// Tag of greetings and of what follows them outside of channels.
pub const CONTROL: i32 = 1;
/// Tag of the first channel.
pub const FIRST_CHANNEL: i32 = 16;

/// A request to a server. `device` is the device's index in its rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request<'a> {
    /// Describes the devices: [`Reply::Devices`]. `proof` belongs to a process of the same host.
    Describe { proof: Option<Proof> },
    /// Starts a device.
    Open { device: u32 },
    /// Allocates device memory, after `padding` bytes if there are any: [`Reply::Number`].
    Alloc {
        device: u32,
        padding: Option<u64>,
        size: u64,
        align: u64,
    },
    /// Frees device memory.
    Free { device: u32, address: u64 },
    /// Copies to the device. If it is `ahead` of a launch, there is no answer, and
    /// [`Request::Await`] reports a failure.
    Upload {
        device: u32,
        queue: u64,
        to: u64,
        len: u64,
        ahead: bool,
        #[serde(borrow)]
        source: Source<'a>,
    },
    /// Copies from the device: [`Reply::Bytes`], or [`Reply::Pieces`] and the pieces. With the
    /// address of rank 0's memory, as [`Source::Address`].
    Download {
        device: u32,
        queue: u64,
        from: u64,
        len: u64,
        to: Option<u64>,
    },
    /// Copies within the device.
    Copy {
        device: u32,
        queue: u64,
        to: u64,
        from: u64,
        len: u64,
    },
    /// Fills a range.
    Fill {
        device: u32,
        queue: u64,
        to: u64,
        value: u8,
        len: u64,
    },
    /// Loads code: [`Reply::Image`].
    Load { device: u32, code: Code },
    /// Ends the channel; there is no answer.
    Close,
    /// Drops an image.
    Unload { image: u32 },
    /// Looks up a symbol: [`Reply::Symbol`].
    Symbol { image: u32, name: &'a str },
    /// Looks up a kernel, whose handle is a number of the server: [`Reply::Kernel`].
    Kernel { image: u32, name: &'a str },
    /// Asks how devices share a kernel: [`Reply::Division`].
    Division { image: u32, name: &'a str },
    /// Asks why a kernel has no code: [`Reply::Refusal`].
    Refusal { image: u32, name: &'a str },
    /// Runs the constructors of an image.
    Construct { device: u32, image: u32 },
    /// Opens memory of another rank by its handle: [`Reply::Number`], 0 if that cannot be.
    Import {
        device: u32,
        #[serde(borrow, with = "serde_bytes")]
        handle: &'a [u8],
    },
    /// Closes memory of [`Request::Import`].
    CloseImport { device: u32, address: u64 },
    /// Copies ranges, each to the first address from the second one, and waits.
    CopyRanges {
        device: u32,
        ranges: Vec<(u64, u64, u64)>,
    },
    /// Launches a kernel and waits as [`crate::device::Device::launch`] does.
    Launch {
        device: u32,
        queue: u64,
        launch: KernelLaunch,
    },
    /// Asks for a handle of memory: [`Reply::Handle`].
    Export { device: u32, address: u64 },
    /// Launches a kernel and sends no answer; [`Request::Await`] reports a failure.
    Begin { device: u32, launch: KernelLaunch },
    /// Waits for the launches that were begun, and returns ranges of device memory, each an address
    /// and a size: [`Reply::Bytes`].
    Await {
        device: u32,
        kernel: u64,
        ranges: Vec<(u64, u64)>,
    },
    /// Creates a queue: [`Reply::Number`].
    Queue { device: u32 },
    /// Releases a queue.
    Release { device: u32, queue: u64 },
    /// Waits for a queue.
    Synchronize { device: u32, queue: u64 },
    /// Asks whether a queue is idle: [`Reply::Number`], 0 or 1.
    Idle { device: u32, queue: u64 },
    /// Asks for the shape of a launch: [`Reply::Shape`].
    Shape {
        device: u32,
        kernel: u64,
        teams: u32,
        threads: u32,
        trip: u64,
    },
}

/// The bytes of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Source<'a> {
    /// They are in the frame.
    Frame(#[serde(with = "serde_bytes")] &'a [u8]),
    /// They follow in pieces.
    Pieces,
    /// The rank copies them out of rank 0's memory, at this address: [`Reply::Unreachable`] if the
    /// system refuses that.
    Address(u64),
}

/// Device code, without what each rank has of its own (cache, settings).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// Bitcode of each unit.
    pub units: Vec<serde_bytes::ByteBuf>,
    /// Architecture.
    pub arch: String,
    /// Name of the program.
    pub name: String,
    /// `nteams-var`.
    pub teams: u32,
    /// True if several devices share the leagues.
    pub divided: bool,
}

/// A launch; see [`crate::device::Launch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelLaunch {
    /// Number of the kernel.
    pub kernel: u64,
    /// Blocks per dimension.
    pub blocks: [u32; 3],
    /// Threads per dimension.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Argument words.
    pub args: Vec<u64>,
    /// The memory that the arguments lead to.
    pub sections: Vec<Section>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Output of device code since the last answer.
    #[serde(with = "serde_bytes")]
    pub printed: Vec<u8>,
    /// The result.
    pub result: Result<Reply, Failure>,
}

/// The result of a request that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Nothing to return.
    Done,
    /// An address, a queue, or a truth value.
    Number(u64),
    /// Contents of memory.
    Bytes(#[serde(with = "serde_bytes")] Vec<u8>),
    /// Contents of memory follow in pieces.
    Pieces,
    /// Rank 0's memory was not accessible; it must travel in pieces.
    Unreachable,
    /// A handle of memory for other processes, if it has one.
    Handle(#[serde(with = "serde_bytes")] Option<Vec<u8>>),
    /// Devices of the rank.
    Devices {
        /// The devices.
        devices: Vec<Description>,
        /// Problems with others.
        problems: Vec<String>,
        /// True if the rank can access rank 0's memory.
        is_near: bool,
    },
    /// A loaded image.
    Image {
        /// Number of the image.
        image: u32,
        /// Variables that all devices share.
        shared: Vec<SharedVariable>,
    },
    /// A symbol, if there is one of that name.
    Symbol(Option<Symbol>),
    /// A kernel, if there is one of that name.
    Kernel(Option<Kernel>),
    /// Division of a kernel among devices.
    Division(Option<Division>),
    /// Reason for which a kernel has no code.
    Refusal(Option<Failure>),
    /// Blocks and threads.
    Shape(u32, u32),
}

/// Description of a device; see [`crate::device::Device`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Name.
    pub name: String,
    /// Globally unique identifier.
    pub uid: Option<String>,
    /// Target triple.
    pub triple: String,
    /// Architecture.
    pub arch: String,
    /// Limits.
    pub limits: Limits,
    /// True if its memory keeps its contents when a kernel fails.
    pub survives_faults: bool,
    /// True if its times mean nothing.
    pub predicts_no_speed: bool,
    /// True if each block has its own record of a reduction.
    pub has_shares_of_blocks: bool,
    /// Mask and value of the bits that all its addresses share, if they do.
    pub addresses: Option<(u64, u64)>,
}

/// Command of rank 0 to another rank, outside of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// The ranks work together.
    Welcome,
    /// Requests come in the channel of this tag, too.
    Channel(i32),
    /// The run ends with this status. MPI is finalized if no rank is still at work.
    End {
        /// Exit status.
        status: i32,
        /// True to finalize MPI, which waits for all ranks.
        finalize: bool,
    },
}

/// Introduction of a rank that joins.
///
/// The encoding is the same in all versions: [`MAGIC`], then lines of text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// Version of ompvm, with that of the messages and the size of the executable.
    pub version: String,
    /// Name of the host.
    pub host: String,
    /// Identifier of the set of process numbers that `process` belongs to.
    pub processes: String,
    /// Process number.
    pub process: u32,
    /// Reason for which the rank cannot serve.
    pub problem: String,
}

/// First bytes of a greeting.
pub const MAGIC: &str = "ompvm rank";

impl Greeting {
    /// Encodes the greeting.
    pub fn encode(&self) -> Vec<u8> {
        let line = |text: &str| text.replace('\n', " ");
        let text = format!(
            "{MAGIC}\n{}\n{}\n{}\n{}\n{}\n",
            line(&self.version),
            line(&self.host),
            line(&self.processes),
            self.process,
            line(&self.problem)
        );
        let mut end = text.len().min(FRAME);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.as_bytes()[..end].to_vec()
    }

    /// Decodes a greeting. Returns `None` if the bytes are none.
    pub fn decode(bytes: &[u8]) -> Option<Greeting> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        (lines.next()? == MAGIC).then_some(())?;
        let mut next = || lines.next().unwrap_or_default().to_owned();
        Some(Greeting {
            version: next(),
            host: next(),
            processes: next(),
            process: next().parse().ok()?,
            problem: next(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{ExecutionMode, Fault};

    #[test]
    fn ranks_requests_survive_encoding() {
        let launch = KernelLaunch {
            kernel: 3,
            blocks: [1, 2, 3],
            threads: [4, 5, 6],
            shared: 7,
            args: vec![0, u64::MAX],
            sections: Vec::new(),
        };
        let requests = [
            Request::Describe { proof: None },
            Request::Upload {
                device: 1,
                queue: 0,
                to: 1 << 62,
                len: 3,
                ahead: true,
                source: Source::Frame(b"abc"),
            },
            Request::Symbol {
                image: 2,
                name: "x",
            },
            Request::Begin { device: 0, launch },
        ];
        for request in requests {
            let bytes = postcard::to_allocvec(&request).unwrap();
            assert_eq!(postcard::from_bytes::<Request<'_>>(&bytes), Ok(request));
        }
    }

    #[test]
    fn ranks_answers_survive_encoding() {
        let kernel = Kernel {
            handle: 1,
            mode: ExecutionMode::GenericSpmd,
            threads: (-1, 128),
            teams: (0, 0),
            reduction_size: 8,
            reduction_length: 1024,
            any_grid: true,
            argument_words: 4,
            results: 2,
        };
        let fault = Fault {
            what: "a read".into(),
            place: Some("x.c:3".into()),
            thread: Some((1, 2)),
            help: None,
        };
        for result in [
            Ok(Reply::Kernel(Some(kernel))),
            Ok(Reply::Bytes(vec![1, 2, 3])),
            Err(Failure::Fault(Box::new(fault))),
            Err(Failure::OutOfMemory { size: 1 << 40 }),
        ] {
            let printed = b"hello\n".to_vec();
            let answer = Answer { printed, result };
            let bytes = postcard::to_allocvec(&answer).unwrap();
            assert_eq!(postcard::from_bytes::<Answer>(&bytes), Ok(answer));
        }
    }

    #[test]
    fn ranks_greetings_have_a_fixed_layout() {
        let greeting = Greeting {
            version: "0.1.0".into(),
            host: "node7".into(),
            processes: "b pid:[4]".into(),
            process: 12,
            problem: "x.bc: no such\nfile".into(),
        };
        let bytes = greeting.encode();
        assert_eq!(
            bytes,
            b"ompvm rank\n0.1.0\nnode7\nb pid:[4]\n12\nx.bc: no such file\n"
        );
        let decoded = Greeting::decode(&bytes).unwrap();
        assert_eq!(decoded.problem, "x.bc: no such file");
        // A later version may add lines.
        let longer = [&bytes[..], b"more\n"].concat();
        assert_eq!(Greeting::decode(&longer), Some(decoded));
        assert_eq!(Greeting::decode(b"another program"), None);
    }
}
