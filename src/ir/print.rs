//! A compact text of a module, for golden tests and for inspecting the reader's result.
//!
//! The text is close to LLVM's textual form but not readable by LLVM: values have numbers only
//! (parameters first, then one per instruction, including void ones), constants are written in
//! place, data as its first bytes. It cannot be parsed back and may change between versions.

use super::debug::LocId;
use super::{
    Body, Const, ConstExpr, ConstId, FloatKind, FuncId, Function, GlobalRef, Module, ParamAttrs,
    Type, TypeId,
};
use std::fmt::{self, Display, Formatter, Write};

/// Nesting depth at which constants are truncated.
const DEPTH: usize = 8;
/// Number of elements of an aggregate, and of bytes of data, that are printed.
const ELEMENTS: usize = 32;

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (_, global) in &self.globals {
            write!(f, "@{} = {:?}", global.name, global.linkage)?;
            if global.thread_local {
                f.write_str(" thread_local")?;
            }
            let word = if global.constant {
                "constant"
            } else {
                "global"
            };
            write!(f, " {word} {}", self.show_type(global.ty))?;
            if let Some(init) = global.init {
                write!(f, " {}", self.show_const(init))?;
            }
            if global.align > 0 {
                write!(f, ", align {}", global.align)?;
            }
            if let Some(section) = &global.section {
                write!(f, ", section {section:?}")?;
            }
            self.place(f, global.loc)?;
            f.write_char('\n')?;
        }
        for (_, alias) in &self.aliases {
            let target = self.show_const(alias.target);
            writeln!(f, "@{} = {:?} alias {target}", alias.name, alias.linkage)?;
        }
        for (_, ifunc) in &self.ifuncs {
            let resolver = self.show_const(ifunc.resolver);
            writeln!(f, "@{} = {:?} ifunc {resolver}", ifunc.name, ifunc.linkage)?;
        }
        for (word, list) in [("ctor", &self.ctors), ("dtor", &self.dtors)] {
            for entry in list {
                writeln!(
                    f,
                    "{word} {} {}",
                    entry.priority,
                    self.show_const(entry.func)
                )?;
            }
        }
        for id in self.functions.keys() {
            write!(f, "{}", self.show_function(id))?;
        }
        Ok(())
    }
}

impl Module {
    /// Returns the text of one function.
    pub fn show_function(&self, id: FuncId) -> impl Display + '_ {
        let function = &self.functions[id];
        fmt::from_fn(move |f| self.write_function(f, function))
    }

    /// Returns the text of a type.
    pub fn show_type(&self, ty: TypeId) -> impl Display + '_ {
        fmt::from_fn(move |f| self.write_type(f, ty))
    }

    /// Returns the text of a constant, with its type.
    pub fn show_const(&self, id: ConstId) -> impl Display + '_ {
        fmt::from_fn(move |f| self.write_const(f, id, 0))
    }

    /// Returns the name of a symbol.
    pub fn symbol_name(&self, symbol: GlobalRef) -> &str {
        match symbol {
            GlobalRef::Func(id) => &self.functions[id].name,
            GlobalRef::Var(id) => &self.globals[id].name,
            GlobalRef::Alias(id) => &self.aliases[id].name,
            GlobalRef::IFunc(id) => &self.ifuncs[id].name,
        }
    }

    fn place(&self, f: &mut Formatter<'_>, loc: Option<LocId>) -> fmt::Result {
        match loc {
            Some(loc) => write!(f, "  ; {}", self.debug.describe(loc)),
            None => Ok(()),
        }
    }

    fn write_type(&self, f: &mut Formatter<'_>, ty: TypeId) -> fmt::Result {
        match &self.types[ty] {
            Type::Void => f.write_str("void"),
            Type::Int(bits) => write!(f, "i{bits}"),
            Type::Float(kind) => f.write_str(match kind {
                FloatKind::Half => "half",
                FloatKind::BFloat => "bfloat",
                FloatKind::Float => "float",
                FloatKind::Double => "double",
                FloatKind::X86Fp80 => "x86_fp80",
                FloatKind::Fp128 => "fp128",
            }),
            Type::Ptr(0) => f.write_str("ptr"),
            Type::Ptr(space) => write!(f, "ptr addrspace({space})"),
            Type::Vector {
                elem,
                len,
                scalable,
            } => {
                let scale = if *scalable { "vscale x " } else { "" };
                write!(f, "<{scale}{len} x {}>", self.show_type(*elem))
            }
            Type::Array { elem, len } => write!(f, "[{len} x {}]", self.show_type(*elem)),
            Type::Struct { fields, packed } => {
                f.write_str(if *packed { "<{" } else { "{" })?;
                self.write_types(f, fields)?;
                f.write_str(if *packed { "}>" } else { "}" })
            }
            Type::Opaque => f.write_str("opaque"),
            Type::Func {
                ret,
                params,
                variadic,
            } => {
                write!(f, "{} (", self.show_type(*ret))?;
                self.write_types(f, params)?;
                f.write_str(match (variadic, params.is_empty()) {
                    (true, true) => "...)",
                    (true, false) => ", ...)",
                    (false, _) => ")",
                })
            }
            Type::Label => f.write_str("label"),
            Type::Metadata => f.write_str("metadata"),
            Type::Token => f.write_str("token"),
            Type::Amx => f.write_str("x86_amx"),
            Type::Target(name) => write!(f, "target({name:?})"),
        }
    }

    fn write_types(&self, f: &mut Formatter<'_>, types: &[TypeId]) -> fmt::Result {
        for (i, &ty) in types.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            self.write_type(f, ty)?;
        }
        Ok(())
    }

    pub(super) fn write_const(
        &self,
        f: &mut Formatter<'_>,
        id: ConstId,
        depth: usize,
    ) -> fmt::Result {
        let ty = self.const_type(id);
        write!(f, "{} ", self.show_type(ty))?;
        match &self.consts[id] {
            Const::Int(value) => match &self.types[ty] {
                Type::Int(bits) if *bits > 1 && *bits <= 128 => {
                    let shift = 128 - bits;
                    write!(f, "{}", ((value << shift) as i128) >> shift)
                }
                _ => write!(f, "{value}"),
            },
            Const::BigInt(words) => {
                f.write_str("0x")?;
                words.iter().rev().try_for_each(|w| write!(f, "{w:016x}"))
            }
            Const::Float(bits) => match &self.types[ty] {
                Type::Float(FloatKind::Double) => write!(f, "{:?}", f64::from_bits(*bits as u64)),
                Type::Float(FloatKind::Float) => write!(f, "{:?}", f32::from_bits(*bits as u32)),
                _ => write!(f, "{bits:#x}"),
            },
            Const::Null => f.write_str("null"),
            Const::Zero => f.write_str("zero"),
            Const::Undef => f.write_str("undef"),
            Const::Poison => f.write_str("poison"),
            Const::Data(bytes) => {
                let shown = &bytes[..bytes.len().min(ELEMENTS)];
                write!(f, "\"{}\"", shown.escape_ascii())?;
                if bytes.len() > ELEMENTS {
                    write!(f, "... {} bytes", bytes.len())?;
                }
                Ok(())
            }
            Const::Global(symbol) => write!(f, "@{}", self.symbol_name(*symbol)),
            Const::BlockAddress(function, block) => {
                write!(
                    f,
                    "blockaddress(@{}, {block})",
                    self.functions[*function].name
                )
            }
            Const::Unsupported(text) => write!(f, "unsupported {text:?}"),
            _ if depth >= DEPTH => f.write_str("..."),
            Const::Aggregate(elems) => {
                f.write_char('{')?;
                self.write_consts(f, elems, depth + 1)?;
                f.write_char('}')
            }
            Const::Expr(ConstExpr::Gep {
                elem,
                base,
                indices,
            }) => {
                write!(f, "gep({}, ", self.show_type(*elem))?;
                self.write_const(f, *base, depth + 1)?;
                f.write_str("; ")?;
                self.write_consts(f, indices, depth + 1)?;
                f.write_char(')')
            }
            Const::Expr(ConstExpr::Cast(op, a)) => {
                write!(f, "{op:?}(")?;
                self.write_const(f, *a, depth + 1)?;
                f.write_char(')')
            }
            Const::Expr(ConstExpr::Binary(op, a, b)) => {
                write!(f, "{op:?}(")?;
                self.write_consts(f, &[*a, *b], depth + 1)?;
                f.write_char(')')
            }
        }
    }

    fn write_consts(&self, f: &mut Formatter<'_>, ids: &[ConstId], depth: usize) -> fmt::Result {
        for (i, &id) in ids.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            if i == ELEMENTS {
                return write!(f, "... {} in all", ids.len());
            }
            self.write_const(f, id, depth)?;
        }
        Ok(())
    }

    fn write_function(&self, f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
        let word = if function.body.is_some() {
            "define"
        } else {
            "declare"
        };
        let (ret, params, variadic) = function.signature(self);
        write!(f, "{word} {:?}", function.linkage)?;
        if function.calling_convention != 0 {
            write!(f, " cc{}", function.calling_convention)?;
        }
        write!(
            f,
            "{} {} @{}(",
            self.show_attrs(&function.ret_attrs),
            self.show_type(ret),
            function.name
        )?;
        for (i, &ty) in params.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let attrs = self.show_attrs(&function.params[i]);
            write!(f, "{comma}{}{attrs}", self.show_type(ty))?;
        }
        f.write_str(match (variadic, params.is_empty()) {
            (true, true) => "...)",
            (true, false) => ", ...)",
            (false, _) => ")",
        })?;
        let a = function.attrs;
        for (set, name) in [
            (a.noreturn, "noreturn"),
            (a.nounwind, "nounwind"),
            (a.returns_twice, "returns_twice"),
            (a.naked, "naked"),
            (a.noinline, "noinline"),
            (a.alwaysinline, "alwaysinline"),
            (a.protect == super::Protect::Characters, "ssp"),
            (a.protect == super::Protect::Strong, "sspstrong"),
            (a.protect == super::Protect::Always, "sspreq"),
        ] {
            if set {
                write!(f, " {name}")?;
            }
        }
        if let Some(personality) = function.personality {
            write!(f, " personality {}", self.show_const(personality))?;
        }
        if let Some(scope) = function.scope {
            let scope = &self.debug.scopes[scope];
            let file = &self.debug.files[scope.file].name;
            write!(f, "  ; {} {file}:{}", scope.name, scope.line)?;
        }
        f.write_char('\n')?;
        let Some(body) = &function.body else {
            return Ok(());
        };
        self.write_body(f, body, params.len())
    }

    fn write_body(&self, f: &mut Formatter<'_>, body: &Body, params: usize) -> fmt::Result {
        for (number, block) in body.blocks.iter().enumerate() {
            writeln!(f, "bb{number}:")?;
            for index in block.start..block.end {
                let inst = &body.insts[index as usize];
                f.write_str("  ")?;
                if !matches!(self.types[inst.ty], Type::Void) {
                    write!(f, "%{} = ", params + index as usize)?;
                }
                write!(f, "{}", self.show_inst(inst))?;
                self.place(f, inst.loc)?;
                f.write_char('\n')?;
            }
        }
        Ok(())
    }

    pub(super) fn show_attrs<'a>(&'a self, attrs: &'a ParamAttrs) -> impl Display + 'a {
        fmt::from_fn(move |f| {
            for (name, ty) in [
                (" byval", attrs.byval),
                (" sret", attrs.sret),
                (" elementtype", attrs.element),
            ] {
                if let Some(ty) = ty {
                    write!(f, "{name}({})", self.show_type(ty))?;
                }
            }
            if attrs.align > 0 {
                write!(f, " align {}", attrs.align)?;
            }
            for (set, name) in [
                (attrs.signext, " signext"),
                (attrs.zeroext, " zeroext"),
                (attrs.nest, " nest"),
                (attrs.noalias, " noalias"),
            ] {
                if set {
                    f.write_str(name)?;
                }
            }
            Ok(())
        })
    }
}
