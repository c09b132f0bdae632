//! Layout of the records that a reduction's private copies leave, and their code as text.
//!
//! Each iteration has its own private copies ([`super`]): they are initialized, and after the
//! iteration they are combined with the thread's record. For a number that costs one operation in
//! registers. For an array of which an iteration updates some elements by index, it would cost all
//! elements, in memory. Such a copy becomes part of the record itself ([`record_copies`]): it is
//! initialized once, and iterations add to it in place.
//!
//! Records with such copies are in shared memory, where an access takes a few cycles; on the stack
//! the copies of all threads would exceed the cache. A variable per kernel has a slot for each
//! thread. The slot size is an odd multiple of [`ALIGN`], so that the same part of different
//! threads' records is in different banks. A block has as many threads as find room in [`ROOM`];
//! records that are too large for one warp are on the stack.

use super::kernel_text::{WARP, quoted};
use super::record_copies;
use super::runtime_calls::{PREFIX, Reduction};
use crate::handles::{Function, Module};
use omp_abi::VirtualThread;
use omp_abi::outlined::{ITERATE, RESULT};
use std::fmt::Write;

/// Shared memory of a block for records, in bytes; the rest of 48 KiB is the runtime's.
const ROOM: u64 = 44 << 10;
/// Alignment of a record's parts, the largest that compilers rely on.
pub(super) const ALIGN: u64 = 16;
/// Offsets in a thread's state: the phase, and behind it the pointers to the thread's record and to
/// what is kept at the end.
pub(super) const PHASE: u64 = std::mem::offset_of!(VirtualThread, phase) as u64;
pub(super) const RECORD: u64 = size_of::<VirtualThread>() as u64;
const KEPT: u64 = RECORD + 8;
/// Size of the state with the pointers, in bytes.
pub(super) const STATE: u64 = KEPT + 8;
/// Most loads and stores that copy a part of a record; a larger one is copied by a loop.
const WORDS: u64 = 64;

/// The part of a record that belongs to a private copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPart {
    /// Offset in the record, in bytes.
    pub at: u64,
    pub size: u64,
    /// True if the copy itself is in the record.
    pub stays: bool,
}

/// Layout of a reduction's records.
#[derive(Debug)]
pub(super) struct Records {
    /// Number of threads in a block.
    pub threads: u32,
    /// Size of a record, in bytes.
    pub size: u64,
    /// Distance of records in shared memory, in bytes, if they are there.
    pub slot: Option<u64>,
    /// Name of the function that returns a thread's slot.
    name: String,
    parts: Vec<RecordPart>,
}

/// Decides the layout for a region's function, and makes the function use it.
pub(super) fn lay_out<'m>(
    module: Module<'m>,
    function: Function<'m>,
    kernel: &str,
    reduction: &Reduction<'m>,
    most: u32,
) -> Records {
    let mut parts = Vec::new();
    let mut size = 0;
    for bytes in &reduction.items {
        parts.push(RecordPart {
            at: size,
            size: *bytes,
            stays: false,
        });
        size += bytes.next_multiple_of(ALIGN);
    }
    let moved = record_copies::move_copies(module, function, reduction, &mut parts);
    let mut records = Records {
        threads: most,
        size,
        slot: None,
        name: format!("{PREFIX}slot.{kernel}"),
        parts,
    };
    if moved && let Some((slot, threads)) = fit(size, most) {
        records.slot = Some(slot);
        records.threads = threads;
    }
    records
}

/// Returns the distance of records and the number of threads in a block; `None` if there is no
/// room.
fn fit(size: u64, most: u32) -> Option<(u64, u32)> {
    let slot = (size.div_ceil(ALIGN) | 1) * ALIGN;
    let mut threads = most;
    while slot * u64::from(threads) > ROOM {
        threads /= 2;
    }
    (threads >= WARP).then_some((slot, threads))
}

impl Records {
    /// Defines the function that returns a thread's slot, as text.
    pub fn define_slots(&self, text: &mut String, kernel: &str) {
        let Some(slot) = self.slot else { return };
        let memory = quoted(&format!("{kernel}_records"));
        let name = quoted(&self.name);
        let bytes = slot * u64::from(self.threads);
        let _ = writeln!(
            text,
            "{memory} = internal addrspace(3) global [{bytes} x i8] undef, align {ALIGN}\n\
             define hidden ptr {name}() alwaysinline {{\n  \
             %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  \
             %number = zext i32 %thread to i64\n  %at = mul i64 %number, {slot}\n  \
             %place = getelementptr i8, ptr addrspace(3) {memory}, i64 %at\n  \
             %slot = addrspacecast ptr addrspace(3) %place to ptr\n  ret ptr %slot\n}}"
        );
    }

    /// Declares a kernel's record, another one (which may hold what is kept), and lists of the
    /// addresses in both.
    pub fn declare(&self, text: &mut String) {
        let (size, items) = (self.size, self.parts.len());
        let _ = match self.slot {
            Some(_) => writeln!(text, "  %record = call ptr {}()", quoted(&self.name)),
            None => writeln!(text, "  %record = alloca [{size} x i8], align {ALIGN}"),
        };
        let _ = writeln!(
            text,
            "  %other = alloca [{size} x i8], align {ALIGN}\n  \
             %into = alloca [{items} x ptr], align 16\n  %from = alloca [{items} x ptr], align 16"
        );
        for (k, RecordPart { at, .. }) in self.parts.iter().enumerate() {
            for (list, of) in [("into", "record"), ("from", "other")] {
                let _ = writeln!(
                    text,
                    "  %{list}.{k} = getelementptr i8, ptr %{of}, i64 {at}\n  \
                     %{list}.at.{k} = getelementptr i8, ptr %{list}, i64 {}\n  \
                     store ptr %{list}.{k}, ptr %{list}.at.{k}, align 8",
                    8 * k
                );
            }
        }
        let kept = if self.has_copies() { "other" } else { "record" };
        let _ = writeln!(
            text,
            "  %record.place = getelementptr i8, ptr %virtual, i64 {RECORD}\n  \
             store ptr %record, ptr %record.place, align 8\n  \
             %kept.place = getelementptr i8, ptr %virtual, i64 {KEPT}\n  \
             store ptr %{kept}, ptr %kept.place, align 8"
        );
    }

    /// Returns true if private copies are parts of the record.
    fn has_copies(&self) -> bool {
        self.parts.iter().any(|p| p.stays)
    }

    /// Combines the records; `result:` begins the code of the thread that has the result.
    pub fn combine(&self, text: &mut String, combine: &str) {
        let words = self.size / 4;
        let _ = match self.slot {
            None => writeln!(
                text,
                "  %last = call i1 @__ompvm_outlined_combine(ptr %launch, ptr %record, ptr %other, \
                 i32 {words}, ptr %into, ptr %from, ptr {combine})"
            ),
            Some(slot) => writeln!(
                text,
                "  %last = call i1 @__ompvm_outlined_combine_slots(ptr %launch, ptr %record, i32 \
                 {slot}, i32 {words}, ptr %into, ptr %from, i32 {}, ptr {combine})",
                self.parts.len()
            ),
        };
        text.push_str("  br i1 %last, label %result, label %end\nresult:\n");
        if self.has_copies() {
            let _ = writeln!(
                text,
                "  call void @llvm.memcpy.p0.p0.i64(ptr align {ALIGN} %other, ptr align {ALIGN} \
                 %record, i64 {}, i1 false)",
                self.size
            );
        }
    }

    /// Defines the function that a region calls where its reduction begins. At first it copies the
    /// private copies to the record, then it combines them with it, and at the end it copies the
    /// kept result to them and returns true.
    pub fn define_reduce(&self, text: &mut String, name: &str, combine: &str) {
        let name = quoted(name);
        let items = self.parts.len();
        let _ = writeln!(
            text,
            "define hidden i1 {name}(ptr %virtual, ptr %list) alwaysinline {{\nentry:\n  \
             %into = alloca [{items} x ptr], align 16\n  %from = alloca [{items} x ptr], align 16"
        );
        for (k, part) in self.parts.iter().enumerate().filter(|(_, p)| p.stays) {
            let _ = writeln!(
                text,
                "  %unused.{k} = alloca [{0} x i8], align {ALIGN}\n  \
                 %nothing.{k} = alloca [{0} x i8], align {ALIGN}",
                part.size
            );
        }
        let _ = writeln!(
            text,
            "  %at = getelementptr i8, ptr %virtual, i64 {PHASE}\n  \
             %phase = load i32, ptr %at, align 4\n  \
             %record.at = getelementptr i8, ptr %virtual, i64 {RECORD}\n  \
             %record = load ptr, ptr %record.at, align 8\n  \
             %kept.at = getelementptr i8, ptr %virtual, i64 {KEPT}\n  \
             %kept = load ptr, ptr %kept.at, align 8\n  \
             switch i32 %phase, label %begin [ i32 {ITERATE}, label %iterate\n \
             i32 {RESULT}, label %result ]"
        );
        for label in ["begin", "iterate", "result"] {
            let _ = writeln!(text, "{label}:");
            // Parts that are in the record already need nothing.
            let combines = label == "iterate" && self.parts.iter().any(|p| !p.stays);
            if combines || label != "iterate" {
                for (k, part) in self.parts.iter().enumerate() {
                    self.write_part(text, label, k, *part);
                }
            }
            if combines {
                let _ = writeln!(text, "  call void {combine}(ptr %into, ptr %from)");
            }
            let _ = writeln!(text, "  ret i1 {}", label == "result");
        }
        text.push_str("}\n");
    }

    fn write_part(&self, text: &mut String, label: &str, k: usize, part: RecordPart) {
        let from = if label == "result" { "kept" } else { "record" };
        let (record, copy) = (format!("%{label}.r.{k}"), format!("%{label}.p.{k}"));
        let _ = writeln!(
            text,
            "  {record} = getelementptr i8, ptr %{from}, i64 {}\n  \
             {copy}.at = getelementptr i8, ptr %list, i64 {}\n  \
             {copy} = load ptr, ptr {copy}.at, align 8",
            part.at,
            8 * k
        );
        match label {
            "begin" if part.stays => {}
            "begin" => write_copy(text, &record, &copy, part.size),
            "result" => write_copy(text, &copy, &record, part.size),
            _ => {
                let (into, other) = match part.stays {
                    // Dummies with values that the program could have there.
                    true => {
                        let aside = [format!("%unused.{k}"), format!("%nothing.{k}")];
                        for to in &aside {
                            write_copy(text, to, &record, part.size);
                        }
                        aside.into()
                    }
                    false => (record, copy),
                };
                for (list, what) in [("into", into), ("from", other)] {
                    let _ = writeln!(
                        text,
                        "  %{list}.{k} = getelementptr i8, ptr %{list}, i64 {}\n  \
                         store ptr {what}, ptr %{list}.{k}, align 8",
                        8 * k
                    );
                }
            }
        }
    }
}

/// Copies a part by words: the code generator's loop goes by bytes.
fn write_copy(text: &mut String, to: &str, from: &str, size: u64) {
    // A size is a multiple of the alignment.
    let width = 1u64 << size.trailing_zeros().min(3);
    if size / width > WORDS {
        let _ = writeln!(
            text,
            "  call void @llvm.memcpy.p0.p0.i64(ptr align {width} {to}, ptr align {width} {from}, \
             i64 {size}, i1 false)"
        );
        return;
    }
    for at in (0..size).step_by(width as usize) {
        let bits = 8 * width;
        let _ = writeln!(
            text,
            "  {to}.f.{at} = getelementptr i8, ptr {from}, i64 {at}\n  \
             {to}.w.{at} = load i{bits}, ptr {to}.f.{at}, align {width}\n  \
             {to}.{at} = getelementptr i8, ptr {to}, i64 {at}\n  \
             store i{bits} {to}.w.{at}, ptr {to}.{at}, align {width}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_fit_in_a_block() {
        assert_eq!(fit(48, 256), Some((48, 256)));
        // 24 doubles: slots of 13 times 16 bytes.
        assert_eq!(fit(192, 256), Some((208, 128)));
        assert_eq!(fit(1392, 256), Some((1392, 32)));
        assert_eq!(fit(1424, 256), None);
        for size in (16..1400).step_by(16) {
            let (slot, threads) = fit(size, 256).unwrap();
            assert!(slot >= size && slot * u64::from(threads) <= ROOM);
            assert!(!(slot / ALIGN).is_multiple_of(2));
        }
    }
}
