//! What a module's device images become for a GPU, without one at hand.

use super::module::Module;
use crate::ir::Const;
use crate::offload::device::Code;
use crate::offload::{image, nvptx};
use crate::support::error::Error;

/// Code for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCode {
    /// PTX as text.
    pub ptx: String,
    /// The kernels that have code.
    pub kernels: Vec<String>,
    /// The kernels that have none, each with the reason; their regions run on the host.
    pub refused: Vec<(String, String)>,
}

impl Module {
    /// Compiles the module's device images for `sm_<architecture>`; `None` when it has none.
    ///
    /// # Errors
    /// [`Error::Input`] for damaged images.
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
        let code = Code {
            units,
            arch: format!("sm_{architecture}"),
            name: module.name.clone(),
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
        Ok(Some(DeviceCode {
            ptx: String::from_utf8_lossy(&compiled.lowered.ptx).into_owned(),
            kernels,
            refused,
        }))
    }
}
