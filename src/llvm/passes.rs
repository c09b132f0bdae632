//! Runs single passes on textual IR, for the tests in `tests/passes`.
//!
//! [`PASSES`] names every pass of this crate. A pass that prints something in place of a module,
//! such as an analysis or a lowering, reports it. The code generator is that of a fixed processor,
//! so that the output is the same on every machine.
//!
//! The order in which a compilation runs the passes is not known here; it is that of
//! [`native::pipeline`](super::native) and [`nvptx`].

use super::handles::{Function, Module};
use super::native::pipeline::{self, HostMachine, UnitProperties};
use super::native::symbol::Symbol;
use super::native::{
    CompileError, CompileRequest, DebugLevel, FunctionBinding, LabelOffset, Level, LocationKind,
    ValueLocation, VariableBinding,
};
use super::nvptx::machine::GpuMachine;
use super::nvptx::{self, LoweringRequest, MathLibrary};
use super::parse::{self, Parsed};
use super::{Input, contract, guard, kernelize, shim};
use std::ffi::CString;
use std::fmt::Write as _;

/// Processor that host passes compile for without an option `cpu`.
const PROCESSOR: &str = "x86-64-v3";

/// A run of one pass.
struct Run<'a> {
    parsed: &'a Parsed,
    /// `NAME=VALUE` pairs, and for `llvm` the passes.
    options: Vec<&'a str>,
    /// Text to print in place of the module.
    report: String,
}

/// Runs a pass on what [`Run`] holds.
type Pass = fn(&mut Run) -> Result<(), String>;

/// The passes by name.
const PASSES: &[(&str, Pass)] = &[
    ("check_initialized", check_initialized),
    ("cluster_stores", |run| run.on(shim::cluster_stores)),
    ("contract", |run| run.on(contract::contract)),
    ("disable_unrolling", |run| run.on(shim::disable_unrolling)),
    ("expand_thread_locals", |run| {
        run.on(|m| shim::expand_thread_locals(m, shim::switches_stacks(m)))
    }),
    ("hoist_indices", |run| run.on(shim::hoist_indices)),
    ("keep_in_memory", |run| run.on(shim::keep_in_memory)),
    ("kernelize", kernelized),
    ("llvm", llvm_passes),
    ("lower_checked_loads", |run| {
        run.on(shim::lower_checked_loads)
    }),
    ("lower_labels", lower_labels),
    ("mark_unroll", |run| {
        let machine = run.host()?;
        run.on(|m| shim::mark_unroll(m, machine.handle()))
    }),
    ("materialize_thread_locals", |run| {
        run.on(|m| shim::materialize_thread_locals(m, shim::switches_stacks(m)))
    }),
    ("max_trips", max_trips),
    ("none", |_| Ok(())),
    ("nvptx_barriers", |run| run.on(nvptx::cleanup::barriers)),
    ("nvptx_grid", |run| {
        run.on(|m| nvptx::grid::rewrite(m, &nvptx::kernel_environment::read(m)))
    }),
    ("nvptx_hoist_loads", |run| run.on(nvptx::hoist_loads::hoist)),
    ("nvptx_leading_barriers", |run| {
        run.on(|m| nvptx::promote::leading_barriers(m, &nvptx::kernel_environment::read(m)))
    }),
    ("nvptx_narrow_indices", |run| run.on(shim::narrow_indices)),
    ("nvptx_promote", |run| {
        run.on(|m| nvptx::promote::variables_of_blocks(m, &nvptx::kernel_environment::read(m)))
    }),
    ("nvptx_tile_loops", |run| run.on(shim::tile_loops)),
    ("nvptx_unroll_reductions", |run| {
        run.on(shim::unroll_reductions)
    }),
    ("nvptx_unread", |run| run.on(nvptx::cleanup::unread)),
    ("nvptx_zeros", |run| run.on(nvptx::cleanup::zeros)),
    ("optimize", optimize),
    ("order_iterations", |run| run.on(shim::order_iterations)),
    ("osr_entry", osr_entry),
    ("ptx", ptx),
    ("release_arrays", |run| run.on(shim::release_arrays)),
    ("repack_vectors", |run| {
        let machine = run.host()?;
        run.on(|m| shim::repack_vectors(m, machine.handle()))
    }),
    ("resolve_aliases", |run| run.on(shim::resolve_aliases)),
    ("rewire", rewire),
    ("split_vectors", |run| run.on(shim::split_vectors)),
    ("uncollapse", |run| run.on(shim::uncollapse)),
    ("version_aliases", |run| run.on(shim::version_aliases)),
];

/// Returns the names of all passes.
pub fn names() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|&(name, _)| name)
}

/// Runs passes, each given as its name and options separated by blanks, on one file in turn, and
/// returns the module as text, or what the last pass reports.
///
/// # Errors
/// Returns one sentence if the file is no valid module, there is no such pass or option, a pass
/// refuses the module or leaves an invalid one, or LLVM gives up.
pub fn run(steps: &[String], name: &str, bytes: Vec<u8>) -> Result<String, String> {
    let (steps, name) = (steps.to_vec(), name.to_owned());
    let limits = guard::ResourceLimits::for_input(bytes.len());
    guard::run(&limits, move || run_here(&steps, Input { name, bytes }))?
}

fn run_here(steps: &[String], input: Input) -> Result<String, String> {
    super::initialize_target();
    super::initialize_nvptx();
    let steps = steps.iter().map(|step| {
        let mut words = step.split_whitespace();
        let name = words.next().unwrap_or_default();
        let found = PASSES.iter().find(|&&(known, _)| known == name);
        let &(_, pass) = found.ok_or_else(|| {
            let known: Vec<_> = names().collect();
            format!("there is no pass `{name}`; there are {}", known.join(", "))
        })?;
        Ok((name, pass, words.collect::<Vec<_>>()))
    });
    let steps = steps.collect::<Result<Vec<_>, String>>()?;
    let text = String::from_utf8_lossy(&input.bytes);
    let architecture = match text.contains("target triple = \"nvptx64") {
        true => "nvptx64",
        false => "x86_64",
    };
    let parsed = parse::parse_for(&[input], architecture).map_err(|e| e.to_string())?;
    let mut report = String::new();
    for (name, pass, options) in steps {
        let mut run = Run {
            parsed: &parsed,
            options,
            report: String::new(),
        };
        pass(&mut run)?;
        if let Some(option) = run.options.first() {
            return Err(format!("the pass `{name}` has no option `{option}`"));
        }
        report = run.report;
        let valid = parsed.module().verify();
        valid.map_err(|cause| format!("`{name}` left an invalid module: {cause}"))?;
    }
    match report.is_empty() {
        true => Ok(printed(parsed.module())),
        false => Ok(report),
    }
}

/// Returns a module as text, without its name and target.
fn printed(module: Module) -> String {
    let text = module.text();
    let head = ["; ModuleID", "source_filename", "target "];
    let lines = text
        .lines()
        .filter(|l| head.iter().all(|h| !l.starts_with(h)));
    let mut text: String = lines.map(|l| format!("{l}\n")).collect();
    text.drain(..text.len() - text.trim_start().len());
    text
}

impl<'a> Run<'a> {
    /// Runs a pass over the module.
    fn on<T>(&mut self, pass: impl FnOnce(Module) -> T) -> Result<(), String> {
        pass(self.parsed.module());
        Ok(())
    }

    /// Takes an option's value.
    fn option(&mut self, name: &str) -> Option<String> {
        let value = |o: &str| Some(o.strip_prefix(name)?.strip_prefix('=')?.to_owned());
        let at = self.options.iter().position(|o| value(o).is_some())?;
        value(self.options.remove(at))
    }

    fn number(&mut self, name: &str) -> Result<Option<u32>, String> {
        let value = self.option(name);
        let number = value.map(|v| v.parse().map_err(|e| format!("{name}={v}: {e}")));
        number.transpose()
    }

    fn host(&mut self) -> Result<HostMachine, String> {
        let name = self.option("cpu").unwrap_or_else(|| PROCESSOR.to_owned());
        let name = CString::new(name).map_err(|e| e.to_string())?;
        HostMachine::for_processor(self.parsed.module(), &name)
    }

    fn level(&mut self) -> Result<Level, String> {
        match self.option("level").as_deref() {
            None | Some("full") => Ok(Level::Full),
            Some("quick") => Ok(Level::Quick),
            Some(other) => Err(format!("there is no level `{other}`")),
        }
    }
}

/// Runs passes of LLVM, named as for `opt -passes=`.
fn llvm_passes(run: &mut Run) -> Result<(), String> {
    let machine = run.host()?;
    let passes = CString::new(run.options.join(" ")).map_err(|e| e.to_string())?;
    run.options.clear();
    machine.run_passes(run.parsed.module(), &passes)
}

/// Reports for each variable on the stack if it is written before it is read.
fn check_initialized(run: &mut Run) -> Result<(), String> {
    let outside = run.option("outside").is_some_and(|v| v == "true");
    let module = run.parsed.module();
    let instructions = module.functions().flat_map(Function::instructions);
    for variable in instructions.filter_map(|i| i.as_alloca()) {
        let size = module.layout().size(variable.allocated());
        let found = match shim::check_initialized(variable.into(), size, outside) {
            Ok(()) => "written before it is read".to_owned(),
            Err((misuse, culprit)) => {
                let culprit = culprit.map_or(String::new(), |c| format!("{c:?}"));
                format!("{misuse:?}: {}", culprit.trim())
            }
        };
        let _ = writeln!(run.report, "%{}: {found}", variable.name());
    }
    Ok(())
}

/// Reports the bound of how often each block runs.
fn max_trips(run: &mut Run) -> Result<(), String> {
    for function in run.parsed.module().functions() {
        for block in function.blocks() {
            let trips = match shim::max_trips(block) {
                Some(trips) => trips.to_string(),
                None => "unknown".into(),
            };
            let name = block.label().name();
            let _ = writeln!(run.report, "@{} %{name}: {trips}", function.name());
        }
    }
    Ok(())
}

/// Creates the OSR entry of the block numbered `block` in the first function. Every parameter and
/// instruction has a slot of the frame, in order; slots are 8 bytes. Options of the form
/// `derived=N` and `nowhere=N` change the location of value N.
fn osr_entry(run: &mut Run) -> Result<(), String> {
    let block = run.number("block")?.unwrap_or(1);
    let yields = run.option("yields").is_some_and(|v| v == "true");
    let mut functions = run.parsed.module().functions();
    let function = functions.next().ok_or("there is no function")?;
    let values = function.parameter_count() + function.instructions().count() as u32;
    let mut locations: Vec<ValueLocation> = (0..values)
        .map(|n| ValueLocation {
            kind: LocationKind::Slot,
            offset: 8 * n,
        })
        .collect();
    for (name, kind) in [
        ("derived", LocationKind::Derived),
        ("nowhere", LocationKind::Nowhere),
        ("address", LocationKind::Address),
        ("dead", LocationKind::Dead),
    ] {
        while let Some(n) = run.number(name)? {
            let value = locations.get_mut(n as usize);
            value
                .ok_or(format!("{name}={n}: there is no such value"))?
                .kind = kind;
        }
    }
    shim::osr_entry(function, block, "entry", 1, &locations, yields).map(drop)
}

/// Gives each block of a function an offset of four times its number, and lowers the labels.
fn lower_labels(run: &mut Run) -> Result<(), String> {
    let module = run.parsed.module();
    for (n, function) in module.functions().enumerate() {
        if function.is_declaration() {
            continue;
        }
        let numbers = 1..function.blocks().count() as u32;
        let labels: Vec<LabelOffset> = numbers
            .map(|block| LabelOffset {
                block,
                offset: 4 * block,
            })
            .collect();
        if labels.is_empty() {
            continue;
        }
        let name = Symbol::Labels(n).to_string();
        let start = module.add_variable(&name, module.context().int(8), 0);
        shim::lower_labels(function, start, &labels);
        if start.is_unused() {
            // SAFETY: it is unused, and its handle is not used again.
            unsafe { start.delete() };
        }
    }
    Ok(())
}

/// Rewires the module as if all of its functions were compiled and its variables were near.
fn rewire(run: &mut Run) -> Result<(), String> {
    let level = run.level()?;
    let module = run.parsed.module();
    let (mut names, mut functions) = (Vec::new(), Vec::new());
    for function in module.functions() {
        let name = function.name();
        functions.push(match function.is_declaration() {
            _ if name.starts_with("llvm.") => FunctionBinding::Intrinsic,
            true => FunctionBinding::External,
            false => FunctionBinding::Compiled,
        });
        names.push(name);
    }
    let variables =
        module
            .variables()
            .enumerate()
            .map(|(n, variable)| match variable.is_thread_local() {
                false => VariableBinding::Near,
                true => VariableBinding::ThreadLocal(8 * n),
            });
    let request = CompileRequest {
        names,
        functions,
        variables: variables.collect(),
        labels: Vec::new(),
        thread_cell: false,
        debug: DebugLevel::Lines,
        contracted: false,
        switches_stacks: false,
        fail: None,
    };
    let rewired =
        super::native::rewire::rewire(run.parsed.module(), None, &request, level, &[], &[])?;
    for (number, why) in rewired.skipped {
        let name = &request.names[number];
        let text = format!("; skipped @{name}: {why}\n");
        run.report.push_str(&text);
    }
    if !run.report.is_empty() {
        run.report.push_str(&printed(module));
    }
    Ok(())
}

/// Runs the whole pipeline of native code.
fn optimize(run: &mut Run) -> Result<(), String> {
    let (level, machine) = (run.level()?, run.host()?);
    let unit = UnitProperties {
        inline: false,
        several: true,
        wide: run.option("wide").is_some_and(|v| v == "true"),
    };
    pipeline::optimize(run.parsed.module(), &machine, level, unit).map_err(|error| match error {
        CompileError::Whole(why) | CompileError::Part { why, .. } => why,
    })
}

/// Reports the regions' verdicts, and the device code of those that became kernels.
fn kernelized(run: &mut Run) -> Result<(), String> {
    let text = run.parsed.module().text();
    let input = Input {
        name: "module".into(),
        bytes: text.into_bytes(),
    };
    let made = kernelize::kernelize(&[input])?;
    for region in &made.regions {
        let verdict = match &region.verdict {
            Ok(plan) => format!("kernels: {}", plan.phases.len()),
            Err(refusal) => format!("stays on the host: {}", refusal.reason),
        };
        let _ = writeln!(run.report, "; @{}: {verdict}", region.function);
    }
    if !made.unit.is_empty() {
        let unit = Input {
            name: "kernels".into(),
            bytes: made.unit,
        };
        let parsed = parse::parse_for(&[unit], "nvptx64").map_err(|e| e.to_string())?;
        run.report.push_str(&printed(parsed.module()));
    }
    Ok(())
}

/// Reports the module's PTX.
fn ptx(run: &mut Run) -> Result<(), String> {
    let architecture = run.number("sm")?.unwrap_or(90);
    let divided = run.number("divided")? == Some(1);
    // The module gets its target from the machine, so that it may be written without.
    GpuMachine::new(architecture, 83)?.adopt(run.parsed.module());
    let text = run.parsed.module().text();
    let lowered = nvptx::lower(&LoweringRequest {
        units: vec![Input {
            name: "module".into(),
            bytes: text.into_bytes(),
        }],
        architecture,
        version: 83,
        math_library: MathLibrary::default(),
        teams: 0,
        divided,
        provided: None,
    })?;
    for kernel in &lowered.kernels {
        if let Some(division) = &kernel.division {
            let _ = writeln!(run.report, "// {}: {division}", kernel.name);
        }
        if let Some(refusal) = &kernel.refused {
            let _ = writeln!(run.report, "// {} refused: {}", kernel.name, refusal.reason);
        }
    }
    run.report.push_str(&String::from_utf8_lossy(&lowered.ptx));
    Ok(())
}
