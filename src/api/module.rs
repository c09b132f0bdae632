//! Modules: bitcode that has been read.
//!
//! Why separate from linking: one module may be linked and started many times. What not: nothing
//! is placed in memory here.

use super::config::Engine;
use super::inspect::Inspection;
use crate::ir;
use crate::llvm::cache::Shelf;
use crate::support::error::{Error, Unsupported};
use crate::tier::archive::{self, Archive};
use crate::tier::{link, runtime};
use std::path::PathBuf;
use std::sync::Arc;

/// A module read from bitcode or textual IR. Immutable; cheap to clone.
#[derive(Clone, Debug)]
pub struct Module {
    pub(super) ir: Arc<ir::Module>,
    /// Its place in the engine's cache.
    pub(super) shelf: Option<Arc<Shelf>>,
    pub(super) archives: Vec<Arc<Archive>>,
}

impl Module {
    /// Reads one module from memory; `name` is used in messages.
    ///
    /// # Errors
    /// [`Error::Input`] when the bytes are not valid bitcode or textual IR for this machine.
    pub fn from_bytes(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Module, Error> {
        let input = crate::llvm::Input {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        Module::new(engine, vec![input], Vec::new())
    }

    /// Reads files and links them into one module. A static archive among them gives the members
    /// that are needed: bitcode becomes part of the module, native objects are linked when the
    /// program starts.
    ///
    /// # Errors
    /// [`Error::Input`] naming the file and the cause.
    pub fn from_files(engine: &Engine, files: &[PathBuf]) -> Result<Module, Error> {
        let mut inputs = Vec::new();
        let mut archives = Vec::new();
        for file in files {
            let name = file.display().to_string();
            let bytes = read(file).map_err(|cause| Error::Input {
                file: name.clone(),
                cause,
            })?;
            if archive::is_archive(&bytes) && !inputs.is_empty() {
                archives.push(Archive::open(file)?);
                continue;
            }
            inputs.push(crate::llvm::Input { name, bytes });
        }
        inputs.extend(archive::bitcode(&inputs, &archives)?);
        Module::new(engine, inputs, archives)
    }

    /// From the engine's cache, else read.
    fn new(
        engine: &Engine,
        inputs: Vec<crate::llvm::Input>,
        archives: Vec<Arc<Archive>>,
    ) -> Result<Module, Error> {
        // A contracted module is another one, and so is its code.
        let mode = engine.contract.then_some(&b"contract"[..]);
        let files = inputs.iter().map(|i| &i.bytes[..]).chain(mode);
        let shelf = engine.cache.as_ref().and_then(|c| c.shelf(files));
        let kept = shelf.as_ref().and_then(Shelf::module);
        let ir = match kept {
            Some(mut module) => {
                module.name = inputs.first().map_or("", |i| &i.name).to_owned();
                module.files = inputs.into_iter().map(|i| (i.name, i.bytes)).collect();
                module.contracted = engine.contract;
                module
            }
            None => crate::llvm::read_contracted(&inputs, engine.contract)?,
        };
        Ok(Module {
            ir: Arc::new(ir),
            shelf: shelf.map(Arc::new),
            archives,
        })
    }

    /// What it holds: functions, parallel regions, runtime entries.
    pub fn inspect(&self) -> Inspection {
        Inspection::of(&self.ir)
    }

    /// Everything in it that this version does not do, each with its place; empty when it can be
    /// linked as far as that goes.
    pub fn check(&self) -> Vec<Unsupported> {
        link::unsupported(&self.ir, runtime::lookup)
    }

    /// The module in the project's own form.
    pub fn ir(&self) -> &ir::Module {
        &self.ir
    }
}

/// The file's bytes, or the cause in words without the error number.
fn read(file: &PathBuf) -> Result<Vec<u8>, String> {
    use std::io::ErrorKind;
    std::fs::read(file).map_err(|e| match e.kind() {
        ErrorKind::NotFound => "no such file".into(),
        ErrorKind::PermissionDenied => "no permission to read it".into(),
        ErrorKind::IsADirectory => "it is a directory".into(),
        _ => e.to_string(),
    })
}
