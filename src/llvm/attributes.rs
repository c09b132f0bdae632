//! Attributes of parameters, return values and functions that affect calls.
//!
//! LLVM renumbers its attributes per release, so the numbers are looked up by name. Attributes that
//! only help an optimizer are not read, and neither are string attributes, except those of
//! `-ffast-math` and of rare processor features.

use super::raw::{copy_text, llvm};
use super::reader::{Reader, list};
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex, LLVMFastMathAllowReassoc,
    LLVMFastMathAllowReciprocal,
};
use ompvm_ir::{FunctionAttrs, ParamAttrs, Protect, UnsafeMath};
use std::ptr::null_mut;

/// Numbers of the attributes that are read; 0 if LLVM lacks one.
pub(super) struct Kinds {
    byval: u32,
    sret: u32,
    align: u32,
    signext: u32,
    zeroext: u32,
    nest: u32,
    noalias: u32,
    noreturn: u32,
    nounwind: u32,
    returns_twice: u32,
    naked: u32,
    noinline: u32,
    alwaysinline: u32,
    ssp: u32,
    sspstrong: u32,
    sspreq: u32,
}

impl Kinds {
    pub(super) fn new() -> Self {
        let kind = |name: &str| {
            let (start, len) = (name.as_ptr().cast(), name.len());
            llvm!(core::LLVMGetEnumAttributeKindForName(start, len))
        };
        Kinds {
            byval: kind("byval"),
            sret: kind("sret"),
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

impl Reader<'_> {
    /// Returns the attributes at `index` (0 the return value, then the parameters) of a function.
    fn attrs_of_function(&mut self, function: LLVMValueRef, index: u32) -> ParamAttrs {
        let count = llvm!(core::LLVMGetAttributeCountAtIndex(function, index));
        if count == 0 {
            return ParamAttrs::default();
        }
        let mut list = std::mem::take(&mut self.attributes);
        list.resize(count as usize, null_mut());
        llvm!(core::LLVMGetAttributesAtIndex(
            function,
            index,
            list.as_mut_ptr()
        ));
        let attrs = self.param_attrs(&list);
        self.attributes = list;
        attrs
    }

    /// Returns the attributes at `index` of a call.
    fn attrs_of_call(&mut self, call: LLVMValueRef, index: u32) -> ParamAttrs {
        let count = llvm!(core::LLVMGetCallSiteAttributeCount(call, index));
        if count == 0 {
            return ParamAttrs::default();
        }
        let mut list = std::mem::take(&mut self.attributes);
        list.resize(count as usize, null_mut());
        llvm!(core::LLVMGetCallSiteAttributes(
            call,
            index,
            list.as_mut_ptr()
        ));
        let attrs = self.param_attrs(&list);
        self.attributes = list;
        attrs
    }

    /// Returns a function's attributes: parameters, return value.
    pub(super) fn signature_attrs(
        &mut self,
        function: LLVMValueRef,
    ) -> (Box<[ParamAttrs]>, ParamAttrs) {
        let count = llvm!(core::LLVMCountParams(function));
        let params = (1..=count)
            .map(|index| self.attrs_of_function(function, index))
            .collect();
        (
            params,
            self.attrs_of_function(function, LLVMAttributeReturnIndex),
        )
    }

    /// Returns a call's attributes: arguments (empty if none has any), return value.
    pub(super) fn call_attrs(
        &mut self,
        call: LLVMValueRef,
        count: u32,
    ) -> (Box<[ParamAttrs]>, ParamAttrs) {
        let mut args: Vec<ParamAttrs> = Vec::new();
        for index in 1..=count {
            let attrs = self.attrs_of_call(call, index);
            if attrs != ParamAttrs::default() {
                args.resize(index as usize - 1, ParamAttrs::default());
                args.push(attrs);
            }
        }
        if !args.is_empty() {
            args.resize(count as usize, ParamAttrs::default());
        }
        let ret = self.attrs_of_call(call, LLVMAttributeReturnIndex);
        (args.into(), ret)
    }

    fn param_attrs(&mut self, list: &[LLVMAttributeRef]) -> ParamAttrs {
        let mut out = ParamAttrs::default();
        for &attribute in list {
            if llvm!(core::LLVMIsStringAttribute(attribute)) != 0 {
                continue;
            }
            let kind = llvm!(core::LLVMGetEnumAttributeKind(attribute));
            let kinds = &self.kinds;
            if kind == kinds.byval || kind == kinds.sret {
                let by_value = kind == kinds.byval;
                let ty = llvm!(core::LLVMGetTypeAttributeValue(attribute));
                let ty = Some(self.type_id(ty));
                if by_value {
                    out.byval = ty;
                } else {
                    out.sret = ty;
                }
            } else if kind == kinds.align {
                let align = llvm!(core::LLVMGetEnumAttributeValue(attribute));
                out.align = u32::try_from(align).unwrap_or(0);
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
    pub(super) fn function_attrs(&self, function: LLVMValueRef) -> FunctionAttrs {
        let has = |kind: u32| {
            let index = LLVMAttributeFunctionIndex;
            !llvm!(core::LLVMGetEnumAttributeAtIndex(function, index, kind)).is_null()
        };
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
fn unsafe_math(function: LLVMValueRef) -> UnsafeMath {
    let says = |key: &str, value: &[u8]| {
        let (start, len) = (key.as_ptr().cast(), key.len() as u32);
        let index = LLVMAttributeFunctionIndex;
        let attribute = llvm!(core::LLVMGetStringAttributeAtIndex(
            function, index, start, len
        ));
        if attribute.is_null() {
            return false;
        }
        let mut len = 0;
        let text = llvm!(core::LLVMGetStringAttributeValue(attribute, &mut len));
        // SAFETY: LLVM returned pointer and length together, and the text lives with the context.
        let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len as usize) };
        text.starts_with(value)
    };
    if llvm!(core::LLVMIsDeclaration(function)) != 0 || !says("no-signed-zeros-fp-math", b"true") {
        return UnsafeMath::No;
    }
    if says("unsafe-fp-math", b"true") || says("denormal-fp-math", b"preserve-sign") {
        return UnsafeMath::Certain;
    }
    const FREE: u32 = LLVMFastMathAllowReassoc | LLVMFastMathAllowReciprocal;
    let first = llvm!(core::LLVMGetFirstBasicBlock(function));
    let blocks = list(first, |b| llvm!(core::LLVMGetNextBasicBlock(b)));
    let mut operations = blocks
        .flat_map(|b| {
            list(llvm!(core::LLVMGetFirstInstruction(b)), |i| {
                llvm!(core::LLVMGetNextInstruction(i))
            })
        })
        .filter(|&i| llvm!(core::LLVMCanValueUseFastMathFlags(i)) != 0);
    if operations.any(|i| llvm!(core::LLVMGetFastMathFlags(i)) & FREE == FREE) {
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
pub(super) fn rare_features(function: LLVMValueRef) -> Box<str> {
    let key = "target-features";
    let attribute = llvm!(core::LLVMGetStringAttributeAtIndex(
        function,
        LLVMAttributeFunctionIndex,
        key.as_ptr().cast(),
        key.len() as u32
    ));
    if attribute.is_null() {
        return Box::default();
    }
    let mut length = 0;
    let start = llvm!(core::LLVMGetStringAttributeValue(attribute, &mut length));
    rare(&copy_text(start, length as usize))
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
