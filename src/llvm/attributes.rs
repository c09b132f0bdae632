//! Attributes of parameters, return values and functions that affect calls.
//!
//! LLVM renumbers its attributes per release, so the numbers are looked up by name. Attributes that
//! only help an optimizer are not read, and neither are string attributes, except those of
//! `-ffast-math` and of rare processor features.

use super::handles::{Attribute, AttributeKind, Call, Function, Position};
use super::reader::Reader;
use inkwell::llvm_sys::{LLVMFastMathAllowReassoc, LLVMFastMathAllowReciprocal};
use ompvm_ir::{FunctionAttrs, ParamAttrs, Protect, UnsafeMath};

/// Numbers of the attributes that are read.
pub(super) struct Kinds {
    byval: AttributeKind,
    sret: AttributeKind,
    element: AttributeKind,
    align: AttributeKind,
    signext: AttributeKind,
    zeroext: AttributeKind,
    nest: AttributeKind,
    noalias: AttributeKind,
    noreturn: AttributeKind,
    nounwind: AttributeKind,
    returns_twice: AttributeKind,
    naked: AttributeKind,
    noinline: AttributeKind,
    alwaysinline: AttributeKind,
    ssp: AttributeKind,
    sspstrong: AttributeKind,
    sspreq: AttributeKind,
}

impl Kinds {
    pub(super) fn new() -> Self {
        let kind = AttributeKind::new;
        Kinds {
            byval: kind("byval"),
            sret: kind("sret"),
            element: kind("elementtype"),
            align: kind("align"),
            signext: kind("signext"),
            zeroext: kind("zeroext"),
            nest: kind("nest"),
            noalias: kind("noalias"),
            noreturn: kind("noreturn"),
            nounwind: kind("nounwind"),
            returns_twice: kind("returns_twice"),
            naked: kind("naked"),
            noinline: kind("noinline"),
            alwaysinline: kind("alwaysinline"),
            ssp: kind("ssp"),
            sspstrong: kind("sspstrong"),
            sspreq: kind("sspreq"),
        }
    }
}

impl<'p> Reader<'p> {
    /// Returns the attributes that a function has at a position.
    fn attrs_of_function(&mut self, function: Function<'p>, at: Position) -> ParamAttrs {
        let mut list = std::mem::take(&mut self.attributes);
        function.attributes(at, &mut list);
        let attrs = self.param_attrs(&list);
        self.attributes = list;
        attrs
    }

    /// Returns the attributes that a call has at a position.
    fn attrs_of_call(&mut self, call: Call<'p>, at: Position) -> ParamAttrs {
        let mut list = std::mem::take(&mut self.attributes);
        call.attributes(at, &mut list);
        let attrs = self.param_attrs(&list);
        self.attributes = list;
        attrs
    }

    /// Returns a function's attributes: parameters, return value.
    pub(super) fn signature_attrs(
        &mut self,
        function: Function<'p>,
    ) -> (Box<[ParamAttrs]>, ParamAttrs) {
        let params = (0..function.parameter_count())
            .map(|number| self.attrs_of_function(function, Position::Parameter(number)))
            .collect();
        (params, self.attrs_of_function(function, Position::Result))
    }

    /// Returns a call's attributes: arguments (empty if none has any), return value.
    pub(super) fn call_attrs(
        &mut self,
        call: Call<'p>,
        count: u32,
    ) -> (Box<[ParamAttrs]>, ParamAttrs) {
        let mut args: Vec<ParamAttrs> = Vec::new();
        for number in 0..count {
            let attrs = self.attrs_of_call(call, Position::Parameter(number));
            if attrs != ParamAttrs::default() {
                args.resize(number as usize, ParamAttrs::default());
                args.push(attrs);
            }
        }
        if !args.is_empty() {
            args.resize(count as usize, ParamAttrs::default());
        }
        let ret = self.attrs_of_call(call, Position::Result);
        (args.into(), ret)
    }

    fn param_attrs(&mut self, list: &[Attribute<'p>]) -> ParamAttrs {
        let mut out = ParamAttrs::default();
        for &attribute in list {
            let Some(kind) = attribute.kind() else {
                continue;
            };
            let kinds = &self.kinds;
            let typed = [
                (kinds.byval, &mut out.byval),
                (kinds.sret, &mut out.sret),
                (kinds.element, &mut out.element),
            ];
            let typed = typed.into_iter().find(|(of, _)| *of == kind);
            if let Some((_, to)) = typed {
                *to = attribute.held_type().map(|ty| self.type_id(ty));
            } else if kind == kinds.align {
                out.align = u32::try_from(attribute.number()).unwrap_or(0);
            } else if kind == kinds.signext {
                out.signext = true;
            } else if kind == kinds.zeroext {
                out.zeroext = true;
            } else if kind == kinds.nest {
                out.nest = true;
            } else if kind == kinds.noalias {
                out.noalias = true;
            }
        }
        out
    }

    /// Returns the attributes of the function itself.
    pub(super) fn function_attrs(&self, function: Function<'p>) -> FunctionAttrs {
        let has = |kind| function.has(Position::Function, kind);
        FunctionAttrs {
            noreturn: has(self.kinds.noreturn),
            nounwind: has(self.kinds.nounwind),
            returns_twice: has(self.kinds.returns_twice),
            naked: has(self.kinds.naked),
            noinline: has(self.kinds.noinline),
            alwaysinline: has(self.kinds.alwaysinline),
            unsafe_math: unsafe_math(function),
            protect: if has(self.kinds.sspreq) {
                Protect::Always
            } else if has(self.kinds.sspstrong) {
                Protect::Strong
            } else if has(self.kinds.ssp) {
                Protect::Characters
            } else {
                Protect::Never
            },
        }
    }
}

/// Detects `-ffast-math` in a defined function.
///
/// Up to clang 21 there is an attribute (`"unsafe-fp-math"`). Later versions only leave the flags
/// of operations. The flags that `-ffinite-math-only` and `-fno-signed-zeros` also set do not
/// suffice, since programs linked with those do not flush denormals.
fn unsafe_math(function: Function) -> UnsafeMath {
    let says = |key: &str, value: &str| {
        let text = function.text_attribute(key);
        text.is_some_and(|text| text.starts_with(value))
    };
    if function.is_declaration() || !says("no-signed-zeros-fp-math", "true") {
        return UnsafeMath::No;
    }
    if says("unsafe-fp-math", "true") || says("denormal-fp-math", "preserve-sign") {
        return UnsafeMath::Certain;
    }
    const FREE: u32 = LLVMFastMathAllowReassoc | LLVMFastMathAllowReciprocal;
    let mut operations = function.instructions();
    if operations.any(|i| i.fast_math() & FREE == FREE) {
        UnsafeMath::Certain
    } else {
        UnsafeMath::Possible
    }
}

/// Features that do not require separate treatment of a function: every processor that runs code
/// for x86-64-v4 has them, and they do not affect rounding.
const USUAL: [&str; 34] = [
    "64bit", "adx", "aes", "avx", "avx2", "avx512bw", "avx512cd", "avx512dq", "avx512f",
    "avx512vl", "bmi", "bmi2", "cmov", "crc32", "cx16", "cx8", "evex512", "f16c", "fma", "fxsr",
    "lzcnt", "mmx", "movbe", "pclmul", "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2",
    "ssse3", "x87", "xsave",
];

/// Returns the processor features beyond [`USUAL`] that a function's compiler could use: `+NAME`,
/// sorted, separated by commas.
pub(super) fn rare_features(function: Function) -> Box<str> {
    let features = function.text_attribute("target-features");
    features.map_or_else(Box::default, |features| rare(&features))
}

fn rare(features: &str) -> Box<str> {
    let on = features.split(',').filter(|f| f.starts_with('+'));
    let mut rare: Vec<&str> = on.filter(|f| !USUAL.contains(&&f[1..])).collect();
    rare.sort_unstable();
    rare.join(",").into()
}

#[cfg(test)]
mod tests {
    use super::{USUAL, rare};

    #[test]
    fn usual_features_are_left_out() {
        assert!(USUAL.is_sorted());
        assert_eq!(&*rare(""), "");
        assert_eq!(&*rare("+avx,+cmov,-avx512fp16,+x87"), "");
        assert_eq!(
            &*rare("+sse2,+avx512bf16,-sse4a,+amx-int8"),
            "+amx-int8,+avx512bf16"
        );
    }
}
