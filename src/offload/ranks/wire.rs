//! Messages between processes, as far as [`super::channel`] needs them.
//!
//! A [`Wire`] starts transfers and says when they are complete; it never waits, so its users can
//! watch the other process meanwhile. Messages of one sender, receiver and tag arrive in order.

use std::fmt::Debug;

/// A transfer in progress.
#[derive(Debug)]
pub struct Transfer {
    /// Handle of the wire.
    pub request: u64,
    /// True for a receive, which has a length.
    pub receives: bool,
}

/// Sends messages to other ranks and receives theirs.
pub trait Wire: Send + Sync + Debug {
    /// Starts to send a message.
    ///
    /// # Safety
    /// `len` bytes at `bytes` must be readable and unchanged until the transfer is complete.
    ///
    /// # Errors
    /// The reason in words.
    unsafe fn send(
        &self,
        to: u32,
        tag: i32,
        bytes: *const u8,
        len: usize,
    ) -> Result<Transfer, String>;

    /// Starts to receive a message of at most `len` bytes.
    ///
    /// # Safety
    /// `len` bytes at `bytes` must be writable, and used by nobody else, until the transfer is
    /// complete.
    ///
    /// # Errors
    /// The reason in words.
    unsafe fn receive(
        &self,
        from: u32,
        tag: i32,
        bytes: *mut u8,
        len: usize,
    ) -> Result<Transfer, String>;

    /// Returns the length of the message if the transfer is complete, 0 for one that was sent. Must
    /// not be called again for a complete transfer.
    ///
    /// # Errors
    /// The reason in words.
    fn poll(&self, transfer: &mut Transfer) -> Result<Option<usize>, String>;
}

/// A wire inside of one process, for unit tests.
#[cfg(test)]
pub mod tests {
    use super::*;
    use parking_lot::Mutex;
    use std::collections::{HashMap, VecDeque};
    use std::sync::Arc;

    /// A message: sender, receiver, tag.
    type Key = (u32, u32, i32);

    #[derive(Debug, Default)]
    struct Net {
        messages: HashMap<Key, VecDeque<Vec<u8>>>,
        receives: HashMap<u64, (Key, usize, usize)>,
        next: u64,
    }

    /// One end of the wire.
    #[derive(Debug)]
    pub struct Local {
        rank: u32,
        net: Arc<Mutex<Net>>,
    }

    /// Returns the ends of several ranks.
    pub fn connected(size: u32) -> Vec<Arc<dyn Wire>> {
        let net = Arc::<Mutex<Net>>::default();
        let end = |rank| {
            let net = net.clone();
            Arc::new(Local { rank, net }) as Arc<dyn Wire>
        };
        (0..size).map(end).collect()
    }

    impl Wire for Local {
        unsafe fn send(
            &self,
            to: u32,
            tag: i32,
            bytes: *const u8,
            len: usize,
        ) -> Result<Transfer, String> {
            // SAFETY: readable by this function's contract.
            let bytes = unsafe { std::slice::from_raw_parts(bytes, len) }.to_vec();
            let mut net = self.net.lock();
            let queue = net.messages.entry((self.rank, to, tag)).or_default();
            queue.push_back(bytes);
            Ok(Transfer {
                request: 0,
                receives: false,
            })
        }

        unsafe fn receive(
            &self,
            from: u32,
            tag: i32,
            bytes: *mut u8,
            len: usize,
        ) -> Result<Transfer, String> {
            let mut net = self.net.lock();
            net.next += 1;
            let request = net.next;
            let key = (from, self.rank, tag);
            net.receives.insert(request, (key, bytes as usize, len));
            Ok(Transfer {
                request,
                receives: true,
            })
        }

        fn poll(&self, transfer: &mut Transfer) -> Result<Option<usize>, String> {
            if !transfer.receives {
                return Ok(Some(0));
            }
            let mut net = self.net.lock();
            let (key, to, len) = net.receives[&transfer.request];
            let earlier = net.receives.iter();
            let first = earlier.filter(|(_, r)| r.0 == key).map(|(n, _)| *n).min();
            if first != Some(transfer.request) {
                return Ok(None);
            }
            let Some(bytes) = net.messages.get_mut(&key).and_then(VecDeque::pop_front) else {
                return Ok(None);
            };
            net.receives.remove(&transfer.request);
            if bytes.len() > len {
                return Err("a message is too long".into());
            }
            // SAFETY: writable until now by the contract of `receive`.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
            Ok(Some(bytes.len()))
        }
    }
}
