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
            assert_eq!(pair.fields().len(), 2);
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

const KINDS: &str = r#"@where = constant ptr blockaddress(@k, %other)
@bytes = constant [3 x i16] [i16 1, i16 2, i16 258]
@wide = constant i192 340282366920938463463374607431768211463
@third = constant ptr getelementptr (i32, ptr @bytes, i64 3)
define void @k(i32 %n, <2 x i32> %v, {i32, {i8, i8}} %s, ptr byval(i64) align 16 %p) {
  %sum = add nuw i32 %n, 1
  %half = lshr exact i32 %n, 1
  %less = icmp ult i32 %n, 9
  %both = shufflevector <2 x i32> %v, <2 x i32> %v, <2 x i32> <i32 3, i32 poison>
  %part = extractvalue {i32, {i8, i8}} %s, 1, 0
  %old = cmpxchg weak ptr %p, i64 1, i64 2 syncscope("singlethread") acquire monotonic
  store volatile i32 %n, ptr %p, align 2
  br i1 %less, label %other, label %end
other:
  switch i32 %n, label %end [ i32 5, label %other ]
end:
  tail call void asm sideeffect "nop", ""() [ "deopt"(i32 %n) ]
  ret void
}
"#;

#[test]
fn instructions_are_told_apart_with_one_question() {
    with(KINDS, |module| {
        use InstructionKind as Kind;
        let k = module.function("k").unwrap();
        let [entry, other, end] = k.blocks().collect::<Vec<_>>().try_into().unwrap();
        let mut seen = 0;
        for instruction in k.instructions() {
            seen += 1;
            match instruction.by_kind() {
                Kind::IntComparison(less) => {
                    assert_eq!(less.predicate(), IntPredicate::LLVMIntULT);
                    let [n, nine] = less.first_operands();
                    assert_eq!((n, nine.unsigned()), (k.parameter(0), Some(9)));
                }
                Kind::Shuffle(both) => assert_eq!(both.mask().collect::<Vec<_>>(), [3, -1]),
                Kind::CompareExchange(access) => {
                    assert!(access.is_weak());
                    let orders = (access.success_ordering(), access.failure_ordering());
                    assert_eq!(orders.0, Ordering::LLVMAtomicOrderingAcquire);
                    assert_eq!(orders.1, Ordering::LLVMAtomicOrderingMonotonic);
                    assert_eq!(access.sync_scope(), Some(0));
                }
                Kind::Store(store) => {
                    assert!(store.is_volatile() && store.alignment() == 2);
                    assert_eq!(store.ordering(), Ordering::LLVMAtomicOrderingNotAtomic);
                    assert_eq!(store.value(), k.parameter(0));
                    assert_eq!(store.sync_scope(), None);
                }
                Kind::Branch(branch) => {
                    let (condition, targets) = branch.conditional().unwrap();
                    assert!(condition.as_instruction().is_some());
                    assert_eq!(targets, [other, end]);
                    assert_eq!(branch.target(), other);
                }
                Kind::Switch(switch) => {
                    assert_eq!(switch.default(), end);
                    let cases: Vec<_> = switch.cases().map(|(v, b)| (v.unsigned(), b)).collect();
                    assert_eq!(cases, [(Some(5), other)]);
                }
                Kind::Call(call) => {
                    assert_eq!(call.tail(), TailCall::LLVMTailCallKindTail);
                    assert_eq!(call.bundle_tags().collect::<Vec<_>>(), ["deopt".into()]);
                    assert!(call.called().as_inline_asm().unwrap().has_side_effects());
                }
                Kind::Other(Opcode::LLVMAdd) => {
                    assert_eq!(
                        (instruction.no_wrap(), instruction.is_exact()),
                        ((true, false), false)
                    );
                }
                Kind::Other(Opcode::LLVMLShr) => {
                    assert_eq!(
                        (instruction.no_wrap(), instruction.is_exact()),
                        ((false, false), true)
                    );
                }
                Kind::Other(Opcode::LLVMExtractValue) => {
                    assert_eq!(*instruction.aggregate_indices(), [1, 0]);
                }
                _ => assert_eq!(instruction.opcode(), Opcode::LLVMRet),
            }
        }
        assert_eq!(seen, 11);
        assert_eq!(k.entry(), Some(entry));
    });
}

#[test]
#[should_panic(expected = "operands of")]
fn missing_operands_are_a_defect() {
    with(KINDS, |module| {
        let k = module.function("k").unwrap();
        let _: [Value; 3] = k.instructions().next().unwrap().first_operands();
    });
}

#[test]
fn constants_are_taken_apart() {
    with(KINDS, |module| {
        let initial = |name: &str| module.variable(name).unwrap().initializer().unwrap();
        let k = module.function("k").unwrap();
        let other = k.blocks().nth(1).unwrap();
        assert_eq!(initial("where").addressed_block(), Some((k, other)));
        assert_eq!(initial("bytes").addressed_block(), None);
        let bytes = initial("bytes").raw_elements().unwrap();
        assert_eq!(*bytes, [1, 0, 2, 0, 2, 1]);
        assert!(initial("where").raw_elements().is_none());
        let int = module.context().int(32);
        assert_eq!(initial("third").constant_gep_type(), Some(int));
        let builder = module.context().builder();
        let words = [0, 1, 2].map(|word| builder.word(initial("wide"), word));
        assert_eq!(words, [7, 0, 1]);
        assert_eq!(
            int.constant(0x3f80_0000).with_type(int).unsigned(),
            Some(0x3f80_0000)
        );
    });
}

#[test]
fn attributes_are_listed() {
    with(KINDS, |module| {
        let k = module.function("k").unwrap();
        let mut list = Vec::new();
        k.attributes(Position::Parameter(3), &mut list);
        let find = |name| {
            let kind = AttributeKind::new(name);
            list.iter().find(|a| a.kind() == Some(kind)).unwrap()
        };
        assert_eq!(find("align").number(), 16);
        assert_eq!(find("byval").held_type(), Some(module.context().int(64)));
        assert_eq!(
            (find("byval").number(), find("align").held_type()),
            (0, None)
        );
        assert!(k.has(Position::Parameter(3), AttributeKind::new("byval")));
        k.attributes(Position::Result, &mut list);
        assert!(list.is_empty());
        k.set_text_attribute("key", "value");
        k.attributes(Position::Function, &mut list);
        assert_eq!(list.iter().map(|a| a.kind()).collect::<Vec<_>>(), [None]);
    });
}

const LINES: &str = r#"@v = global i32 0, !dbg !5
define void @f() !dbg !3 {
  ret void, !dbg !8
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/d")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 4, unit: !0, spFlags: DISPFlagDefinition)
!4 = !DIFile(filename: "b.inc", directory: "/e")
!5 = !DIGlobalVariableExpression(var: !6, expr: !DIExpression())
!6 = distinct !DIGlobalVariable(name: "v", scope: !0, file: !1, line: 9, type: !9)
!7 = !DILexicalBlock(scope: !3, file: !4, line: 5)
!8 = !DILocation(line: 6, column: 2, scope: !7)
!9 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
"#;

#[test]
fn scopes_lead_to_their_function() {
    with(LINES, |module| {
        let (f, context) = (module.function("f").unwrap(), module.context());
        let location = f.instructions().next().unwrap().debug_location().unwrap();
        assert_eq!((location.line(), location.column()), (6, 2));
        assert!(location.inlined_at().is_none());
        let block = location.scope();
        assert!(block.is_block() && !block.is_subprogram());
        assert_eq!((&*block.name(context), block.line()), ("", 0));
        let file = block.file(context).unwrap();
        assert_eq!((&*file.directory(), &*file.name()), ("/e", "b.inc"));
        let function = block.parent(context).unwrap();
        assert!(Some(function) == f.subprogram());
        assert_eq!((&*function.name(context), function.line()), ("f", 4));
        let variable = module.variable("v").unwrap().debug_variable().unwrap();
        assert_eq!(variable.line(), 9);
        assert_eq!(&*variable.file().unwrap().name(), "a.c");
        assert!(variable.scope().is_some());
        assert_eq!(module.metadata_count(c"llvm.dbg.cu"), 1);
    });
}
