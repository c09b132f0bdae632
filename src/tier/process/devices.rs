//! Announces a placed program to the devices: its `target` regions with their images, and its
//! parallel regions that may run on devices without `target`.
//!
//! Both registrations refer to the image, and end before it does.

use ompvm_auto_offload as auto_offload;
use ompvm_memory::image::Image;
use ompvm_offload::options::OffloadOptions;
use ompvm_offload::program;
use ompvm_support::error::Error;

/// Registers the offload entries and device images of a placed program.
pub(super) fn register(
    image: &Image,
    options: &OffloadOptions,
) -> Result<Option<program::Registration>, Error> {
    let module = &image.module;
    let (mut entries, mut images) = (Vec::new(), Vec::new());
    for (id, global) in &module.globals {
        let Some(init) = global.init else {
            continue;
        };
        let size = module.layout(global.ty).size as usize;
        match global.section.as_deref() {
            Some("llvm_offload_entries") => entries.push(program::SectionPiece {
                start: image.global_address(id),
                size,
            }),
            // This section is not placed in memory: only we read it.
            Some(".llvm.offloading") => {
                let mut bytes = vec![0; size];
                image.const_to_memory(init, &mut bytes);
                images.push(bytes);
            }
            _ => {}
        }
    }
    // SAFETY: the entries are placed variables, which live as long as the image. The `Process`
    // drops the registration before the image.
    unsafe { program::register(&module.name, &entries, &images, options) }
}

/// Registers the regions of a placed program that may run on devices.
pub(super) fn register_regions(
    image: &Image,
    options: &OffloadOptions,
) -> Option<auto_offload::Registration> {
    if options.mode == auto_offload::Mode::Off {
        return None;
    }
    let module = &image.module;
    let mut contents = auto_offload::ProgramParts {
        name: module.name.clone(),
        files: module.files.to_vec(),
        ..auto_offload::ProgramParts::default()
    };
    for (id, function) in &module.functions {
        if let Some(f) = image.func_ref(id) {
            contents.functions.push((function.name.to_string(), f.stub));
        }
    }
    for (id, global) in &module.globals {
        let address = image.global_address(id);
        let hidden = global.name.starts_with("llvm.") || global.thread_local;
        if address == 0 || hidden || global.init.is_none() {
            continue;
        }
        let name = global.name.to_string();
        if global.constant {
            contents.constants.push((name, address));
        } else {
            let size = module.layout(global.ty).size as usize;
            contents.variables.push((name, address, size));
        }
    }
    auto_offload::register(contents, options)
}
