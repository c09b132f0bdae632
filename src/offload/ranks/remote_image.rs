//! Code that is loaded on a device of another rank.
//!
//! Its server knows it by a number. Each look-up is a request; callers keep the results.

use super::peer::Peer;
use super::protocol::{Reply, Request};
use crate::device::{Device, Failure, Image, Kernel, Result, Symbol};
use ompvm_llvm::nvptx::{Division, SharedVariable};
use std::sync::Arc;

/// An image on a device of another rank.
#[derive(Debug)]
pub struct RemoteImage {
    peer: Arc<Peer>,
    device: u32,
    image: u32,
    shared: Vec<SharedVariable>,
}

impl RemoteImage {
    /// Creates the image of that number on a device of a rank.
    pub fn new(
        peer: Arc<Peer>,
        device: u32,
        image: u32,
        shared: Vec<SharedVariable>,
    ) -> RemoteImage {
        RemoteImage {
            peer,
            device,
            image,
            shared,
        }
    }
}

impl Image for RemoteImage {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        let image = self.image;
        match self.peer.call(&Request::Symbol { image, name }) {
            Ok(Reply::Symbol(symbol)) => symbol,
            _ => None,
        }
    }

    fn kernel(&self, name: &str) -> Option<Kernel> {
        let image = self.image;
        match self.peer.call(&Request::Kernel { image, name }) {
            Ok(Reply::Kernel(kernel)) => kernel,
            _ => None,
        }
    }

    fn division(&self, name: &str) -> Option<Division> {
        let image = self.image;
        match self.peer.call(&Request::Division { image, name }) {
            Ok(Reply::Division(division)) => division,
            _ => None,
        }
    }

    fn shared_variables(&self) -> &[SharedVariable] {
        &self.shared
    }

    fn construct(&self, _device: &dyn Device) -> Result<()> {
        let (device, image) = (self.device, self.image);
        self.peer
            .call(&Request::Construct { device, image })
            .map(drop)
    }

    fn refusal(&self, name: &str) -> Option<Failure> {
        let image = self.image;
        match self.peer.call(&Request::Refusal { image, name }) {
            Ok(Reply::Refusal(failure)) => failure,
            Err(failure) => Some(failure),
            Ok(_) => None,
        }
    }
}

impl Drop for RemoteImage {
    fn drop(&mut self) {
        if self.peer.link.is_closed() {
            return;
        }
        let image = self.image;
        // An image that cannot be unloaded ends with its server.
        let _ = self.peer.call(&Request::Unload { image });
    }
}
