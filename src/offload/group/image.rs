//! Code that is loaded on all members of a group.

use super::balance::Balances;
use super::memory::Memory;
use crate::device::{Device, DeviceCode, Failure, Image, Kernel, Queue, Result, Symbol};
use hashbrown::HashMap;
use omp_abi::League;
use ompvm_llvm::nvptx::{DEVICE_NUMBER, Division, LEAGUE};
use ompvm_support::log;
use parking_lot::Mutex;
use std::sync::Arc;

/// A kernel of a group. Entries are leaked, since the handle of a kernel is the address of its
/// entry.
#[derive(Debug)]
pub(super) struct Entry {
    /// The kernel on each member.
    pub members: Vec<Kernel>,
    pub division: Division,
    pub shares: Arc<Shares>,
    pub balance: Mutex<Balances>,
}

impl Entry {
    /// Returns the number of members that run the kernel.
    pub(super) fn parts(&self) -> usize {
        match self.division.refused {
            Some(_) => 1,
            None => self.members.len(),
        }
    }
}

/// The variables of an image that hold the members' shares ([`omp_abi::League`]).
#[derive(Debug)]
pub(super) struct Shares {
    /// Addresses of the variables on the members; empty if no kernel reads them.
    pub addresses: Vec<u64>,
    /// Share that each variable holds.
    pub current: Mutex<Vec<League>>,
}

/// The share of a member that runs a launch alone, which is what an image is loaded with.
pub(super) const ALONE: League = League {
    part: 0,
    parts: 1,
    from: 0,
    to: 0,
    first: 0,
    teams: 0,
};

/// Code on all members.
#[derive(Debug)]
struct GroupImage {
    images: Vec<Box<dyn Image>>,
    shares: Arc<Shares>,
    memory: Arc<Memory>,
    kernels: Mutex<HashMap<String, Option<Kernel>>>,
    variables: Mutex<Vec<u64>>,
}

/// Returns the entry of a kernel.
pub(super) fn entry(kernel: &Kernel) -> &'static Entry {
    // SAFETY: handles of a group's kernels are addresses of entries that were leaked.
    unsafe { &*(kernel.handle as *const Entry) }
}

/// Loads code on all members: on the first one alone, which leaves the compiled code in the cache,
/// then on the others at the same time.
pub(super) fn load(
    members: &[Arc<dyn Device>],
    memory: &Arc<Memory>,
    code: &DeviceCode,
    number: i32,
) -> Result<Box<dyn Image>> {
    let code = &DeviceCode {
        divided: true,
        ..code.clone()
    };
    let mut images = vec![members[0].load(code)?];
    std::thread::scope(|scope| {
        let others = members[1..].iter();
        let loads: Vec<_> = others
            .map(|member| scope.spawn(move || member.load(code)))
            .collect();
        for load in loads {
            let panicked = |_| Err(Failure::Lost("loading its code panicked".into()));
            images.push(load.join().unwrap_or_else(panicked)?);
        }
        Ok(())
    })?;
    for (member, image) in members.iter().zip(&images) {
        if let Some(symbol) = image.symbol(DEVICE_NUMBER) {
            let from = (&raw const number).cast();
            // SAFETY: `number` has four bytes, which are read before the call returns.
            unsafe { member.upload(Queue::SYNC, symbol.address, from, 4)? };
        }
    }
    let addresses: Option<Vec<u64>> = images
        .iter()
        .map(|image| Some(image.symbol(LEAGUE)?.address))
        .collect();
    Ok(Box::new(GroupImage {
        shares: Arc::new(Shares {
            addresses: addresses.unwrap_or_default(),
            current: Mutex::new(vec![ALONE; members.len()]),
        }),
        images,
        memory: Arc::clone(memory),
        kernels: Mutex::default(),
        variables: Mutex::default(),
    }))
}

impl Image for GroupImage {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        let symbols: Option<Vec<Symbol>> = self.images.iter().map(|i| i.symbol(name)).collect();
        let symbols = symbols?;
        if symbols[0].size > 0 {
            let addresses: Vec<u64> = symbols.iter().map(|s| s.address).collect();
            self.variables.lock().push(addresses[0]);
            self.memory.add_variable(addresses, symbols[0].size);
        }
        Some(symbols[0])
    }

    fn kernel(&self, name: &str) -> Option<Kernel> {
        let mut kernels = self.kernels.lock();
        if let Some(known) = kernels.get(name) {
            return *known;
        }
        let members: Option<Vec<Kernel>> = self.images.iter().map(|i| i.kernel(name)).collect();
        let kernel = members.map(|members| {
            let unknown = || Division {
                refused: Some("its use of memory is unknown".into()),
                parameters: Vec::new(),
                writes_elsewhere: true,
            };
            let first = members[0];
            let entry = Entry {
                members,
                division: self.images[0].division(name).unwrap_or_else(unknown),
                shares: Arc::clone(&self.shares),
                balance: Mutex::new(Balances::new(self.images.len())),
            };
            tracing::debug!(
                target: log::OFFLOAD,
                kernel = name,
                division = %entry.division,
                "loaded a kernel on a group of devices"
            );
            Kernel {
                handle: std::ptr::from_ref(Box::leak(Box::new(entry))) as u64,
                ..first
            }
        });
        kernels.insert(name.to_owned(), kernel);
        kernel
    }

    fn division(&self, name: &str) -> Option<Division> {
        self.images[0].division(name)
    }

    fn refusal(&self, name: &str) -> Option<Failure> {
        self.images[0].refusal(name)
    }
}

impl Drop for GroupImage {
    fn drop(&mut self) {
        let mut blocks = self.memory.blocks();
        for start in self.variables.lock().drain(..) {
            blocks.remove(&start);
        }
    }
}
