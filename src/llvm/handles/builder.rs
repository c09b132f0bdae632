//! Construction of instructions.

use super::{
    Alloca, Block, Call, Context, Function, Instruction, IntPredicate, Load, Opcode, Phi, Store,
    Type, Value,
};
use crate::raw::llvm;
use inkwell::llvm_sys::prelude::LLVMBuilderRef;

/// Inserts instructions at a place of a function. Values that it returns may be constants: LLVM
/// folds operations on them.
pub(crate) struct Builder<'m> {
    raw: LLVMBuilderRef,
    context: Context<'m>,
}

/// The name of a value that has none.
const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl<'m> Builder<'m> {
    pub(super) fn new(context: Context<'m>) -> Self {
        let raw = llvm!(core::LLVMCreateBuilderInContext(context.raw()));
        Builder { raw, context }
    }

    /// Returns the pointer, for the C interface.
    pub(crate) fn raw(&self) -> LLVMBuilderRef {
        self.raw
    }

    /// Returns the context that the builder takes types from.
    pub(crate) fn context(&self) -> Context<'m> {
        self.context
    }

    /// Stands before an instruction and takes over its line.
    pub(crate) fn before(&self, instruction: impl Into<Instruction<'m>>) -> &Self {
        llvm!(core::LLVMPositionBuilderBefore(
            self.raw,
            instruction.into().raw()
        ));
        self
    }

    /// Stands behind the last instruction of a block.
    pub(crate) fn at_end(&self, block: Block<'m>) -> &Self {
        llvm!(core::LLVMPositionBuilderAtEnd(self.raw, block.raw()));
        self
    }

    /// Stands before the first instruction of a function's body.
    ///
    /// # Panics
    /// Panics if the function is only declared.
    pub(crate) fn at_entry(&self, function: Function<'m>) -> &Self {
        let entry = function.entry().expect("a function with a body");
        match entry.first() {
            Some(first) => self.before(first),
            None => self.at_end(entry),
        }
    }

    /// Returns the block where the builder stands.
    ///
    /// # Panics
    /// Panics if it stands nowhere yet.
    pub(crate) fn block(&self) -> Block<'m> {
        let block = llvm!(core::LLVMGetInsertBlock(self.raw));
        assert!(!block.is_null(), "the builder stands nowhere");
        // SAFETY: the builder stands in a block of the module.
        unsafe { Block::from_raw(block) }
    }

    /// Wraps what LLVM has built.
    fn built(&self, value: inkwell::llvm_sys::prelude::LLVMValueRef) -> Value<'m> {
        // SAFETY: building returns a live value of the module that the builder stands in.
        unsafe { Value::from_raw(value) }
    }

    /// Makes a local variable.
    pub(crate) fn alloca(&self, of: Type<'m>) -> Alloca<'m> {
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe { Alloca::from_raw(llvm!(core::LLVMBuildAlloca(self.raw, of.raw(), NO_NAME))) }
    }

    /// Loads a value.
    pub(crate) fn load(&self, of: Type<'m>, pointer: impl Into<Value<'m>>) -> Load<'m> {
        let pointer = pointer_of(pointer);
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe {
            Load::from_raw(llvm!(core::LLVMBuildLoad2(
                self.raw,
                of.raw(),
                pointer.raw(),
                NO_NAME
            )))
        }
    }

    /// Stores a value.
    pub(crate) fn store(
        &self,
        value: impl Into<Value<'m>>,
        pointer: impl Into<Value<'m>>,
    ) -> Store<'m> {
        let pointer = pointer_of(pointer);
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe {
            Store::from_raw(llvm!(core::LLVMBuildStore(
                self.raw,
                value.into().raw(),
                pointer.raw()
            )))
        }
    }

    /// Computes the address of an element of `of`.
    pub(crate) fn gep(
        &self,
        of: Type<'m>,
        pointer: impl Into<Value<'m>>,
        indices: &[Value<'m>],
    ) -> Value<'m> {
        let pointer = pointer_of(pointer);
        let mut indices: Vec<_> = indices.iter().map(|i| i.raw()).collect();
        self.block();
        self.built(llvm!(core::LLVMBuildGEP2(
            self.raw,
            of.raw(),
            pointer.raw(),
            indices.as_mut_ptr(),
            indices.len() as u32,
            NO_NAME
        )))
    }

    /// Computes the address of an element of `of` that lies in the same object.
    pub(crate) fn gep_in_bounds(
        &self,
        of: Type<'m>,
        pointer: impl Into<Value<'m>>,
        indices: &[Value<'m>],
    ) -> Value<'m> {
        let pointer = pointer_of(pointer);
        let mut indices: Vec<_> = indices.iter().map(|i| i.raw()).collect();
        self.block();
        self.built(llvm!(core::LLVMBuildInBoundsGEP2(
            self.raw,
            of.raw(),
            pointer.raw(),
            indices.as_mut_ptr(),
            indices.len() as u32,
            NO_NAME
        )))
    }

    /// Computes the address that many bytes behind another one.
    pub(crate) fn offset(&self, pointer: impl Into<Value<'m>>, bytes: Value<'m>) -> Value<'m> {
        self.gep(self.context.int(8), pointer, &[bytes])
    }

    /// Calls a function with its own type.
    pub(crate) fn call(&self, function: Function<'m>, arguments: &[Value<'m>]) -> Call<'m> {
        self.call_pointer(function.signature(), function, arguments)
    }

    /// Calls what a pointer points to.
    ///
    /// # Panics
    /// Panics if the arguments are not those of the type.
    pub(crate) fn call_pointer(
        &self,
        signature: Type<'m>,
        called: impl Into<Value<'m>>,
        arguments: &[Value<'m>],
    ) -> Call<'m> {
        let parameters = signature.parameters();
        let fits = arguments.iter().map(|a| a.of());
        assert!(
            fits.clone()
                .take(parameters.len())
                .eq(parameters.iter().copied())
                && (fits.len() == parameters.len() || signature.is_variadic()),
            "arguments for {signature:?}"
        );
        let mut arguments: Vec<_> = arguments.iter().map(|a| a.raw()).collect();
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe {
            Call::from_raw(llvm!(core::LLVMBuildCall2(
                self.raw,
                signature.raw(),
                called.into().raw(),
                arguments.as_mut_ptr(),
                arguments.len() as u32,
                NO_NAME
            )))
        }
    }

    /// Makes a join without edges at the place.
    pub(crate) fn phi(&self, of: Type<'m>) -> Phi<'m> {
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe { Phi::from_raw(llvm!(core::LLVMBuildPhi(self.raw, of.raw(), NO_NAME))) }
    }

    /// Computes a binary operation (`LLVMAdd`, `LLVMFMul`, ...).
    ///
    /// # Panics
    /// Panics if the operands have different types.
    pub(crate) fn binary(
        &self,
        operation: Opcode,
        a: impl Into<Value<'m>>,
        b: impl Into<Value<'m>>,
    ) -> Value<'m> {
        let (a, b) = (a.into(), b.into());
        assert_eq!(a.of(), b.of(), "operands of {operation:?}");
        self.block();
        self.built(llvm!(core::LLVMBuildBinOp(
            self.raw,
            operation,
            a.raw(),
            b.raw(),
            NO_NAME
        )))
    }

    /// Adds integers.
    pub(crate) fn add(&self, a: impl Into<Value<'m>>, b: impl Into<Value<'m>>) -> Value<'m> {
        self.binary(Opcode::LLVMAdd, a, b)
    }

    /// Converts a value (`LLVMTrunc`, `LLVMZExt`, `LLVMPtrToInt`, ...).
    pub(crate) fn cast(
        &self,
        operation: Opcode,
        value: impl Into<Value<'m>>,
        to: Type<'m>,
    ) -> Value<'m> {
        self.block();
        self.built(llvm!(core::LLVMBuildCast(
            self.raw,
            operation,
            value.into().raw(),
            to.raw(),
            NO_NAME
        )))
    }

    /// Compares integers or pointers.
    ///
    /// # Panics
    /// Panics if the operands have different types.
    pub(crate) fn compare(
        &self,
        predicate: IntPredicate,
        a: impl Into<Value<'m>>,
        b: impl Into<Value<'m>>,
    ) -> Value<'m> {
        let (a, b) = (a.into(), b.into());
        assert_eq!(a.of(), b.of(), "operands of a comparison");
        self.block();
        self.built(llvm!(core::LLVMBuildICmp(
            self.raw,
            predicate,
            a.raw(),
            b.raw(),
            NO_NAME
        )))
    }

    /// Selects one of two values.
    ///
    /// # Panics
    /// Panics if the values have different types.
    pub(crate) fn select(
        &self,
        condition: Value<'m>,
        a: impl Into<Value<'m>>,
        b: impl Into<Value<'m>>,
    ) -> Value<'m> {
        let (a, b) = (a.into(), b.into());
        assert_eq!(a.of(), b.of(), "operands of a selection");
        self.block();
        self.built(llvm!(core::LLVMBuildSelect(
            self.raw,
            condition.raw(),
            a.raw(),
            b.raw(),
            NO_NAME
        )))
    }

    /// Extracts a member of an aggregate.
    pub(crate) fn extract(&self, aggregate: impl Into<Value<'m>>, index: u32) -> Value<'m> {
        self.block();
        self.built(llvm!(core::LLVMBuildExtractValue(
            self.raw,
            aggregate.into().raw(),
            index,
            NO_NAME
        )))
    }

    /// Branches to a block.
    pub(crate) fn branch(&self, to: Block<'m>) -> Instruction<'m> {
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe { Instruction::from_raw(llvm!(core::LLVMBuildBr(self.raw, to.raw()))) }
    }

    /// Branches to one of two blocks.
    pub(crate) fn branch_if(
        &self,
        condition: Value<'m>,
        then: Block<'m>,
        otherwise: Block<'m>,
    ) -> Instruction<'m> {
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe {
            Instruction::from_raw(llvm!(core::LLVMBuildCondBr(
                self.raw,
                condition.raw(),
                then.raw(),
                otherwise.raw()
            )))
        }
    }

    /// Returns from the function, with a value if it has a result.
    pub(crate) fn ret(&self, value: Option<Value<'m>>) -> Instruction<'m> {
        self.block();
        let raw = match value {
            Some(value) => llvm!(core::LLVMBuildRet(self.raw, value.raw())),
            None => llvm!(core::LLVMBuildRetVoid(self.raw)),
        };
        // SAFETY: LLVM returns the new instruction.
        unsafe { Instruction::from_raw(raw) }
    }

    /// Ends a block that is never left.
    pub(crate) fn unreachable(&self) -> Instruction<'m> {
        self.block();
        // SAFETY: LLVM returns the new instruction.
        unsafe { Instruction::from_raw(llvm!(core::LLVMBuildUnreachable(self.raw))) }
    }

    /// Inserts a copy of an instruction, which has the same operands.
    pub(crate) fn copy(&self, of: impl Into<Instruction<'m>>) -> Instruction<'m> {
        self.block();
        let copy = llvm!(core::LLVMInstructionClone(of.into().raw()));
        llvm!(core::LLVMInsertIntoBuilder(self.raw, copy));
        // SAFETY: LLVM returns the new instruction, and it is in a block now.
        unsafe { Instruction::from_raw(copy) }
    }

    /// Fills memory that is aligned so with a byte.
    pub(crate) fn fill(
        &self,
        pointer: impl Into<Value<'m>>,
        byte: Value<'m>,
        bytes: Value<'m>,
        alignment: u32,
    ) -> Call<'m> {
        let pointer = pointer_of(pointer);
        self.block();
        // SAFETY: LLVM returns the new call of an intrinsic.
        unsafe {
            Call::from_raw(llvm!(core::LLVMBuildMemSet(
                self.raw,
                pointer.raw(),
                byte.raw(),
                bytes.raw(),
                alignment
            )))
        }
    }

    /// Replaces a member of an aggregate.
    pub(crate) fn insert(
        &self,
        aggregate: impl Into<Value<'m>>,
        member: impl Into<Value<'m>>,
        index: u32,
    ) -> Value<'m> {
        self.block();
        self.built(llvm!(core::LLVMBuildInsertValue(
            self.raw,
            aggregate.into().raw(),
            member.into().raw(),
            index,
            NO_NAME
        )))
    }

    /// Returns 64 bits of an integer constant of any width, starting with bit `64 * index`. LLVM
    /// folds what this builds, so the builder may stand nowhere.
    ///
    /// # Panics
    /// Panics if the value is no integer constant.
    pub(crate) fn word(&self, integer: Value<'m>, index: u32) -> u64 {
        let (of, word) = (integer.of(), self.context.int(64));
        assert!(integer.is_constant_int(), "{integer:?} is no integer");
        let by = of.constant(64 * u64::from(index));
        let shifted = llvm!(core::LLVMBuildLShr(
            self.raw,
            integer.raw(),
            by.raw(),
            NO_NAME
        ));
        let low = llvm!(core::LLVMBuildTrunc(self.raw, shifted, word.raw(), NO_NAME));
        let low = self.built(low);
        low.unsigned()
            .unwrap_or_else(|| panic!("{low:?} is not folded"))
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        llvm!(core::LLVMDisposeBuilder(self.raw));
    }
}

/// Returns an address.
///
/// # Panics
/// Panics if the value is no pointer.
fn pointer_of<'m>(pointer: impl Into<Value<'m>>) -> Value<'m> {
    let pointer = pointer.into();
    assert!(pointer.of().is_pointer(), "{pointer:?} is no address");
    pointer
}
