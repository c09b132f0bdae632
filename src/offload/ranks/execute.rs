//! Execution of requests on the devices of a rank.
//!
//! Takes no message and sends none; see [`super::serve`].

use super::protocol::{Code, Description, KernelLaunch, Reply, Request, Source};
use super::serve::{Served, ServedImage, Server};
use super::stream;
use crate::device::{
    Device, DeviceCode, Failure, Kernel, Launch, MemoryKind, Queue, Result, STAGING_BYTES,
};
use crate::emulated;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Server {
    /// Executes a request that neither moves memory in pieces nor belongs to a sequence.
    pub(super) fn execute(&self, request: Request<'_>) -> Result<Reply> {
        Ok(match request {
            Request::Describe { proof } => {
                let (served, problems) = self.devices();
                Reply::Devices {
                    devices: served.iter().map(|s| describe(&*s.device)).collect(),
                    problems: problems.clone(),
                    is_near: self.approach(proof),
                }
            }
            Request::Open { device } => done(self.device(device)?.device.open()?),
            Request::Alloc {
                device,
                padding,
                size,
                align,
            } => {
                let device = &self.device(device)?.device;
                Reply::Number(match padding {
                    Some(padding) => device.alloc_padded(padding, size, align)?,
                    None => device.alloc(size, align, MemoryKind::Device)?,
                })
            }
            Request::Export { device, address } => {
                Reply::Handle(self.device(device)?.device.export(address))
            }
            Request::Import { device, handle } => {
                let found = self.device(device)?.device.import(handle);
                Reply::Number(found.unwrap_or(0))
            }
            Request::CloseImport { device, address } => {
                self.device(device)?.device.close_import(address);
                Reply::Done
            }
            Request::CopyRanges { device, ranges } => {
                let device = &self.device(device)?.device;
                device.start_copies(&ranges)?;
                done(device.await_copies()?)
            }
            Request::Free { device, address } => {
                let device = &self.device(device)?.device;
                done(device.free(address, MemoryKind::Device)?)
            }
            Request::Symbol { image, name } => Reply::Symbol(self.image(image)?.image.symbol(name)),
            Request::Kernel { image, name } => self.kernel(image, name)?,
            Request::Division { image, name } => {
                Reply::Division(self.image(image)?.image.division(name))
            }
            Request::Refusal { image, name } => {
                Reply::Refusal(self.image(image)?.image.refusal(name))
            }
            Request::Construct { device, image } => {
                let device = &self.device(device)?.device;
                done(self.image(image)?.image.construct(&**device)?)
            }
            Request::Load { device, code } => self.load(device, code)?,
            Request::Unload { image } => {
                let image = self.images.write().remove(&image);
                drop(image);
                Reply::Done
            }
            Request::Shape {
                device,
                kernel,
                teams,
                threads,
                trip,
            } => {
                let served = self.device(device)?;
                let kernel = served.kernel(kernel)?;
                let (blocks, threads) = served.device.shape(&kernel, teams, threads, trip);
                Reply::Shape(blocks, threads)
            }
            request => self.operate(request)?,
        })
    }

    /// Executes an operation in a queue.
    fn operate(&self, request: Request<'_>) -> Result<Reply> {
        Ok(match request {
            Request::Upload {
                device,
                queue,
                to,
                source: Source::Frame(bytes),
                ..
            } => {
                let (device, queue) = (&self.device(device)?.device, Queue(queue));
                // SAFETY: the bytes lie in the frame until the operation is complete.
                done(unsafe { stream::upload(&**device, queue, to, bytes.as_ptr(), bytes.len()) }?)
            }
            Request::Download {
                device,
                queue,
                from,
                len,
                to: None,
            } => {
                let device = &self.device(device)?.device;
                let mut bytes = vec![0; len as usize];
                stream::download(&**device, Queue(queue), &mut bytes, from)?;
                Reply::Bytes(bytes)
            }
            Request::Copy {
                device,
                queue,
                to,
                from,
                len,
            } => {
                let device = &self.device(device)?.device;
                done(device.copy(Queue(queue), to, from, len)?)
            }
            Request::Fill {
                device,
                queue,
                to,
                value,
                len,
            } => {
                let device = &self.device(device)?.device;
                done(device.fill(Queue(queue), to, value, len)?)
            }
            Request::Launch {
                device,
                queue,
                launch,
            } => done(self.launch(device, &launch, |device, kernel, launch| {
                device.launch(Queue(queue), kernel, launch)
            })?),
            Request::Queue { device } => Reply::Number(self.device(device)?.device.queue()?.0),
            Request::Release { device, queue } => {
                self.device(device)?.device.release(Queue(queue));
                Reply::Done
            }
            Request::Synchronize { device, queue } => {
                done(self.device(device)?.device.synchronize(Queue(queue))?)
            }
            Request::Idle { device, queue } => {
                let idle = self.device(device)?.device.idle(Queue(queue))?;
                Reply::Number(u64::from(idle))
            }
            _ => return Err(Failure::Lost("the rank does not know the request".into())),
        })
    }

    fn load(&self, device: u32, code: Code) -> Result<Reply> {
        let code = DeviceCode {
            units: code.units.into_iter().map(|u| u.into_vec()).collect(),
            arch: code.arch,
            name: code.name,
            teams: code.teams,
            divided: code.divided,
            options: self.options.clone(),
        };
        let image = self.device(device)?.device.load(&code)?;
        let shared = image.shared_variables().to_vec();
        let number = self.next_image.fetch_add(1, Ordering::Relaxed);
        let served = ServedImage {
            image,
            device,
            numbers: Mutex::default(),
        };
        self.images.write().insert(number, Arc::new(served));
        Ok(Reply::Image {
            image: number,
            shared,
        })
    }

    /// Looks a kernel up. Its handle for rank 0 is its number here.
    fn kernel(&self, image: u32, name: &str) -> Result<Reply> {
        let image = self.image(image)?;
        let Some(kernel) = image.image.kernel(name) else {
            return Ok(Reply::Kernel(None));
        };
        let mut numbers = image.numbers.lock();
        let handle = match numbers.get(name) {
            Some(&number) => number,
            None => {
                let mut kernels = self.device(image.device)?.kernels.write();
                kernels.push(kernel);
                let number = kernels.len() as u64 - 1;
                numbers.insert(name.to_owned(), number);
                number
            }
        };
        Ok(Reply::Kernel(Some(Kernel { handle, ..kernel })))
    }

    pub(super) fn launch(
        &self,
        device: u32,
        launch: &KernelLaunch,
        start: impl FnOnce(&dyn Device, &Kernel, &Launch<'_>) -> Result<()>,
    ) -> Result<()> {
        let served = self.device(device)?;
        let kernel = served.kernel(launch.kernel)?;
        let launch = Launch {
            blocks: launch.blocks,
            threads: launch.threads,
            shared: launch.shared,
            args: &launch.args,
            sections: &launch.sections,
        };
        start(&*served.device, &kernel, &launch)
    }

    /// Waits for what was begun, and copies ranges of device memory behind it.
    pub(super) fn finish(
        &self,
        device: u32,
        kernel: u64,
        ranges: &[(u64, u64)],
        failure: Option<Failure>,
    ) -> Result<Reply> {
        let served = self.device(device)?;
        let device = &*served.device;
        let kernel = served.kernel(kernel)?;
        let total = ranges.iter().map(|r| r.1 as usize).sum::<usize>();
        let staging = match total {
            1..=STAGING_BYTES if failure.is_none() => device.lend_staging(),
            _ => None,
        };
        let Some(staging) = staging else {
            let finished = device.await_launch(&kernel);
            failure.map_or(Ok(()), Err).and(finished)?;
            let mut bytes = vec![0; total];
            let mut rest = &mut bytes[..];
            for &(from, len) in ranges {
                let (part, others) = rest.split_at_mut(len as usize);
                stream::download(device, Queue::SYNC, part, from)?;
                rest = others;
            }
            return Ok(Reply::Bytes(bytes));
        };
        let mut at = 0;
        let fetched = ranges.iter().try_for_each(|&(from, len)| {
            // SAFETY: the ranges fit into the buffer, which is returned after the wait below.
            let to = unsafe { staging.as_ptr().add(at) };
            at += len as usize;
            // SAFETY: `to` and `len` lie within the lent buffer.
            unsafe { device.fetch_staged(to, from, len as usize) }
        });
        let finished = device.await_launch(&kernel).and(fetched);
        // SAFETY: the first `total` bytes of the buffer were written.
        let bytes = unsafe { std::slice::from_raw_parts(staging.as_ptr(), total) }.to_vec();
        device.return_staging(staging);
        finished.map(|()| Reply::Bytes(bytes))
    }
}

impl Served {
    pub(super) fn kernel(&self, number: u64) -> Result<Kernel> {
        let kernel = self.kernels.read().get(number as usize).copied();
        kernel.ok_or_else(|| Failure::Image("the kernel is not loaded".into()))
    }
}

/// Returns the reply to a request that returns nothing.
pub(super) fn done((): ()) -> Reply {
    Reply::Done
}

fn describe(device: &dyn Device) -> Description {
    let target = device.target();
    let emulated = device.as_any().downcast_ref::<emulated::Device>();
    Description {
        name: device.name(),
        uid: device.uid(),
        triple: target.triple.to_owned(),
        arch: target.arch,
        limits: device.limits(),
        survives_faults: device.survives_faults(),
        predicts_no_speed: device.predicts_no_speed(),
        has_shares_of_blocks: device.has_shares_of_blocks(),
        addresses: emulated.map(emulated::Device::address_pattern),
    }
}
