//! Code that is loaded on all members of a group.
//!
//! Variables that device code writes exist once, in the group's memory. The code reaches them
//! through pointers, which each member has for itself (`llvm::nvptx::share_variables`).

use super::balance::Balances;
use super::memory::Memory;
use crate::device::{
    ALONE, Device, DeviceCode, Failure, Image, Kernel, Launch, Queue, Result, Section, Symbol,
};
use hashbrown::HashMap;
use omp_abi::League;
use ompvm_llvm::nvptx::footprint::Footprint;
use ompvm_llvm::nvptx::{DEVICE_NUMBER, Division, LEAGUE, ParameterUse, SharedVariable};
use ompvm_support::log;
use parking_lot::Mutex;
use std::sync::Arc;

/// A kernel of a group. Entries are leaked, since the handle of a kernel is the address of its
/// entry.
#[derive(Debug)]
pub(super) struct Entry {
    /// Name of the kernel.
    pub name: String,
    /// The kernel on each member.
    pub members: Vec<Kernel>,
    /// How the kernel can be divided. The uses of shared variables follow those of the parameters.
    pub division: Division,
    /// Shared variables that the kernel uses, in the order of their uses.
    pub variables: Vec<KernelVariable>,
    /// Footprints on the members after the first one, if their code is other code.
    pub footprints: Vec<Footprint>,
    pub shares: Arc<Shares>,
    pub balance: Mutex<Balances>,
    /// How the latest launch ran.
    pub latest: Mutex<Outcome>,
    /// A launch on the first member without common memory that left it the only holder of all that
    /// it writes, and a holder of the rest.
    pub settled: Mutex<Option<Settled>>,
}

/// A launch that need not look for its memory again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Settled {
    /// Number of changes to the holders of memory ([`Memory::changes`]) before it.
    pub changes: u64,
    /// Numbers of its teams and of their threads.
    pub grid: (u32, u32),
    /// Its words.
    pub words: Vec<u64>,
}

/// How a group ran a launch of a kernel that can be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// On all members.
    Divided,
    /// On the first one, which is as fast.
    Alone,
    /// On the first one, since several would write too much of the same memory.
    Contested,
    /// On the first one, since it uses memory that other members have no copy of.
    Elsewhere,
}

impl Entry {
    /// Returns the number of members that run the kernel.
    pub(super) fn parts(&self) -> usize {
        match self.division.refused {
            Some(_) => 1,
            None => self.members.len(),
        }
    }

    /// Returns what the kernel accesses on a member.
    pub(super) fn footprint(&self, member: usize) -> &Footprint {
        let own = member.checked_sub(1).and_then(|n| self.footprints.get(n));
        own.unwrap_or(&self.division.footprint)
    }

    /// Returns a launch's arguments and the addresses of the shared variables, one for each use.
    pub(super) fn words(&self, launch: &Launch<'_>) -> Words {
        let count = self.division.parameters.len() - self.variables.len();
        let count = count.max(launch.args.len());
        let variables = self.variables.iter().map(|v| v.address);
        let mut values = launch.args.to_vec();
        values.resize(count, 0);
        values.extend(variables.clone());
        let section = |start| Section { start, size: 0 };
        let mut sections = match launch.sections.is_empty() {
            true => launch.args.iter().copied().map(section).collect(),
            false => launch.sections.to_vec(),
        };
        sections.resize(count, Section::default());
        sections.extend(variables.map(section));
        Words { values, sections }
    }

    /// Points the kernel to the shared variables that a member's words have.
    pub(super) fn point(&self, member: usize, device: &dyn Device, words: &[u64]) -> Result<()> {
        let addresses = &words[words.len() - self.variables.len()..];
        for (variable, &address) in self.variables.iter().zip(addresses) {
            let Some(&pointer) = variable.pointers.get(member) else {
                continue;
            };
            let mut current = variable.current.lock();
            if current[member] != address {
                write_word(device, pointer, address)?;
                current[member] = address;
            }
        }
        Ok(())
    }
}

/// Words of a launch, one for each parameter and shared variable of the kernel.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// The words.
    pub values: Vec<u64>,
    /// The memory that each leads to.
    pub sections: Vec<Section>,
}

/// A shared variable that a kernel uses.
#[derive(Debug)]
pub(super) struct KernelVariable {
    /// Address of the variable.
    address: u64,
    /// Addresses of the kernel's pointer to it on the members; empty if it has none of its own.
    pointers: Vec<u64>,
    /// Address that each member's pointer holds.
    current: Mutex<Vec<u64>>,
}

fn write_word(device: &dyn Device, to: u64, word: u64) -> Result<()> {
    // SAFETY: `word` has eight bytes, which are read before the call returns.
    unsafe { device.upload(Queue::SYNC, to, (&raw const word).cast(), 8) }
}

/// The variables of an image that hold the members' shares ([`omp_abi::League`]).
#[derive(Debug)]
pub(super) struct Shares {
    /// Addresses of the variables on the members; empty if no kernel reads them.
    pub addresses: Vec<u64>,
    /// Share that each variable holds.
    pub current: Mutex<Vec<League>>,
}

/// Code on all members.
#[derive(Debug)]
struct GroupImage {
    images: Vec<Box<dyn Image>>,
    shares: Arc<Shares>,
    memory: Arc<Memory>,
    members: Vec<Arc<dyn Device>>,
    kernels: Mutex<HashMap<String, Option<Kernel>>>,
    /// Addresses of variables that each member has for itself.
    variables: Mutex<Vec<u64>>,
    /// Addresses of the variables that all share, by name.
    shared: HashMap<String, u64>,
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
    let mut shared = HashMap::new();
    for variable in images[0].shared_variables() {
        let address = place(members, memory, &images, variable)?;
        shared.insert(variable.name.clone(), address);
    }
    images[0].construct(&*members[0])?;
    Ok(Box::new(GroupImage {
        members: members.to_vec(),
        shared,
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

/// Allocates a shared variable with its initial contents, and points all members to it.
fn place(
    members: &[Arc<dyn Device>],
    memory: &Memory,
    images: &[Box<dyn Image>],
    variable: &SharedVariable,
) -> Result<u64> {
    let size = variable.size.max(1);
    let address = memory.alloc(members, None, 0, size, variable.align)?;
    match &variable.contents {
        None => {
            for piece in memory.written(members, address, size)? {
                let member = &members[piece.member];
                member.fill(Queue::SYNC, piece.address, 0, piece.len as u64)?;
            }
        }
        Some(contents) => {
            for piece in memory.written(members, address, size)? {
                let from = images[piece.member].symbol(contents);
                let from = from.ok_or_else(|| lacks(contents))?.address + piece.offset as u64;
                let member = &members[piece.member];
                member.copy(Queue::SYNC, piece.address, from, piece.len as u64)?;
            }
        }
    }
    for member in members {
        member.synchronize(Queue::SYNC)?;
    }
    for (member, image) in members.iter().zip(images) {
        // Code for another processor may have lost its uses of the variable.
        let own = image.shared_variables().iter();
        for own in own.filter(|own| own.name == variable.name) {
            let pointers = std::iter::once(&own.pointer).chain(own.own_pointers.values());
            for name in pointers {
                let pointer = image.symbol(name).ok_or_else(|| lacks(name))?;
                write_word(&**member, pointer.address, address)?;
            }
        }
    }
    Ok(address)
}

fn lacks(name: &str) -> Failure {
    Failure::Image(format!("it lacks the variable `{name}`"))
}

impl GroupImage {
    /// Returns the footprints of a kernel on the members after the first one, if they run other code.
    ///
    /// # Errors
    /// The reason why they cannot run the kernel together.
    fn footprints(
        &self,
        name: &str,
        kernels: &[Kernel],
        first: &Division,
    ) -> std::result::Result<Vec<Footprint>, String> {
        let arch = |n: usize| self.members[n].target().arch;
        if (1..self.members.len()).all(|n| arch(n) == arch(0)) {
            return Ok(Vec::new());
        }
        let own = (1..self.members.len()).map(|n| {
            let runs = |what: &str| format!("{} {what}", self.members[n].name());
            if self.images[n].refusal(name).is_some() {
                return Err(runs("cannot run it"));
            }
            let division = self.images[n].division(name);
            let division = division.ok_or_else(|| runs("does not know what it uses"))?;
            if !first.footprint.by_iterations || !division.footprint.by_iterations {
                let why = "its teams divide the iterations, and those of processors are smaller";
                return Err(why.into());
            }
            let same = division.parameters.len() == first.parameters.len()
                && division.variables == first.variables
                && kernels[n].reduction_size == kernels[0].reduction_size;
            match (division.refused, same) {
                (None, true) => Ok(division.footprint),
                (None, false) => Err(runs("has other parameters of it")),
                (Some(why), _) => Err(why),
            }
        });
        own.collect()
    }

    /// Returns the shared variables of a kernel, and appends their uses to those of its parameters.
    fn variables(&self, kernel: &str, division: &mut Division) -> Vec<KernelVariable> {
        let mut list = Vec::new();
        for (name, used) in std::mem::take(&mut division.variables) {
            let Some(&address) = self.shared.get(&name) else {
                // The analysis saw other code than what runs.
                division.writes_elsewhere |= used == ParameterUse::Written;
                continue;
            };
            let pointer = |image: &dyn Image| {
                let mut shared = image.shared_variables().iter();
                let variable = shared.find(|variable| variable.name == name)?;
                let own = image.symbol(variable.own_pointers.get(kernel)?)?;
                Some(own.address)
            };
            let images = self.images.iter();
            let pointers: Option<Vec<u64>> = images.map(|image| pointer(&**image)).collect();
            division.parameters.push(used);
            list.push(KernelVariable {
                address,
                pointers: pointers.unwrap_or_default(),
                current: Mutex::new(vec![address; self.images.len()]),
            });
        }
        list
    }
}

impl Image for GroupImage {
    fn symbol(&self, name: &str) -> Option<Symbol> {
        if let Some(&address) = self.shared.get(name) {
            let shared = self.images[0].shared_variables();
            let variable = shared.iter().find(|v| v.name == name)?;
            return Some(Symbol {
                address,
                size: variable.size,
            });
        }
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
                results: 0,
                refused: Some("its use of memory is unknown".into()),
                parameters: Vec::new(),
                variables: Vec::new(),
                writes_elsewhere: true,
                footprint: Footprint {
                    unknown: Some("its use of memory is unknown".into()),
                    ..Footprint::default()
                },
            };
            let first = members[0];
            let mut division = self.images[0].division(name).unwrap_or_else(unknown);
            let footprints = match self.footprints(name, &members, &division) {
                Ok(footprints) => footprints,
                Err(why) => {
                    division.refused.get_or_insert(why);
                    Vec::new()
                }
            };
            let variables = self.variables(name, &mut division);
            let entry = Entry {
                name: name.to_owned(),
                members,
                division,
                variables,
                footprints,
                shares: Arc::clone(&self.shares),
                balance: Mutex::new(Balances::of_members(&self.members, self.memory.is_common())),
                latest: Mutex::new(Outcome::Alone),
                settled: Mutex::new(None),
            };
            tracing::debug!(
                target: log::OFFLOAD,
                kernel = name,
                division = %entry.division,
                "loaded a kernel on a group of devices"
            );
            Kernel {
                results: entry.division.results,
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
        drop(blocks);
        for &address in self.shared.values() {
            // A device that fails now has failed before, which was reported.
            let _ = self.memory.free(&self.members, address);
        }
    }
}
