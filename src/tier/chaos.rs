//! Chaos mode: switches tiers at random points, to find code that does not survive that.
//!
//! With a seed in the settings (`OMPVM_CHAOS`), each function is, when its first call lowers it,
//! compiled at once or not, with those that must switch together with it, and left at a random loop
//! after a random number of trips or not. A seed gives the same choices in the same order of first
//! calls, up to [`MAX_COMPILED`]. No clock is read and nothing runs beside the guest, which waits
//! for each compilation, so a failure can be repeated.

use super::call_closure;
use super::compiler::Compiler;
use super::registry::REGISTRY;
use super::units;
use cranelift_entity::EntityRef;
use ompvm_interp::frame::LoweredFunction;
use ompvm_interp::{self as interp, osr};
use ompvm_jit::{Level, OsrEntry, Unit};
use ompvm_memory::func::FuncRef;
use ompvm_memory::internal_thread;
use std::sync::Arc;

/// Generator of the choices: a 64-bit linear congruential generator (Knuth's MMIX constants).
#[derive(Clone, Copy, Debug)]
pub struct Chaos(u64);

/// Most functions that are compiled. Programs with thousands of template instances would take
/// minutes.
const MAX_COMPILED: u32 = 200;

impl Chaos {
    /// Creates a generator.
    pub fn new(seed: u64) -> Chaos {
        Chaos(seed.wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns true if the baseline tier compiles the functions that LLVM does not.
    pub fn baseline(self) -> bool {
        self.0 & 1 != 0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A program in chaos mode.
pub(super) struct ChaosProgram {
    chaos: Chaos,
    compiler: Arc<Compiler>,
    /// Number of functions that may still be compiled.
    left: u32,
}

/// Starts chaos mode for the functions of a compiler's image.
pub fn start(chaos: Chaos, compiler: &Arc<Compiler>) {
    REGISTRY.chaos.lock().push(ChaosProgram {
        chaos,
        compiler: compiler.clone(),
        left: MAX_COMPILED,
    });
    interp::set_lowered_hook(lowered);
}

/// Ends chaos mode for the functions of this compiler.
pub fn stop(compiler: &Arc<Compiler>) {
    let mut programs = REGISTRY.chaos.lock();
    programs.retain(|p| !Arc::ptr_eq(&p.compiler, compiler));
}

/// Functions that are not compiled at their first call: the dynamic linker calls a program's own ones
/// with its lock held, and the thread that compiles may want that lock.
const ALLOCATOR: [&str; 4] = ["malloc", "calloc", "realloc", "free"];

/// Chooses the tiers of a function that was lowered and is about to run.
fn lowered(func: &FuncRef, code: &'static LoweredFunction) {
    let image = func.image();
    let mut programs = REGISTRY.chaos.lock();
    let program = programs.iter_mut().find(|p| p.compiler.is_for(image));
    let Some(ChaosProgram {
        chaos,
        compiler,
        left,
    }) = program
    else {
        return;
    };
    if *left == 0 {
        return;
    }
    let compiler = compiler.clone();
    let (whole, inside) = (chaos.below(3) == 0, chaos.below(3) != 0);
    let (which, after) = (chaos.below(1 << 20) as usize, chaos.below(5) as u32);
    let yields = chaos.below(2) == 0;
    if whole || inside && code.osr_points.len() > 1 {
        *left -= 1;
    }
    drop(programs);
    let is_allocator = ALLOCATOR.contains(&&*image.module.functions[func.id].name);
    if is_allocator || !compiler.program().can_compile(func.id) {
        return;
    }
    let mut unit = Unit {
        functions: Some(Vec::new()),
        ..Unit::default()
    };
    let loops = code.osr_points.len() - 1;
    let head = if loops > 0 { 1 + which % loops } else { 0 };
    if inside
        && head > 0
        && let (Some((locations, words)), Some(block)) =
            (osr::value_locations(code), code.osr_points[head].block)
    {
        unit.entries.push(OsrEntry {
            function: func.id.index(),
            block: block.as_u32(),
            words,
            locations,
        });
        // LLVM refuses quick code that could not be left at the head again.
        let levels = [Level::Quick, Level::Full];
        for level in levels.into_iter().skip(usize::from(!yields)) {
            let mut unit = unit.clone();
            unit.level = level;
            // Code that cannot be compiled stays in its tier.
            let whole = call_closure::complete(image, compiler.program(), &mut unit);
            let done = whole.and_then(|()| internal_thread::run(|| compiler.compile(image, &unit)));
            let yields = level == Level::Quick;
            let done = done.into_iter().flatten();
            let entries: Vec<_> = done.flat_map(|done| done.entries.clone()).collect();
            for &(_, address) in &entries {
                osr::install_entry(code, head, address, after, yields);
                if yields {
                    osr::always_exit(code, head);
                }
            }
            if !entries.is_empty() {
                break;
            }
        }
    }
    if whole {
        let group = units::strongly_connected(&image.module, func.id).into_iter();
        let group = group.filter(|&f| compiler.program().can_compile(f));
        unit.functions = Some(group.map(|f| f.index()).collect());
        unit.entries.clear();
        if call_closure::complete(image, compiler.program(), &mut unit).is_ok() {
            let _ = internal_thread::run(|| compiler.compile(image, &unit));
        }
    }
}
