//! Tests of the handles on small modules.

use super::*;
use inkwell::context::Context as Owner;
use inkwell::memory_buffer::MemoryBuffer;

/// Parses IR and hands the module to a test.
fn with(text: &str, test: impl FnOnce(Module<'_>)) {
    let context = Owner::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).unwrap();
    // SAFETY: the module outlives the test.
    test(unsafe { Module::from_raw(module.as_mut_ptr()) });
    module.verify().unwrap();
}

const SUM: &str = "@count = internal global i32 7, align 4
declare i32 @get(ptr)
define i32 @f(ptr %p, i32 %n) {
  %a = load i32, ptr %p
  %q = getelementptr i32, ptr %p, i64 3
  store i32 %n, ptr %q
  %b = call i32 @get(ptr @count)
  %c = add i32 %a, %b
  br label %end
end:
  ret i32 %c
}
";

#[test]
fn kinds_are_told_apart() {
    with(SUM, |module| {
        let f = module.function("f").unwrap();
        let kinds: Vec<Opcode> = f.instructions().map(Instruction::opcode).collect();
        assert_eq!(kinds.len(), 7);
        assert_eq!(kinds[0], Opcode::LLVMLoad);
        let all: Vec<_> = f.instructions().collect();
        let load = all[0].as_load().unwrap();
        assert_eq!(load.pointer(), f.parameter(0));
        assert!(all[0].as_store().is_none() && all[0].as_call().is_none());
        let gep = all[1].as_gep().unwrap();
        assert_eq!(gep.indices().next().unwrap().unsigned(), Some(3));
        assert_eq!(all[2].as_store().unwrap().pointer(), all[1].into());
        let call = all[3].as_call().unwrap();
        assert_eq!(&*call.callee().unwrap().name(), "get");
        let count = call.argument(0).as_variable().unwrap();
        assert_eq!(count.initializer().unwrap().signed(), Some(7));
        assert!(module.function("get").unwrap().is_declaration());
        assert!(module.function("none").is_none() && module.variable("count").is_some());
    });
}

#[test]
fn blocks_know_their_neighbours() {
    with(SUM, |module| {
        let f = module.function("f").unwrap();
        let [entry, end] = f.blocks().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(entry.successors().collect::<Vec<_>>(), [end]);
        assert_eq!(end.predecessors().collect::<Vec<_>>(), [entry]);
        assert_eq!(f.entry(), Some(entry));
        assert!(end.terminator().unwrap().is_terminator());
    });
}

#[test]
fn a_loop_may_erase_what_it_has_got() {
    with(SUM, |module| {
        let f = module.function("f").unwrap();
        let int = module.context().int(32);
        for instruction in f.instructions() {
            if let Some(load) = instruction.as_load() {
                load.replace_by(int.constant(1));
                // SAFETY: all uses are replaced, and the handle is not used again.
                unsafe { load.erase() };
            }
        }
        assert_eq!(f.instructions().count(), 6);
    });
}

#[test]
fn builders_insert_where_they_stand() {
    with(SUM, |module| {
        let f = module.function("f").unwrap();
        let context = module.context();
        let builder = context.builder();
        let local = builder.at_entry(f).alloca(context.int(32));
        builder.store(f.parameter(1), local);
        let end = f.blocks().last().unwrap().terminator().unwrap();
        let loaded = builder.before(end).load(context.int(32), local);
        let sum = builder.add(end.operand(0), loaded);
        end.set_operand(0, sum);
        let get = module.function("get").unwrap();
        let call = builder.call(get, &[local.into()]);
        assert_eq!(call.next(), Some(end));
        assert_eq!(f.entry().unwrap().first(), Some(local.into()));
    });
}

#[test]
#[should_panic(expected = "arguments for")]
fn wrong_arguments_are_a_defect() {
    with(SUM, |module| {
        let f = module.function("f").unwrap();
        let builder = module.context().builder();
        builder
            .at_entry(f)
            .call(module.function("get").unwrap(), &[]);
    });
}

#[test]
fn attributes_are_of_positions() {
    with(SUM, |module| {
        let f = module.function("f").unwrap();
        assert!(!f.has_attribute(Position::Function, "noinline"));
        f.add_attribute(Position::Function, "noinline", 0);
        f.add_attribute(Position::Parameter(0), "nonnull", 0);
        assert!(f.has_attribute(Position::Function, "noinline"));
        assert!(!f.has_attribute(Position::Parameter(1), "noinline"));
        assert!(f.remove_attribute(Position::Function, "noinline"));
        assert!(!f.remove_attribute(Position::Function, "noinline"));
        f.set_text_attribute("target-cpu", "sm_90");
        assert_eq!(f.text_attribute("target-cpu").as_deref(), Some("sm_90"));
        f.remove_text_attribute("target-cpu");
        assert_eq!(f.text_attribute("target-cpu"), None);
    });
}

#[test]
fn types_and_sizes() {
    with(
        "target datalayout = \"e-i64:64-n8:16:32:64\"\n@pair = external global { i8, i64 }\n",
        |module| {
            let context = module.context();
            let pair = module.variable("pair").unwrap().contents();
            let layout = module.layout();
            assert_eq!((layout.size(pair), layout.offset(pair, 1)), (16, 8));
            assert_eq!(pair.fields().count(), 2);
            let array = context.int(32).array(5);
            assert_eq!(
                (array.len(), array.element()),
                (Some(5), Some(context.int(32)))
            );
            let function = context.void().function(&[context.pointer(), array]);
            assert_eq!(function.parameters(), [context.pointer(), array]);
            assert_eq!(function.result(), Some(context.void()));
            assert_eq!(context.pointer_to(3).address_space(), Some(3));
            assert_eq!(context.int(16).int_width(), Some(16));
        },
    );
}

#[test]
fn instructions_tell_their_neighbours_and_cases() {
    let text = "define i32 @f(i32 %n) {
  %a = add i32 %n, 1
  %b = mul i32 %a, 2
  %c = icmp slt i32 %a, %b
  switch i32 %n, label %end [ i32 3, label %three
                              i32 5, label %end ]
three:
  br label %end
end:
  %p = phi i32 [ %a, %0 ], [ %a, %0 ], [ %b, %three ]
  %q = call i32 @f(i32 %p)
  ret i32 %q
}
";
    with(text, |module| {
        let f = module.function("f").unwrap();
        let [a, b, c, switch, ..] = f.instructions().collect::<Vec<_>>()[..] else {
            panic!("four instructions")
        };
        assert_eq!(a.following().collect::<Vec<_>>(), [b, c, switch]);
        assert_eq!(c.preceding().collect::<Vec<_>>(), [b, a]);
        assert_eq!(c.int_predicate(), Some(IntPredicate::LLVMIntSLT));
        assert_eq!(a.int_predicate(), None);
        let cases: Vec<_> = switch.cases().map(|(v, to)| (v.signed(), to)).collect();
        let [_, three, end] = f.blocks().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(cases, [(Some(3), three), (Some(5), end)]);
        assert_eq!(three.terminator().unwrap().cases().count(), 0);
        assert_eq!((end.phis().count(), three.phis().count()), (1, 0));
        let call = end.instructions().nth(1).unwrap();
        assert_eq!(call.direct_callee(), Some(f));
        assert_eq!(a.direct_callee(), None);
        let builder = module.context().builder();
        let copy = builder.before(c).copy(b);
        assert_eq!(copy.next(), Some(c));
        assert!(copy.operands().eq(b.operands()));
    });
}

#[test]
fn strings_have_text() {
    let text =
        "@text = constant [3 x i8] c\"ab\\00\"\n@pair = constant { i8, i32 } { i8 1, i32 -2 }\n";
    with(text, |module| {
        let content = |name| module.variable(name).unwrap().initializer().unwrap();
        assert_eq!(content("text").text().as_deref(), Some("ab\0"));
        assert_eq!(content("pair").text(), None);
    });
}

#[test]
fn branches_have_conditions_and_calls_attributes() {
    let text = "define void @f(ptr align 8 %p, i32 %n) {
  %w = zext i32 %n to i64
  %c = icmp ult i32 %n, 5
  br i1 %c, label %then, label %end
then:
  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 0, i64 %w, i1 false)
  br label %end
end:
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
";
    with(text, |module| {
        let f = module.function("f").unwrap();
        let all: Vec<_> = f.instructions().collect();
        assert_eq!(all[0].as_cast(), Some(all[0]));
        assert!(all[1].as_cast().is_none());
        assert_eq!(all[2].condition(), Some(all[1].into()));
        assert!(all[4].condition().is_none() && all[1].condition().is_none());
        let call = all[3].as_call().unwrap();
        let align = |number| call.attribute_value(Position::Parameter(number), "align");
        assert_eq!((align(0), align(1)), (Some(8), None));
    });
}

#[test]
fn owned_modules_are_linked_or_dropped() {
    with(SUM, |module| {
        let bitcode = module.bitcode();
        let other = OwnedModule::parse(module.context(), &bitcode).unwrap();
        other.module().function("f").unwrap().set_name("other_f");
        other.take_target(module);
        // SAFETY: the test keeps no handles of functions.
        assert!(unsafe { other.link_into(module) });
        assert!(module.function("other_f").is_some());
        let copy = OwnedModule::copy_of(module);
        assert!(copy.module().function("other_f").is_some());
        drop(copy);
        let unused = OwnedModule::parse(module.context(), &bitcode).unwrap();
        unused.module().function("f").unwrap().set_name("unused_f");
        // SAFETY: the test keeps no handles of functions.
        assert!(unsafe { unused.link_needed_into(module) });
        assert!(module.function("unused_f").is_none());
    });
}

#[test]
fn aliases_and_assembly() {
    let text = "@v = global i32 1
@w = global i32 2
@a = alias i32, ptr @v
@r = ifunc i32 (), ptr @resolve
define ptr @resolve() { ret ptr null }
define i32 @f(i32 %n) personality ptr @resolve {
  %x = call i32 asm \"mov $1, $0\", \"=r,r\"(i32 %n)
  %y = call i32 @r()
  ret i32 %y
}
";
    with(text, |module| {
        let alias = module.aliases().next().unwrap();
        let w = module.variable("w").unwrap();
        assert_eq!(alias.aliasee(), module.variable("v").unwrap().into());
        alias.set_aliasee(w);
        assert_eq!(alias.aliasee(), w.into());
        let f = module.function("f").unwrap();
        assert_eq!(f.personality(), module.function("resolve").map(Value::from));
        let call = f.instructions().next().unwrap().as_call().unwrap();
        let old = call.called().as_inline_asm().unwrap();
        let new = old.with_template("movl $1, $0");
        assert_eq!(
            (&*new.template(), &*new.constraints()),
            ("movl $1, $0", "=r,r")
        );
        assert!(new.is_att() && new.signature() == old.signature());
        call.set_called(new);
        assert!(!call.is_must_tail() && w.as_inline_asm().is_none());
        let [ifunc] = module.ifuncs().collect::<Vec<_>>().try_into().unwrap();
        let direct = module.add_function("direct", ifunc.signature());
        // SAFETY: the handle is not used again.
        unsafe { ifunc.replace_and_delete(direct) };
        assert_eq!(module.ifuncs().count(), 0);
    });
}
