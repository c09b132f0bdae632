//! Builds modules by hand, and makes calls by a plan.
//!
//! Modules are hand-made so that the boundary is tested without a reader. They have no function
//! bodies: the tests' entry hook acts by a function's name.

use ompvm::ir::*;
use ompvm::memory::abi::CallPlan;
use std::ffi::CString;

/// A module under construction.
#[derive(Default)]
pub struct Build {
    /// The module built so far.
    pub m: Module,
}

impl Build {
    /// Interns an integer type.
    pub fn int(&mut self, bits: u32) -> TypeId {
        self.m.types.intern(Type::Int(bits))
    }
    /// Interns the pointer type.
    pub fn ptr(&mut self) -> TypeId {
        self.m.types.intern(Type::Ptr(0))
    }
    /// Interns the void type.
    pub fn void(&mut self) -> TypeId {
        self.m.types.intern(Type::Void)
    }
    /// Interns a floating-point type.
    pub fn float(&mut self, kind: FloatKind) -> TypeId {
        self.m.types.intern(Type::Float(kind))
    }
    /// Interns a vector type.
    pub fn vec(&mut self, elem: TypeId, len: u32) -> TypeId {
        self.m.types.intern(Type::Vector {
            elem,
            len,
            scalable: false,
        })
    }
    /// Interns an array type.
    pub fn array(&mut self, elem: TypeId, len: u64) -> TypeId {
        self.m.types.intern(Type::Array { elem, len })
    }
    /// Interns a struct type.
    pub fn strct(&mut self, fields: &[TypeId]) -> TypeId {
        self.m.types.intern(Type::Struct {
            fields: fields.into(),
            packed: false,
        })
    }
    /// Interns a function type.
    pub fn func_ty(&mut self, ret: TypeId, params: &[TypeId], variadic: bool) -> TypeId {
        self.m.types.intern(Type::Func {
            ret,
            params: params.into(),
            variadic,
        })
    }
    /// Adds a constant.
    pub fn konst(&mut self, ty: TypeId, c: Const) -> ConstId {
        let id = self.m.consts.push(c);
        self.m.const_types[id] = Some(ty);
        id
    }
    /// Adds a variable.
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
    /// Adds a function, with an empty body if it is defined.
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
            section: None,
            personality: None,
            scope: None,
            body: defined.then(|| Body::default().into()),
        })
    }
    /// Plans a call with these types.
    pub fn plan(&self, args: &[TypeId], ret: TypeId, variadic: bool) -> CallPlan {
        let args: Vec<_> = args.iter().map(|&t| (t, ParamAttrs::default())).collect();
        CallPlan::new(&self.m, ret, &args, (ret, &ParamAttrs::default()), variadic).unwrap()
    }
}

/// Returns the slots that hold the bytes.
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

/// Calls `target` with arguments in slots; returns the four slots of the result.
pub fn call(plan: &CallPlan, target: usize, args: &[Vec<u64>]) -> [u64; 4] {
    let ptrs: Vec<_> = args.iter().map(|a| a.as_ptr()).collect();
    let mut ret = [0xdead_beef_dead_beef; 4];
    unsafe { plan.call(target, &ptrs, ret.as_mut_ptr()) };
    ret
}

/// Returns the address of a function of the C library or libm.
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
    /// The words of the struct.
    pub a: [i64; 5],
}
