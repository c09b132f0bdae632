//! Frames and memory between two ranks.
//!
//! A [`Channel`] is one tag between rank 0 and a server, used by one thread on either side, so that
//! requests of several threads do not wait for each other. A frame that is too long for one message
//! and memory that is copied travel in pieces of [`PIECE`] bytes, several at a time, from and to
//! where the bytes lie. A piece without bytes says that the sender failed.
//!
//! Waiting threads poll. They pause for longer the longer they wait, but never more than a small
//! part of the time that they have waited, and look now and then whether the other process lives.

use super::launcher;
use super::protocol::FRAME;
use super::wire::{Transfer, Wire};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a piece.
pub const PIECE: usize = 1 << 20;
/// Number of pieces that are under way at once.
pub const WINDOW: usize = 4;
/// First byte of a frame that is complete.
const COMPLETE: u8 = 0;
/// First byte of a frame whose contents follow in pieces; their length comes next.
const IN_PIECES: u8 = 1;

/// Reason why a channel cannot be used any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The other process has ended.
    #[error("its process has ended")]
    Ended,
    /// This process ends.
    #[error("the run ends")]
    Closed,
    /// MPI failed, or the message makes no sense.
    #[error("{0}")]
    Failed(String),
}

/// Result of an operation on a channel.
pub type Result<T> = std::result::Result<T, Broken>;

/// State of this process, which threads that wait for other ranks look at.
#[derive(Debug, Default)]
pub struct ProcessState {
    /// Set when this process ends: no thread calls the wire any more.
    pub closed: AtomicBool,
    /// Set in a child of `fork`, which has no connection to other ranks.
    pub forked: AtomicBool,
    /// Set once the loss of a rank is reported.
    pub reported: AtomicBool,
}

/// The connection to another rank.
#[derive(Debug)]
pub struct Link {
    /// The wire.
    pub wire: Arc<dyn Wire>,
    /// The other rank.
    pub peer: u32,
    /// Number of its process, if that can be watched from here.
    pub process: Option<u32>,
    /// State of this process.
    pub state: Arc<ProcessState>,
}

impl Link {
    /// Polls until `done` returns a value.
    ///
    /// # Errors
    /// [`Broken`]; an error of `done`.
    pub fn wait<T>(&self, mut done: impl FnMut() -> Result<Option<T>>) -> Result<T> {
        /// Time in which a thread keeps its processor. It is short, because the other process may
        /// need it: ranks of one host often have as many processors as threads that wait.
        const SPIN: Duration = Duration::from_micros(50);
        /// Time in which a thread yields to others and does not sleep.
        const YIELD: Duration = Duration::from_millis(1);
        /// Largest part of the time that a pause takes.
        const PART: u32 = 32;
        const LONGEST_PAUSE: Duration = Duration::from_millis(1);
        const WATCH: Duration = Duration::from_millis(50);
        let since = Instant::now();
        let mut waited = Duration::ZERO;
        let mut watched = Duration::ZERO;
        let mut precise = None;
        loop {
            let polls = if waited < YIELD { 16 } else { 1 };
            for _ in 0..polls {
                if let Some(value) = done()? {
                    return Ok(value);
                }
                std::hint::spin_loop();
            }
            if self.is_closed() {
                return Err(Broken::Closed);
            }
            waited = since.elapsed();
            if waited < SPIN {
                continue;
            }
            if waited < YIELD {
                std::thread::yield_now();
                continue;
            }
            precise.get_or_insert_with(PreciseTimers::begin);
            std::thread::sleep((waited / PART).min(LONGEST_PAUSE));
            if waited - watched > WATCH {
                watched = waited;
                if self.process.is_some_and(launcher::has_ended) {
                    return Err(Broken::Ended);
                }
            }
        }
    }

    /// Returns true if this process ends.
    pub fn is_closed(&self) -> bool {
        self.state.closed.load(Ordering::Acquire)
    }

    /// Waits for a transfer and returns its length.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn complete(&self, transfer: &mut Transfer) -> Result<usize> {
        self.wait(|| self.wire.poll(transfer).map_err(Broken::Failed))
    }

    /// Sends a message and waits until the bytes may change.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn send(&self, tag: i32, bytes: &[u8]) -> Result<()> {
        // SAFETY: the bytes are borrowed until the transfer is complete. If the wait fails, the
        // wire does not work on: its process has ended, or it is not called any more.
        let sent = unsafe { self.wire.send(self.peer, tag, bytes.as_ptr(), bytes.len()) };
        self.complete(&mut sent.map_err(Broken::Failed)?).map(drop)
    }

    /// Receives a message and returns its length.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn receive(&self, tag: i32, bytes: &mut [u8]) -> Result<usize> {
        let (to, len) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the bytes are borrowed until the transfer is complete. If the wait fails, the
        // wire does not work on: its process has ended, or it is not called any more.
        let begun = unsafe { self.wire.receive(self.peer, tag, to, len) };
        self.complete(&mut begun.map_err(Broken::Failed)?)
    }
}

/// Makes the pauses of this thread precise while it lives: by default the system may prolong them
/// by 50 microseconds (prctl(2), `PR_SET_TIMERSLACK`).
struct PreciseTimers {
    before: libc::c_int,
}

impl PreciseTimers {
    fn begin() -> PreciseTimers {
        // SAFETY: these options take and return numbers.
        unsafe {
            let before = libc::prctl(libc::PR_GET_TIMERSLACK);
            libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong);
            PreciseTimers { before }
        }
    }
}

impl Drop for PreciseTimers {
    fn drop(&mut self) {
        // SAFETY: the option takes a number. One that could not be read selects the default.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, self.before.max(0) as libc::c_ulong) };
    }
}

/// One tag between two ranks.
#[derive(Debug)]
pub struct Channel {
    /// The connection.
    pub link: Arc<Link>,
    /// Tag of its messages.
    pub tag: i32,
    incoming: Box<[u8]>,
    outgoing: Box<[u8]>,
    /// Contents of the last frame that came in pieces.
    long: Vec<u8>,
}

impl Channel {
    /// Creates the end of a channel.
    pub fn new(link: Arc<Link>, tag: i32) -> Channel {
        Channel {
            link,
            tag,
            incoming: vec![0; FRAME].into(),
            outgoing: vec![0; FRAME].into(),
            long: Vec::new(),
        }
    }

    /// Sends a value as a frame.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn put(&mut self, value: &impl Serialize) -> Result<()> {
        self.outgoing[0] = COMPLETE;
        if let Ok(written) = postcard::to_slice(value, &mut self.outgoing[1..]) {
            let len = 1 + written.len();
            return self.link.send(self.tag, &self.outgoing[..len]);
        }
        let bytes = postcard::to_allocvec(value).map_err(|e| Broken::Failed(e.to_string()))?;
        let mut head = [IN_PIECES; 9];
        head[1..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.link.send(self.tag, &head)?;
        // SAFETY: the bytes live until the call returns.
        unsafe { self.put_memory(bytes.as_ptr(), bytes.len()) }
    }

    /// Receives a frame.
    ///
    /// # Errors
    /// [`Broken`].
    pub fn get<'a, T: Deserialize<'a>>(&'a mut self) -> Result<T> {
        let odd = || Broken::Failed("it sent a message that makes no sense".into());
        let len = self.link.receive(self.tag, &mut self.incoming)?;
        let frame: &[u8] = match self.incoming[..len].split_first() {
            Some((&COMPLETE, _)) => &self.incoming[1..len],
            Some((&IN_PIECES, length)) => {
                let length = u64::from_le_bytes(length.try_into().map_err(|_| odd())?);
                self.long.clear();
                self.long.resize(length as usize, 0);
                let (to, len) = (self.long.as_mut_ptr(), self.long.len());
                // SAFETY: the buffer lives until the call returns.
                if !unsafe { self.get_memory(to, len) }? {
                    return Err(odd());
                }
                &self.long
            }
            _ => return Err(odd()),
        };
        postcard::from_bytes(frame).map_err(|_| odd())
    }

    /// Sends memory in pieces.
    ///
    /// # Safety
    /// `len` bytes at `from` must be readable until the call returns.
    ///
    /// # Errors
    /// [`Broken`].
    pub unsafe fn put_memory(&self, from: *const u8, len: usize) -> Result<()> {
        let mut sending = VecDeque::new();
        for (at, size) in pieces(len) {
            if sending.len() == WINDOW
                && let Some(mut oldest) = sending.pop_front()
            {
                self.link.complete(&mut oldest)?;
            }
            // SAFETY: the piece lies within the memory.
            sending.push_back(unsafe { self.put_piece(from.add(at), size) }?);
        }
        for mut transfer in sending {
            self.link.complete(&mut transfer)?;
        }
        Ok(())
    }

    /// Receives memory that comes in pieces. Returns false if the sender failed, in which case the
    /// contents are undefined.
    ///
    /// # Safety
    /// `len` bytes at `to` must be writable, and used by nobody else, until the call returns.
    ///
    /// # Errors
    /// [`Broken`].
    pub unsafe fn get_memory(&self, to: *mut u8, len: usize) -> Result<bool> {
        let mut receiving: VecDeque<(Transfer, usize)> = VecDeque::new();
        let mut whole = true;
        let mut finish = |(mut transfer, size): (Transfer, usize)| -> Result<()> {
            whole &= self.link.complete(&mut transfer)? == size;
            Ok(())
        };
        for (at, size) in pieces(len) {
            if receiving.len() == WINDOW
                && let Some(oldest) = receiving.pop_front()
            {
                finish(oldest)?;
            }
            // SAFETY: the piece lies within the memory.
            receiving.push_back((unsafe { self.get_piece(to.add(at), size) }?, size));
        }
        receiving.into_iter().try_for_each(finish)?;
        Ok(whole)
    }

    /// Starts to send a piece.
    ///
    /// # Safety
    /// As for [`Wire::send`].
    ///
    /// # Errors
    /// [`Broken`].
    pub unsafe fn put_piece(&self, from: *const u8, len: usize) -> Result<Transfer> {
        // SAFETY: by this function's contract.
        let sent = unsafe { self.link.wire.send(self.link.peer, self.tag, from, len) };
        sent.map_err(Broken::Failed)
    }

    /// Starts to receive a piece.
    ///
    /// # Safety
    /// As for [`Wire::receive`].
    ///
    /// # Errors
    /// [`Broken`].
    pub unsafe fn get_piece(&self, to: *mut u8, len: usize) -> Result<Transfer> {
        // SAFETY: by this function's contract.
        let begun = unsafe { self.link.wire.receive(self.link.peer, self.tag, to, len) };
        begun.map_err(Broken::Failed)
    }
}

/// Returns offset and size of each piece.
pub fn pieces(len: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len)
        .step_by(PIECE)
        .map(move |at| (at, PIECE.min(len - at)))
}

#[cfg(test)]
mod tests {
    use super::super::wire::tests::connected;
    use super::*;

    fn channels() -> [Channel; 2] {
        let wires = connected(2);
        [0, 1].map(|rank: u32| {
            let link = Link {
                wire: wires[rank as usize].clone(),
                peer: 1 - rank,
                process: None,
                state: Arc::default(),
            };
            Channel::new(Arc::new(link), 16)
        })
    }

    #[test]
    fn ranks_frames_of_every_size_arrive() {
        let [mut a, mut b] = channels();
        for len in [0, 1, FRAME - 4, FRAME, PIECE, WINDOW * PIECE + 7] {
            let sent: Vec<u8> = (0..len).map(|n| n as u8).collect();
            a.put(&sent).unwrap();
            assert!(b.get::<Vec<u8>>().unwrap() == sent);
        }
    }

    #[test]
    fn ranks_pieces_cover_the_memory() {
        let sizes = |len| pieces(len).map(|(_, size)| size).collect::<Vec<_>>();
        assert_eq!(sizes(0), [0; 0]);
        assert_eq!(sizes(PIECE), [PIECE]);
        assert_eq!(sizes(PIECE + 1), [PIECE, 1]);
    }

    #[test]
    fn ranks_a_failed_sender_is_noticed() {
        let [a, b] = channels();
        let mut to = vec![0; 2 * PIECE];
        for len in [PIECE, 0] {
            // SAFETY: the test's wire copies at once.
            unsafe { a.put_piece(to.as_ptr(), len).unwrap() };
        }
        // SAFETY: the buffer outlives the call.
        let received = unsafe { b.get_memory(to.as_mut_ptr(), to.len()) };
        assert_eq!(received, Ok(false));
    }

    #[test]
    fn ranks_waiting_ends_with_the_other_process() {
        let [mut a, _] = channels();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let link = Link {
            wire: a.link.wire.clone(),
            peer: 1,
            process: Some(child.id()),
            state: Arc::default(),
        };
        a.link = Arc::new(link);
        assert_eq!(a.get::<u8>(), Err(Broken::Ended));
    }
}
