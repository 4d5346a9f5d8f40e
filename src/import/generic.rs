//! `spyre-import-linalg`, one `linalg.generic`: what its body computes, on whole tensors.

use super::{
    Body, Combiner, Contraction, Product, Reduction, Scalar, ScalarOp,
    import_linalg::{Imported, Importer, number_of, refuse_empty, shape_of, show},
    views,
};
use crate::{
    dialect::{matmul, pointwise, reduce},
    mlir::{
        Diagnostic, Expr, Location, Op, OpExt, Reported, TensorType, Value, ValueExt, ValueLike, ValueMap, elements, error_at,
        insert_before, is_unknown, map_of, map_results,
        BlockExt,
    },
};

/// Writes the `spyre` ops of a `linalg.generic`; returns what its results are.
pub(super) fn import_generic<'c>(importer: &Importer<'c>, op: Op<'c>) -> Result<Vec<(Value<'c>, Imported<'c>)>, Reported> {
    let mut generic = Generic::of(importer, op)?;
    // An argmax beside a maximum is often there and never used.
    let used = op.outputs().into_iter().enumerate().filter(|(_, value)| !value.users().is_empty());
    used.map(|(result, value)| Ok((value, generic.import_result(result)?))).collect()
}

/// A `linalg.generic`, taken apart.
struct Generic<'a, 'c> {
    importer: &'a Importer<'c>,
    op: Op<'c>,
    /// The inputs, then what the results are written over, each with its index map.
    operands: Vec<(Value<'c>, Vec<Expr>)>,
    n_inputs: usize,
    /// Sizes of the iteration dimensions.
    sizes: Vec<i64>,
    is_reduction: Vec<bool>,
    body: Body,
    /// The operations of the body, in the order of `body.ops`.
    ops: Vec<Op<'c>>,
    /// What inputs and operations are over the iteration space, where that is known already: each is computed once.
    known_inputs: Vec<Option<Imported<'c>>>,
    known_ops: Vec<Option<Imported<'c>>>,
}

impl<'a, 'c> Generic<'a, 'c> {
    fn of(importer: &'a Importer<'c>, op: Op<'c>) -> Result<Self, Reported> {
        let maps = op.attr("indexing_maps").and_then(elements).unwrap_or_default();
        let maps = maps.into_iter().filter_map(map_of).map(map_results);
        let iterators = op.attr("iterator_types").and_then(elements).unwrap_or_default();
        let is_reduction: Vec<bool> = iterators.iter().map(|iterator| iterator.to_string().contains("reduction")).collect();
        let operands: Vec<(Value<'c>, Vec<Expr>)> = op.inputs().into_iter().zip(maps).collect();
        let n_inputs = operands.len() - op.outputs().len();
        let sizes = sizes_of(op, &operands, is_reduction.len())?;
        let (body, ops) = read_body(op, n_inputs, importer);
        let (known_inputs, known_ops) = (vec![None; n_inputs], vec![None; ops.len()]);
        Ok(Self { importer, op, operands, n_inputs, sizes, is_reduction, body, ops, known_inputs, known_ops })
    }

    fn error(&self, message: impl std::fmt::Display) -> Reported {
        error_at(self.op, message).report()
    }

    /// Where an operation of the body comes from; the whole op where a pass has made up the body.
    fn location(&self, at: Op<'c>) -> Location<'c> {
        if is_unknown(at.loc()) { self.op.loc() } else { at.loc() }
    }

    /// An error at an operation of the body.
    fn error_in_body(&self, at: Op<'c>, message: impl std::fmt::Display) -> Reported {
        error_at(at, message).at(self.location(at)).report()
    }

    /// What result `result` is written over.
    fn start(&self, result: usize) -> Option<f64> {
        self.importer.values.get(self.operands[self.n_inputs + result].0).and_then(Imported::number)
    }

    fn import_result(&mut self, result: usize) -> Result<Imported<'c>, Reported> {
        let imported = if self.is_reduction.contains(&true) {
            Imported::Tensor(self.import_reduction(result)?)
        } else {
            self.evaluate(self.body.yields[result])?
        };
        Ok(imported)
    }
}
