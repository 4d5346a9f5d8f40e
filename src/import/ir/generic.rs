//! `spyre-import-linalg`, state of the import of one `linalg.generic`: its iteration space, its body, and the nodes
//! built for it.

use super::{
    importer::FunctionImporter,
    read_body::{infer_iteration_sizes, read_body},
};
use crate::{
    codes,
    import::{
        GenericBody, NodeElementType, NodeId,
        graph::{iteration_box::IterationBox, linear_index::LinearIndex, views},
    },
    mlir::{
        AffineExpression, ErrorReported, Location, Op, OpExt, TensorType, Value, ValueLike, elements, error_at,
        is_reduction, is_unknown_location, map_of, map_results,
    },
};

/// A `linalg.generic`, split into iteration space and body.
pub(super) struct GenericImporter<'a, 'c> {
    pub(super) importer: &'a mut FunctionImporter<'c>,
    pub(super) op: Op<'c>,
    pub(super) num_inputs: usize,
    pub(super) space: GenericIterationSpace<'c>,
    /// Operands that are read at indices of several dimensions.
    pub(super) has_windows: Vec<bool>,
    pub(super) body: GenericBody,
    /// The operations of the body, in the order of `body.ops`.
    pub(super) ops: Vec<Op<'c>>,
    /// Nodes of the operands and of the body operations over the iteration space; each is built at its first use.
    pub(super) operand_nodes: Vec<Option<NodeId>>,
    pub(super) op_nodes: Vec<Option<NodeId>>,
}

/// Iteration space of an op, with the index maps of the operands.
#[derive(Clone)]
pub(super) struct GenericIterationSpace<'c> {
    /// The inputs, then the outs operands, each with its index map.
    pub(super) operands: Vec<(Value<'c>, Vec<AffineExpression>)>,
    /// Window of the iteration space that is computed.
    pub(super) window: IterationBox,
    pub(super) is_reduction: Vec<bool>,
    /// Dimensions of the op: each a dimension of the space, or the index at which it is fixed.
    pub(super) dims: Vec<AffineExpression>,
}

impl GenericIterationSpace<'_> {
    /// Fixes some dimensions of the space at one point, and removes them.
    pub(super) fn fix_dims(&self, dims: &[usize], point: &[i64]) -> Self {
        let left: Vec<usize> = (0..self.window.sizes.len()).filter(|dim| !dims.contains(dim)).collect();
        let place = |dim: usize| match dims.iter().position(|&fixed| fixed == dim) {
            Some(position) => AffineExpression::Constant(self.window.origin[dim] + point[position]),
            None => {
                AffineExpression::Dim(left.iter().position(|&other| other == dim).expect("a dimension that is left"))
            }
        };
        let select = |of: &[i64]| left.iter().map(|&dim| of[dim]).collect::<Vec<_>>();
        let sizes = select(&self.window.sizes);
        let moved_index = |expr: &AffineExpression| {
            let moved = expr.with_dims(&place);
            // The index was a sum before and is an offset now.
            let shift = LinearIndex::from_expr(&moved, &sizes).filter(|_| !matches!(moved, AffineExpression::Dim(_)));
            shift.map_or(moved, |shift| shift.to_expr(AffineExpression::Dim))
        };
        let moved = |map: &[AffineExpression]| map.iter().map(moved_index).collect();
        Self {
            operands: self.operands.iter().map(|(value, map)| (*value, moved(map))).collect(),
            is_reduction: left.iter().map(|&dim| self.is_reduction[dim]).collect(),
            dims: moved(&self.dims),
            window: IterationBox { origin: select(&self.window.origin), sizes },
        }
    }
}

impl<'a, 'c> GenericImporter<'a, 'c> {
    pub(super) fn from_op(importer: &'a mut FunctionImporter<'c>, op: Op<'c>) -> Result<Self, ErrorReported> {
        let maps = op.required_attr("indexing_maps", elements);
        let iterators = op.required_attr("iterator_types", elements);
        let maps = maps.into_iter().filter_map(map_of).map(map_results);
        let operands: Vec<(Value<'c>, Vec<AffineExpression>)> = op.inputs().into_iter().zip(maps).collect();
        let is_reduction = iterators.iter().map(|iterator| is_reduction(*iterator)).collect();
        let num_inputs = operands.len() - op.outputs().len();
        let window = IterationBox::from_sizes(infer_iteration_sizes(op, &operands, iterators.len())?);
        let (body, ops) = read_body(importer, op, num_inputs)?;
        let (known_operands, known_ops) = (vec![None; operands.len()], vec![None; ops.len()]);
        let has_windows = operands.iter().map(|(_, map)| views::as_plain_dims(map).is_none()).collect();
        let dims = (0..iterators.len()).map(AffineExpression::Dim).collect();
        let space = GenericIterationSpace { operands, window, is_reduction, dims };
        Ok(Self {
            importer,
            op,
            num_inputs,
            space,
            has_windows,
            body,
            ops,
            operand_nodes: known_operands,
            op_nodes: known_ops,
        })
    }

    pub(super) fn report_error(&self, message: impl std::fmt::Display) -> ErrorReported {
        error_at(codes::UNSUPPORTED, self.op, message).report()
    }

    /// Returns the location of a body operation; that of the complete op if a pass has created the body.
    pub(super) fn location(&self, at: Op<'c>) -> Location<'c> {
        if is_unknown_location(at.loc()) { self.op.loc() } else { at.loc() }
    }

    /// Adds a node that is rejected, at an operation of the body, if it is used.
    pub(super) fn add_unsupported(&mut self, at: Op<'c>, message: String) -> NodeId {
        let location = self.location(at);
        let element = at
            .outputs()
            .first()
            .map_or(NodeElementType::F32, |output| self.importer.scalar_element_type(output.r#type()));
        self.importer.add_unsupported(at, location, message, vec![1; self.space.window.sizes.len()], element)
    }

    /// Returns a node for a complete result that is rejected with `message` if it is needed.
    pub(super) fn add_unsupported_result(&mut self, result: usize, message: String) -> NodeId {
        let of = self.op.outputs()[result].r#type();
        let (element, shape) = (
            self.importer.scalar_element_type(of),
            TensorType::from_type(of).map(|tensor| tensor.shape).unwrap_or_default(),
        );
        self.importer.add_unsupported(self.op, self.op.loc(), message, shape, element)
    }

    pub(super) fn output_map(&self, result: usize) -> &[AffineExpression] {
        &self.space.operands[self.num_inputs + result].1
    }

    /// Clears the cache: nodes that are built for one window are wrong for another.
    pub(super) fn clear_cache(&mut self) {
        self.operand_nodes.fill(None);
        self.op_nodes.fill(None);
    }
}
