//! A stack walker that takes no lock and allocates nothing.
//!
//! [`walk`] goes outwards from a position and its registers by the call frame information of the
//! code it meets (DWARF 5, section 6.4, in the `.eh_frame` of the Linux Standard Base).
//! [`register`] makes generated code known to it and to the C library's unwinder. That unwinder
//! takes a lock and allocates at its first look at generated code, so it could deadlock on a thread
//! that faulted inside `malloc`.
//!
//! Unwinds nothing and calls no language handlers. Memory is read with a system call that fails for
//! unmapped addresses, for the stack may be damaged.

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, Encoding, EndianSlice, Evaluation,
    EvaluationResult, EvaluationStorage, Format, FrameDescriptionEntry, LittleEndian, Location,
    Piece, Reader, ReaderOffset, Register, RegisterRule, UnwindContext, UnwindContextStorage,
    UnwindExpression, UnwindSection, UnwindTableRow, Value,
};
use ompvm_support::hook;
use ompvm_support::hook::Hook;
use ompvm_support::registry::{Registration, Registry};
use once_cell::race::OnceBox;
use std::ffi::c_void;

type Bytes = EndianSlice<'static, LittleEndian>;
type Frames = EhFrame<Bytes>;

/// Numbers of registers in DWARF (System V ABI for x86-64, figure 3.36).
const RBP: usize = 6;
const RSP: usize = 7;
const RETURN: usize = 16;

/// Stores the callee-saved registers, the caller's stack pointer and the return address. The
/// position comes from the call, not from an instruction's address, so it stays right if functions
/// are moved after linking.
///
/// # Safety
/// There is room for 17 words.
#[unsafe(naked)]
unsafe extern "C" fn capture_registers(values: *mut usize) {
    std::arch::naked_asm!(
        "mov [rdi + 24], rbx",
        "mov [rdi + 48], rbp",
        "lea rax, [rsp + 8]",
        "mov [rdi + 56], rax",
        "mov [rdi + 96], r12",
        "mov [rdi + 104], r13",
        "mov [rdi + 112], r14",
        "mov [rdi + 120], r15",
        "mov rax, [rsp]",
        "mov [rdi + 128], rax",
        "ret",
    )
}

/// The registers of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    values: [usize; 17],
    /// True if the position is the next instruction's, not one that follows a call.
    exact: bool,
}

impl Registers {
    /// Returns the registers that a signal interrupted.
    pub fn of(context: &libc::ucontext_t) -> Registers {
        let order = [
            libc::REG_RAX,
            libc::REG_RDX,
            libc::REG_RCX,
            libc::REG_RBX,
            libc::REG_RSI,
            libc::REG_RDI,
            libc::REG_RBP,
            libc::REG_RSP,
            libc::REG_R8,
            libc::REG_R9,
            libc::REG_R10,
            libc::REG_R11,
            libc::REG_R12,
            libc::REG_R13,
            libc::REG_R14,
            libc::REG_R15,
            libc::REG_RIP,
        ];
        Registers {
            values: order.map(|r| context.uc_mcontext.gregs[r as usize] as usize),
            exact: true,
        }
    }

    /// Returns the registers of the function that this is inlined into. They lead out of it as long
    /// as it runs.
    #[inline(always)]
    pub fn here() -> Registers {
        let mut values = [0usize; 17];
        // SAFETY: the array has the 17 words that it stores.
        unsafe { capture_registers(values.as_mut_ptr()) };
        Registers {
            values,
            exact: false,
        }
    }

    /// Returns registers of a function with a frame pointer, at a position whose rules need nothing
    /// else.
    pub fn in_frame(position: usize, stack: usize, frame: usize) -> Registers {
        Self::of_caller(position + 1, stack, frame)
    }

    /// Returns registers of a function with a frame pointer that waits in a call which returns to
    /// `returns`.
    pub fn of_caller(returns: usize, stack: usize, frame: usize) -> Registers {
        let mut values = [0; 17];
        values[RBP] = frame;
        values[RSP] = stack;
        values[RETURN] = returns;
        Registers {
            values,
            exact: false,
        }
    }

    /// Returns the caller's registers at the first instruction of a function, even if nothing is
    /// mapped there.
    pub fn out_of_call(&self) -> Option<Registers> {
        let mut caller = *self;
        caller.values[RETURN] = read(self.stack())?;
        caller.values[RSP] += 8;
        caller.exact = false;
        Some(caller)
    }

    /// Returns the registers in the order of a signal's context (`REG_R8` to `REG_RSP`).
    pub fn in_context_order(&self) -> [usize; 16] {
        [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7].map(|i: usize| self.values[i])
    }

    /// Returns the frame pointer.
    pub fn frame_pointer(&self) -> usize {
        self.values[RBP]
    }

    /// Returns the frame's position: the interrupted instruction, or an address in the call that
    /// has not returned.
    pub fn position(&self) -> usize {
        self.values[RETURN].wrapping_sub(usize::from(!self.exact))
    }

    /// Returns true if a signal interrupted the frame.
    pub fn is_interrupted(&self) -> bool {
        self.exact
    }

    /// Returns the frame's stack pointer.
    pub fn stack(&self) -> usize {
        self.values[RSP]
    }
}

/// Generated code with its unwind table.
#[derive(Debug)]
struct Generated {
    start: usize,
    len: usize,
    frames: &'static [u8],
}

/// The knowledge of a process about its code.
struct CodeTables {
    generated: Registry<Generated>,
    /// `_dl_find_object`, if the C library has it.
    find_object: Hook<FindObject>,
    /// The range of the binary that contains ompvm.
    own: OnceBox<std::ops::Range<usize>>,
}

/// The code of this process: one address space, in which the C library has one list of files.
static CODE: CodeTables = CodeTables {
    generated: Registry::new(),
    find_object: hook!(FindObject),
    own: OnceBox::new(),
};

/// The registration of generated code with this module and the C library's unwinder, undone when
/// dropped.
#[derive(Debug)]
pub struct UnwindRegistration {
    table: usize,
    _registration: Registration<Generated>,
}

unsafe extern "C" {
    fn __register_frame(table: *const c_void);
    fn __deregister_frame(table: *const c_void);
}

/// Registers code by its `.eh_frame`, which ends with a length of zero.
///
/// # Safety
/// The table is well formed, describes only this code, and outlives the returned value.
pub unsafe fn register(code: (usize, usize), table: (usize, usize)) -> UnwindRegistration {
    // SAFETY: the table is readable until the returned value is dropped, by contract.
    let frames = unsafe { std::slice::from_raw_parts(table.0 as *const u8, table.1) };
    // SAFETY: the table is well formed by contract; dropping `UnwindRegistration` deregisters it.
    unsafe { __register_frame(table.0 as *const c_void) };
    UnwindRegistration {
        table: table.0,
        _registration: CODE.generated.add(Generated {
            start: code.0,
            len: code.1,
            frames,
        }),
    }
}

impl Drop for UnwindRegistration {
    fn drop(&mut self) {
        // SAFETY: registered when this value was made.
        unsafe { __deregister_frame(self.table as *const c_void) };
    }
}

/// Reads a word of memory; `None` for an unmapped address.
pub fn read(address: usize) -> Option<usize> {
    let mut word = 0usize;
    let local = libc::iovec {
        iov_base: (&raw mut word).cast(),
        iov_len: size_of::<usize>(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut c_void,
        iov_len: size_of::<usize>(),
    };
    // SAFETY: writes to a local; an unreadable address is an error. `errno` is not restored, for
    // the thread is about to end.
    unsafe {
        match libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) {
            8 => Some(word),
            _ if *libc::__errno_location() == libc::EFAULT => None,
            // Some sandboxes forbid the call. Then the address is trusted, as a debugger does
            // natively.
            _ if address.is_multiple_of(8) && address > 0xffff => Some(*(address as *const usize)),
            _ => None,
        }
    }
}

/// `struct dl_find_object` of the GNU C library, 2.35 and later.
#[repr(C)]
struct DlFindObject {
    flags: u64,
    start: usize,
    end: usize,
    link_map: usize,
    frames: usize,
    reserved: [u64; 7],
}

type FindObject = unsafe extern "C" fn(usize, *mut DlFindObject) -> i32;

/// Resolves `_dl_find_object`, since [`walk`] must not call `dlsym`.
pub fn init() {
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
    if !found.is_null() {
        // SAFETY: glibc's function of this name has this type (dlfcn.h).
        CODE.find_object
            .set(unsafe { std::mem::transmute::<*mut libc::c_void, FindObject>(found) });
    }
}

/// Returns the `.eh_frame_hdr` of the file that is loaded at an address, and the end of the mapping
/// that contains it.
fn eh_frame_of(address: usize) -> Option<(usize, usize)> {
    let Some(find) = CODE.find_object.get() else {
        return eh_frame_by_iteration(address);
    };
    // SAFETY: the function fills the record that it gets. Zeroes are valid.
    unsafe {
        let mut found: DlFindObject = std::mem::zeroed();
        if find(address, &mut found) != 0 || found.frames == 0 {
            return None;
        }
        // A file with gaps is several entries, and its tables may lie in another entry than the
        // code.
        let header = found.frames;
        (find(header, &mut found) == 0).then_some((header, found.end))
    }
}

/// Returns the address range of the file that is loaded at an address; empty if there is none.
pub fn object(address: usize) -> std::ops::Range<usize> {
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        search: *mut c_void,
    ) -> i32 {
        // SAFETY: the library passes a live entry; `search` is the local below.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<std::ops::Range<usize>>());
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let base = info.dlpi_addr as usize;
            let loads = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
            let start = |h: &libc::Elf64_Phdr| base + h.p_vaddr as usize;
            let found = loads().map(start).min();
            let found = found.zip(loads().map(|h| start(h) + h.p_memsz as usize).max());
            let (from, to) = found.unwrap_or_default();
            if !(from..to).contains(&search.start) {
                return 0;
            }
            *search = from..to;
            1
        }
    }
    let mut found = address..address;
    // SAFETY: the callback has the type that the function expects, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

/// Returns true if an address lies in the binary that contains this code. Does not use the linker's
/// `etext`: functions may be moved behind it after linking. The first call allocates.
pub fn is_own_code(address: usize) -> bool {
    let ours = CODE
        .own
        .get_or_init(|| Box::new(object(is_own_code as *const () as usize)));
    ours.contains(&address)
}

/// Does the same as [`eh_frame_of`] with an older C library, whose list has a lock, but not the
/// allocator's.
fn eh_frame_by_iteration(address: usize) -> Option<(usize, usize)> {
    struct Search {
        address: usize,
        found: Option<(usize, usize)>,
    }
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        search: *mut c_void,
    ) -> i32 {
        // SAFETY: the library passes a live entry; `search` is the local below.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<Search>());
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let base = info.dlpi_addr as usize;
            let loads = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
            let start = |h: &libc::Elf64_Phdr| base + h.p_vaddr as usize;
            if !loads().any(|h| search.address.wrapping_sub(start(h)) < h.p_memsz as usize) {
                return 0;
            }
            let end = loads().map(|h| start(h) + h.p_memsz as usize).max();
            let frames = headers.iter().find(|h| h.p_type == libc::PT_GNU_EH_FRAME);
            search.found = frames.map(start).zip(end);
            1
        }
    }
    let mut search = Search {
        address,
        found: None,
    };
    // SAFETY: the callback has the type that the function expects, and `search` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

/// Storage for rules and values on the stack: no function saves more registers than these.
#[derive(Debug)]
struct StackStorage;

impl<T: ReaderOffset> UnwindContextStorage<T> for StackStorage {
    type Rules = [(Register, RegisterRule<T>); 20];
    type Stack = [UnwindTableRow<T, Self>; 4];
}

impl<R: Reader> EvaluationStorage<R> for StackStorage {
    type Stack = [Value; 16];
    type ExpressionStack = [(R, R); 1];
    type Result = [Piece<R>; 1];
}

/// Returns the entry that describes a position, with its table.
fn entry(position: usize) -> Option<(Frames, BaseAddresses, FrameDescriptionEntry<Bytes>)> {
    let address = position as u64;
    let generated = CODE.generated.find(|g| {
        if position.wrapping_sub(g.start) >= g.len {
            return None;
        }
        let frames = EhFrame::new(g.frames, LittleEndian);
        let bases = BaseAddresses::default().set_eh_frame(g.frames.as_ptr() as u64);
        let found = frames.fde_for_address(&bases, address, Frames::cie_from_offset);
        Some((frames, bases, found.ok()?))
    });
    if generated.is_some() {
        return generated;
    }
    let (header, end) = eh_frame_of(position)?;
    let bytes = |from: usize| {
        // SAFETY: a loaded file is mapped without holes that its sections reach into.
        let bytes =
            unsafe { std::slice::from_raw_parts(from as *const u8, end.checked_sub(from)?) };
        Some(bytes)
    };
    let bases = BaseAddresses::default().set_eh_frame_hdr(header as u64);
    let parsed = EhFrameHdr::new(bytes(header)?, LittleEndian);
    let parsed = parsed.parse(&bases, 8).ok()?;
    let gimli::Pointer::Direct(start) = parsed.eh_frame_ptr() else {
        return None;
    };
    let frames = EhFrame::new(bytes(start as usize)?, LittleEndian);
    let bases = bases.set_eh_frame(start);
    let found = parsed
        .table()?
        .fde_for_address(&frames, &bases, address, Frames::cie_from_offset);
    Some((frames, bases, found.ok()?))
}

impl Registers {
    fn get(&self, register: Register) -> Option<usize> {
        self.values.get(usize::from(register.0)).copied()
    }

    /// Evaluates an expression, with the frame's address on its stack if one is given.
    fn evaluate(
        &self,
        frames: &Frames,
        entry: &FrameDescriptionEntry<Bytes>,
        expression: UnwindExpression<usize>,
        frame: Option<usize>,
    ) -> Option<usize> {
        let encoding = Encoding {
            address_size: 8,
            format: Format::Dwarf32,
            version: entry.cie().version().into(),
        };
        let code = expression.get(frames).ok()?.0;
        let mut run = Evaluation::<_, StackStorage>::new_in(code, encoding);
        run.set_max_iterations(1000);
        if let Some(frame) = frame {
            run.set_initial_value(frame as u64);
        }
        let mut state = run.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let word = read(address as usize)? as u64;
                    let word = match size {
                        8 => word,
                        1 | 2 | 4 => word & ((1 << (u32::from(size) * 8)) - 1),
                        _ => return None,
                    };
                    run.resume_with_memory(Value::Generic(word)).ok()?
                }
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = Value::Generic(self.get(register)? as u64);
                    run.resume_with_register(value).ok()?
                }
                _ => return None,
            };
        }
        match run.as_result().last()?.location {
            Location::Address { address } => Some(address as usize),
            _ => None,
        }
    }

    /// Returns the function's start, and the caller's registers if there is a caller.
    fn step(&self) -> Option<(usize, Option<Registers>)> {
        let (frames, bases, entry) = entry(self.position())?;
        let mut context = UnwindContext::<usize, StackStorage>::new_in();
        let row = entry
            .unwind_info_for_address(&frames, &bases, &mut context, self.position() as u64)
            .ok()?;
        let start = entry.initial_address() as usize;
        Some((start, self.caller(&frames, &entry, row)))
    }

    fn caller(
        &self,
        frames: &Frames,
        entry: &FrameDescriptionEntry<Bytes>,
        row: &UnwindTableRow<usize, StackStorage>,
    ) -> Option<Registers> {
        let frame = match *row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                self.get(register)?.wrapping_add_signed(offset as isize)
            }
            CfaRule::Expression(e) => self.evaluate(frames, entry, e, None)?,
        };
        let mut caller = *self;
        caller.values[RSP] = frame;
        for (number, value) in caller.values.iter_mut().enumerate() {
            let Some(rule) = row.register(Register(number as u16)) else {
                continue;
            };
            let at = |offset: i64| frame.wrapping_add_signed(offset as isize);
            *value = match rule {
                // The outermost frame marks its return address as undefined.
                RegisterRule::Undefined if number == RETURN => return None,
                RegisterRule::Undefined => 0,
                RegisterRule::Offset(offset) => read(at(offset))?,
                RegisterRule::ValOffset(offset) => at(offset),
                RegisterRule::Register(other) => self.get(other)?,
                RegisterRule::Expression(e) => {
                    read(self.evaluate(frames, entry, e, Some(frame))?)?
                }
                RegisterRule::ValExpression(e) => self.evaluate(frames, entry, e, Some(frame))?,
                RegisterRule::Constant(c) => c as usize,
                _ => continue,
            };
        }
        caller.exact = entry.is_signal_trampoline();
        let moved = caller.stack() > self.stack() || caller.exact;
        (moved && caller.values[RETURN] != 0).then_some(caller)
    }
}

/// Returns the start of the function that contains a position, if a table describes it. Takes no lock.
pub fn function_start(position: usize) -> Option<usize> {
    entry(position).map(|(_, _, entry)| entry.initial_address() as usize)
}

/// Calls `enough` for each frame from the inside out, with its registers and the start of its
/// function, until it returns true. A start of 0 means that no table describes the frame, which
/// ends the walk.
pub fn walk(from: Registers, mut enough: impl FnMut(&Registers, usize) -> bool) {
    let mut now = from;
    loop {
        let Some((start, caller)) = now.step() else {
            enough(&now, 0);
            return;
        };
        if enough(&now, start) {
            return;
        }
        match caller {
            Some(caller) => now = caller,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    extern "C-unwind" fn inner(found: &mut Vec<usize>) {
        walk(Registers::here(), |_, start| {
            found.push(start);
            false
        });
        std::hint::black_box(found);
    }

    #[inline(never)]
    extern "C-unwind" fn outer(found: &mut Vec<usize>) {
        let mut room = [0u8; 300];
        std::hint::black_box(&mut room);
        inner(found);
        std::hint::black_box(found);
    }

    #[test]
    fn callers_are_found_in_their_order() {
        init();
        let mut found = Vec::new();
        outer(&mut found);
        assert_eq!(found[0], inner as *const () as usize);
        assert_eq!(found[1], outer as *const () as usize);
        assert!(found.len() > 4);
    }

    #[test]
    fn an_older_library_gives_the_same_tables() {
        init();
        for address in [
            inner as *const () as usize,
            libc::abort as *const () as usize,
        ] {
            assert_eq!(
                eh_frame_by_iteration(address).map(|l| l.0),
                eh_frame_of(address).map(|l| l.0)
            );
            assert!(eh_frame_of(address).is_some());
        }
    }

    #[test]
    fn unmapped_memory_ends_a_walk() {
        assert_eq!(read(8), None);
        let mut from = Registers::here();
        from.values[RSP] = 8;
        let mut frames = 0;
        walk(from, |_, _| {
            frames += 1;
            false
        });
        assert!(frames <= 2);
    }

    #[test]
    fn a_walk_goes_through_a_signal() {
        use std::sync::atomic::{AtomicBool, Ordering};
        static THROUGH: AtomicBool = AtomicBool::new(false);
        extern "C" fn handler(_: i32) {
            walk(Registers::here(), |_, start| {
                let found = start == raising as *const () as usize;
                THROUGH.fetch_or(found, Ordering::Relaxed);
                found
            });
        }
        #[inline(never)]
        extern "C-unwind" fn raising() {
            // SAFETY: a handler for this signal was just installed.
            unsafe { libc::raise(libc::SIGURG) };
            std::hint::black_box(());
        }
        init();
        // SAFETY: nothing else in these tests uses the signal.
        unsafe { libc::signal(libc::SIGURG, handler as *const () as usize) };
        raising();
        assert!(THROUGH.load(Ordering::Relaxed));
    }
}
