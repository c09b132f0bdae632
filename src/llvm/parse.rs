//! Parsing of input files into one verified, linked LLVM module.
//!
//! Files are classified before LLVM sees them, then parsed, checked for the target, verified and
//! linked. Every failure is one sentence with the file's name.
//!
//! LLVM's parser verifies only modules with debug information, and it prints to stderr and ends the
//! process if they are invalid. So verification is disabled there and done here, at the same cost,
//! with an error as the result. Crashes inside LLVM are left to `guard`.

use super::Input;
use super::handles::{Linkage, Module, OwnedContext, OwnedModule, Value, library};
use super::shim::Linker;
use hashbrown::HashMap;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use ompvm_support::error::Error;
use std::ptr::null_mut;

/// A module together with the context that owns it.
pub(super) struct Parsed {
    /// The linked module; null before one has been read.
    module: LLVMModuleRef,
    /// The context; nothing else uses it.
    context: OwnedContext,
}

impl Drop for Parsed {
    fn drop(&mut self) {
        if !self.module.is_null() {
            // SAFETY: the module is live and this value's, and its context is dropped after it.
            drop(unsafe { OwnedModule::from_raw(self.module) });
        }
    }
}

/// Sets LLVM's process-wide options once, and extends this thread's heap.
fn configure() {
    super::deferred_init::start();
    super::heap_growth::extend();
    super::process::LLVM.reader_options.call_once(|| {
        let mut options = vec![c"-disable-auto-upgrade-debug-info"];
        options.extend(super::native::pipeline::OPTIONS);
        library::set_options(&options);
    });
}

fn input_error(file: &str, cause: impl Into<String>) -> Error {
    Error::Input {
        file: file.to_string(),
        cause: cause.into(),
    }
}

/// Parses, verifies and links the inputs in order.
///
/// # Errors
/// Returns [`Error::Input`] for the first file that cannot be used.
pub(super) fn parse(inputs: &[Input]) -> Result<Parsed, Error> {
    parse_for(inputs, "x86_64")
}

/// Parses the inputs like [`parse`], for the given architecture.
///
/// # Errors
/// Fails as [`parse`] does.
pub(super) fn parse_for(inputs: &[Input], arch: &str) -> Result<Parsed, Error> {
    configure();
    let Some(first) = inputs.first() else {
        return Err(input_error("(no file)", "there is no input"));
    };
    let mut parsed = Parsed::new();
    let mut defined: HashMap<Box<str>, usize> = HashMap::new();
    let module = parsed.parse_one(first, arch)?;
    if inputs.len() > 1 {
        duplicate(module.module(), 0, &mut defined);
    }
    let module = module.release();
    parsed.module = module;
    let mut linker = None;
    for (index, input) in inputs.iter().enumerate().skip(1) {
        let module = parsed.parse_one(input, arch)?;
        if let Some((symbol, first)) = duplicate(module.module(), index, &mut defined) {
            let other = &inputs[first].name;
            return Err(input_error(
                &input.name,
                format!("symbol `{symbol}` is also defined in {other}"),
            ));
        }
        let linker = linker.get_or_insert_with(|| Linker::new(parsed.module()));
        // SAFETY: there are no handles of the modules' functions and variables.
        if !unsafe { linker.link(module) } {
            let cause = parsed.take_errors();
            return Err(input_error(
                &input.name,
                format!("cannot be linked with the files before it: {cause}"),
            ));
        }
    }
    drop(linker);
    Ok(parsed)
}

/// Opens one bitcode file without reading its functions. With `types`, debug information will be
/// complete; otherwise only its locations can be relied on.
///
/// # Errors
/// Returns LLVM's message.
pub(super) fn open(bytes: &[u8], types: bool) -> Result<Parsed, String> {
    configure();
    let mut parsed = Parsed::new();
    parsed.module = super::shim::open_lazily(parsed.context.context(), bytes, types)?;
    Ok(parsed)
}

/// Reads a whole bitcode file. The module does not refer to the bytes afterwards.
///
/// # Errors
/// Returns LLVM's message.
pub(super) fn whole(bytes: &[u8]) -> Result<Parsed, String> {
    let parsed = open(bytes, true)?;
    super::shim::read_all(parsed.module())?;
    Ok(parsed)
}

/// Links the inputs into one bitcode file.
///
/// # Errors
/// Fails as [`parse`] does.
pub(super) fn merge(inputs: &[Input]) -> Result<Vec<u8>, Error> {
    let parsed = parse(inputs)?;
    Ok(parsed.module().bitcode())
}

/// Returns true if the bytes are bitcode of one module, which [`open`] accepts as it is.
pub(super) fn is_bitcode(bytes: &[u8]) -> bool {
    kind(bytes) == Ok(true) && !has_modules(bytes)
}

/// Returns true if a bitcode file has more than one module, as split units of link-time
/// optimization have (`-fsplit-lto-unit`, `-funified-lto`). Reads only the headers of the outermost
/// blocks (LLVM Bitcode File Format, "Bitstream Format").
pub fn has_modules(bytes: &[u8]) -> bool {
    const MODULE_BLOCK: u32 = 8;
    const ENTER_SUBBLOCK: u32 = 1;
    let word = |at: usize| {
        let word = bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    // A wrapper header gives the offset and length of the bitcode.
    let (start, end) = match word(0) {
        Some(0x0B17_C0DE) => match (word(8), word(12)) {
            (Some(start), Some(len)) => (start as usize, start as usize + len as usize),
            _ => return false,
        },
        _ => (0, bytes.len()),
    };
    let (mut at, mut modules) = (start + 4, 0);
    // The outermost abbreviation ids are two bits wide; then follow the block's number (eight
    // bits), the width inside it (four), and, at the next word, its length in words.
    while at < end
        && let (Some(head), Some(len)) = (word(at), word(at + 4))
        && head & 3 == ENTER_SUBBLOCK
    {
        modules += usize::from(head >> 2 & 0xff == MODULE_BLOCK);
        at += 8 + 4 * len as usize;
    }
    modules > 1
}

impl Parsed {
    fn new() -> Parsed {
        Parsed {
            module: null_mut(),
            context: OwnedContext::new(),
        }
    }

    /// Returns a handle of the module.
    ///
    /// # Panics
    /// Panics before a module has been read.
    pub(super) fn module(&self) -> crate::handles::Module<'_> {
        assert!(!self.module.is_null(), "a module has been read");
        // SAFETY: the module lives as long as `self`, which disposes of it.
        unsafe { crate::handles::Module::from_raw(self.module) }
    }

    /// Parses textual IR and links it to the module.
    ///
    /// # Errors
    /// Returns LLVM's message, as the predicate of a sentence.
    ///
    /// # Safety
    /// No handle of a declaration that the text defines is used afterwards.
    pub(super) unsafe fn link_text(&self, text: &str) -> Result<(), String> {
        let module = self.module();
        let text = OwnedModule::parse_ir(module.context(), text.as_bytes(), c"text", true);
        let text = text.map_err(|message| format!("cannot be parsed: {message}"))?;
        // SAFETY: the caller's promise.
        match unsafe { text.link_into(module) } {
            true => Ok(()),
            false => Err(format!("cannot be linked: {}", self.take_errors())),
        }
    }

    /// Adds an error to those that LLVM reported.
    pub(super) fn report(&self, error: &str) {
        self.context.report(error);
    }

    pub(super) fn take_errors(&self) -> String {
        one_line(&self.context.take_errors().join("; "))
    }

    /// Parses one file: classifies it, parses, checks its target and verifies.
    fn parse_one(&self, input: &Input, arch: &str) -> Result<OwnedModule<'_>, Error> {
        let fail = |cause: String| input_error(&input.name, cause);
        let bitcode = kind(&input.bytes).map_err(fail)?;
        let module = if bitcode && has_modules(&input.bytes) {
            let module = super::shim::read_modules(self.context.context(), &input.bytes);
            // SAFETY: the module is new, and its context lives as long as `self`.
            module.map(|module| unsafe { OwnedModule::from_raw(module) })
        } else {
            let context = self.context.context();
            let module = OwnedModule::parse_ir(context, &input.bytes, BUFFER, !bitcode);
            module.map_err(|message| match message.is_empty() {
                true => self.take_errors(),
                false => message,
            })
        };
        let module = module.map_err(|cause| fail(parse_cause(bitcode, &cause)))?;
        check(module.module(), arch).map_err(fail)?;
        // Linking replaces the declarations that this module's calls take their attributes from.
        super::shim::copy_abi_attributes(module.module());
        Ok(module)
    }
}

/// Checks that the module is valid and for that architecture.
fn check(module: Module, arch: &str) -> Result<(), String> {
    if arch == "x86_64" {
        check_target(module)?;
    } else {
        let triple = module.triple();
        if triple.split('-').next() != Some(arch) {
            return Err(format!("compiled for `{triple}`, not for {arch}"));
        }
    }
    if module.debug_version() != library::debug_version() {
        module.strip_debug_info();
    }
    let Err(cause) = module.verify() else {
        return Ok(());
    };
    // Outdated or damaged debug information alone is no reason to refuse a program.
    if module.strip_debug_info() && module.verify().is_ok() {
        return Ok(());
    }
    Err(format!("the module is not valid LLVM IR: {cause}"))
}

/// Prefix of LLVM's messages, which [`parse_cause`] removes.
const BUFFER: &std::ffi::CStr = c"input";

/// Returns true for bitcode, false for textual IR, and a description of anything else as an error.
fn kind(bytes: &[u8]) -> Result<bool, String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    if bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&[0xDE, 0xC0, 0x17, 0x0B]) {
        return Ok(true);
    }
    let wrong = |what: &str| {
        Err(format!(
            "this is {what}, not LLVM bitcode (compile with `clang -fopenmp -c -emit-llvm`)"
        ))
    };
    if bytes.starts_with(b"\x7fELF") {
        return wrong("a native ELF file");
    }
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        return wrong("an archive");
    }
    if bytes.starts_with(b"CPCH") || bytes.starts_with(b"BC") {
        return wrong("a precompiled header or unknown bitstream");
    }
    let head = &bytes[..bytes.len().min(4096)];
    let text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The end of the sample may cut a character.
        Err(e) => e.error_len().is_none() && e.valid_up_to() > 0,
    };
    if !text || head.contains(&0) {
        return Err("this is neither LLVM bitcode nor textual LLVM IR".into());
    }
    Ok(false)
}

/// Converts a parser's message (`input:3:5: error: expected type ...`) to a sentence.
fn parse_cause(bitcode: bool, message: &str) -> String {
    let first = message.lines().next().unwrap_or("").trim();
    let (place, text) = first.split_once("error: ").unwrap_or(("", first));
    let place = place.trim_start_matches("input").trim_matches([':', ' ']);
    if bitcode {
        let (text, makers) = text.split_once(" (Producer: '").unwrap_or((text, ""));
        let producer = makers.split('\'').next().unwrap_or("");
        return match newer(producer) {
            Some(major) => format!(
                "made by LLVM {major}, which is newer than the LLVM {} built into ompvm: {text}",
                super::version().0
            ),
            None => format!("damaged or truncated LLVM bitcode: {text}"),
        };
    }
    let mut numbers = place.split(':');
    match (numbers.next(), numbers.next()) {
        (Some(line), Some(column)) if !line.is_empty() => {
            format!("not valid textual LLVM IR at line {line}, column {column}: {text}")
        }
        _ => format!("not valid textual LLVM IR: {text}"),
    }
}

/// Returns the major version in a producer's name (`LLVM23.1.0`) if it is newer than the linked
/// LLVM.
fn newer(producer: &str) -> Option<u32> {
    let version = producer.trim_start_matches(|c: char| !c.is_ascii_digit());
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major > super::version().0).then_some(major)
}

/// Returns the first lines of a message, joined.
pub(super) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .take(2)
        .collect();
    lines.join(" ")
}

/// Checks that a module is for the host and that its debug information, if any, has this LLVM's
/// version.
///
/// # Errors
/// Returns a description of the mismatch.
pub(super) fn is_for_host(module: Module) -> Result<(), String> {
    check_target(module)?;
    let version = module.debug_version();
    let units = module.metadata_count(c"llvm.dbg.cu");
    if units > 0 && version != library::debug_version() {
        return Err(format!("debug information of version {version}"));
    }
    Ok(())
}

/// Refuses modules for anything but x86-64 Linux with 64-bit pointers. Modules without a target
/// (written by hand) are accepted.
fn check_target(module: Module) -> Result<(), String> {
    let triple = module.triple();
    let arch = triple.split('-').next().unwrap_or("");
    let linux = matches!(arch, "x86_64" | "amd64" | "x86_64h")
        && triple.contains("linux")
        && !triple.contains("x32");
    if !triple.is_empty() && !linux {
        return Err(format!(
            "compiled for {triple}, but only x86_64 Linux programs can run (compile with \
             `--target=x86_64-linux-gnu`)"
        ));
    }
    let layout = module.layout_text();
    if layout.is_empty() {
        return Ok(());
    }
    let mut parts = layout.split('-');
    let has = |wanted: &str| layout.split('-').any(|p| p == wanted);
    let bad = !has("e")
        || !has("i64:64")
        || !has("f80:128")
        || parts.any(|p| {
            p == "E" || (p.starts_with("p:") || p.starts_with("p0:")) && !p.contains(":64:64")
        });
    if bad {
        return Err(format!(
            "its data layout `{layout}` is not that of x86_64 Linux"
        ));
    }
    Ok(())
}

/// Returns a symbol that this module and an earlier file both define, with that file's number.
pub(super) fn duplicate(
    module: Module,
    index: usize,
    defined: &mut HashMap<Box<str>, usize>,
) -> Option<(Box<str>, usize)> {
    let functions = module.functions().map(Value::from);
    let mut symbols = functions.chain(module.variables().map(Value::from));
    symbols.find_map(|symbol| define(symbol, index, defined))
}

fn define(
    symbol: Value,
    index: usize,
    defined: &mut HashMap<Box<str>, usize>,
) -> Option<(Box<str>, usize)> {
    if symbol.is_declaration() || symbol.linkage() != Linkage::LLVMExternalLinkage {
        return None;
    }
    let name = symbol.name();
    match defined.get(&name) {
        Some(&first) => Some((name, first)),
        None => {
            defined.insert(name, index);
            None
        }
    }
}
