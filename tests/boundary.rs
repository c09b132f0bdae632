//! The boundary between guest and native code, tested without a reader or an interpreter:
//! modules are built by hand and a small entry hook plays the interpreter.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "test code: every block calls what the test just set up"
)]
#![allow(
    improper_ctypes_definitions,
    reason = "i128 and vectors are what is tested"
)]

use ompvm::ir::*;
use ompvm::memory::abi::{CallPlan, NativeFrame, set_entry_hook};
use ompvm::memory::activation::{self, Activation, Exit, Search};
use ompvm::memory::func::{self, FuncRef};
use ompvm::memory::image::Image;
use ompvm::memory::{signals, thread};
use ompvm::support::error::{Trap, TrapKind};
use std::arch::x86_64::{__m128, _mm_add_ps};
use std::ffi::{CString, c_void};
use std::sync::{Arc, Once};

#[derive(Default)]
struct Build {
    m: Module,
}

impl Build {
    fn int(&mut self, bits: u32) -> TypeId {
        self.m.types.intern(Type::Int(bits))
    }
    fn ptr(&mut self) -> TypeId {
        self.m.types.intern(Type::Ptr(0))
    }
    fn void(&mut self) -> TypeId {
        self.m.types.intern(Type::Void)
    }
    fn float(&mut self, kind: FloatKind) -> TypeId {
        self.m.types.intern(Type::Float(kind))
    }
    fn vec(&mut self, elem: TypeId, len: u32) -> TypeId {
        self.m.types.intern(Type::Vector {
            elem,
            len,
            scalable: false,
        })
    }
    fn array(&mut self, elem: TypeId, len: u64) -> TypeId {
        self.m.types.intern(Type::Array { elem, len })
    }
    fn strct(&mut self, fields: &[TypeId]) -> TypeId {
        self.m.types.intern(Type::Struct {
            fields: fields.into(),
            packed: false,
        })
    }
    fn func_ty(&mut self, ret: TypeId, params: &[TypeId], variadic: bool) -> TypeId {
        self.m.types.intern(Type::Func {
            ret,
            params: params.into(),
            variadic,
        })
    }
    fn konst(&mut self, ty: TypeId, c: Const) -> ConstId {
        let id = self.m.consts.push(c);
        self.m.const_types[id] = Some(ty);
        id
    }
    fn global(&mut self, name: &str, ty: TypeId, init: Option<ConstId>) -> GlobalId {
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
    fn function(&mut self, name: &str, ret: TypeId, params: &[TypeId], defined: bool) -> FuncId {
        let ty = self.func_ty(ret, params, false);
        self.m.functions.push(Function {
            name: name.into(),
            ty,
            params: params.iter().map(|_| ParamAttrs::default()).collect(),
            ret_attrs: ParamAttrs::default(),
            attrs: FunctionAttrs::default(),
            calling_convention: 0,
            linkage: Linkage::External,
            personality: None,
            scope: None,
            body: defined.then(|| Body::default().into()),
        })
    }
    fn plan(&self, args: &[TypeId], ret: TypeId, variadic: bool) -> CallPlan {
        let args: Vec<_> = args.iter().map(|&t| (t, ParamAttrs::default())).collect();
        CallPlan::new(&self.m, ret, &args, (ret, &ParamAttrs::default()), variadic).unwrap()
    }
}

fn slots(bytes: &[u8]) -> Vec<u64> {
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
fn call(plan: &CallPlan, target: usize, args: &[Vec<u64>]) -> [u64; 4] {
    let ptrs: Vec<_> = args.iter().map(|a| a.as_ptr()).collect();
    let mut ret = [0xdead_beef_dead_beef; 4];
    unsafe { plan.call(target, &ptrs, ret.as_mut_ptr()) };
    ret
}

fn sym(name: &str) -> usize {
    let name = CString::new(name).unwrap();
    unsafe { libc::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    let p = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
    assert_ne!(p, 0, "{name:?}");
    p
}

#[test]
fn integers_go_to_registers_and_then_the_stack() {
    extern "C" fn f(a: i8, b: u16, c: i32, d: i64, e: u8, f: i16, g: i8, h: i64, i: i32) -> i64 {
        i64::from(a)
            + i64::from(b) * 10
            + i64::from(c) * 100
            + d * 1000
            + i64::from(e) * 7
            + i64::from(f) * 3
            + i64::from(g) * 5
            + h * 11
            + i64::from(i) * 13
    }
    let mut b = Build::default();
    let (i8_, i16_, i32_, i64_) = (b.int(8), b.int(16), b.int(32), b.int(64));
    let signed = ParamAttrs {
        signext: true,
        ..Default::default()
    };
    let none = ParamAttrs::default();
    let args = [
        (i8_, signed.clone()),
        (i16_, none.clone()),
        (i32_, none.clone()),
        (i64_, none.clone()),
        (i8_, none.clone()),
        (i16_, signed.clone()),
        (i8_, signed),
        (i64_, none.clone()),
        (i32_, none.clone()),
    ];
    let plan = CallPlan::new(&b.m, i64_, &args, (i64_, &none), false).unwrap();
    let v: [(i64, u64); 9] = [
        (-1, 0xff),
        (2, 2),
        (-3, 0xffff_fffd),
        (-4, (-4i64) as u64),
        (200, 200),
        (-6, 0xfffa),
        (-7, 0xf9),
        (8, 8),
        (-9, 0xffff_fff7),
    ];
    let args: Vec<_> = v.iter().map(|x| vec![x.1]).collect();
    let got = call(&plan, f as *const () as usize, &args)[0] as i64;
    assert_eq!(got, f(-1, 2, -3, -4, 200, -6, -7, 8, -9));
    assert_eq!(plan.simple_ints(), None);
    assert_eq!(b.plan(&[i32_, i64_], i32_, false).simple_ints(), Some(2));
}

#[test]
fn snprintf_takes_integers_doubles_long_doubles_and_strings() {
    let mut b = Build::default();
    let (p, i32_, i64_) = (b.ptr(), b.int(32), b.int(64));
    let (f64_, f80) = (b.float(FloatKind::Double), b.float(FloatKind::X86Fp80));
    let mut args = vec![p, i64_, p, i32_, f64_, p, i64_, f80, f64_];
    args.extend([f64_; 9]);
    args.push(i32_);
    let plan = b.plan(&args, i32_, true);
    let mut buffer = [0u8; 256];
    let format = c"%d %.2f %s %ld %.3Lf %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %.1f %d";
    let s = c"text";
    // 2.5L: sign and exponent 0x4000, mantissa 0xa000000000000000
    let mut v = vec![
        vec![buffer.as_mut_ptr() as u64],
        vec![256],
        vec![format.as_ptr() as u64],
        vec![(-42i32) as u32 as u64],
        vec![1.25f64.to_bits()],
        vec![s.as_ptr() as u64],
        vec![(-7i64) as u64],
        vec![0xa000_0000_0000_0000, 0x4000],
        vec![0.5f64.to_bits()],
    ];
    v.extend((1..=9).map(|n| vec![f64::from(n).to_bits()]));
    v.push(vec![99]);
    call(&plan, sym("snprintf"), &v);
    let got = std::ffi::CStr::from_bytes_until_nul(&buffer)
        .unwrap()
        .to_str()
        .unwrap();
    assert_eq!(
        got,
        "-42 1.25 text -7 2.500 0.5 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0 99"
    );
}

#[test]
fn small_structs_return_in_registers() {
    let mut b = Build::default();
    let (i32_, i64_) = (b.int(32), b.int(64));
    // clang: div returns i64, ldiv { i64, i64 }
    let plan = b.plan(&[i32_, i32_], i64_, false);
    let got = call(&plan, sym("div"), &[vec![17], vec![5]]);
    assert_eq!((got[0] as u32, got[0] >> 32), (3, 2));
    let pair = b.strct(&[i64_, i64_]);
    let plan = b.plan(&[i64_, i64_], pair, false);
    let got = call(&plan, sym("ldiv"), &[vec![(-17i64) as u64], vec![5]]);
    assert_eq!((got[0] as i64, got[1] as i64), (-3, -2));
    #[repr(C)]
    struct Mixed {
        d: f64,
        i: i64,
    }
    extern "C" fn mixed(x: f64) -> Mixed {
        Mixed { d: x * 2.0, i: 77 }
    }
    let f64_ = b.float(FloatKind::Double);
    let ty = b.strct(&[f64_, i64_]);
    let plan = b.plan(&[f64_], ty, false);
    let got = call(
        &plan,
        mixed as *const () as usize,
        &[vec![1.5f64.to_bits()]],
    );
    assert_eq!((f64::from_bits(got[0]), got[1]), (3.0, 77));
}

#[test]
fn long_double_functions() {
    let mut b = Build::default();
    let f80 = b.float(FloatKind::X86Fp80);
    let p = b.ptr();
    let plan = b.plan(&[p, p], f80, false);
    let text = c"-6.25";
    let x = call(
        &plan,
        sym("strtold"),
        &[vec![text.as_ptr() as u64], vec![0]],
    );
    let plan = b.plan(&[f80], f80, false);
    let y = call(&plan, sym("fabsl"), &[x[..2].to_vec()]);
    assert_eq!(y[..2], [0xc800_0000_0000_0000, 0x4001]);
    let plan = b.plan(&[f80, f80], f80, false);
    let z = call(
        &plan,
        sym("powl"),
        &[y[..2].to_vec(), vec![0x8000_0000_0000_0000, 0x4000]],
    );
    // 39.0625 = 1.220703125 * 2^5
    assert_eq!(z[..2], [0x9c40_0000_0000_0000, 0x4004]);
}

#[test]
fn wide_integers_vectors_and_halves() {
    extern "C" fn wide(a: i64, x: i128, b: i64, c: i64, y: i128, d: i64) -> i128 {
        x - y * i128::from(a) + i128::from(b + c * 10 + d * 100)
    }
    let mut b = Build::default();
    let (i64_, i128_) = (b.int(64), b.int(128));
    let plan = b.plan(&[i64_, i128_, i64_, i64_, i128_, i64_], i128_, false);
    let w = |v: i128| vec![v as u64, (v >> 64) as u64];
    let (x, y) = (-(1i128 << 90), (1i128 << 70) + 5);
    let got = call(
        &plan,
        wide as *const () as usize,
        &[vec![3], w(x), vec![1], vec![2], w(y), vec![4]],
    );
    assert_eq!(
        i128::from(got[0]) | (i128::from(got[1]) << 64),
        wide(3, x, 1, 2, y, 4)
    );

    extern "C" fn add(a: __m128, b: __m128) -> __m128 {
        unsafe { _mm_add_ps(a, b) }
    }
    let f32_ = b.float(FloatKind::Float);
    let v4 = b.vec(f32_, 4);
    let plan = b.plan(&[v4, v4], v4, false);
    let pack = |v: [f32; 4]| slots(&v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    let got = call(
        &plan,
        add as *const () as usize,
        &[pack([1., 2., 3., 4.]), pack([10., 20., 30., 40.])],
    );
    assert_eq!(got[..2], pack([11., 22., 33., 44.])[..]);

    extern "C" fn floats(a: f32, b: f64, c: f32) -> f32 {
        a + b as f32 * c
    }
    let f64_ = b.float(FloatKind::Double);
    let plan = b.plan(&[f32_, f64_, f32_], f32_, false);
    let got = call(
        &plan,
        floats as *const () as usize,
        &[
            vec![u64::from(1f32.to_bits())],
            vec![2f64.to_bits()],
            vec![u64::from(3f32.to_bits())],
        ],
    );
    assert_eq!(f32::from_bits(got[0] as u32), 7.0);
    let v8 = b.vec(f32_, 8);
    let e = CallPlan::new(
        &b.m,
        v8,
        &[(v8, ParamAttrs::default())],
        (v8, &ParamAttrs::default()),
        false,
    );
    assert!(e.unwrap_err().contains("256 bits"));
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Big {
    a: [i64; 5],
}

#[test]
fn byval_is_copied_and_sret_comes_back() {
    extern "C" fn f(n: i64, mut big: Big, d: f64) -> Big {
        for x in &mut big.a {
            *x = *x * n + d as i64;
        }
        big
    }
    let mut b = Build::default();
    let (p, i64_, f64_, void) = (b.ptr(), b.int(64), b.float(FloatKind::Double), b.void());
    let arr = b.array(i64_, 5);
    let ty = b.strct(&[arr]);
    let args = [
        (
            p,
            ParamAttrs {
                sret: Some(ty),
                ..Default::default()
            },
        ),
        (i64_, ParamAttrs::default()),
        (
            p,
            ParamAttrs {
                byval: Some(ty),
                align: 8,
                ..Default::default()
            },
        ),
        (f64_, ParamAttrs::default()),
    ];
    let plan = CallPlan::new(&b.m, void, &args, (void, &ParamAttrs::default()), false).unwrap();
    let big = Big { a: [1, 2, 3, 4, 5] };
    let mut out = Big { a: [0; 5] };
    call(
        &plan,
        f as *const () as usize,
        &[
            vec![&raw mut out as u64],
            vec![10],
            vec![&raw const big as u64],
            vec![7.0f64.to_bits()],
        ],
    );
    assert_eq!(out.a, [17, 27, 37, 47, 57]);
    assert_eq!(big.a, [1, 2, 3, 4, 5]);
}

// ---- entry from native code ----------------------------------------------------------------

/// Plays the interpreter: reads the arguments by plan, does what the function's name says.
extern "C-unwind" fn entry(f: &FuncRef, frame: &mut NativeFrame) {
    let module = &f.image().module;
    let name = &*module.functions[f.id].name;
    let plan = f.plan().unwrap();
    let (_, params, _) = module.functions[f.id].signature(module);
    let mut args = vec![[0u64; 4]; params.len()];
    let dst: Vec<_> = args.iter_mut().map(|a| a.as_mut_ptr()).collect();
    unsafe { plan.read_args(frame, &dst) };
    let mut ret = [0u64; 4];
    match name {
        "compare" => unsafe {
            let (a, b) = (*(args[0][0] as *const i32), *(args[1][0] as *const i32));
            ret[0] = u64::from((i32::from(a > b) - i32::from(a < b)) as u32);
        },
        "mixed" => {
            // i128 + i64 + sum of byval + double + x86_fp80's mantissa: returns { i64, double }
            let big = unsafe { *(args[2][0] as *const Big) };
            ret[0] = args[0][0] + args[1][0] + big.a.iter().sum::<i64>() as u64;
            ret[1] = (f64::from_bits(args[3][0]) + 0.5).to_bits();
        }
        "many" => {
            for (i, a) in args.iter().enumerate() {
                ret[0] = ret[0].wrapping_add((i as u64 + 1) * a[0]);
            }
        }
        "half_long" => {
            // long double: one less in the exponent
            ret[0] = args[0][0];
            ret[1] = args[0][1] - 1;
        }
        "throw" => unsafe { raise(args[0][0]) },
        other => panic!("no such test function: {other}"),
    }
    unsafe { plan.write_ret(frame, ret.as_ptr()) };
}

fn hooks() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_entry_hook(entry);
        activation::set_search_hook(|act, _| {
            if act.interp[0] == 1 {
                Search::Handler
            } else {
                Search::Cleanup
            }
        });
    });
}

fn place(b: Build) -> Arc<Image> {
    Image::place(Arc::new(b.m), &mut |_, _| None).unwrap()
}

#[test]
fn native_code_calls_guest_functions() {
    hooks();
    let mut b = Build::default();
    let (p, i32_, i64_, i128_, f64_) = (
        b.ptr(),
        b.int(32),
        b.int(64),
        b.int(128),
        b.float(FloatKind::Double),
    );
    let f80 = b.float(FloatKind::X86Fp80);
    let compare = b.function("compare", i32_, &[p, p], true);
    let ret = b.strct(&[i64_, f64_]);
    let mixed = b.function("mixed", ret, &[i128_, i64_, p, f64_], true);
    let arr = b.array(i64_, 5);
    let big = b.strct(&[arr]);
    b.m.functions[mixed].params[2].byval = Some(big);
    let many = b.function("many", i64_, &[i64_; 11], true);
    let half = b.function("half_long", f80, &[f80], true);
    let image = place(b);

    let mut v: Vec<i32> = (0..1000).map(|i| (i * 7919) % 1009).collect();
    let address = image.func_address(compare);
    unsafe {
        let f: unsafe extern "C" fn(*const c_void, *const c_void) -> i32 =
            std::mem::transmute(address);
        libc::qsort(v.as_mut_ptr().cast(), v.len(), 4, Some(f));
    }
    assert!(v.is_sorted());

    #[repr(C)]
    struct Pair(i64, f64);
    let f: extern "C" fn(i128, i64, Big, f64) -> Pair =
        unsafe { std::mem::transmute(image.func_address(mixed)) };
    let got = f(5, 6, Big { a: [1, 2, 3, 4, 5] }, 2.25);
    assert_eq!((got.0, got.1), (26, 2.75));

    type Many = extern "C" fn(i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) -> i64;
    let f: Many = unsafe { std::mem::transmute(image.func_address(many)) };
    assert_eq!(f(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), 66);

    // Through a plan as well: guest to native to guest.
    let b2 = {
        let mut b = Build::default();
        let f80 = b.float(FloatKind::X86Fp80);
        (b.plan(&[f80], f80, false), b)
    };
    let got = call(
        &b2.0,
        image.func_address(half),
        &[vec![0xc800_0000_0000_0000, 0x4001]],
    );
    assert_eq!(got[..2], [0xc800_0000_0000_0000, 0x4000]);

    // Addresses are known while the image lives.
    assert_eq!(func::from_address(address).map(|f| f.id), Some(compare));
    assert!(func::from_address(address + 8).is_none());
    assert!(func::from_address(sym("qsort")).is_none());
    drop(image);
    assert!(func::from_address(address).is_none());
}

// ---- exceptions and jumps ------------------------------------------------------------------

#[repr(C, align(16))]
struct Exception {
    class: u64,
    cleanup: usize,
    private: [usize; 2],
    value: u64,
}

unsafe extern "C-unwind" {
    fn _Unwind_RaiseException(e: *mut Exception) -> i32;
}

unsafe fn raise(value: u64) {
    let e = Box::into_raw(Box::new(Exception {
        class: u64::from_be_bytes(*b"TESTTEST"),
        cleanup: 0,
        private: [0; 2],
        value,
    }));
    let rc = unsafe { _Unwind_RaiseException(e) };
    // Nobody handles it: comes back with the end of the stack.
    unsafe { drop(Box::from_raw(e)) };
    assert_eq!(rc, 5);
}

fn take(exit: Exit) -> u64 {
    let Exit::Unwound(e) = exit else {
        panic!("{exit:?}")
    };
    unsafe { Box::from_raw(e.cast::<Exception>()) }.value
}

struct Scope {
    act: Activation,
}

impl Scope {
    fn enter(
        catches: bool,
        f: extern "C-unwind" fn(*mut c_void, usize) -> usize,
        a: *mut c_void,
        b: usize,
    ) -> Exit {
        let mut s = Scope {
            act: Activation::default(),
        };
        s.act.interp[0] = usize::from(catches);
        let state = thread::current();
        unsafe {
            s.act.push(state);
            let exit = activation::enter(&mut s.act, f, a, b);
            s.act.pop(state);
            exit
        }
    }
}

extern "C-unwind" fn twice(_: *mut c_void, n: usize) -> usize {
    n * 2
}

extern "C-unwind" fn throw_through_qsort(stub: *mut c_void, _: usize) -> usize {
    let mut v = [3i32, 1, 2];
    unsafe {
        let f = std::mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(*const c_void, *const c_void) -> i32,
        >(stub);
        libc::bsearch(
            (&raw const v[0]).cast(),
            v.as_mut_ptr().cast(),
            3,
            4,
            Some(f),
        ) as usize
    }
}

extern "C-unwind" fn middle(stub: *mut c_void, _: usize) -> usize {
    // An activation that only cleans up: lands here in phase 2, then goes on.
    match Scope::enter(false, throw_through_qsort, stub, 0) {
        Exit::Unwound(e) => unsafe { activation::resume_unwind(e) },
        other => panic!("{other:?}"),
    }
}

#[test]
fn exceptions_pass_native_frames_and_stop_at_handlers() {
    hooks();
    assert_eq!(
        Scope::enter(true, twice, std::ptr::null_mut(), 21),
        Exit::Returned(42)
    );
    let mut b = Build::default();
    let (p, i32_) = (b.ptr(), b.int(32));
    let throw = b.function("throw", i32_, &[p, p], true);
    let image = place(b);
    let stub = image.func_address(throw) as *mut c_void;
    // The thrown value is the address of the key: only that it arrives matters.
    assert_ne!(take(Scope::enter(true, throw_through_qsort, stub, 0)), 0);
    assert_ne!(take(Scope::enter(true, middle, stub, 0)), 0);
    let state = thread::current();
    assert!(unsafe { (*state).activation.is_null() });
}

extern "C-unwind" fn jump_out(target: *mut c_void, value: usize) -> usize {
    extern "C" fn compare(a: *const c_void, _: *const c_void) -> i32 {
        unsafe {
            let (act, value) = *a.cast::<(*const Activation, usize)>();
            activation::jump(act, value)
        }
    }
    let v = [(target.cast::<Activation>(), value); 3];
    unsafe {
        libc::bsearch(
            v.as_ptr().cast(),
            v.as_ptr().cast(),
            3,
            size_of_val(&v[0]),
            Some(compare),
        ) as usize
    }
}

extern "C-unwind" fn inner_scope(target: *mut c_void, value: usize) -> usize {
    let exit = Scope::enter(true, jump_out, target, value);
    panic!("the jump was to the outer activation, not {exit:?}");
}

#[test]
fn jumps_cross_native_frames() {
    hooks();
    let state = thread::current();
    let mut act = Activation::default();
    unsafe {
        act.push(state);
        let target = (&raw mut act).cast();
        assert_eq!(
            activation::enter(&mut act, inner_scope, target, 5),
            Exit::Jumped(5)
        );
        assert_eq!(
            activation::enter(&mut act, jump_out, target, 6),
            Exit::Jumped(6)
        );
        act.pop(state);
        assert!((*state).activation.is_null());
    }
}

// ---- images --------------------------------------------------------------------------------

#[test]
fn constants_are_placed_with_their_relocations() {
    let mut b = Build::default();
    let (p, i32_, i8_, i64_) = (b.ptr(), b.int(32), b.int(8), b.int(64));
    let f = b.function("compare", i32_, &[p, p], true);
    let arr = b.array(i8_, 6);
    let text = b.konst(arr, Const::Data((*b"hello\0").into()));
    let hello = b.global("hello", arr, Some(text));
    b.m.globals[hello].constant = true;
    let s = b.strct(&[i8_, p, i32_, p, i64_]);
    let items = {
        let seven = b.konst(i8_, Const::Int(7));
        let base = b.konst(p, Const::Global(GlobalRef::Var(hello)));
        let two = b.konst(i64_, Const::Int(2));
        let zero = b.konst(i64_, Const::Int(0));
        let gep = b.konst(
            p,
            Const::Expr(ConstExpr::Gep {
                elem: arr,
                base,
                indices: [zero, two].into(),
            }),
        );
        let minus = b.konst(i32_, Const::Int(0xffff_ffff));
        let fp = b.konst(p, Const::Global(GlobalRef::Func(f)));
        let ints =
            [gep, base].map(|c| b.konst(i64_, Const::Expr(ConstExpr::Cast(CastOp::PtrToInt, c))));
        let diff = b.konst(
            i64_,
            Const::Expr(ConstExpr::Binary(BinOp::Sub, ints[0], ints[1])),
        );
        [seven, gep, minus, fp, diff]
    };
    let init = b.konst(s, Const::Aggregate(items.into()));
    let var = b.global("var", s, Some(init));
    let zero = b.konst(arr, Const::Zero);
    let bss = b.global("bss", arr, Some(zero));
    let five = b.konst(i32_, Const::Int(5));
    let tls = b.global("tls", i32_, Some(five));
    b.m.globals[tls].thread_local = true;
    let env = b.global("environ", p, None);
    let missing = b.global("weak_one", p, None);
    b.m.globals[missing].linkage = Linkage::ExternWeak;
    let native = b.function("getpid", i32_, &[], false);
    let v3 = b.vec(i8_, 3);
    let bools = {
        let i1 = b.int(1);
        b.vec(i1, 4)
    };
    let lanes = b.konst(v3, Const::Data([1, 2, 3].into()));
    let i1 = b.int(1);
    let (t, z) = (b.konst(i1, Const::Int(1)), b.konst(i1, Const::Int(0)));
    let mask = b.konst(bools, Const::Aggregate([t, z, t, t].into()));
    let block = b.konst(p, Const::BlockAddress(f, BlockId::from_u32(3)));
    let image = Image::place(Arc::new(b.m), &mut |name, _| match name {
        "environ" | "getpid" => Some(sym(name)),
        _ => None,
    })
    .unwrap();

    let at = image.global_address(var);
    assert_eq!(at % 8, 0);
    unsafe {
        assert_eq!(*(at as *const u8), 7);
        assert_eq!(
            std::ffi::CStr::from_ptr(*((at + 8) as *const *const i8)).to_str(),
            Ok("llo")
        );
        assert_eq!(*((at + 16) as *const i32), -1);
        assert_eq!(*((at + 24) as *const usize), image.func_address(f));
        assert_eq!(*((at + 32) as *const i64), 2);
        assert_eq!(*(image.global_address(bss) as *const [u8; 6]), [0; 6]);
    }
    assert_eq!(image.global_address(env), sym("environ"));
    assert_eq!(image.global_address(missing), 0);
    assert_eq!(image.func_address(native), sym("getpid"));
    let here = image.tls_address(tls);
    let image2 = image.clone();
    let there = std::thread::spawn(move || {
        let p = image2.tls_address(tls);
        unsafe {
            *(p as *mut i32) += 1;
            *(p as *const i32) + if p == here { 100 } else { 0 }
        }
    });
    assert_eq!(there.join().unwrap(), 6);
    assert_eq!(unsafe { *(here as *const i32) }, 5);
    let mut out = [0u64; 1];
    image.const_to_slots(lanes, &mut out);
    assert_eq!(out, [0x03_02_01]);
    image.const_to_slots(mask, &mut out);
    assert_eq!(out, [0x01_01_00_01]);
    let mut byte = [0u8; 1];
    image.const_to_memory(mask, &mut byte);
    assert_eq!(byte, [0b1101]);
    let address = image.eval(block) as usize;
    assert_eq!(image.block_of(address), Some((f, BlockId::from_u32(3))));
}

#[test]
fn all_unresolved_symbols_are_named_at_once() {
    let mut b = Build::default();
    let (p, i32_) = (b.ptr(), b.int(32));
    b.function("no_such_function", i32_, &[p], false);
    b.global("no_such_variable", p, None);
    let e = Image::place(Arc::new(b.m), &mut |_, _| None).unwrap_err();
    assert_eq!(
        e.to_string(),
        "unresolved symbols: no_such_function, no_such_variable"
    );
}

// ---- faults --------------------------------------------------------------------------------

extern "C-unwind" fn read_null(_: *mut c_void, address: usize) -> usize {
    unsafe { (address as *const usize).read_volatile() }
}

extern "C-unwind" fn divide(_: *mut c_void, by: usize) -> usize {
    let quotient: usize;
    unsafe {
        std::arch::asm!("div {}", in(reg) by, inout("rax") 1usize => quotient, inout("rdx") 0usize => _);
    }
    quotient
}

extern "C-unwind" fn abort(_: *mut c_void, _: usize) -> usize {
    unsafe { libc::abort() }
}

extern "C-unwind" fn unreachable_trap(_: *mut c_void, _: usize) -> usize {
    signals::raise_trap(TrapKind::Unreachable, MARK.as_ptr())
}

static MARK: [u64; 1] = [0];

fn fault_hooks() {
    signals::install();
    signals::set_hooks(
        |_, _, _| std::ptr::null(),
        |ip, place, function| {
            if ip == MARK.as_ptr() {
                let _ = place.write_str("file.c:14:3");
                let _ = function.write_str("f");
            }
        },
    );
}

fn faulting(
    catch: bool,
    f: extern "C-unwind" fn(*mut c_void, usize) -> usize,
    b: usize,
) -> Option<Trap> {
    let state = thread::current();
    let mut act = Activation::default();
    act.catch_traps = catch;
    unsafe {
        act.push(state);
        (*state).ip = MARK.as_ptr();
        let exit = activation::enter(&mut act, f, std::ptr::null_mut(), b);
        act.pop(state);
        assert_eq!(exit, Exit::Trapped);
    }
    act.trap.map(signals::describe)
}

#[test]
fn faults_come_back_as_values() {
    fault_hooks();
    for _ in 0..3 {
        let t = faulting(true, read_null, 8).unwrap();
        assert_eq!(
            t.to_string(),
            "access through a null pointer (address 0x8) at file.c:14:3 in `f`"
        );
        assert_eq!(
            faulting(true, divide, 0).unwrap().kind,
            TrapKind::IntegerDivision
        );
        assert_eq!(faulting(true, abort, 0).unwrap().kind, TrapKind::Abort);
        assert_eq!(
            faulting(true, unreachable_trap, 0).unwrap().kind,
            TrapKind::Unreachable
        );
    }
}

/// Runs only in the child that the next test starts.
#[test]
fn fault_child() {
    let Ok(kind) = std::env::var("BOUNDARY_FAULT") else {
        return;
    };
    fault_hooks();
    match kind.as_str() {
        "null" => faulting(false, read_null, 0),
        "divide" => faulting(false, divide, 0),
        "abort" => faulting(false, abort, 0),
        _ => faulting(false, unreachable_trap, 0),
    };
}

#[test]
fn faults_end_the_process_as_natively() {
    use std::os::unix::process::ExitStatusExt;
    let cases = [
        (
            "null",
            libc::SIGSEGV,
            "access through a null pointer (address 0x0) at file.c:14:3 in `f`",
        ),
        (
            "divide",
            libc::SIGFPE,
            "integer division by zero or overflow at file.c:14:3 in `f`",
        ),
        (
            "abort",
            libc::SIGABRT,
            "the program called abort at file.c:14:3 in `f`",
        ),
        (
            "unreachable",
            libc::SIGILL,
            "code marked unreachable was reached at file.c:14:3 in `f`",
        ),
    ];
    for (kind, signal, message) in cases {
        let out = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fault_child", "--nocapture", "--test-threads=1"])
            .env("BOUNDARY_FAULT", kind)
            .output()
            .unwrap();
        assert_eq!(out.status.signal(), Some(signal), "{kind}: {out:?}");
        let text = String::from_utf8_lossy(&out.stderr);
        assert_eq!(
            text.trim_end(),
            format!("ompvm: the guest program failed: {message}"),
            "{kind}"
        );
    }
}
