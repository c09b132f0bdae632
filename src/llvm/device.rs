//! The device runtime's bitcode (`runtime-c/device/`), which is linked to a program's device
//! images, and source locations of the kernels in those images.

use super::handles::Function;
use super::{Input, emulate, guard, parse};
use hashbrown::HashMap;

/// Bitcode for `nvptx64-nvidia-cuda`; empty if the build found no clang 22.
pub const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/device.bc"));

/// Returns the location (`file.c:12`) of each kernel in device images, as far as debug information
/// has it. Damaged images give none.
pub fn kernel_locations<'a>(units: impl Iterator<Item = &'a [u8]>) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for unit in units {
        let input = Input {
            name: "device image".into(),
            bytes: unit.to_vec(),
        };
        let limits = guard::ResourceLimits::for_reading(unit.len());
        let locations = guard::run(&limits, move || {
            let parsed = parse::parse_for(&[input], "nvptx64").ok()?;
            let functions = parsed.module().functions();
            let kernels = functions.filter(|f| f.convention() == emulate::KERNEL);
            let place = |kernel: Function<'_>| {
                let (file, line) = kernel.source_line()?;
                Some((kernel.name().into_string(), format!("{file}:{line}")))
            };
            Some(kernels.filter_map(place).collect::<Vec<_>>())
        });
        found.extend(locations.ok().flatten().into_iter().flatten());
    }
    found
}
