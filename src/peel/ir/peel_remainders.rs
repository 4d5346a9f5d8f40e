//! `spyre-peel-remainders`: peels the remainder of a dimension whose size neither tile counts nor core counts divide.
//!
//! Reads a function of ops over tensors without layouts; splits the ops along a dimension in two, if that makes the
//! program cheaper. To decide this, the module is compiled up to the core split, unchanged and with each candidate
//! dimension peeled. A program whose large values have divisible sizes is not compiled for this.

use super::split_ops::split_ops;
use crate::dialect::ods::{attr, option};
use crate::{
    codes,
    dialect::{ComputeOp, format_of, target_of},
    kernel::ir::cost_evaluator::{CandidateCompiler, ModuleCostEvaluator},
    mlir::{
        DetachedClone, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, ValueLike, argument_attribute,
        error_at, find_defined_functions, i64_array_attribute, string_attribute, suppress_diagnostics,
    },
    peel::{PeeledDim, find_peel_candidates},
    search::{SearchedOp, find_axes_without_carried},
    tile::ir::items::BlockItems,
};
use cost::{ModeledCost, Objective};
use machine::{Family, Target};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-peel-remainders", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let compiler: Option<CandidateCompiler> = options.read_nested_options(module, option::COMPILE)?;
    let functions = find_defined_functions(module);
    // Candidate modules are not peeled again.
    let [function] = functions[..] else { return Ok(()) };
    if function.attr(attr::SPYRE_PEELED).is_some() {
        return Ok(());
    }
    let found = collect_candidates(function, &target);
    let best = match &compiler {
        None => found.first().map(|peel| (peel, String::new())),
        Some(compiler) => find_best_peel(module, function, &found, compiler)?,
    };
    if let Some((peel, saved)) = best {
        peel_function(function, peel);
        function.set_attr(attr::SPYRE_PEELED, string_attribute(module.ctx(), &(describe_peel(peel) + &saved)));
    }
    Ok(())
}

/// Returns the best peel with the text of its remark; `None` if no peel is better than the program as it is.
fn find_best_peel<'a>(
    module: Op<'_>,
    function: Op<'_>,
    found: &'a [PeeledDim],
    compiler: &CandidateCompiler,
) -> Result<Option<(&'a PeeledDim, String)>, ErrorReported> {
    if found.is_empty() {
        return Ok(None);
    }
    let evaluator = ModuleCostEvaluator::new(compiler);
    let cost_with = |peel: Option<&PeeledDim>| {
        let copy = DetachedClone::from_op(module);
        let function = find_defined_functions(copy.op())[0];
        if let Some(peel) = peel {
            peel_function(function, peel);
        }
        function.set_attr(attr::SPYRE_PEELED, string_attribute(module.ctx(), ""));
        evaluator.evaluate_cost(copy.op())
    };
    let whole = cost_with(None)?;
    let mut best: Option<(ModeledCost, &PeeledDim)> = None;
    for of_axis in found.chunk_by(|one, next| one.dims == next.dims) {
        for peel in of_axis {
            // If the smallest remainder does not pay, larger ones are not tried.
            let worth = cost_with(Some(peel))?
                .filter(|cost| whole.is_none_or(|whole| saves_enough(cost, &whole, evaluator.objective)));
            let Some(cost) = worth else { break };
            if best.is_none_or(|(least, _)| evaluator.objective.compare(&cost, &least).is_lt()) {
                best = Some((cost, peel));
            }
        }
    }
    let said = |cost: ModeledCost| {
        let whole = whole.map_or_else(
            || "(unpeeled: not possible)".to_owned(),
            |whole| format!("(unpeeled: {:.1} us)", whole.ns / 1e3),
        );
        format!("; {:.1} us {whole}", cost.ns / 1e3)
    };
    let counts =
        [evaluator.num_evaluated(), evaluator.num_infeasible()].map(|count| i64::try_from(count).unwrap_or(i64::MAX));
    function.set_attr(attr::SPYRE_PEEL_TRIALS, i64_array_attribute(module.ctx(), &counts));
    Ok(best.map(|(cost, peel)| (peel, said(cost))))
}

/// Relative saving that a peel needs: a smaller saving is within the error of the model, and peeling up to doubles the
/// number of ops.
const MIN_SAVING: f64 = 0.05;

/// Required relative saving of time per relative increase of bytes, as in the choice of loops: bytes are counted,
/// times are modeled.
const TIME_PER_BYTES: f64 = 0.2;

/// Returns whether the peeled program is better by the required saving.
#[expect(clippy::cast_precision_loss, reason = "programs move less than 2^53 bytes")]
fn saves_enough(peeled: &ModeledCost, whole: &ModeledCost, objective: Objective) -> bool {
    let (saved, more) = (1.0 - peeled.ns / whole.ns, peeled.hbm_bytes as f64 / whole.hbm_bytes as f64 - 1.0);
    match objective {
        Objective::Time => saved >= MIN_SAVING.max(more * TIME_PER_BYTES),
        Objective::Bytes => -more >= MIN_SAVING,
    }
}

/// Returns the text that reports a peeled dimension.
fn describe_peel(peel: &PeeledDim) -> String {
    let PeeledDim { dims, size, first_size: at } = peel;
    let (first, last) = (dims.keys().next().unwrap_or(&0), dims.keys().last().unwrap_or(&0));
    format!("{size} = {at} + {} for ops {first}-{last}", size - at)
}

/// Byte limit of small values. They are moved in about the time that the ops of a remainder take to start, so a better
/// core split gains nothing.
const SMALL_BYTES: i64 = 1 << 18;

/// Returns the dimensions that may be worth peeling.
fn collect_candidates(function: Op<'_>, target: &Target) -> Vec<PeeledDim> {
    let Ok(items) = suppress_diagnostics(function, || BlockItems::from_block(function, &BTreeMap::new())) else {
        return Vec::new();
    };
    let is_free =
        |op: Op<'_>| [attr::HINTS, attr::WORK_DIV, attr::SPYRE_SYMBOLIC].iter().all(|name| op.attr(name).is_none());
    let is_plain = |op: Op<'_>| ComputeOp::from_op(op).is_some() && is_free(op);
    let names_dims =
        (0..function.body_args().len()).any(|index| argument_attribute(function, index, attr::SPYRE_DIMS).is_some());
    // Nothing is peeled if an op has user hints or the user names dimensions: these programs stay as written.
    if names_dims || !items.list.iter().all(|item| is_plain(item.op)) {
        return Vec::new();
    }
    let (mut ops, mut bytes, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for (item, tiled) in items.list.iter().zip(&items.plain) {
        let may_be_cut = item.compute.is_some_and(|compute| !compute.is_insert() && compute.family() != Family::Gather);
        let may_be_cut =
            (0..tiled.sizes.len()).map(|dim| may_be_cut && dim < tiled.sizes.len() - tiled.num_reduced).collect();
        ops.push(SearchedOp { tiled: tiled.clone(), may_be_tiled: may_be_cut, ..SearchedOp::default() });
        sizes.push(tiled.sizes.clone());
        let result = TensorType::from_type(item.op.output().r#type());
        bytes.push(result.map_or(0, |result| {
            result.shape.iter().product::<i64>() * format_of(result.element).map_or(0, |format| format.bytes())
        }));
    }
    let axes = find_axes_without_carried(&ops, 0..ops.len());
    let mut found = find_peel_candidates(&axes, &sizes, &bytes, target.cores, SMALL_BYTES);
    // The device does not multiply by a single column.
    let is_column = |(&op, &dim): (&usize, &usize)| {
        let family = items.list[op].compute.map(ComputeOp::family);
        family == Some(Family::Matmul) && dim + 1 == sizes[op].len() - items.plain[op].num_reduced
    };
    found.retain(|peel| peel.size - peel.first_size > 1 || !peel.dims.iter().any(is_column));
    found
}

fn peel_function(function: Op<'_>, peel: &PeeledDim) {
    if let Ok(items) = suppress_diagnostics(function, || BlockItems::from_block(function, &BTreeMap::new())) {
        split_ops(function, &items, peel);
    }
}
