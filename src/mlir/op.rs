//! Extension traits for reading and changing operations, which add methods that melior lacks.

pub(super) mod erased_ops;

use super::{
    Attribute, AttributeLike, Block, BlockLike, Context, Location, Op, OperationLike, RegionLike, Type, TypeLike,
    Value, ValueLike,
    context::context_of,
    text::{read_bytes, read_context_text, string_ref},
};
use melior::ir::{BlockRef, Identifier, OperationRef};
use mlir_sys::{
    mlirBlockAppendOwnedOperation, mlirBlockInsertOwnedOperationBefore, mlirIdentifierStr, mlirOpOperandGetNextUse,
    mlirOpOperandGetOwner, mlirOpOperandIsNull, mlirOperationGetAttributeByName, mlirOperationGetContext,
    mlirOperationGetName, mlirOperationIsBeforeInBlock, mlirOperationMoveBefore, mlirOperationRemoveAttributeByName,
    mlirOperationRemoveFromParent, mlirOperationSetAttributeByName, mlirOperationSetLocation, mlirOperationSetOperand,
    mlirValueGetFirstUse, mlirValueReplaceAllUsesOfWith, mlirValueSetType,
};
use std::collections::HashMap;

/// Methods of operations.
pub trait OpExt<'c>: Copy {
    /// The full name, such as `spyre.pointwise`.
    fn full_name(self) -> &'c str;
    /// Returns whether the operation has the given name.
    fn is(self, name: &str) -> bool;
    /// The context by reference, as builders need it.
    fn ctx(self) -> &'c Context;
    /// The location of the operation.
    fn loc(self) -> Location<'c>;
    /// All operands in order.
    fn inputs(self) -> Vec<Value<'c>>;
    /// All results in order.
    fn outputs(self) -> Vec<Value<'c>>;
    /// The only result.
    ///
    /// # Panics
    /// If there is none: the verifiers of our ops guarantee it where this is called.
    fn output(self) -> Value<'c>;
    /// The first block of the first region.
    fn body(self) -> Option<Block<'c>>;
    /// The first block of every region that has one.
    fn bodies(self) -> Vec<Block<'c>>;
    /// The parent operation.
    fn parent(self) -> Option<Op<'c>>;
    /// Attribute `name`, inherent or discardable.
    fn attr(self, name: &str) -> Option<Attribute<'c>>;
    /// Sets the operation's location.
    fn set_loc(self, location: Location<'c>);
    /// Writes attribute `name`.
    fn set_attr(self, name: &str, attribute: Attribute<'c>);
    /// Removes attribute `name`.
    fn remove_attr(self, name: &str);
    /// The text of string attribute `name`; empty if it is absent.
    fn text_attr(self, name: &str) -> &'c str;
    /// Attribute `name`, which the operation's verifier requires, converted by `read`.
    ///
    /// # Panics
    /// If it is absent or of another kind: only a compiler bug leaves an op unverified.
    fn required_attr<T>(self, name: &str, read: impl FnOnce(Attribute<'c>) -> Option<T>) -> T;
    /// Replaces operand `index`.
    ///
    /// # Panics
    /// If there is none.
    fn set_input(self, index: usize, value: Value<'c>);
    /// Returns whether the operation precedes another one of the same block.
    ///
    /// # Panics
    /// If they are in different blocks.
    fn is_before(self, other: Op<'c>) -> bool;
    /// Moves the operation before another one.
    ///
    /// # Panics
    /// If one of them is in no block.
    fn move_to_before(self, other: Op<'c>);
    /// Moves the operation to the end of a block.
    fn move_to_end(self, block: Block<'c>);
    /// Removes the operation from its block and drops its operands. It is freed once no handle can point to it.
    ///
    /// # Panics
    /// If its results have uses.
    fn erase(self);
    /// Inlines the body at the operation's position and replaces its results with the operands of the terminator.
    fn inline_body(self);
    /// The operations of the body, in order; empty without a body.
    fn body_ops(self) -> Vec<Op<'c>>;
    /// The arguments of the body, in order; empty without a body.
    fn body_args(self) -> Vec<Value<'c>>;
    /// Returns the operands of the body's terminator; empty without a body.
    fn yielded(self) -> Vec<Value<'c>>;
    /// This operation and all nested ones, in pre-order.
    fn nested(self) -> Vec<Op<'c>>;
}

impl<'c> OpExt<'c> for Op<'c> {
    fn full_name(self) -> &'c str {
        // SAFETY: names are uniqued in the context.
        unsafe {
            read_context_text(mlirIdentifierStr(mlirOperationGetName(self.to_raw())), || {
                mlirOperationGetContext(self.to_raw())
            })
        }
    }

    fn is(self, name: &str) -> bool {
        // Called very often for every operation: compares bytes without decoding the text.
        // SAFETY: names are uniqued in the context.
        unsafe { read_bytes(mlirIdentifierStr(mlirOperationGetName(self.to_raw()))) == name.as_bytes() }
    }

    fn ctx(self) -> &'c Context {
        context_of(self)
    }

    fn loc(self) -> Location<'c> {
        self.location()
    }

    fn inputs(self) -> Vec<Value<'c>> {
        self.operands().collect()
    }

    fn outputs(self) -> Vec<Value<'c>> {
        self.results().map(Into::into).collect()
    }

    fn output(self) -> Value<'c> {
        self.outputs()[0]
    }

    fn body(self) -> Option<Block<'c>> {
        self.regions().next().and_then(|region| region.first_block())
    }

    fn bodies(self) -> Vec<Block<'c>> {
        self.regions().filter_map(|region| region.first_block()).collect()
    }

    fn parent(self) -> Option<Op<'c>> {
        self.parent_operation()
    }

    fn attr(self, name: &str) -> Option<Attribute<'c>> {
        // SAFETY: the operation is valid; a missing attribute is a null attribute.
        unsafe { Attribute::from_option_raw(mlirOperationGetAttributeByName(self.to_raw(), string_ref(name))) }
    }

    fn set_loc(self, location: Location<'c>) {
        // SAFETY: both are valid and of one context.
        unsafe { mlirOperationSetLocation(self.to_raw(), location.to_raw()) }
    }

    fn set_attr(self, name: &str, attribute: Attribute<'c>) {
        // SAFETY: both are valid and of one context.
        unsafe { mlirOperationSetAttributeByName(self.to_raw(), string_ref(name), attribute.to_raw()) }
    }

    fn remove_attr(self, name: &str) {
        // SAFETY: the operation is valid; removing what is absent does nothing.
        unsafe { mlirOperationRemoveAttributeByName(self.to_raw(), string_ref(name)) };
    }

    fn text_attr(self, name: &str) -> &'c str {
        self.attr(name).and_then(super::string).unwrap_or_default()
    }

    fn required_attr<T>(self, name: &str, read: impl FnOnce(Attribute<'c>) -> Option<T>) -> T {
        let found = self.attr(name);
        found.and_then(read).unwrap_or_else(|| match found {
            Some(found) => panic!("'{}' has '{name}' = {found}, which its verifier refuses", self.full_name()),
            None => panic!("'{}' has no '{name}', which its verifier wants", self.full_name()),
        })
    }

    fn set_input(self, index: usize, value: Value<'c>) {
        assert!(index < self.operand_count(), "'{}' has no operand {index}", self.full_name());
        // SAFETY: the operand exists.
        unsafe { mlirOperationSetOperand(self.to_raw(), index.cast_signed(), value.to_raw()) }
    }

    fn is_before(self, other: Op<'c>) -> bool {
        assert!(
            self.block() == other.block() && self.block().is_some(),
            "'{}' and '{}' are not in one block",
            self.full_name(),
            other.full_name()
        );
        // SAFETY: they are in one block.
        unsafe { mlirOperationIsBeforeInBlock(self.to_raw(), other.to_raw()) }
    }

    fn move_to_before(self, other: Op<'c>) {
        assert!(
            self.block().is_some() && other.block().is_some(),
            "'{}' or '{}' is in no block",
            self.full_name(),
            other.full_name()
        );
        // SAFETY: both are in blocks.
        unsafe { mlirOperationMoveBefore(self.to_raw(), other.to_raw()) }
    }

    fn move_to_end(self, block: Block<'c>) {
        // SAFETY: the operation leaves its old block, and the new block owns it.
        unsafe {
            mlirOperationRemoveFromParent(self.to_raw());
            mlirBlockAppendOwnedOperation(block.to_raw(), self.to_raw());
        }
    }

    fn erase(self) {
        erased_ops::defer_free(self);
    }

    fn inline_body(self) {
        let mut inside = self.body_ops();
        let Some(terminator) = inside.pop() else { return };
        inside.into_iter().for_each(|op| op.move_to_before(self));
        self.outputs().into_iter().zip(terminator.inputs()).for_each(|(result, value)| result.replace_with(value));
        self.erase();
    }

    fn body_ops(self) -> Vec<Op<'c>> {
        self.body().map(BlockExt::ops).unwrap_or_default()
    }

    fn body_args(self) -> Vec<Value<'c>> {
        self.body().map(BlockExt::args).unwrap_or_default()
    }

    fn yielded(self) -> Vec<Value<'c>> {
        self.body_ops().last().map(|terminator| terminator.inputs()).unwrap_or_default()
    }

    fn nested(self) -> Vec<Op<'c>> {
        let mut found = vec![self];
        for region in self.regions() {
            let mut next = region.first_block();
            while let Some(block) = next {
                found.extend(block.ops().into_iter().flat_map(OpExt::nested));
                next = block.next_in_region();
            }
        }
        found
    }
}

/// Methods of blocks.
pub trait BlockExt<'c>: Copy {
    /// The operations in order.
    fn ops(self) -> Vec<Op<'c>>;
    /// The arguments in order.
    fn args(self) -> Vec<Value<'c>>;
    /// Inserts a detached operation before `before`, or at the end.
    fn insert(self, operation: melior::ir::Operation<'c>, before: Option<Op<'c>>) -> Op<'c>;
}

impl<'c> BlockExt<'c> for Block<'c> {
    fn ops(self) -> Vec<Op<'c>> {
        let mut ops = Vec::new();
        let mut next = self.first_operation();
        while let Some(op) = next {
            ops.push(op);
            next = op.next_in_block();
        }
        ops
    }

    fn args(self) -> Vec<Value<'c>> {
        (0..self.argument_count()).filter_map(|index| self.argument(index).ok()).map(Into::into).collect()
    }

    fn insert(self, operation: melior::ir::Operation<'c>, before: Option<Op<'c>>) -> Op<'c> {
        let Some(before) = before else { return self.append_operation(operation) };
        let raw = operation.into_raw();
        // SAFETY: `before` is in the block, which becomes the owner of the new operation.
        unsafe {
            mlirBlockInsertOwnedOperationBefore(self.to_raw(), before.to_raw(), raw);
            OperationRef::from_raw(raw)
        }
    }
}

/// Methods of values.
pub trait ValueExt<'c>: Copy {
    /// The operation that defines the value; `None` for a block argument.
    fn def(self) -> Option<Op<'c>>;
    /// The block whose argument the value is, with the argument's index.
    fn as_block_arg(self) -> Option<(Block<'c>, usize)>;
    /// The users of the value, one entry per use, in program order within a block.
    fn users(self) -> Vec<Op<'c>>;
    /// The first result of `found` over [`ValueExt::users`].
    fn find_user<T>(self, found: impl Fn(Op<'c>) -> Option<T>) -> Option<T>;
    /// Replaces all uses of this value with another one.
    fn replace_with(self, other: Value<'c>);
    /// Changes the type; the caller keeps the definition valid.
    fn retype(self, new_type: Type<'c>);
}

/// Returns the users of a value in MLIR's order: the newest use first.
fn newest_users<'c>(value: Value<'c>) -> impl Iterator<Item = Op<'c>> {
    // SAFETY: the list of uses is walked, not changed.
    let first = unsafe { mlirValueGetFirstUse(value.to_raw()) };
    // SAFETY: as above.
    let uses = std::iter::successors(Some(first), |operand| Some(unsafe { mlirOpOperandGetNextUse(*operand) }));
    // SAFETY: a null pointer is not read; the owner of a use is an operation of the same module.
    uses.take_while(|operand| unsafe { !mlirOpOperandIsNull(*operand) })
        .map(|operand| unsafe { OperationRef::from_raw(mlirOpOperandGetOwner(operand)) })
}

impl<'c> ValueExt<'c> for Value<'c> {
    fn def(self) -> Option<Op<'c>> {
        // melior's conversion is avoided: if it fails it prints the value, for which MLIR numbers all surrounding
        // values.
        self.is_operation_result().then(|| {
            // SAFETY: the owner of a result is an operation of the same module.
            unsafe { OperationRef::from_raw(mlir_sys::mlirOpResultGetOwner(self.to_raw())) }
        })
    }

    fn as_block_arg(self) -> Option<(Block<'c>, usize)> {
        self.is_block_argument().then(|| {
            // SAFETY: the owner of a block argument is a block of the same module.
            let block = unsafe { BlockRef::from_raw(mlir_sys::mlirBlockArgumentGetOwner(self.to_raw())) };
            // SAFETY: the value is an argument.
            let number = unsafe { mlir_sys::mlirBlockArgumentGetArgNumber(self.to_raw()) };
            (block, number.cast_unsigned())
        })
    }

    fn users(self) -> Vec<Op<'c>> {
        let mut users: Vec<Op<'c>> = newest_users(self).collect();
        users.reverse();
        users
    }

    fn find_user<T>(self, found: impl Fn(Op<'c>) -> Option<T>) -> Option<T> {
        newest_users(self).filter_map(found).last()
    }

    fn replace_with(self, other: Value<'c>) {
        // SAFETY: both values are of the same module.
        unsafe { mlirValueReplaceAllUsesOfWith(self.to_raw(), other.to_raw()) }
    }

    fn retype(self, new_type: Type<'c>) {
        // SAFETY: the type is of the same context.
        unsafe { mlirValueSetType(self.to_raw(), new_type.to_raw()) }
    }
}

/// Detached copy of an operation, for trials. It is destroyed with everything created in it.
pub struct DetachedClone<'c> {
    operation: melior::ir::Operation<'c>,
}

impl<'c> DetachedClone<'c> {
    /// Copies `op` with all nested operations.
    #[must_use]
    pub fn from_op(op: Op<'c>) -> Self {
        Self { operation: (*op).clone() }
    }

    /// Wraps a newly built operation.
    #[must_use]
    pub fn from_operation(operation: melior::ir::Operation<'c>) -> Self {
        Self { operation }
    }

    /// Returns the copy.
    #[must_use]
    pub fn op(&self) -> Op<'_> {
        // SAFETY: the operation is alive as long as `self` is borrowed.
        unsafe { Op::from_raw(self.operation.to_raw()) }
    }
}

impl Drop for DetachedClone<'_> {
    fn drop(&mut self) {
        // Operations that are still in use are not freed.
        let _ = erased_ops::free_erased(self.op());
    }
}

/// Map from values to the facts that a pass knows about them. It supports lookup but not iteration: the order of
/// pointers must never reach the output.
#[derive(Clone)]
pub struct ValueMap<T> {
    entries: HashMap<usize, T>,
}

impl<T> Default for ValueMap<T> {
    fn default() -> Self {
        Self { entries: HashMap::new() }
    }
}

impl<T> ValueMap<T> {
    /// Returns the entry of `value`; `None` if there is none.
    pub fn get(&self, value: Value<'_>) -> Option<&T> {
        self.entries.get(&(value.to_raw().ptr as usize))
    }

    /// Returns the entry of `value` for modification; inserts the default value of `T` if there is none.
    pub fn get_or_default(&mut self, value: Value<'_>) -> &mut T
    where
        T: Default,
    {
        self.entries.entry(value.to_raw().ptr as usize).or_default()
    }

    /// Sets the entry of `value`; returns the previous one.
    pub fn insert(&mut self, value: Value<'_>, entry: T) -> Option<T> {
        self.entries.insert(value.to_raw().ptr as usize, entry)
    }
}

/// Map from ops to the facts that a pass knows about them. Like [`ValueMap`], it supports lookup but not iteration.
#[derive(Clone)]
pub struct OpMap<T> {
    entries: HashMap<usize, T>,
}

impl<T> Default for OpMap<T> {
    fn default() -> Self {
        Self { entries: HashMap::new() }
    }
}

impl<T> OpMap<T> {
    /// Returns the entry of `op`; `None` if there is none.
    pub fn get(&self, op: Op<'_>) -> Option<&T> {
        self.entries.get(&(op.to_raw().ptr as usize))
    }

    /// Sets the entry of `op`; returns the previous one.
    pub fn insert(&mut self, op: Op<'_>, entry: T) -> Option<T> {
        self.entries.insert(op.to_raw().ptr as usize, entry)
    }
}

/// Returns the identifier of an attribute name.
pub(crate) fn identifier<'c>(context: &'c Context, name: &str) -> Identifier<'c> {
    Identifier::new(context, name)
}
