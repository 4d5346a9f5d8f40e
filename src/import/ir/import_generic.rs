//! `spyre-import-linalg`, one `linalg.generic`: its body as operations on whole tensors.

mod contraction;
mod extremum_position;
mod reduction;
mod reversal;

use super::{generic::GenericImporter, importer::FunctionImporter};
use crate::{
    codes,
    import::{
        BodyScalar, ConstantTensor, NodeElementType, NodeId, NodeKind, ScalarOp,
        graph::{
            constant_tensor::{MAX_CONSTANT_ELEMENTS, constant_limit_error},
            iteration_box::{DimRuns, find_constant_runs},
            linear_index::find_view_error,
            views,
        },
        rules::lookup::lookup_elements,
    },
    mlir::{AffineExpression, ErrorReported, Op, OpExt, TensorType, ValueLike, natural_number, shape_of},
};

/// Builds the nodes of a `linalg.generic`; returns one for each result.
pub(super) fn import_generic<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
) -> Result<Vec<NodeId>, ErrorReported> {
    let mut generic = GenericImporter::from_op(importer, op)?;
    let results = (0..op.outputs().len()).map(|result| generic.import_result(result)).collect::<Result<_, _>>()?;
    generic.record_asserts()?;
    Ok(results)
}

/// Slice of a result, and its window.
struct ResultSlice {
    node: NodeId,
    offsets: Vec<i64>,
    shape: Vec<i64>,
}

impl<'c> GenericImporter<'_, 'c> {
    fn import_result(&mut self, result: usize) -> Result<NodeId, ErrorReported> {
        self.importer.record_op(self.op);
        if self.space.is_reduction.contains(&true) {
            return self.import_reduction(result);
        }
        let mut parts = Vec::new();
        self.import_slices(result, &mut parts)?;
        match parts.as_slice() {
            [part] => Ok(part.node),
            _ => self.assemble_slices(result, &parts),
        }
    }

    /// Builds the slices of a result, each with its window: one slice, unless a branch depends on an index alone.
    fn import_slices(&mut self, result: usize, parts: &mut Vec<ResultSlice>) -> Result<(), ErrorReported> {
        let unfolded = self.find_unfolded_dim();
        let runs = if unfolded.is_some() { unfolded } else { self.resolve_branches(self.body.yields[result])? };
        let Some((dim, runs)) = runs else {
            let node = self.evaluate(self.body.yields[result])?;
            let node = self.view_as_result(result, node)?;
            let at = |expr: &AffineExpression| {
                if let AffineExpression::Dim(dim) = expr { self.space.window.origin[*dim] } else { 0 }
            };
            let offsets = self.output_map(result).iter().map(at).collect();
            parts.push(ResultSlice { node, offsets, shape: self.result_shape(result) });
            return Ok(());
        };
        let (window, body) = (self.space.window.clone(), self.body.clone());
        for (first, end) in runs {
            self.space.window = window.restrict(dim, first, end);
            self.clear_cache();
            self.import_slices(result, parts)?;
            self.body = body.clone();
        }
        self.space.window = window;
        self.clear_cache();
        Ok(())
    }

    /// Resolves the branches that `scalar` depends on, outer ones first, so that only one side of each is computed.
    /// Returns a branch whose condition changes along one dimension, with the runs in which it is constant.
    fn resolve_branches(&mut self, scalar: BodyScalar) -> Result<Option<DimRuns>, ErrorReported> {
        let is_open = |op: &ScalarOp| op.name == ScalarOp::BRANCH && op.operands.len() == 3;
        while let Some(index) =
            self.body.collect_required(scalar).into_iter().rev().find(|&index| is_open(&self.body.ops[index]))
        {
            let condition = self.evaluate(self.body.ops[index].operands[0])?;
            let graph = &self.importer.graph;
            let branch = &mut self.body.ops[index];
            if let Some(number) = graph.as_scalar(condition) {
                branch.operands = vec![branch.operands[if number == 0.0 { 2 } else { 1 }]];
                continue;
            }
            if let Some(runs) =
                graph.as_constant(condition).and_then(|known| find_constant_runs(known, &graph.node(condition).shape))
            {
                return Ok(Some(runs));
            }
            // The condition is a runtime value: both sides are computed.
            "arith.select".clone_into(&mut branch.name);
        }
        Ok(None)
    }

    /// Assembles a result from its slices.
    fn assemble_slices(&mut self, result: usize, parts: &[ResultSlice]) -> Result<NodeId, ErrorReported> {
        let nodes: Vec<NodeId> = parts.iter().map(|part| part.node).collect();
        if let Some(rejected) = self.importer.graph.find_unsupported(&nodes) {
            return Ok(rejected);
        }
        let Some(tensor) = TensorType::from_type(self.op.outputs()[result].r#type()) else { return Ok(nodes[0]) };
        let element = self.importer.scalar_element_type(tensor.element);
        let graph = &mut self.importer.graph;
        let mut whole = graph.add_undefined(tensor.shape.clone(), element);
        for ResultSlice { node, offsets, shape } in parts {
            let part = if graph.as_scalar(*node).is_some() { graph.add_splat(*node, shape.clone()) } else { *node };
            whole = graph.insert(part, whole, offsets.clone());
        }
        Ok(whole)
    }

    /// Returns the node of a body scalar over the whole iteration space; a dimension that it does not depend on has
    /// size 1.
    fn evaluate(&mut self, scalar: BodyScalar) -> Result<NodeId, ErrorReported> {
        for index in self.body.collect_required(scalar) {
            let node = self.evaluate_op(index)?;
            self.op_nodes[index] = Some(node);
        }
        self.evaluate_operand(scalar)
    }

    /// Returns an operand of an operation whose operands are evaluated.
    fn evaluate_operand(&mut self, scalar: BodyScalar) -> Result<NodeId, ErrorReported> {
        match scalar {
            BodyScalar::Input(index) => self.import_operand(index),
            BodyScalar::Accumulator(result) => self.import_operand(self.num_inputs + result),
            BodyScalar::Outer(node) => {
                Ok(self.importer.graph.broadcast_rank_zero(node, &vec![1; self.space.window.sizes.len()]))
            }
            BodyScalar::Op(index) => self.evaluate_op(index),
            BodyScalar::Unknown => Ok(self.add_unsupported(
                self.op,
                "expected numbers, integers and indices in the body, found a value of another type".to_owned(),
            )),
        }
    }

    fn evaluate_op(&mut self, index: usize) -> Result<NodeId, ErrorReported> {
        if let Some(known) = self.op_nodes[index] {
            return Ok(known);
        }
        let (scalar_op, at) = (self.body.ops[index].clone(), self.ops[index]);
        match scalar_op.name.as_str() {
            "linalg.index" => return Ok(self.build_iteration_index(at)),
            "tensor.extract" => return self.import_extract(&scalar_op, at),
            ScalarOp::BRANCH if scalar_op.operands.len() == 1 => return self.evaluate_operand(scalar_op.operands[0]),
            _ => {}
        }
        let operands: Vec<NodeId> =
            scalar_op.operands.iter().map(|&operand| self.evaluate_operand(operand)).collect::<Result<_, _>>()?;
        let (location, shape) = (self.location(at), vec![1; self.space.window.sizes.len()]);
        Ok(self.importer.build_scalar_op(at, location, &scalar_op, &operands, &shape))
    }

    /// Builds `linalg.index`: the numbers from 0 along one dimension.
    fn build_iteration_index(&mut self, at: Op<'c>) -> NodeId {
        let dim = match self.space.dims[at.required_attr("dim", natural_number)] {
            AffineExpression::Dim(dim) => dim,
            AffineExpression::Constant(index) => {
                return self.importer.graph.add_constant(
                    ConstantTensor::from_integer(index),
                    Vec::new(),
                    NodeElementType::Int,
                );
            }
            _ => unreachable!("a dimension of the space, or an index in it"),
        };
        let mut shape = vec![1; self.space.window.sizes.len()];
        shape[dim] = self.space.window.sizes[dim];
        if shape[dim] > MAX_CONSTANT_ELEMENTS {
            let message = constant_limit_error(shape[dim]);
            return self.importer.add_unsupported(at, at.loc(), message, shape, NodeElementType::Int);
        }
        self.importer.graph.add_constant(
            ConstantTensor::iota(self.space.window.origin[dim], self.space.window.sizes[dim]),
            shape,
            NodeElementType::Int,
        )
    }

    /// Extracts an element of a tensor at indices that the body computes: a view, or a gather if one index is read from
    /// a tensor.
    fn import_extract(&mut self, scalar_op: &ScalarOp, at: Op<'c>) -> Result<NodeId, ErrorReported> {
        let table = self.importer.node_of(at, at.inputs()[0])?;
        let indices: Vec<NodeId> =
            scalar_op.operands[1..].iter().map(|&operand| self.evaluate_operand(operand)).collect::<Result<_, _>>()?;
        if let Some(rejected) = self.importer.graph.find_unsupported(&indices) {
            return Ok(rejected);
        }
        let location = self.location(at);
        self.importer.record_op_at(at, location);
        let rows = shape_of(at.inputs()[0]);
        if let Some(rejected) = self.importer.graph.find_unsupported(&[table]) {
            // Another table of the same size implies the same bounds.
            let element = self.importer.graph.node(rejected).element;
            let table = self.importer.graph.add_undefined(rows.clone(), element);
            let found = lookup_elements(&mut self.importer.graph, (table, &rows), &indices, &self.space.window.sizes);
            self.importer.row_selections.extend(found.into_iter().flat_map(|found| found.selections));
            return Ok(rejected);
        }
        match lookup_elements(&mut self.importer.graph, (table, &rows), &indices, &self.space.window.sizes) {
            Ok(found) => {
                self.importer.row_selections.extend(found.selections);
                self.importer.assertions.extend(found.bounds.into_iter().map(|bound| (bound, at, location)));
                Ok(found.node)
            }
            Err(message) => Ok(self.add_unsupported(at, message)),
        }
    }

    /// Returns operand `index` over the iteration space.
    fn import_operand(&mut self, index: usize) -> Result<NodeId, ErrorReported> {
        if let Some(known) = self.operand_nodes[index] {
            return Ok(known);
        }
        let (value, map) = self.space.operands[index].clone();
        let map = self.space.window.shift_map(&map);
        let node = self.importer.node_of(self.op, value)?;
        let (node, map) = self.reverse_decreasing_dims(node, &map).unwrap_or((node, map));
        let graph = &mut self.importer.graph;
        let viewed = if graph.node(node).kind == NodeKind::Undefined && index < self.num_inputs {
            self.add_unsupported(
                self.op,
                codes::UNWRITTEN.format("reads a tensor that no op has written; fill it first"),
            )
        } else if graph.as_scalar(node).is_some()
            || graph.node(node).shape.is_empty() && map.is_empty() && graph.as_constant(node).is_some()
        {
            node
        } else if let Some(message) = find_view_error(&map, &self.space.window.sizes) {
            self.add_unsupported(self.op, format!("reads input {index} {message}"))
        } else {
            let shape = views::compute_used_sizes(&map, &self.space.window.sizes);
            graph.view_strided(node, map, &shape)
        };
        self.operand_nodes[index] = Some(viewed);
        Ok(viewed)
    }

    /// Returns a node over the iteration space (reduced dimensions of size 1) under the indices of result `result`.
    fn view_as_result(&mut self, result: usize, node: NodeId) -> Result<NodeId, ErrorReported> {
        if self.importer.graph.find_unsupported(&[node]).is_some() {
            return Ok(node);
        }
        let graph = &self.importer.graph;
        let own = graph.node(node).shape.clone();
        let shape = if own.is_empty() { vec![1; self.space.window.sizes.len()] } else { own.clone() };
        let viewed = views::build_result_view(
            self.output_map(result),
            &shape,
            &self.space.window.sizes,
            &self.space.is_reduction,
        );
        match viewed.filter(|viewed| viewed.shape == self.result_shape(result)) {
            Some(_) if own.is_empty() => Ok(node),
            Some(viewed) => Ok(self.importer.graph.view(node, viewed.exprs, &viewed.shape)),
            None => Err(self.report_error(format_args!(
                "expected plain dimensions in the map of result {result}, found computed indices; write the result in order"
            ))),
        }
    }

    /// Returns the shape of a result, or of its slice in the window.
    fn result_shape(&self, result: usize) -> Vec<i64> {
        let whole =
            TensorType::from_type(self.op.outputs()[result].r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        let size = |(expr, whole): (&AffineExpression, i64)| match expr {
            AffineExpression::Dim(dim)
                if self.space.window.origin[*dim] > 0 || self.space.window.sizes[*dim] < whole =>
            {
                self.space.window.sizes[*dim]
            }
            _ => whole,
        };
        self.output_map(result).iter().zip(whole).map(size).collect()
    }

    /// Records assertions, which are checked once all tables that an index selects from are known.
    fn record_asserts(&mut self) -> Result<(), ErrorReported> {
        for index in 0..self.ops.len() {
            if self.ops[index].is("cf.assert") {
                let condition = self.body.ops[index].operands.first().copied().unwrap_or(BodyScalar::Unknown);
                let condition = self.evaluate(condition)?;
                self.importer.assertions.push((condition, self.ops[index], self.location(self.ops[index])));
            }
        }
        Ok(())
    }
}
