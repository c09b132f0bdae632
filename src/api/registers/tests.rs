//! Tests of calls with arguments in registers.

use super::{Extension, places};
use crate::api::{Config, Engine, Linker, Module, Tier};
use ompvm_tier::signature::Scalar;
use ompvm_tier::value::ValueKind;

#[test]
fn extensions_are_those_of_scalars() {
    let kinds = [
        (ValueKind::Void, false),
        (ValueKind::Int(1), false),
        (ValueKind::Int(8), true),
        (ValueKind::Int(8), false),
        (ValueKind::Int(32), true),
        (ValueKind::Int(64), true),
        (ValueKind::Int(64), false),
        (ValueKind::F32, false),
        (ValueKind::F64, false),
        (ValueKind::Ptr, false),
    ];
    for (kind, signed) in kinds {
        let scalar = Scalar { kind, signed };
        for slot in [0, 1, 0x80, 0x8000_0000, 0x1234_5678_9abc_def0, u64::MAX] {
            assert_eq!(Extension::of(scalar).extend(slot), scalar.extend(slot));
        }
    }
}

#[test]
fn numbers_and_integers_have_registers_of_their_own() {
    let kinds = [
        ValueKind::F64,
        ValueKind::Int(32),
        ValueKind::F32,
        ValueKind::Ptr,
    ];
    let scalars = kinds.map(Scalar::of_kind);
    let registers: Vec<_> = places(&scalars).iter().map(|p| p.register).collect();
    assert_eq!(registers, [6, 0, 7, 1]);
}

/// The parameters of a function of the test: integers and numbers alternate as long as both are
/// left. True for numbers.
fn parameters(general: usize, vector: usize) -> Vec<bool> {
    let places = 0..general.max(vector);
    let pairs = places.map(|n| [(n < general).then_some(false), (n < vector).then_some(true)]);
    pairs.flatten().flatten().collect()
}

/// Returns functions that add their arguments, each multiplied by its position: `leaf` returns the
/// sum as a number, `whole` as an integer, and `other` calls a host function first.
fn functions(general: usize, vector: usize) -> String {
    let mut list = Vec::new();
    let mut body = String::from("%s0 = fadd double 0.0, 0.0\n");
    let parameters = parameters(general, vector);
    for (n, number) in parameters.iter().enumerate() {
        let weight = n + 1;
        let (ty, value) = match number {
            true => ("double", format!("fadd double %a{n}, 0.0")),
            false => ("i64", format!("sitofp i64 %a{n} to double")),
        };
        list.push(format!("{ty} %a{n}"));
        body += &format!(
            "%v{n} = {value}\n%w{n} = fmul double %v{n}, {weight}.0\n\
             %s{weight} = fadd double %s{n}, %w{n}\n"
        );
    }
    let (list, last) = (list.join(", "), parameters.len());
    format!(
        "define double @leaf_{general}_{vector}({list}) {{\n{body}ret double %s{last} }}\n\
         define double @other_{general}_{vector}({list}) {{\ncall void @host()\n{body}
         ret double %s{last} }}\n\
         define i64 @whole_{general}_{vector}({list}) {{\n{body}
         %i = fptosi double %s{last} to i64\nret i64 %i }}\n"
    )
}

#[test]
fn every_number_of_registers_is_loaded() {
    // The last ones have more arguments than registers.
    let shapes = || (0..=7).flat_map(|general| (0..=9).map(move |vector| (general, vector)));
    let text: String = shapes().map(|(g, v)| functions(g, v)).collect();
    let text =
        format!("target triple = \"x86_64-unknown-linux-gnu\"\ndeclare void @host()\n{text}");
    let engine = Engine::default();
    let module = Module::from_bytes(&engine, "test.ll", text.as_bytes()).unwrap();
    let mut linker = Linker::new(&engine);
    linker.func("host", || {}).unwrap();
    let program = linker.link(&module).unwrap();
    for tier in [Tier::Interp, Tier::Opt] {
        let process = program.start(Config::new().tier(tier)).unwrap();
        for (general, vector) in shapes() {
            let mut slots = Vec::new();
            let mut sum = 0.0;
            for number in parameters(general, vector) {
                let value = slots.len() as f64 * 3.0 - 7.0;
                slots.push(match number {
                    true => value.to_bits(),
                    false => value as i64 as u64,
                });
                sum += value * slots.len() as f64;
            }
            let call = |name: &str| {
                let name = format!("{name}_{general}_{vector}");
                // SAFETY: the function has these parameters.
                unsafe { process.func(&name, None).unwrap().call(&slots).unwrap() }
            };
            let case = format!("{general} {vector} {tier:?}");
            assert_eq!(f64::from_bits(call("leaf")), sum, "{case}");
            assert_eq!(f64::from_bits(call("other")), sum, "{case}");
            assert_eq!(call("whole") as i64, sum as i64, "{case}");
        }
    }
}
