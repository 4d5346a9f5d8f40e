//! Deferred deletion of erased operations.
//!
//! Handles are copies of pointers, so an erased operation must not be freed while a handle to it may exist. It is
//! unlinked from its block, drops its operands, and is stored here. A pass frees its erased operations when it returns
//! (its handles cannot outlive it); a module and a scratch copy do so when they are dropped (handles borrow them). The
//! storage is per thread, because each thread has its own modules.

use crate::mlir::{Op, OpExt, ValueExt};
use mlir_sys::{MlirOperation, mlirOperationDestroy, mlirOperationRemoveFromParent, mlirOperationSetOperands};
use std::{cell::RefCell, collections::BTreeMap};

thread_local! {
    /// Erased operations by address, each with the address of the outermost operation that contained it.
    static GRAVES: RefCell<BTreeMap<usize, (MlirOperation, usize)>> = const { RefCell::new(BTreeMap::new()) };
}

/// Unlinks the operation from its block, and stores it until it is freed.
///
/// # Panics
/// If a result has uses.
pub(in crate::mlir) fn defer_free(op: Op<'_>) {
    let root = outermost_address(op);
    for inside in op.nested() {
        // Removes the uses of outside values by the nested ops. Results of nested ops have no uses outside.
        // SAFETY: no operands need no pointer.
        unsafe { mlirOperationSetOperands(inside.to_raw(), 0, std::ptr::null()) };
    }
    assert!(
        op.outputs().into_iter().all(|output| output.users().is_empty()),
        "'{}' is erased before its users",
        op.full_name()
    );
    if op.parent().is_some() {
        // SAFETY: the operation is in a block; from here on, this storage owns it.
        unsafe { mlirOperationRemoveFromParent(op.to_raw()) };
    }
    GRAVES.with_borrow_mut(|graves| graves.insert(address(op), (op.to_raw(), root)));
}

/// Frees the operations that were erased from the outermost operation around `op`.
///
/// # Errors
/// The name of an erased operation whose result still has uses. Then none of them is ever freed.
pub(in crate::mlir) fn free_erased(op: Op<'_>) -> Result<(), String> {
    let root = outermost_address(op);
    let graves: Vec<MlirOperation> = GRAVES
        .with_borrow_mut(|graves| graves.extract_if(.., |_, grave| grave.1 == root).map(|(_, (raw, _))| raw).collect());
    for &raw in &graves {
        // SAFETY: operations in the storage have not been freed.
        let erased = unsafe { Op::from_raw(raw) };
        if erased.outputs().into_iter().any(|output| !output.users().is_empty()) {
            return Err(format!("something uses a result of '{}', which was erased", erased.full_name()));
        }
    }
    // SAFETY: each operation was removed from the storage, so it is freed once; its results have no uses, and no handle
    // is left.
    graves.into_iter().for_each(|raw| unsafe { mlirOperationDestroy(raw) });
    Ok(())
}

/// Returns the address of the outermost operation around `op`; inside of an erased operation, that of the erased
/// operation.
fn outermost_address(op: Op<'_>) -> usize {
    let mut outermost = op;
    while let Some(parent) = outermost.parent() {
        outermost = parent;
    }
    let top = address(outermost);
    GRAVES.with_borrow(|graves| graves.get(&top).map_or(top, |grave| grave.1))
}

fn address(op: Op<'_>) -> usize {
    op.to_raw().ptr.addr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::Module;

    const TWO_OPS: &str = "
      func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
        %exp = spyre.pointwise exp(%x) : tensor<64x64xf16>
        %sum = spyre.pointwise add(%exp, %x) : tensor<64x64xf16>
        return %x : tensor<64x64xf16>
      }";

    #[test]
    fn keeps_erased_ops_readable_until_freed() {
        let session = crate::pipeline::create_session();
        let module = Module::parse(&session, TWO_OPS).unwrap();
        let ops = module.op().body_ops()[0].body_ops();
        let [exp, sum, _] = ops.as_slice() else { panic!("{ops:?}") };
        sum.erase();
        assert_eq!((sum.full_name(), sum.inputs().len(), sum.nested().len()), ("spyre.pointwise", 0, 1));
        assert!(exp.output().users().is_empty(), "what is erased uses nothing");
        exp.erase();
        assert_eq!(free_erased(module.op()), Ok(()));
        assert_eq!(module.op().body_ops()[0].body_ops().len(), 1);
    }

    #[test]
    fn reports_uses_of_erased_ops_and_frees_nothing() {
        let session = crate::pipeline::create_session();
        let module = Module::parse(&session, TWO_OPS).unwrap();
        let ops = module.op().body_ops()[0].body_ops();
        ops[1].erase();
        ops[0].erase();
        ops[2].set_input(0, ops[0].output());
        assert_eq!(
            free_erased(module.op()),
            Err("something uses a result of 'spyre.pointwise', which was erased".to_owned())
        );
    }
}
