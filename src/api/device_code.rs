//! Compiles a module's device images for a GPU that need not be present.

use super::config::Offload;
use super::module::Module;
use ompvm_ir::Const;
use ompvm_llvm::Input;
use ompvm_llvm::kernelize::{Kernelized, Region, kernelize};
use ompvm_offload::device;
use ompvm_offload::options::OffloadOptions;
use ompvm_offload::{image, nvptx};
use ompvm_support::error::Error;

/// Device code for one GPU architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCode {
    /// PTX as text.
    pub ptx: String,
    /// Names of the compiled kernels.
    pub kernels: Vec<String>,
    /// Names of the kernels that were refused, with the reason. Their regions run on the host.
    pub refused: Vec<(String, String)>,
}

/// Verdict on a parallel region of the host: whether it can run on a device, see
/// [`super::Config::offload`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionVerdict {
    /// Name of the outlined function.
    pub function: String,
    /// Source location such as `file.c:12`, if known.
    pub place: Option<String>,
    /// Reason for which it stays on the host, with its location; `None` if it can run on a device.
    pub reason: Option<String>,
}

impl Module {
    /// Returns a verdict on each of the module's parallel regions.
    ///
    /// # Errors
    /// Returns [`Error::Input`] for damaged files.
    pub fn offload_regions(&self) -> Result<Vec<RegionVerdict>, Error> {
        let outlined = self.outlined()?;
        let verdict = |region: Region| RegionVerdict {
            function: region.function,
            place: region.place,
            reason: region.verdict.err().map(|why| {
                let at = why.place.map_or(String::new(), |p| format!(" at {p}"));
                format!("{}{at}", why.reason)
            }),
        };
        Ok(outlined.regions.into_iter().map(verdict).collect())
    }

    fn outlined(&self) -> Result<Kernelized, Error> {
        let module = &self.ir;
        let files: Vec<Input> = module
            .files
            .iter()
            .map(|(name, bytes)| Input {
                name: name.clone(),
                bytes: bytes.clone(),
            })
            .collect();
        kernelize(&files).map_err(|cause| Error::Input {
            file: module.name.clone(),
            cause,
        })
    }

    /// Compiles the module's device images for `sm_<architecture>`. Returns `None` if it has none.
    ///
    /// # Errors
    /// Returns [`Error::Input`] for damaged images.
    pub fn device_code(&self, architecture: u32) -> Result<Option<DeviceCode>, Error> {
        let module = &self.ir;
        let damaged = |cause: String| Error::Input {
            file: module.name.clone(),
            cause,
        };
        let mut units = Vec::new();
        for global in module.globals.values() {
            if global.section.as_deref() != Some(".llvm.offloading") {
                continue;
            }
            if let Some(Const::Data(bytes)) = global.init.map(|id| &module.consts[id]) {
                let images = image::read(bytes).map_err(damaged)?;
                let ours = images
                    .into_iter()
                    .filter(|i| i.triple.starts_with("nvptx64"));
                units.extend(ours.map(|i| i.bytes));
            }
        }
        if units.is_empty() {
            return Ok(None);
        }
        self.compiled(units, architecture).map(Some)
    }

    /// Compiles the parallel regions that can run on a device without `target` for
    /// `sm_<architecture>`. Returns `None` if there are none.
    ///
    /// # Errors
    /// Returns [`Error::Input`] for damaged files.
    pub fn region_code(&self, architecture: u32) -> Result<Option<DeviceCode>, Error> {
        let outlined = self.outlined()?;
        if outlined.unit.is_empty() {
            return Ok(None);
        }
        self.compiled(vec![outlined.unit], architecture).map(Some)
    }

    fn compiled(&self, units: Vec<Vec<u8>>, architecture: u32) -> Result<DeviceCode, Error> {
        let module = &self.ir;
        let damaged = |cause: String| Error::Input {
            file: module.name.clone(),
            cause,
        };
        let code = device::DeviceCode {
            units,
            arch: format!("sm_{architecture}"),
            name: module.name.clone(),
            teams: 0,
            divided: false,
            options: OffloadOptions {
                cache: self.cache.clone(),
                mode: Offload::Off,
                settings: self.settings,
            },
        };
        let compiled = nvptx::compile(&code, architecture).map_err(|e| damaged(e.to_string()))?;
        let (mut kernels, mut refused) = (Vec::new(), Vec::new());
        for kernel in compiled.lowered.kernels {
            match kernel.refused {
                None => kernels.push(kernel.name),
                Some(why) => {
                    let at = why
                        .place
                        .map_or(String::new(), |place| format!(" at {place}"));
                    refused.push((kernel.name, format!("{}{at}", why.reason)));
                }
            }
        }
        Ok(DeviceCode {
            ptx: String::from_utf8_lossy(&compiled.lowered.ptx).into_owned(),
            kernels,
            refused,
        })
    }
}
