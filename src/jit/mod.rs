//! The compiled tier: a placed module as machine code.
//!
//! What: [`compile`] asks LLVM for the whole module, bound to the image's data and stubs, and
//! names the function of a native position for messages. What not: when to compile and who
//! switches over is decided in `tier`; the interpreter is not known here.

use crate::ir::{Const, FuncId};
use crate::llvm::native::{Code, Function, Request, Session, ThreadBlock, Unit, Variable};
use crate::memory::image::Image;
use crate::memory::thread;
use cranelift_entity::EntityRef;
use hashbrown::{HashMap, HashSet};
use std::fmt;
use std::time::{Duration, Instant};

/// A compiled image.
#[derive(Debug)]
pub struct Compiled {
    /// Each compiled function and its address.
    pub functions: Vec<(FuncId, usize)>,
    /// Functions left to the interpreter, and why.
    pub skipped: Vec<(FuncId, &'static str)>,
    /// Time for parsing, rewiring, code generation and linking.
    pub times: [Duration; 4],
    /// Bytes of the object file.
    pub object_bytes: usize,
    /// Start addresses, sorted.
    starts: Vec<(usize, FuncId)>,
    ranges: Vec<(usize, usize)>,
    _code: Code,
}

/// Compiles every function of an image that can be.
///
/// `instead` gives other addresses for functions of the C library that must know the interpreter.
///
/// # Errors
/// LLVM's message.
pub fn compile(image: &Image, instead: &HashMap<&str, usize>) -> Result<Compiled, String> {
    let module = &image.module;
    let with_labels: HashSet<FuncId> = module
        .consts
        .values()
        .filter_map(|c| match c {
            Const::BlockAddress(f, _) => Some(*f),
            _ => None,
        })
        .collect();
    let functions = module
        .functions
        .iter()
        .map(|(id, f)| {
            if f.name.starts_with("llvm.") {
                return Function::Intrinsic;
            }
            match image.func_ref(id) {
                Some(func) if with_labels.contains(&id) => Function::External(func.stub),
                Some(func) => Function::Compiled { stub: func.stub },
                None => match instead.get(&*f.name) {
                    Some(&address) => Function::External(address),
                    None => Function::External(image.func_address(id)),
                },
            }
        })
        .collect();
    let variables = module
        .globals
        .iter()
        .map(|(id, g)| match image.tls_offset(id) {
            Some(offset) => Variable::ThreadLocal(offset),
            None if g.thread_local => Variable::Foreign,
            None => Variable::At(image.global_address(id), module.layout(g.ty).size as usize),
        })
        .collect();
    let request = Request {
        files: module.files.clone(),
        functions,
        variables,
        ifuncs: module
            .ifuncs
            .keys()
            .map(|i| image.ifunc_address(i))
            .collect(),
        helpers: vec![
            ("__truncsfbf2", float_to_bfloat as *const () as usize),
            ("__truncdfbf2", double_to_bfloat as *const () as usize),
        ],
        thread_block: ThreadBlock {
            cell: image.fast_tls().and_then(thread::fast_cell_offset),
            make: thread::fast_block as *const () as usize,
            argument: std::ptr::from_ref(image) as usize,
        },
    };
    let object = Session::open(&request).compile(&Unit::default())?;
    let linking = Instant::now();
    let code = Code::new(&object.bytes, &object.symbols)?;
    let mut functions = Vec::with_capacity(object.functions.len());
    for (number, name) in &object.functions {
        functions.push((FuncId::new(*number), code.lookup(name)?));
    }
    let [parse, prepare, generate] = object.times;
    let mut starts: Vec<(usize, FuncId)> = functions.iter().map(|&(f, a)| (a, f)).collect();
    starts.sort_unstable();
    Ok(Compiled {
        functions,
        skipped: object
            .skipped
            .iter()
            .map(|&(n, why)| (FuncId::new(n), why))
            .collect(),
        times: [parse, prepare, generate, linking.elapsed()],
        object_bytes: object.bytes.len(),
        starts,
        ranges: code.ranges(),
        _code: code,
    })
}

/// Rounds to nearest even on the upper half of a float, NaNs kept quiet; libgcc has it only since
/// GCC 13. A bfloat is returned in the low half of the register that a float would be in.
extern "C" fn float_to_bfloat(x: f32) -> f32 {
    let bits = x.to_bits();
    let upper = if x.is_nan() {
        bits >> 16 | 0x40
    } else {
        bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16
    };
    f32::from_bits(upper)
}

/// As [`float_to_bfloat`]; rounding to odd in between keeps one rounding in all.
extern "C" fn double_to_bfloat(x: f64) -> f32 {
    let near = x as f32;
    let exact = f64::from(near) == x || x.is_nan();
    let mut bits = near.to_bits();
    if !exact && bits & 1 == 0 {
        // The neighbour on the other side of x is odd.
        let above = f64::from(near).abs() > x.abs();
        bits = if above { bits - 1 } else { bits + 1 };
    }
    float_to_bfloat(f32::from_bits(bits))
}

impl Compiled {
    /// The function whose code holds a native position.
    pub fn function_at(&self, position: usize) -> Option<FuncId> {
        let inside = |&(start, len): &(usize, usize)| position.wrapping_sub(start) < len;
        if !self.ranges.iter().any(inside) {
            return None;
        }
        let after = self.starts.partition_point(|&(start, _)| start <= position);
        Some(self.starts[after.checked_sub(1)?].1)
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [parse, prepare, generate, link] = self.times.map(|t| t.as_secs_f64() * 1e3);
        write!(
            f,
            "compiled {} functions ({} bytes): parse {parse:.1} ms, prepare {prepare:.1}, generate {generate:.1}, link {link:.1}",
            self.functions.len(),
            self.object_bytes
        )
    }
}
