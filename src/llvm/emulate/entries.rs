//! Functions by which the host enters device code: kernels and targets of calls through pointers.

use super::INTRINSICS;
use crate::handles::{Builder, Function, Linkage, Module, Value};

/// Makes everything but kernels internal, so that unused functions are removed.
pub(crate) fn keep_kernels(module: Module<'_>, kernels: &[String]) {
    for function in module.functions() {
        let name = function.name();
        let is_kernel = kernels.iter().any(|kernel| **kernel == *name);
        if !function.is_declaration() && !is_kernel && !is_entry(&name) {
            function.set_linkage(Linkage::LLVMInternalLinkage);
        }
    }
    for variable in module.variables() {
        let visible = !matches!(
            variable.linkage(),
            Linkage::LLVMInternalLinkage | Linkage::LLVMPrivateLinkage
        );
        if visible && variable.name().ends_with("_kernel_environment") {
            variable.set_linkage(Linkage::LLVMExternalLinkage);
        }
    }
}

/// Returns true if the host may look up a function by name: constructors and indirectly called
/// functions have this prefix.
fn is_entry(name: &str) -> bool {
    name.starts_with("__omp_offloading_")
}

/// Name of the array of all functions' addresses.
pub(super) const FUNCTIONS: &str = "ompvm.functions";

/// Creates the array of all functions' addresses, and returns their number.
pub(super) fn table_functions(module: Module<'_>) -> usize {
    let defined = module.functions().filter(|f| !f.is_declaration());
    let list: Vec<Value> = defined.map(Value::from).collect();
    if list.is_empty() {
        return 0;
    }
    let array = module.context().pointer().array_of(&list);
    module
        .add_variable(FUNCTIONS, array.of(), 0)
        .set_initializer(array);
    list.len()
}

/// Returns the name of the function that takes a kernel's arguments from an array.
pub(crate) fn wrapper(kernel: &str) -> String {
    format!("{INTRINSICS}kernel.{kernel}")
}

/// Creates functions that take a kernel's arguments from an array of words, and returns the number
/// of arguments of each.
pub(crate) fn wrap_kernels(module: Module<'_>, kernels: &[String]) -> Vec<u32> {
    let builder = module.context().builder();
    let wrapped = kernels.iter().map(|name| match module.function(name) {
        Some(kernel) => wrap(&builder, name, kernel),
        None => 0,
    });
    wrapped.collect()
}

fn wrap<'m>(builder: &Builder<'m>, name: &str, kernel: Function<'m>) -> u32 {
    let context = builder.context();
    let (word, pointer) = (context.int(64), context.pointer());
    let of = context.void().function(&[pointer]);
    let wrap = kernel.module().add_function("", of);
    wrap.set_name(&wrapper(name));
    builder.at_end(wrap.append_block());
    let words = wrap.parameter(0);
    let load = |(n, of)| {
        let at = builder.gep(word, words, &[word.constant(n)]);
        builder.load(of, at).into()
    };
    let types = kernel.signature().parameters();
    let values: Vec<Value> = (0..).zip(types).map(load).collect();
    builder.call(kernel, &values);
    builder.ret(None);
    values.len() as u32
}
