//! Decides which modules may be run. A module may come from anyone, and compiled code may call the system, read any
//! address or never terminate. Ops on tensors cannot.

use crate::{
    dialect::ods::tm_tensor,
    mlir::{BlockExt, Op, OpExt, TensorType, Value, ValueExt, ValueLike, integer, shape_of, symbol_name},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Allowed ops of dialects other than `linalg`, `arith` and `math`. None of them changes a tensor in place, branches,
/// or requests a size at runtime.
const ALLOWED_OPS: [&str; 33] = [
    "affine.apply",
    "builtin.module",
    "cf.assert",
    "func.call",
    "func.func",
    "func.return",
    "scf.condition",
    "scf.for",
    "scf.if",
    "scf.while",
    "scf.yield",
    "tensor.bitcast",
    "tensor.cast",
    "tensor.collapse_shape",
    "tensor.concat",
    "tensor.dim",
    "tensor.empty",
    "tensor.expand_shape",
    "tensor.extract",
    "tensor.extract_slice",
    "tensor.from_elements",
    "tensor.generate",
    "tensor.insert_slice",
    "tensor.pad",
    "tensor.reshape",
    "tensor.splat",
    "tensor.yield",
    tm_tensor::ATTENTION,
    tm_tensor::SCAN,
    tm_tensor::SCATTER,
    tm_tensor::SORT,
    tm_tensor::TOPK,
    tm_tensor::YIELD,
];

/// Limits of a run of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReferenceLimits {
    /// Maximum bytes of all tensors in f64, without sharing of memory.
    pub max_bytes: i64,
    /// Maximum number of steps: one per op and loop iteration; for a `linalg` op, one per element of its largest
    /// tensor.
    pub max_steps: i64,
    /// Minimum number of steps for which code is optimized. For fewer steps, LLVM's optimizer takes longer than the
    /// unoptimized code.
    pub optimized_steps: i64,
}

impl Default for ReferenceLimits {
    fn default() -> Self {
        Self { max_bytes: 1 << 34, max_steps: 1 << 40, optimized_steps: 1 << 26 }
    }
}

/// Maximum iterations of a loop with a computed condition; `dialects/bridge/Reference.cpp` enforces it.
const MAX_WHILE_ITERATIONS: i64 = 1024;

/// Rejects modules that may not be run; returns whether the module runs long enough to be worth optimizing.
pub(super) fn check_runnable(module: Op<'_>, effort: &ReferenceLimits) -> Result<bool, String> {
    let ReferenceLimits { max_bytes, max_steps, optimized_steps } = *effort;
    let functions: BTreeMap<&str, Op<'_>> = module
        .body_ops()
        .into_iter()
        .filter(|op| op.is("func.func"))
        .map(|function| (function.text_attr("sym_name"), function))
        .collect();
    let mut bytes = 0_i64;
    for op in module.nested() {
        let name = op.full_name();
        let is_known = ALLOWED_OPS.contains(&name)
            || ["linalg.", "arith.", "math."].iter().any(|dialect| name.starts_with(dialect));
        if !is_known {
            return Err(format!("has '{name}' at {}; expected only functions of linalg on tensors", op.loc()));
        }
        // Views are counted too, so the bound is loose.
        for value in op.outputs() {
            bytes = bytes.saturating_add(num_elements(value).saturating_mul(8));
        }
    }
    if bytes > max_bytes {
        return Err(format!("has tensors of {bytes} bytes in f64, more than the limit of {max_bytes}"));
    }
    let mut steps = StepCounter { functions, known: BTreeMap::new() };
    let mut most = 0;
    for function in module.body_ops() {
        let found = steps.count_op(function)?;
        if found > max_steps {
            return Err(format!("takes {found} steps at {}, more than the limit of {max_steps}", function.loc()));
        }
        most = most.max(found);
    }
    Ok(most >= optimized_steps)
}

fn num_elements(value: Value<'_>) -> i64 {
    TensorType::from_type(value.r#type())
        .map_or(0, |tensor| tensor.shape.iter().fold(1, |elements: i64, size| elements.saturating_mul(*size)))
}

/// Counts the steps of a module.
struct StepCounter<'c> {
    functions: BTreeMap<&'c str, Op<'c>>,
    /// Steps of each called function; `None` while the function is being counted.
    known: BTreeMap<&'c str, Option<i64>>,
}

impl<'c> StepCounter<'c> {
    fn count_op(&mut self, op: Op<'c>) -> Result<i64, String> {
        let mut steps = 1_i64;
        for inner in op.bodies().into_iter().flat_map(BlockExt::ops) {
            steps = steps.saturating_add(self.count_op(inner)?);
        }
        Ok(match op.full_name() {
            "scf.for" => steps.saturating_mul(trip_count(op)?),
            // The reference limits the iterations of this loop.
            "scf.while" => steps.saturating_mul(MAX_WHILE_ITERATIONS),
            "func.call" => self.count_call(op)?,
            // Each query is multiplied by each key, and each result element is a sum over the keys.
            tm_tensor::ATTENTION => {
                let num_keys = shape_of(op.inputs()[1]).iter().rev().nth(1).copied().unwrap_or(1);
                let elements = num_elements(op.inputs()[0]).saturating_add(num_elements(op.output()));
                steps.saturating_mul(num_keys).saturating_mul(elements)
            }
            name if name.starts_with("linalg.")
                || name == "tensor.generate"
                || [tm_tensor::SCAN, tm_tensor::SCATTER, tm_tensor::SORT, tm_tensor::TOPK].contains(&name) =>
            {
                steps.saturating_mul(op.inputs().into_iter().chain(op.outputs()).map(num_elements).max().unwrap_or(1))
            }
            _ => steps,
        })
    }

    fn count_call(&mut self, call: Op<'c>) -> Result<i64, String> {
        let name = call.required_attr("callee", symbol_name);
        let Some((&name, &callee)) = self.functions.get_key_value(name).filter(|(_, callee)| callee.body().is_some())
        else {
            return Err(format!("calls '{name}' at {}, which has no body", call.loc()));
        };
        match self.known.get(name) {
            Some(Some(known)) => Ok(*known),
            Some(None) => Err(format!("has a recursive function '{name}' at {}, which may not end", call.loc())),
            None => {
                self.known.insert(name, None);
                let steps = self.count_op(callee)?;
                self.known.insert(name, Some(steps));
                Ok(steps)
            }
        }
    }
}

/// Returns an upper bound on the trip count of a loop.
fn trip_count(op: Op<'_>) -> Result<i64, String> {
    let constant = |index: usize| {
        op.inputs().get(index)?.def().filter(|def| def.is("arith.constant"))?.attr("value").and_then(integer)
    };
    match (constant(0), constant(1), constant(2)) {
        (Some(from), Some(to), Some(step)) if step > 0 => Ok((to.saturating_sub(from).max(0) / step).saturating_add(1)),
        _ => Err(format!("has a loop at {} whose bounds are not constants, which may not end", op.loc())),
    }
}
