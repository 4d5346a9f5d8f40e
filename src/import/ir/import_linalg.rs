//! `spyre-import-linalg`: converts `linalg` on tensors to `spyre` ops.
//!
//! Reads one function of `linalg.generic`, `linalg.softmax`, fills, tensor operations and constants; builds the graph of what it computes
//! and writes the nodes that its results need as `spyre` ops in its place. The `spyre` ops that are already there stay and read the new
//! tensors. Unless `precision=strict`, f32 values of a program with f16 tensors are f16 tensors, and a program of f32 only is computed in f16
//! where the device lacks a function in f32.

use super::{
    cast::element_type,
    emit::Emitter,
    import_attention::import_attention,
    import_generic::import_generic,
    import_loop::import_control_flow,
    import_scan::import_scan,
    import_scatter::import_scatter,
    import_sort::{import_sort, import_topk},
    import_tensor::{fill, import_tensor},
    importer::{Formats, Importer, Kept, is_left_out, is_single},
    read_body::scalar_name,
};
use crate::dialect::mark_symbolic;
use crate::dialect::ods::{attr, option, spyre, tm_tensor};
use crate::{
    codes,
    import::{
        Element, Kind, NodeId, Precision, ScalarOp,
        graph::integers::Integers,
        rules::{digits::RESULT_BASE, rank::narrowed},
    },
    mlir::{
        Block, BlockExt, Op, OpExt, Options, Pass, Reported, ScalarType, TensorType, Value, ValueLike, error_at, generalize_named_ops,
        i64_attribute, set_function_type, set_result_attribute, shape_of, spell_plainly,
    },
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const PASS: Pass = Pass { argument: "spyre-import-linalg", run };

fn run<'c>(module: Op<'c>, options: &Options) -> Result<(), Reported> {
    let precision: Precision = options.read(module, option::PRECISION)?;
    let mut functions = module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    let Some(function) = functions.next() else { return Ok(()) };
    if let Some(second) = functions.next() {
        return Err(error_at(
            codes::UNSUPPORTED,
            second,
            "expected one function with a body after inlining, found a second one; inline or remove it",
        )
        .note(function, "the first")
        .report());
    }
    import_function(function, precision)?;
    // Ops that cannot have a symbolic size are reported as early as they are known.
    mark_symbolic(function)
}

fn import_function(function: Op<'_>, precision: Precision) -> Result<(), Reported> {
    let Some(body) = function.body() else { return Ok(()) };
    if function.nested().into_iter().skip(1).all(|op| is_spyre(op) || op.is("func.return")) {
        return Ok(());
    }
    spell_plainly(function);
    generalize_named_ops(function);
    let half = half_of(function).filter(|_| precision.is_narrow());
    // Indices among the integers and the format of f32 are known only after the import, and the import depends on both.
    let settled = settle((BTreeMap::new(), Formats::default()), MOST_READINGS, |(indices, formats)| {
        let importer = read(function, body, (half, precision), (indices, formats))?;
        let is_narrow = Emitter::new(&importer, function).is_narrow();
        let roots: Vec<NodeId> = importer.kept.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
        let needed = Formats { is_narrow, held: importer.graph.held_tensors(&roots) };
        let found = importer.graph.integers.settled();
        let is_settled = found.is_none() && importer.graph.is_for_format(is_narrow) && needed.held == formats.held;
        let next = (!is_settled).then(|| (found.unwrap_or_else(|| indices.clone()), needed));
        Ok::<_, Reported>((importer, next))
    })?;
    let mut importer = settled.ok_or_else(|| {
        let message = format!(
            "expected ranges of integers that are known after {MOST_READINGS} passes over the program, found a longer chain of tables \
             whose entries index other tables; declare the ranges of arguments with 'spyre.range'"
        );
        error_at(codes::UNSUPPORTED, function, message).report()
    })?;
    let of_digits = stack_digits(&mut importer);
    settle_integers(&mut importer);
    let roots: Vec<NodeId> = importer.kept.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
    let narrow = narrowed(&mut importer.graph, &roots);
    for root in importer.kept.iter_mut().flat_map(|kept| &mut kept.inputs) {
        *root = narrow.get(root).copied().unwrap_or(*root);
    }
    let replaced = std::mem::take(&mut importer.replaced);
    Emitter::new(&importer, function).emit()?;
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

/// Stacks the digits of returned integers that are known by their digits, upper digits first; returns the positions of these results.
fn stack_digits(importer: &mut Importer<'_>) -> Vec<usize> {
    let Importer { kept, graph, .. } = importer;
    let mut found = Vec::new();
    for kept in kept.iter_mut().filter(|kept| kept.op.is("func.return")) {
        for (result, root) in kept.inputs.iter_mut().enumerate() {
            let Some(digits) = graph.digits_of(*root) else { continue };
            let shape = graph.node(*root).shape.clone();
            let element = graph.integers.element();
            let (one, both) = ([&[1], &shape[..]].concat(), [&[2], &shape[..]].concat());
            let mut stacked = graph.undefined(both, element);
            for (place, digit) in (0..).zip(digits.parts) {
                let whole = graph.broadcast(digit, &shape);
                let part = graph.reshape(whole, &one);
                let offsets = std::iter::once(place).chain(shape.iter().map(|_| 0)).collect();
                stacked = graph.insert(part, stacked, offsets);
            }
            *root = graph.beside_digits(stacked);
            found.push(result);
        }
    }
    found
}

/// Maximum number of imports of a program until the set of its indices is stable. Models need up to four.
const MOST_READINGS: usize = 64;

/// Repeats `read`, beginning with `state`, until it leaves the state unchanged, and returns its result. `read` returns
/// the next state if it needs another one. Returns None if no fixed point is found: a state recurs, or there are more
/// than `limit`.
fn settle<S: Clone + Ord, T, E>(state: S, limit: usize, read: impl Fn(&S) -> Result<(T, Option<S>), E>) -> Result<Option<T>, E> {
    let (mut seen, mut state) = (BTreeSet::new(), state);
    while seen.len() < limit && seen.insert(state.clone()) {
        match read(&state)? {
            (found, None) => return Ok(Some(found)),
            (_, Some(next)) => state = next,
        }
    }
    Ok(None)
}

/// Converts moved integers that kept operations read to numbers, if some of them are computed, or if the program computes with the integers of
/// a tensor among them: a tensor has one format.
fn settle_integers(importer: &mut Importer<'_>) {
    let Importer { kept, graph, .. } = importer;
    loop {
        let roots: Vec<NodeId> = kept.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
        let computed_with = graph.tensors_read_as_numbers(&roots);
        let mut is_settled = true;
        for root in kept.iter_mut().flat_map(|kept| &mut kept.inputs) {
            let is_moved = matches!(graph.node(*root).kind, Kind::View(_) | Kind::Reshape | Kind::Insert(_) | Kind::Gather(_));
            let has_own_format = || graph.is_index_list(*root) && graph.tensors_behind(*root).is_disjoint(&computed_with);
            if graph.node(*root).element != Element::Int || !is_moved || has_own_format() {
                continue;
            }
            if let Ok(numbers) = graph.numbers_of(*root) {
                let integers = graph.as_integers(numbers);
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
fn read<'c>(
    function: Op<'c>,
    body: Block<'c>,
    (half, precision): (Option<Element>, Precision),
    (indices, formats): (&BTreeMap<usize, i64>, &Formats),
) -> Result<Importer<'c>, Reported> {
    // In a program without f32, integers need no f32 either, so that operands of a comparison and of a select have one format.
    let of_integers = half.or_else(|| half_of(function).filter(|_| !has_single(function))).unwrap_or(Element::F32);
    let mut importer = Importer::new(half, precision, Integers::new(of_integers, indices.clone()), formats.clone());
    importer.import_block(function, body)?;
    Ok(importer)
}

fn values(op: Op<'_>) -> impl Iterator<Item = Value<'_>> {
    op.outputs().into_iter().chain(op.body_args())
}

/// Returns whether a program has f32 or f64 values, including values in bodies.
fn has_single(function: Op<'_>) -> bool {
    function.nested().into_iter().flat_map(values).any(|value| is_single(element_type(value.r#type())))
}

/// Returns the half-width type of a program with such tensors; f16 if it has both.
pub(super) fn half_of(function: Op<'_>) -> Option<Element> {
    let mut found = None;
    for value in function.nested().into_iter().flat_map(values) {
        let Some(tensor) = TensorType::of(value.r#type()) else { continue };
        match ScalarType::of(tensor.element) {
            ScalarType::F16 => return Some(Element::F16),
            ScalarType::Bf16 => found = Some(Element::Bf16),
            _ => {}
        }
    }
    found
}

impl<'c> Importer<'c> {
    /// Scopes and loops may contain `linalg`, too. The operands of a body are known only inside it.
    fn import_block(&mut self, around: Op<'c>, block: Block<'c>) -> Result<(), Reported> {
        let scope = self.n_scopes;
        let outer = self.graph.enter_scope(scope);
        for argument in block.args() {
            self.add_source(around, argument)?;
        }
        for op in block.ops() {
            if is_spyre(op) || op.is("func.return") {
                self.keep(scope, op)?;
            } else {
                self.note_place(op.loc());
                self.import(op)?;
                self.replaced.push(op);
            }
        }
        self.graph.enter_scope(outer);
        Ok(())
    }

    /// Records the operands of a kept operation, and imports its regions.
    fn keep(&mut self, scope: usize, op: Op<'c>) -> Result<(), Reported> {
        let inputs = op.inputs().into_iter().map(|value| self.node_of(op, value)).collect::<Result<_, _>>()?;
        self.kept.push(Kept { op, inputs, scope, around: self.around.clone() });
        for value in op.outputs() {
            self.add_source(op, value)?;
        }
        if let Some(body) = op.body() {
            self.n_scopes += 1;
            self.around.push((scope, op));
            self.import_block(op, body)?;
            self.around.pop();
            if op.is(spyre::HINT) {
                self.look_into_scope(op, body);
            }
        }
        Ok(())
    }

    pub(super) fn import(&mut self, op: Op<'c>) -> Result<(), Reported> {
        match op.full_name() {
            _ if is_left_out(op) => {}
            "tensor.empty" => self.note_result(op, |importer, shape, element| Ok(importer.graph.undefined(shape, element)))?,
            "arith.constant" => {
                let node = self.constant(op)?;
                self.note_node(op.output(), node);
            }
            "linalg.fill" => fill(self, op)?,
            "linalg.generic" => {
                for (value, node) in op.outputs().into_iter().zip(import_generic(self, op)?) {
                    self.note_node(value, node);
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
    fn import_scalar(&mut self, op: Op<'c>) -> Result<(), Reported> {
        let operands: Vec<NodeId> = op.inputs().into_iter().map(|value| self.node_of(op, value)).collect::<Result<_, _>>()?;
        match op.outputs().as_slice() {
            [] if op.is("cf.assert") => {
                self.asserted.extend(operands.first().map(|&condition| (condition, op, op.loc())));
                Ok(())
            }
            [output] => {
                let shape = shape_of(*output);
                // A scalar condition selects between whole tensors.
                let everywhere = |node: &NodeId| match self.graph.node(*node).shape.is_empty() && self.graph.number_of(*node).is_none() {
                    true => self.graph.repeated(*node, &shape),
                    false => *node,
                };
                let operands: Vec<NodeId> = operands.iter().map(everywhere).collect();
                let scalar = ScalarOp { name: scalar_name(op), operands: Vec::new() };
                let node = self.scalar_op(op, op.loc(), &scalar, &operands, &shape);
                self.note_node(*output, node);
                Ok(())
            }
            _ => Err(error_at(codes::UNSUPPORTED, op, "is not supported: the device has no such function").report()),
        }
    }
}

fn is_spyre(op: Op<'_>) -> bool {
    op.full_name().starts_with("spyre.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_until_nothing_changes() {
        let down = |state: &i32| Ok::<_, ()>((*state, (*state > 0).then(|| state - 1)));
        assert_eq!(settle(40, 64, down), Ok(Some(0)));
        assert_eq!(settle(64, 64, down), Ok(None), "too many readings");
    }

    #[test]
    fn what_never_lasts_is_no_result() {
        assert_eq!(settle(0, 64, |state| Ok::<_, ()>((*state, Some(1 - state)))), Ok(None));
        assert_eq!(settle(0, 64, |_| Err::<(i32, Option<i32>), _>("refused")), Err("refused"));
    }
}
