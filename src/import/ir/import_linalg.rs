//! `spyre-import-linalg`: converts `linalg` on tensors to `spyre` ops.
//!
//! Reads one function of `linalg.generic`, `linalg.softmax`, fills, tensor operations and constants; builds the value
//! graph, and writes the live nodes as `spyre` ops in its place. Existing `spyre` ops remain and read the new tensors.
//! Unless `precision=strict`, f32 values of a program with f16 tensors become f16. An f32-only program is computed in
//! f16 if the device lacks a function in f32.

use super::{
    cast::element_type,
    emit::GraphEmitter,
    import_attention::import_attention,
    import_generic::import_generic,
    import_loop::import_control_flow,
    import_scan::import_scan,
    import_scatter::import_scatter,
    import_sort::{import_sort, import_topk},
    import_tensor::{fill, import_tensor},
    importer::{FunctionImporter, IMPORT_PASS, ImportFormats, RetainedOp, is_omitted_op, is_single_precision},
    read_body::read_scalar_op_name,
};
use crate::dialect::mark_symbolic;
use crate::dialect::ods::{attr, option, spyre, tm_tensor};
use crate::{
    codes,
    import::{
        NodeElementType, NodeId, NodeKind, Precision, ScalarOp,
        graph::integers::IntegerFacts,
        rules::{digits::RESULT_BASE, rank::lower_ranks},
    },
    mlir::{
        Block, BlockExt, ErrorReported, Op, OpExt, Pass, PassOptions, ScalarType, TensorType, Value, ValueLike,
        canonicalize_structured_ops, error_at, generalize_named_ops, i64_attribute, set_function_type,
        set_result_attribute, shape_of,
    },
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const PASS: Pass = Pass { argument: IMPORT_PASS, run };

fn run<'c>(module: Op<'c>, options: &PassOptions) -> Result<(), ErrorReported> {
    let precision: Precision = options.read_enum(module, option::PRECISION)?;
    let mut functions = module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    let Some(function) = functions.next() else { return Ok(()) };
    if let Some(second) = functions.next() {
        return Err(error_at(
            codes::UNSUPPORTED,
            second,
            "expected one function with a body after inlining, found a second one; inline or remove it",
        )
        .with_note(function, "the first")
        .report());
    }
    import_function(function, precision)?;
    // Ops that cannot have a symbolic size are rejected as early as possible.
    mark_symbolic(function)
}

fn import_function(function: Op<'_>, precision: Precision) -> Result<(), ErrorReported> {
    let Some(body) = function.body() else { return Ok(()) };
    if function.nested().into_iter().skip(1).all(|op| is_spyre_op(op) || op.is("func.return")) {
        return Ok(());
    }
    canonicalize_structured_ops(function);
    generalize_named_ops(function);
    let half = find_half_type(function).filter(|_| precision.is_narrow());
    // Indices among the integers and the format of f32 are known only after the import, and the import depends on both.
    let settled =
        iterate_to_fixed_point((BTreeMap::new(), ImportFormats::default()), MAX_IMPORTS, |(indices, formats)| {
            let importer = import_with_facts(function, body, (half, precision), (indices, formats))?;
            let is_narrow = GraphEmitter::new(&importer, function).is_narrow();
            let roots: Vec<NodeId> =
                importer.retained_ops.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
            let needed = ImportFormats { is_narrow, storage_formats: importer.graph.compute_storage_formats(&roots) };
            let found = importer.graph.integers.updated_index_rows();
            let is_settled = found.is_none()
                && importer.graph.is_valid_for_format(is_narrow)
                && needed.storage_formats == formats.storage_formats;
            let next = (!is_settled).then(|| (found.unwrap_or_else(|| indices.clone()), needed));
            Ok::<_, ErrorReported>((importer, next))
        })?;
    let mut importer = settled.ok_or_else(|| {
        let message = format!(
            "expected ranges of integers that are known after {MAX_IMPORTS} passes over the program, found a longer chain of tables \
             whose entries index other tables; declare the ranges of arguments with 'spyre.range'"
        );
        error_at(codes::UNSUPPORTED, function, message).report()
    })?;
    let of_digits = stack_digits(&mut importer);
    convert_moved_integers(&mut importer);
    let roots: Vec<NodeId> = importer.retained_ops.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
    let narrow = lower_ranks(&mut importer.graph, &roots);
    for root in importer.retained_ops.iter_mut().flat_map(|kept| &mut kept.inputs) {
        *root = narrow.get(root).copied().unwrap_or(*root);
    }
    let replaced = std::mem::take(&mut importer.replaced);
    GraphEmitter::new(&importer, function).emit()?;
    if !of_digits.is_empty() {
        set_function_type(function);
    }
    for result in of_digits {
        set_result_attribute(function, result, attr::SPYRE_DIGITS, i64_attribute(function.ctx(), RESULT_BASE));
    }
    for op in replaced.into_iter().rev() {
        op.erase();
    }
    Ok(())
}

/// Stacks the digits of returned integers that are represented by digits, upper digits first; returns the positions of
/// these results.
fn stack_digits(importer: &mut FunctionImporter<'_>) -> Vec<usize> {
    let FunctionImporter { retained_ops: kept, graph, .. } = importer;
    let mut found = Vec::new();
    for kept in kept.iter_mut().filter(|kept| kept.op.is("func.return")) {
        for (result, root) in kept.inputs.iter_mut().enumerate() {
            let Some(digits) = graph.find_digits(*root) else { continue };
            let shape = graph.node(*root).shape.clone();
            let element = graph.integers.element();
            let (one, both) = ([&[1], &shape[..]].concat(), [&[2], &shape[..]].concat());
            let mut stacked = graph.add_undefined(both, element);
            for (place, digit) in (0..).zip(digits.parts) {
                let whole = graph.broadcast(digit, &shape);
                let part = graph.reshape(whole, &one);
                let offsets = std::iter::once(place).chain(shape.iter().map(|_| 0)).collect();
                stacked = graph.insert(part, stacked, offsets);
            }
            *root = graph.add_digit_integers(stacked);
            found.push(result);
        }
    }
    found
}

/// Maximum number of imports of a program until the set of its indices is stable. Models need up to four.
const MAX_IMPORTS: usize = 64;

/// Repeats `read`, beginning with `state`, until it leaves the state unchanged, and returns its result. `read` returns
/// the next state if it needs another one. Returns None if no fixed point is found: a state recurs, or there are more
/// than `limit` states.
fn iterate_to_fixed_point<S: Clone + Ord, T, E>(
    state: S,
    limit: usize,
    read: impl Fn(&S) -> Result<(T, Option<S>), E>,
) -> Result<Option<T>, E> {
    let (mut seen, mut state) = (BTreeSet::new(), state);
    while seen.len() < limit && seen.insert(state.clone()) {
        match read(&state)? {
            (found, None) => return Ok(Some(found)),
            (_, Some(next)) => state = next,
        }
    }
    Ok(None)
}

/// Converts integers that are only moved to retained operations into numbers, if some of them are computed. Also
/// converts them if the program computes with other integers of the same tensor: a tensor has one format.
fn convert_moved_integers(importer: &mut FunctionImporter<'_>) {
    let FunctionImporter { retained_ops: kept, graph, .. } = importer;
    loop {
        let roots: Vec<NodeId> = kept.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
        let computed_with = graph.find_tensors_used_as_numbers(&roots);
        let mut is_settled = true;
        for root in kept.iter_mut().flat_map(|kept| &mut kept.inputs) {
            let is_moved = matches!(
                graph.node(*root).kind,
                NodeKind::View(_) | NodeKind::Reshape | NodeKind::Insert(_) | NodeKind::Gather(_)
            );
            let has_own_format =
                || graph.is_index_list(*root) && graph.collect_source_tensors(*root).is_disjoint(&computed_with);
            if graph.node(*root).element != NodeElementType::Int || !is_moved || has_own_format() {
                continue;
            }
            if let Ok(numbers) = graph.convert_to_numbers(*root) {
                let integers = graph.add_integers(numbers);
                is_settled &= integers == *root;
                *root = integers;
            }
        }
        if is_settled {
            return;
        }
    }
}

/// Imports a function for a given set of indices and a given format of f32.
fn import_with_facts<'c>(
    function: Op<'c>,
    body: Block<'c>,
    (half, precision): (Option<NodeElementType>, Precision),
    (indices, formats): (&BTreeMap<usize, i64>, &ImportFormats),
) -> Result<FunctionImporter<'c>, ErrorReported> {
    // In a program without f32, integers need no f32 either, so that operands of a comparison and of a select have one
    // format.
    let of_integers = half
        .or_else(|| find_half_type(function).filter(|_| !has_single_precision(function)))
        .unwrap_or(NodeElementType::F32);
    let mut importer =
        FunctionImporter::new(half, precision, IntegerFacts::new(of_integers, indices.clone()), formats.clone());
    importer.import_block(function, body)?;
    Ok(importer)
}

fn iter_values(op: Op<'_>) -> impl Iterator<Item = Value<'_>> {
    op.outputs().into_iter().chain(op.body_args())
}

/// Returns whether a program has f32 or f64 values, including values in bodies.
fn has_single_precision(function: Op<'_>) -> bool {
    function.nested().into_iter().flat_map(iter_values).any(|value| is_single_precision(element_type(value.r#type())))
}

/// Returns the half-width type of a program with such tensors; f16 if it has both.
pub(super) fn find_half_type(function: Op<'_>) -> Option<NodeElementType> {
    let mut found = None;
    for value in function.nested().into_iter().flat_map(iter_values) {
        let Some(tensor) = TensorType::from_type(value.r#type()) else { continue };
        match ScalarType::from_type(tensor.element) {
            ScalarType::F16 => return Some(NodeElementType::F16),
            ScalarType::Bf16 => found = Some(NodeElementType::Bf16),
            _ => {}
        }
    }
    found
}

impl<'c> FunctionImporter<'c> {
    /// Imports the ops of a block. Scopes and loops may contain `linalg`, too. The operands of a body are known only
    /// inside it.
    fn import_block(&mut self, around: Op<'c>, block: Block<'c>) -> Result<(), ErrorReported> {
        let scope = self.num_scopes;
        let outer = self.graph.enter_scope(scope);
        for argument in block.args() {
            self.add_source(around, argument)?;
        }
        for op in block.ops() {
            if is_spyre_op(op) || op.is("func.return") {
                self.import_retained_op(scope, op)?;
            } else {
                self.record_op(op);
                self.import_op(op)?;
                self.replaced.push(op);
            }
        }
        self.graph.enter_scope(outer);
        Ok(())
    }

    /// Records the operands of a retained operation, and imports its regions.
    fn import_retained_op(&mut self, scope: usize, op: Op<'c>) -> Result<(), ErrorReported> {
        let inputs = op.inputs().into_iter().map(|value| self.node_of(op, value)).collect::<Result<_, _>>()?;
        self.retained_ops.push(RetainedOp { op, inputs, scope, enclosing_scopes: self.enclosing_scopes.clone() });
        for value in op.outputs() {
            self.add_source(op, value)?;
        }
        if let Some(body) = op.body() {
            self.num_scopes += 1;
            self.enclosing_scopes.push((scope, op));
            self.import_block(op, body)?;
            self.enclosing_scopes.pop();
            if op.is(spyre::HINT) {
                self.propagate_yielded_constants(op, body);
            }
        }
        Ok(())
    }

    pub(super) fn import_op(&mut self, op: Op<'c>) -> Result<(), ErrorReported> {
        match op.full_name() {
            _ if is_omitted_op(op) => {}
            "tensor.empty" => {
                self.record_result(op, |importer, shape, element| Ok(importer.graph.add_undefined(shape, element)))?
            }
            "arith.constant" => {
                let node = self.import_constant(op)?;
                self.record_node(op.output(), node);
            }
            "linalg.fill" => fill(self, op)?,
            "linalg.generic" => {
                for (value, node) in op.outputs().into_iter().zip(import_generic(self, op)?) {
                    self.record_node(value, node);
                }
            }
            "scf.for" | "scf.while" | "scf.if" => import_control_flow(self, op)?,
            tm_tensor::ATTENTION => import_attention(self, op)?,
            tm_tensor::SCAN => import_scan(self, op)?,
            tm_tensor::SCATTER => import_scatter(self, op)?,
            tm_tensor::SORT => import_sort(self, op)?,
            tm_tensor::TOPK => import_topk(self, op)?,
            name if name.starts_with("tensor.") || name == "linalg.softmax" => import_tensor(self, op)?,
            _ => self.import_scalar(op)?,
        }
        Ok(())
    }

    /// Imports an operation outside of all bodies: on scalars, or elementwise on tensors.
    fn import_scalar(&mut self, op: Op<'c>) -> Result<(), ErrorReported> {
        let operands: Vec<NodeId> =
            op.inputs().into_iter().map(|value| self.node_of(op, value)).collect::<Result<_, _>>()?;
        match op.outputs().as_slice() {
            [] if op.is("cf.assert") => {
                self.assertions.extend(operands.first().map(|&condition| (condition, op, op.loc())));
                Ok(())
            }
            [output] => {
                let shape = shape_of(*output);
                // A scalar condition selects between whole tensors.
                let everywhere = |node: &NodeId| match self.graph.node(*node).shape.is_empty()
                    && self.graph.as_scalar(*node).is_none()
                {
                    true => self.graph.broadcast_rank_zero(*node, &shape),
                    false => *node,
                };
                let operands: Vec<NodeId> = operands.iter().map(everywhere).collect();
                let scalar = ScalarOp { name: read_scalar_op_name(op), operands: Vec::new() };
                let node = self.build_scalar_op(op, op.loc(), &scalar, &operands, &shape);
                self.record_node(*output, node);
                Ok(())
            }
            _ => Err(error_at(codes::UNSUPPORTED, op, "is not supported: the device has no such function").report()),
        }
    }
}

fn is_spyre_op(op: Op<'_>) -> bool {
    op.full_name().starts_with("spyre.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_until_state_is_unchanged() {
        let down = |state: &i32| Ok::<_, ()>((*state, (*state > 0).then(|| state - 1)));
        assert_eq!(iterate_to_fixed_point(40, 64, down), Ok(Some(0)));
        assert_eq!(iterate_to_fixed_point(64, 64, down), Ok(None), "too many readings");
    }

    #[test]
    fn returns_none_without_fixed_point() {
        assert_eq!(iterate_to_fixed_point(0, 64, |state| Ok::<_, ()>((*state, Some(1 - state)))), Ok(None));
        assert_eq!(iterate_to_fixed_point(0, 64, |_| Err::<(i32, Option<i32>), _>("refused")), Err("refused"));
    }
}
