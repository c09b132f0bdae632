//! Values, and the two kinds of them that have names in a module: functions and global variables.

use super::{
    Alloca, Block, Call, Gep, Instruction, LandingPad, Linkage, Load, Module, Opcode, Phi, Store,
    Type, ValueKind, Visibility, handle, list, narrower,
};
use crate::raw::{copy_cstr, copy_text, llvm, take_message};
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr::null_mut;

handle! {
    /// Anything that an instruction can have as an operand.
    Value(LLVMValueRef)
}

narrower! {
    /// A function, defined or declared.
    Function of Value
}

narrower! {
    /// A global variable, defined or declared. Its value is its address.
    Variable of Value
}

/// Defines a conversion to a narrower kind, which LLVM tells.
macro_rules! narrow {
    ($($method:ident to $kind:ident by $test:ident;)*) => {
        $(
            #[doc = concat!("Returns the value as [`", stringify!($kind), "`], if it is one.")]
            pub(crate) fn $method(self) -> Option<$kind<'m>> {
                // SAFETY: LLVM returns the value itself if it is of this kind, and null otherwise.
                unsafe { $kind::from_nullable(llvm!(core::$test(self.raw()))) }
            }
        )*
    };
}

/// Defines a question about the kind of a value.
macro_rules! ask {
    ($($method:ident by $test:ident: $what:literal;)*) => {
        $(
            #[doc = concat!("Returns true for ", $what, ".")]
            pub(crate) fn $method(self) -> bool {
                !llvm!(core::$test(self.raw())).is_null()
            }
        )*
    };
}

impl<'m> Value<'m> {
    narrow! {
        as_instruction to Instruction by LLVMIsAInstruction;
        as_function to Function by LLVMIsAFunction;
        as_variable to Variable by LLVMIsAGlobalVariable;
        as_alloca to Alloca by LLVMIsAAllocaInst;
        as_load to Load by LLVMIsALoadInst;
        as_store to Store by LLVMIsAStoreInst;
        as_gep to Gep by LLVMIsAGetElementPtrInst;
        as_phi to Phi by LLVMIsAPHINode;
        as_landing_pad to LandingPad by LLVMIsALandingPadInst;
    }

    ask! {
        is_constant by LLVMIsAConstant: "constants, to which functions and variables belong";
        is_constant_expression by LLVMIsAConstantExpr: "computations of constants";
        is_constant_int by LLVMIsAConstantInt: "integer constants";
        is_constant_float by LLVMIsAConstantFP: "floating-point constants";
        is_argument by LLVMIsAArgument: "arguments of the function";
        is_inline_asm by LLVMIsAInlineAsm: "inline assembly";
        is_user by LLVMIsAUser: "values that have operands";
        is_global_value by LLVMIsAGlobalValue: "functions, variables and their aliases";
        is_metadata_node by LLVMIsAMDNode: "metadata with operands that is an argument";
    }

    /// Returns the value as a call, an invoke or a `callbr`, if it is one.
    pub(crate) fn as_call(self) -> Option<Call<'m>> {
        let call = matches!(
            self.as_instruction()?.opcode(),
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr
        );
        // SAFETY: these are the opcodes of calls.
        call.then(|| unsafe { Call::from_raw(self.raw()) })
    }

    /// Returns the opcode of an instruction.
    pub(crate) fn opcode(self) -> Option<Opcode> {
        self.as_instruction().map(Instruction::opcode)
    }

    /// Returns the operation of a constant expression.
    pub(crate) fn constant_opcode(self) -> Option<Opcode> {
        self.is_constant_expression()
            .then(|| llvm!(core::LLVMGetConstOpcode(self.raw())))
    }

    /// Returns the type.
    pub(crate) fn of(self) -> Type<'m> {
        // SAFETY: every value has a type.
        unsafe { Type::from_raw(llvm!(core::LLVMTypeOf(self.raw()))) }
    }

    /// Returns the name; empty if it has none.
    pub(crate) fn name(self) -> Box<str> {
        let mut len = 0;
        let name = llvm!(core::LLVMGetValueName2(self.raw(), &mut len));
        copy_text(name, len)
    }

    /// Gives the value a name. LLVM changes it if it is taken.
    pub(crate) fn set_name(self, name: &str) {
        llvm!(core::LLVMSetValueName2(
            self.raw(),
            name.as_ptr().cast(),
            name.len()
        ));
    }

    /// Returns an integer constant of at most 64 bits, extended with zeros.
    pub(crate) fn unsigned(self) -> Option<u64> {
        self.is_short_int()
            .then(|| llvm!(core::LLVMConstIntGetZExtValue(self.raw())))
    }

    /// Returns an integer constant of at most 64 bits, extended with its sign.
    pub(crate) fn signed(self) -> Option<i64> {
        self.is_short_int()
            .then(|| llvm!(core::LLVMConstIntGetSExtValue(self.raw())))
    }

    fn is_short_int(self) -> bool {
        self.is_constant_int() && self.of().int_width().is_some_and(|bits| bits <= 64)
    }

    /// Returns true for zero, null and zeroed aggregates.
    pub(crate) fn is_zero(self) -> bool {
        self.is_constant() && llvm!(core::LLVMIsNull(self.raw())) != 0
    }

    /// Returns true for undefined values and poison.
    pub(crate) fn is_undef(self) -> bool {
        llvm!(core::LLVMIsUndef(self.raw())) != 0
    }

    /// Returns the number of operands; zero for values that have none.
    pub(crate) fn operand_count(self) -> u32 {
        match self.is_user() {
            true => llvm!(core::LLVMGetNumOperands(self.raw())) as u32,
            false => 0,
        }
    }

    /// Returns an operand.
    ///
    /// # Panics
    /// Panics if there is no such operand.
    pub(crate) fn operand(self, index: u32) -> Value<'m> {
        assert!(
            index < self.operand_count(),
            "{self:?} has no operand {index}"
        );
        // SAFETY: the operand exists, and operands live as long as their users.
        unsafe { Value::from_raw(llvm!(core::LLVMGetOperand(self.raw(), index))) }
    }

    /// Iterates over the operands; a call's last one is what it calls.
    pub(crate) fn operands(self) -> impl DoubleEndedIterator<Item = Value<'m>> {
        // SAFETY: the operand exists, and operands live as long as their users.
        (0..self.operand_count()).map(move |index| unsafe {
            Value::from_raw(llvm!(core::LLVMGetOperand(self.raw(), index)))
        })
    }

    /// Replaces an operand.
    ///
    /// # Panics
    /// Panics if there is no such operand or it has another type.
    pub(crate) fn set_operand(self, index: u32, value: impl Into<Value<'m>>) {
        let value = value.into();
        assert_eq!(self.operand(index).of(), value.of(), "{self:?}");
        llvm!(core::LLVMSetOperand(self.raw(), index, value.raw()));
    }

    /// Iterates over the users, once per use. They are listed first, so a loop may change them.
    pub(crate) fn users(self) -> impl Iterator<Item = Value<'m>> {
        let mut users = Vec::new();
        let mut usage = llvm!(core::LLVMGetFirstUse(self.raw()));
        while !usage.is_null() {
            // SAFETY: a use has a user, which lives as long as its operands.
            users.push(unsafe { Value::from_raw(llvm!(core::LLVMGetUser(usage))) });
            usage = llvm!(core::LLVMGetNextUse(usage));
        }
        users.into_iter()
    }

    /// Returns true if nothing uses the value.
    pub(crate) fn is_unused(self) -> bool {
        llvm!(core::LLVMGetFirstUse(self.raw())).is_null()
    }

    /// Replaces the value in all its users.
    ///
    /// # Panics
    /// Panics if the other value has another type.
    pub(crate) fn replace_by(self, value: impl Into<Value<'m>>) {
        let value = value.into();
        assert_eq!(self.of(), value.of(), "{self:?} is replaced by {value:?}");
        llvm!(core::LLVMReplaceAllUsesWith(self.raw(), value.raw()));
    }

    /// Returns the linkage of a function or variable.
    ///
    /// # Panics
    /// Panics for values that have none.
    pub(crate) fn linkage(self) -> Linkage {
        self.is_global();
        llvm!(core::LLVMGetLinkage(self.raw()))
    }

    /// Sets the linkage of a function or variable.
    ///
    /// # Panics
    /// Panics for values that have none.
    pub(crate) fn set_linkage(self, linkage: Linkage) {
        self.is_global();
        llvm!(core::LLVMSetLinkage(self.raw(), linkage));
    }

    /// Sets the visibility of a function or variable.
    ///
    /// # Panics
    /// Panics for values that have none.
    pub(crate) fn set_visibility(self, visibility: Visibility) {
        self.is_global();
        llvm!(core::LLVMSetVisibility(self.raw(), visibility));
    }

    /// Returns true if a function or variable is only declared.
    ///
    /// # Panics
    /// Panics for values that are neither.
    pub(crate) fn is_declaration(self) -> bool {
        self.is_global();
        llvm!(core::LLVMIsDeclaration(self.raw())) != 0
    }

    /// Returns the section of a function or variable, if it names one.
    ///
    /// # Panics
    /// Panics for values that are neither.
    pub(crate) fn section(self) -> Option<Box<str>> {
        self.is_global();
        let section = copy_cstr(llvm!(core::LLVMGetSection(self.raw())));
        (!section.is_empty()).then_some(section)
    }

    /// Returns the module of a function or variable.
    ///
    /// # Panics
    /// Panics for values that are neither.
    pub(crate) fn module(self) -> Module<'m> {
        self.is_global();
        // SAFETY: the crate does not take globals out of their modules.
        unsafe { Module::from_raw(llvm!(core::LLVMGetGlobalParent(self.raw()))) }
    }

    /// Returns the function that a call names. `None` for invokes, which may also leave by an
    /// exception, and for other values.
    pub(crate) fn direct_callee(self) -> Option<Function<'m>> {
        match self.opcode()? {
            Opcode::LLVMCall => self.as_call()?.callee(),
            _ => None,
        }
    }

    /// Returns a floating-point constant, rounded to `double`.
    pub(crate) fn real(self) -> Option<f64> {
        let mut loses = 0;
        self.is_constant_float()
            .then(|| llvm!(core::LLVMConstRealGetDouble(self.raw(), &mut loses)))
    }

    /// Returns an element of a constant array, vector or structure, if LLVM knows it.
    pub(crate) fn element(self, index: u32) -> Option<Value<'m>> {
        if !self.is_constant() {
            return None;
        }
        // SAFETY: LLVM returns a constant or null.
        unsafe { Value::from_nullable(llvm!(core::LLVMGetAggregateElement(self.raw(), index))) }
    }

    /// Takes a function or variable out of the section that it names.
    ///
    /// # Panics
    /// Panics for values that are neither.
    pub(crate) fn leave_section(self) {
        self.is_global();
        llvm!(core::LLVMSetSection(self.raw(), c"".as_ptr()));
    }

    fn is_global(self) {
        assert!(self.is_global_value(), "{self:?} is no global value");
    }

    /// Moves a function or variable out of the section and the comdat that its compiler chose.
    ///
    /// # Panics
    /// Panics for values that are neither.
    pub(crate) fn clear_section(self) {
        let object = !llvm!(core::LLVMIsAGlobalObject(self.raw())).is_null();
        assert!(object, "{self:?} is in no section");
        llvm!(comdat::LLVMSetComdat(self.raw(), null_mut()));
        llvm!(core::LLVMSetSection(self.raw(), c"".as_ptr()));
    }

    /// Returns the first text of metadata that is an argument (`!{!"rbp"}`); empty if it has none.
    pub(crate) fn metadata_text(self) -> Box<str> {
        let first = self.metadata_operand(0);
        first.and_then(Value::metadata_string).unwrap_or_default()
    }

    /// Returns an operand of a metadata node that is an argument; `None` if there is none.
    pub(crate) fn metadata_operand(self, index: u32) -> Option<Value<'m>> {
        if !self.is_metadata_node() {
            return None;
        }
        let count = llvm!(core::LLVMGetMDNodeNumOperands(self.raw())) as usize;
        let mut operands = vec![null_mut(); count];
        llvm!(core::LLVMGetMDNodeOperands(
            self.raw(),
            operands.as_mut_ptr()
        ));
        let operand = operands.get(index as usize).copied()?;
        // SAFETY: LLVM has written a live value or null for each operand.
        unsafe { Value::from_nullable(operand) }
    }

    /// Returns the text of metadata that is a string.
    pub(crate) fn metadata_string(self) -> Option<Box<str>> {
        if llvm!(core::LLVMIsAMDString(self.raw())).is_null() {
            return None;
        }
        let mut length = 0;
        let text = llvm!(core::LLVMGetMDString(self.raw(), &mut length));
        Some(copy_text(text, length as usize))
    }

    /// Returns which kind of value it is.
    pub(crate) fn kind(self) -> ValueKind {
        llvm!(core::LLVMGetValueKind(self.raw()))
    }

    /// Returns the value as an instruction that converts it from one type to another, if it is one.
    pub(crate) fn as_cast(self) -> Option<Instruction<'m>> {
        self.as_instruction().filter(|i| i.is_cast())
    }

    /// Returns the text of a constant array of bytes; invalid UTF-8 is replaced.
    pub(crate) fn text(self) -> Option<Box<str>> {
        if llvm!(core::LLVMIsConstantString(self.raw())) == 0 {
            return None;
        }
        let mut len = 0;
        let text = llvm!(core::LLVMGetAsString(self.raw(), &mut len));
        Some(copy_text(text, len))
    }

    /// Returns an operand that values of this kind have.
    ///
    /// # Safety
    /// The operand exists.
    pub(super) unsafe fn operand_of_kind(self, index: u32) -> Value<'m> {
        // SAFETY: the operand exists, and operands live as long as their users.
        unsafe { Value::from_raw(llvm!(core::LLVMGetOperand(self.raw(), index))) }
    }

    /// Returns the function and the block whose address a constant is.
    pub(crate) fn addressed_block(self) -> Option<(Function<'m>, Block<'m>)> {
        if self.kind() != ValueKind::LLVMBlockAddressValueKind {
            return None;
        }
        // SAFETY: block addresses have both.
        unsafe {
            Some((
                Function::from_raw(llvm!(core::LLVMGetBlockAddressFunction(self.raw()))),
                Block::from_raw(llvm!(core::LLVMGetBlockAddressBasicBlock(self.raw()))),
            ))
        }
    }

    /// Returns the type over which the first index of a constant address computation steps.
    pub(crate) fn constant_gep_type(self) -> Option<Type<'m>> {
        let gep = self.constant_opcode() == Some(Opcode::LLVMGetElementPtr);
        // SAFETY: address computations have a source type.
        gep.then(|| unsafe { Type::from_raw(llvm!(core::LLVMGetGEPSourceElementType(self.raw()))) })
    }

    /// Returns a constant with the same bits and another type of the same size.
    ///
    /// # Panics
    /// Panics if the value is no constant.
    pub(crate) fn with_type(self, of: Type<'m>) -> Value<'m> {
        assert!(self.is_constant(), "{self:?} is no constant");
        // SAFETY: constants live as long as their context.
        unsafe { Value::from_raw(llvm!(core::LLVMConstBitCast(self.raw(), of.raw()))) }
    }

    /// Returns the elements of a constant array or vector of numbers as bytes in memory order.
    pub(crate) fn raw_elements(self) -> Option<Box<[u8]>> {
        if !matches!(
            self.kind(),
            ValueKind::LLVMConstantDataArrayValueKind | ValueKind::LLVMConstantDataVectorValueKind
        ) {
            return None;
        }
        let mut len = 0usize;
        // llvm-sys declares the out parameter, a `size_t *`, as an integer of the same size.
        let address = &raw mut len as usize;
        let start = llvm!(core::LLVMGetRawDataValues(self.raw(), address));
        if start.is_null() || len == 0 {
            return Some(Box::default());
        }
        // SAFETY: LLVM returned the start and, through `address`, the number of bytes that follow
        // it; the constant lives as long as its context.
        Some(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }.into())
    }
}

impl<'m> Function<'m> {
    /// Returns the function's type; a function's value has the type of pointers.
    pub(crate) fn signature(self) -> Type<'m> {
        // SAFETY: functions have a value type.
        unsafe { Type::from_raw(llvm!(core::LLVMGlobalGetValueType(self.raw()))) }
    }

    /// Returns the number of parameters.
    pub(crate) fn parameter_count(self) -> u32 {
        llvm!(core::LLVMCountParams(self.raw()))
    }

    /// Returns a parameter.
    ///
    /// # Panics
    /// Panics if there is no such parameter.
    pub(crate) fn parameter(self, index: u32) -> Value<'m> {
        assert!(index < self.parameter_count(), "no parameter {index}");
        // SAFETY: the parameter exists.
        unsafe { Value::from_raw(llvm!(core::LLVMGetParam(self.raw(), index))) }
    }

    /// Iterates over the parameters.
    pub(crate) fn parameters(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the parameter exists.
        (0..self.parameter_count()).map(move |index| unsafe {
            Value::from_raw(llvm!(core::LLVMGetParam(self.raw(), index)))
        })
    }

    /// Iterates over the blocks; none for declarations.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: LLVM returns a live block of the function or null.
        let first =
            unsafe { Block::from_nullable(llvm!(core::LLVMGetFirstBasicBlock(self.raw()))) };
        list(first, Block::next)
    }

    /// Iterates over the instructions of all blocks. The blocks are listed first.
    pub(crate) fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        let blocks: Vec<_> = self.blocks().collect();
        blocks.into_iter().flat_map(Block::instructions)
    }

    /// Returns the block where the function begins, if it is defined.
    pub(crate) fn entry(self) -> Option<Block<'m>> {
        self.blocks().next()
    }

    /// Appends a block without instructions.
    pub(crate) fn append_block(self) -> Block<'m> {
        Block::append(self, self.module().context())
    }

    /// Returns the number of the calling convention.
    pub(crate) fn convention(self) -> u32 {
        llvm!(core::LLVMGetFunctionCallConv(self.raw()))
    }

    /// Sets the calling convention.
    pub(crate) fn set_convention(self, convention: u32) {
        llvm!(core::LLVMSetFunctionCallConv(self.raw(), convention));
    }

    /// Returns true for functions of LLVM (`llvm.memset...`).
    pub(crate) fn is_intrinsic(self) -> bool {
        llvm!(core::LLVMGetIntrinsicID(self.raw())) != 0
    }

    /// Removes the function from its module.
    ///
    /// # Safety
    /// Nothing uses the function, and no handle of it or of its blocks and instructions is used
    /// afterwards.
    pub(crate) unsafe fn delete(self) {
        llvm!(core::LLVMDeleteFunction(self.raw()));
    }

    /// Makes a definition a declaration.
    ///
    /// # Safety
    /// No handle of the function's blocks and instructions is used afterwards.
    pub(crate) unsafe fn drop_body(self) {
        crate::shim::drop_body(self.raw());
    }

    /// Takes the function out of its group of symbols that the linker keeps or drops together.
    pub(crate) fn leave_comdat(self) {
        llvm!(comdat::LLVMSetComdat(self.raw(), std::ptr::null_mut()));
    }

    /// Runs passes, named as for `opt -passes=`, without a target.
    ///
    /// # Errors
    /// Returns LLVM's message.
    ///
    /// # Safety
    /// No handle of what the passes may remove is used afterwards.
    pub(crate) unsafe fn run_passes(self, passes: &CStr) -> Result<(), String> {
        let options = llvm!(transforms::pass_builder::LLVMCreatePassBuilderOptions());
        let (passes, machine) = (passes.as_ptr(), std::ptr::null_mut());
        let error = llvm!(transforms::pass_builder::LLVMRunPassesOnFunction(
            self.raw(),
            passes,
            machine,
            options
        ));
        llvm!(transforms::pass_builder::LLVMDisposePassBuilderOptions(
            options
        ));
        crate::error::take_error(error)
    }

    /// Returns the function that handles exceptions in this one's frames, if there is one.
    pub(crate) fn personality(self) -> Option<Value<'m>> {
        let has = llvm!(core::LLVMHasPersonalityFn(self.raw())) != 0;
        // SAFETY: the function has one.
        has.then(|| unsafe { Value::from_raw(llvm!(core::LLVMGetPersonalityFn(self.raw()))) })
    }

    /// Sets the function that handles exceptions in this one's frames.
    pub(crate) fn set_personality(self, personality: Function<'m>) {
        llvm!(core::LLVMSetPersonalityFn(self.raw(), personality.raw()));
    }
}

impl<'m> Variable<'m> {
    /// Returns the type of the contents; the variable's value has the type of pointers.
    pub(crate) fn contents(self) -> Type<'m> {
        // SAFETY: variables have a value type.
        unsafe { Type::from_raw(llvm!(core::LLVMGlobalGetValueType(self.raw()))) }
    }

    /// Returns the address space.
    pub(crate) fn address_space(self) -> u32 {
        self.of().address_space().unwrap_or(0)
    }

    /// Returns the initial value of a defined variable.
    pub(crate) fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: LLVM returns a live constant or null.
        unsafe { Value::from_nullable(llvm!(core::LLVMGetInitializer(self.raw()))) }
    }

    /// Sets the initial value, which makes a definition of a declaration.
    ///
    /// # Panics
    /// Panics if the value has another type than the contents.
    pub(crate) fn set_initializer(self, value: impl Into<Value<'m>>) {
        let value = value.into();
        assert_eq!(self.contents(), value.of(), "{self:?}");
        llvm!(core::LLVMSetInitializer(self.raw(), value.raw()));
    }

    /// Returns true if the program cannot write the variable.
    pub(crate) fn is_read_only(self) -> bool {
        llvm!(core::LLVMIsGlobalConstant(self.raw())) != 0
    }

    /// Sets that the program cannot write the variable.
    pub(crate) fn set_read_only(self, read_only: bool) {
        llvm!(core::LLVMSetGlobalConstant(self.raw(), read_only.into()));
    }

    /// Returns true if each thread has its own.
    pub(crate) fn is_thread_local(self) -> bool {
        llvm!(core::LLVMIsThreadLocal(self.raw())) != 0
    }

    /// Returns the alignment in bytes; 0 if the type's holds.
    pub(crate) fn alignment(self) -> u32 {
        llvm!(core::LLVMGetAlignment(self.raw()))
    }

    /// Sets the alignment in bytes.
    pub(crate) fn set_alignment(self, bytes: u32) {
        assert!(bytes.is_power_of_two(), "{bytes} is no alignment");
        llvm!(core::LLVMSetAlignment(self.raw(), bytes));
    }

    /// Removes the variable from its module.
    ///
    /// # Safety
    /// Nothing uses the variable, and no handle of it is used afterwards.
    pub(crate) unsafe fn delete(self) {
        llvm!(core::LLVMDeleteGlobal(self.raw()));
    }

    /// Makes a declaration of a definition.
    pub(crate) fn clear_initializer(self) {
        llvm!(core::LLVMSetInitializer(self.raw(), null_mut()));
    }
}

impl<'m> From<Function<'m>> for Value<'m> {
    fn from(function: Function<'m>) -> Self {
        *function
    }
}

impl<'m> From<Variable<'m>> for Value<'m> {
    fn from(variable: Variable<'m>) -> Self {
        *variable
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&take_message(llvm!(core::LLVMPrintValueToString(
            self.raw()
        ))))
    }
}

/// Returns a name for calls of LLVM that take no length. Names in IR hold no zero bytes.
///
/// # Panics
/// Panics if the name holds a zero byte.
pub(super) fn terminated(name: &str) -> CString {
    CString::new(name).expect("a name without zero bytes")
}
