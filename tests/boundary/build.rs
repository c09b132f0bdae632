//! Modules built by hand, and calls by a plan.
//!
//! Why by hand: the boundary is tested without a reader. What not: function bodies; the tests'
//! entry hook does what a function's name says.

use ompvm::ir::*;
use ompvm::memory::abi::CallPlan;
use std::ffi::CString;

/// A module under construction.
#[derive(Default)]
pub struct Build {
    /// What was built so far.
    pub m: Module,
}

impl Build {
    /// An integer type.
    pub fn int(&mut self, bits: u32) -> TypeId {
        self.m.types.intern(Type::Int(bits))
    }
    /// The pointer type.
    pub fn ptr(&mut self) -> TypeId {
        self.m.types.intern(Type::Ptr(0))
    }
    /// Nothing.
    pub fn void(&mut self) -> TypeId {
        self.m.types.intern(Type::Void)
    }
    /// A floating-point type.
    pub fn float(&mut self, kind: FloatKind) -> TypeId {
        self.m.types.intern(Type::Float(kind))
    }
    /// A vector type.
    pub fn vec(&mut self, elem: TypeId, len: u32) -> TypeId {
        self.m.types.intern(Type::Vector {
            elem,
            len,
            scalable: false,
        })
    }
    /// An array type.
    pub fn array(&mut self, elem: TypeId, len: u64) -> TypeId {
        self.m.types.intern(Type::Array { elem, len })
    }
    /// A struct type.
    pub fn strct(&mut self, fields: &[TypeId]) -> TypeId {
        self.m.types.intern(Type::Struct {
            fields: fields.into(),
            packed: false,
        })
    }
    /// A function type.
    pub fn func_ty(&mut self, ret: TypeId, params: &[TypeId], variadic: bool) -> TypeId {
        self.m.types.intern(Type::Func {
            ret,
            params: params.into(),
            variadic,
        })
    }
    /// A constant.
    pub fn konst(&mut self, ty: TypeId, c: Const) -> ConstId {
        let id = self.m.consts.push(c);
        self.m.const_types[id] = Some(ty);
        id
    }
    /// A variable.
    pub fn global(&mut self, name: &str, ty: TypeId, init: Option<ConstId>) -> GlobalId {
        self.m.globals.push(Global {
            name: name.into(),
            ty,
            init,
            align: 0,
            linkage: Linkage::External,
            constant: false,
            thread_local: false,
            section: None,
            loc: None,
        })
    }
    /// A function, with an empty body where it is defined.
    pub fn function(
        &mut self,
        name: &str,
        ret: TypeId,
        params: &[TypeId],
        defined: bool,
    ) -> FuncId {
        let ty = self.func_ty(ret, params, false);
        self.m.functions.push(Function {
            name: name.into(),
            ty,
            params: params.iter().map(|_| ParamAttrs::default()).collect(),
            ret_attrs: ParamAttrs::default(),
            attrs: FunctionAttrs::default(),
            features: Box::default(),
            calling_convention: 0,
            linkage: Linkage::External,
            personality: None,
            scope: None,
            body: defined.then(|| Body::default().into()),
        })
    }
    /// How a function of these types is called.
    pub fn plan(&self, args: &[TypeId], ret: TypeId, variadic: bool) -> CallPlan {
        let args: Vec<_> = args.iter().map(|&t| (t, ParamAttrs::default())).collect();
        CallPlan::new(&self.m, ret, &args, (ret, &ParamAttrs::default()), variadic).unwrap()
    }
}

/// Bytes as the slots that hold them.
pub fn slots(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks(8)
        .map(|c| {
            let mut b = [0; 8];
            b[..c.len()].copy_from_slice(c);
            u64::from_le_bytes(b)
        })
        .collect()
}

/// Calls `target` with arguments given as slots; the result's four slots.
pub fn call(plan: &CallPlan, target: usize, args: &[Vec<u64>]) -> [u64; 4] {
    let ptrs: Vec<_> = args.iter().map(|a| a.as_ptr()).collect();
    let mut ret = [0xdead_beef_dead_beef; 4];
    unsafe { plan.call(target, &ptrs, ret.as_mut_ptr()) };
    ret
}

/// The address of a function of the C library or libm.
pub fn sym(name: &str) -> usize {
    let name = CString::new(name).unwrap();
    unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    let p = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    assert_ne!(p, 0, "{name:?}");
    p
}

/// A struct that does not fit into registers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Big {
    /// Its words.
    pub a: [i64; 5],
}
