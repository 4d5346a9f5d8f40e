//! `spyre-import-linalg`, reading one `linalg.generic`: its iteration sizes, and its body as a value type.

use super::importer::{FunctionImporter, check_tensor_size};
use crate::{
    codes,
    dialect::ods::tm_tensor,
    import::{BodyScalar, GenericBody, ScalarOp},
    mlir::{
        AffineExpression, BlockExt, ErrorReported, Op, OpExt, TensorType, Value, ValueLike, ValueMap, error_at, integer,
    },
};

/// Returns the sizes of the iteration dimensions, from the shapes of the operands.
pub(super) fn infer_iteration_sizes<'c>(
    op: Op<'c>,
    operands: &[(Value<'c>, Vec<AffineExpression>)],
    num_dims: usize,
) -> Result<Vec<i64>, ErrorReported> {
    let mut sizes = vec![1; num_dims];
    for (value, map) in operands.iter().filter(|(_, map)| !map.is_empty()) {
        let Some(tensor) = TensorType::from_type(value.r#type()) else {
            let message = codes::STATIC_TENSOR.format(format_args!(
                "expected operands of static shape, found {}; give every dimension a size",
                value.r#type()
            ));
            return Err(error_at(codes::STATIC_TENSOR, op, message).report());
        };
        check_tensor_size(op, &tensor)?;
        for (expr, &size) in map.iter().zip(&tensor.shape) {
            if let AffineExpression::Dim(dim) = expr {
                sizes[*dim] = size;
            }
        }
    }
    Ok(sizes)
}

/// Returns the body as a value type, and its operations.
pub(super) fn read_body<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    num_inputs: usize,
) -> Result<(GenericBody, Vec<Op<'c>>), ErrorReported> {
    let mut reader =
        GenericBodyReader { importer, scalars: ValueMap::default(), body: GenericBody::default(), ops: Vec::new() };
    for (index, argument) in op.body_args().into_iter().enumerate() {
        reader.scalars.insert(
            argument,
            if index < num_inputs { BodyScalar::Input(index) } else { BodyScalar::Accumulator(index - num_inputs) },
        );
    }
    reader.body.yields = reader.read_ops(op.body_ops())?;
    Ok((reader.body, reader.ops))
}

/// Reads a body, branches included.
struct GenericBodyReader<'a, 'c> {
    importer: &'a mut FunctionImporter<'c>,
    scalars: ValueMap<BodyScalar>,
    body: GenericBody,
    ops: Vec<Op<'c>>,
}

impl<'c> GenericBodyReader<'_, 'c> {
    /// Reads operations in order; returns the operands of the terminator.
    fn read_ops(&mut self, ops: Vec<Op<'c>>) -> Result<Vec<BodyScalar>, ErrorReported> {
        let mut yields = Vec::new();
        for inner in ops {
            let operands = inner.inputs().into_iter().map(|value| self.find_scalar(value)).collect::<Vec<_>>();
            match inner.full_name() {
                "linalg.yield" | "scf.yield" | tm_tensor::YIELD => yields = operands,
                "arith.constant" => {
                    let node = self.importer.import_constant(inner)?;
                    self.scalars.insert(inner.output(), BodyScalar::Outer(node));
                }
                "scf.if" => self.read_branches(inner, operands[0])?,
                _ => self.push_op(
                    inner,
                    &read_scalar_op_name(inner),
                    operands,
                    inner.outputs().first().copied().filter(|_| inner.outputs().len() == 1),
                ),
            }
        }
        Ok(yields)
    }

    /// Reads the operations of both branches, and adds a select for each result: operations in a body have no side
    /// effects.
    fn read_branches(&mut self, op: Op<'c>, condition: BodyScalar) -> Result<(), ErrorReported> {
        let branches =
            op.bodies().into_iter().map(|branch| self.read_ops(branch.ops())).collect::<Result<Vec<_>, _>>()?;
        for (position, output) in op.outputs().into_iter().enumerate() {
            let chosen = branches.iter().map(|yields| yields[position]);
            let operands = [condition].into_iter().chain(chosen).collect();
            self.push_op(op, ScalarOp::BRANCH, operands, Some(output));
        }
        Ok(())
    }

    fn push_op(&mut self, op: Op<'c>, name: &str, operands: Vec<BodyScalar>, output: Option<Value<'c>>) {
        if let Some(output) = output {
            self.scalars.insert(output, BodyScalar::Op(self.ops.len()));
        }
        self.body.ops.push(ScalarOp { name: name.to_owned(), operands });
        self.ops.push(op);
    }

    fn find_scalar(&self, value: Value<'c>) -> BodyScalar {
        self.scalars.get(value).copied().unwrap_or_else(|| self.importer.outer_scalar(value))
    }
}

/// Returns the name of an operation, followed by the predicate for a comparison.
pub(super) fn read_scalar_op_name(op: Op<'_>) -> String {
    const FLOAT_PREDICATES: [&str; 16] = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
        "true",
    ];
    const INTEGER_PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    let predicates: &[&str] = match op.full_name() {
        "arith.cmpf" => &FLOAT_PREDICATES,
        "arith.cmpi" => &INTEGER_PREDICATES,
        name => return name.to_owned(),
    };
    let number = op.attr("predicate").and_then(integer).and_then(|number| usize::try_from(number).ok());
    let predicate = number.and_then(|number| predicates.get(number)).copied().unwrap_or_default();
    format!("{} {predicate}", op.full_name())
}
