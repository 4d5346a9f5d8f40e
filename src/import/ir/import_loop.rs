//! `spyre-import-linalg`, control flow with compile-time trip counts and conditions: `scf.for` and `scf.while` are
//! unrolled, `scf.if` is folded.
//!
//! Loops are unrolled completely: each iteration is imported like straight-line code, with the nodes of the previous
//! iteration. So a slice at the induction variable has a constant offset. A loop body may be any program: a recurrence
//! over time steps, a scan, a fixed number of corrections.

use super::importer::FunctionImporter;
use crate::{
    codes,
    import::{ConstantTensor, NodeElementType, NodeId},
    mlir::{Block, BlockExt, ErrorReported, Op, OpExt, ValueLike, error_at, shape_of},
};

/// Maximum number of operations that the loops of a program are unrolled into: each may be a device op, and far more
/// would take hours to plan.
const MAX_UNROLLED_OPS: usize = 2048;

const RUNTIME_BOUND: &str = "requires a constant trip count, found a runtime bound; make the bound a constant";

pub(super) fn import_control_flow<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let results = match op.full_name() {
        "scf.for" => import_for(importer, op)?,
        "scf.while" => import_while(importer, op)?,
        _ => import_if(importer, op)?,
    };
    match results {
        Ok(results) => {
            op.outputs().into_iter().zip(results).for_each(|(output, node)| importer.record_node(output, node))
        }
        Err(message) => {
            for output in op.outputs() {
                let element = importer.scalar_element_type(output.r#type());
                let rejected = importer.add_unsupported(op, op.loc(), message.clone(), shape_of(output), element);
                importer.record_node(output, rejected);
            }
        }
    }
    Ok(())
}

/// Nodes of the results, or the reason why there are none.
type ControlFlowResults = Result<Vec<NodeId>, String>;

fn import_for<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<ControlFlowResults, ErrorReported> {
    let inputs = op.inputs();
    let nodes = inputs.iter().map(|&value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let (Some(body), Some((bounds, carried))) = (op.body(), nodes.split_at_checked(3)) else {
        return Ok(Err(codes::TRIP_COUNT.format(RUNTIME_BOUND)));
    };
    let mut numbers = Vec::new();
    for &bound in bounds {
        let Some(number) = importer.graph.as_integer_scalar(bound) else {
            return Ok(Err(codes::TRIP_COUNT.format(RUNTIME_BOUND)));
        };
        numbers.push(number);
    }
    let (mut counter, end, step) = (numbers[0], numbers[1], numbers[2]);
    if op.attr("unsignedCmp").is_some() && (counter < 0 || end < 0) {
        return Ok(Err(codes::LOOP_FORM
            .format("expected nonnegative bounds of an unsigned loop, found a negative one; use signed bounds")));
    }
    if step <= 0 {
        return Ok(Err(codes::LOOP_FORM.format(format_args!("expected a positive step, found {step}; count upward"))));
    }
    let num_iterations = end.saturating_sub(counter).max(0).unsigned_abs().div_ceil(step.unsigned_abs());
    let n_ops = body.ops().len();
    if num_iterations.saturating_mul(n_ops as u64) > MAX_UNROLLED_OPS as u64 {
        return Ok(Err(codes::UNROLLED_SIZE.format(format_args!(
            "expands to {num_iterations} iterations of {n_ops} ops, which is more than {MAX_UNROLLED_OPS} ops, the limit for all loops of a \
             program; compile fewer iterations, and run the program several times"
        ))));
    }
    let mut carried = carried.to_vec();
    while counter < end {
        let at = importer.graph.add_constant(ConstantTensor::from_integer(counter), Vec::new(), NodeElementType::Int);
        let taken = [vec![at], carried].concat();
        carried = match import_iteration(importer, op, body, &taken)? {
            Ok(given) => given,
            Err(message) => return Ok(Err(message)),
        };
        let Some(next) = counter.checked_add(step) else { break };
        counter = next;
    }
    Ok(Ok(carried))
}

fn import_while<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<ControlFlowResults, ErrorReported> {
    let &[before, after] = op.bodies().as_slice() else { return Ok(Err(codes::TRIP_COUNT.format(RUNTIME_BOUND))) };
    let mut carried =
        op.inputs().into_iter().map(|value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    loop {
        let asked = match import_iteration(importer, op, before, &carried)? {
            Ok(asked) => asked,
            Err(message) => return Ok(Err(message)),
        };
        let Some((&condition, given)) = asked.split_first() else {
            return Ok(Err(codes::TRIP_COUNT.format(RUNTIME_BOUND)));
        };
        match importer.graph.as_scalar(condition) {
            None => return Ok(Err(codes::TRIP_COUNT.format(RUNTIME_BOUND))),
            Some(0.0) => return Ok(Ok(given.to_vec())),
            Some(_) => {}
        }
        carried = match import_iteration(importer, op, after, given)? {
            Ok(carried) => carried,
            Err(message) => return Ok(Err(message)),
        };
    }
}

fn import_if<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<ControlFlowResults, ErrorReported> {
    let condition = importer.node_of(op, op.inputs()[0])?;
    let Some(number) = importer.graph.as_scalar(condition) else {
        // Other branches have been converted to selects between results already.
        let message = "with a runtime condition requires branches without side effects, found an assertion; move it out of the branch";
        return Ok(Err(codes::CONTROL_FLOW.format(message)));
    };
    match op.bodies().get(usize::from(number == 0.0)) {
        Some(&branch) => import_iteration(importer, op, branch, &[]),
        None => Ok(Ok(Vec::new())),
    }
}

/// Imports the ops of a block with `taken` as its arguments, and returns the operands of the last op, which is not
/// imported.
fn import_iteration<'c>(
    importer: &mut FunctionImporter<'c>,
    around: Op<'c>,
    block: Block<'c>,
    taken: &[NodeId],
) -> Result<ControlFlowResults, ErrorReported> {
    for (argument, &node) in block.args().into_iter().zip(taken) {
        importer.record_node(argument, node);
    }
    let ops = block.ops();
    let Some((last, others)) = ops.split_last() else { return Ok(Ok(Vec::new())) };
    importer.num_unrolled_ops += ops.len();
    if importer.num_unrolled_ops > MAX_UNROLLED_OPS {
        return Ok(Err(codes::UNROLLED_SIZE.format(format_args!(
            "expands to more than {MAX_UNROLLED_OPS} ops, the limit for all loops of a program; compile fewer iterations, and run \
             the program several times"
        ))));
    }
    for &op in others {
        if op.full_name().starts_with("spyre.") {
            return Err(error_at(
                codes::CONTROL_FLOW,
                op,
                "is not supported inside control flow; move it out of the loop or branch",
            )
            .with_note(around, "here")
            .report());
        }
        importer.record_op(op);
        importer.import_op(op)?;
    }
    let given = last.inputs().into_iter().map(|value| importer.node_of(*last, value)).collect::<Result<Vec<_>, _>>()?;
    importer.record_op(around);
    Ok(Ok(given))
}
