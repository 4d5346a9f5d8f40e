//! Reads kernels from the shared JSON data: iteration spaces, core splits and tensor locations of their ops.
//!
//! A file has `entries` (or `vectors`), each with an `id` and `ops`. The ops of an entry form one kernel, unless `fuse`
//! is false or a foreign op (`{"foreign": true}`) separates them. Other keys are ignored.

use crate::{
    CostFormula, Dim, Loop, OpKind, OpShape, OperandShape, TimeEstimate, estimate_kernel_time, extract_features,
};
use machine::{STICK_BYTES, TimeModel};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelEntry {
    /// Name of the entry.
    pub id: String,
    /// Kernels in program order.
    pub kernels: Vec<Vec<OpShape>>,
}

impl KernelEntry {
    /// Returns the cost of all kernels, executed one after the other.
    #[must_use]
    pub fn estimate_time(&self, model: &TimeModel, formula: CostFormula) -> TimeEstimate {
        let add = |sum: TimeEstimate, kernel: &Vec<OpShape>| {
            let price = estimate_kernel_time(&extract_features(kernel), model, formula);
            TimeEstimate {
                low_ns: sum.low_ns + price.low_ns,
                estimate_ns: sum.estimate_ns + price.estimate_ns,
                high_ns: sum.high_ns + price.high_ns,
                is_ranked: sum.is_ranked && price.is_ranked,
                ..price
            }
        };
        self.kernels.iter().fold(TimeEstimate { is_ranked: true, ..TimeEstimate::default() }, add)
    }
}

#[derive(Deserialize)]
struct JsonFile {
    #[serde(alias = "vectors")]
    entries: Vec<JsonEntry>,
}

#[derive(Deserialize)]
struct JsonEntry {
    id: String,
    ops: Vec<JsonOp>,
    #[serde(default = "yes")]
    fuse: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(untagged)]
enum JsonOp {
    Foreign {
        #[serde(rename = "foreign")]
        _foreign: bool,
    },
    Known(Box<JsonKernelOp>),
}

#[derive(Deserialize)]
struct JsonKernelOp {
    kind: String,
    /// Dimensions sorted by name, which is their order: an outer dimension has a smaller name.
    iter_space: BTreeMap<String, i64>,
    reduction_dims: Vec<String>,
    #[serde(default)]
    core_splits: BTreeMap<String, i64>,
    #[serde(default, rename = "loop")]
    around: Option<JsonLoops>,
    dtype_bytes: i64,
    tensors: Vec<JsonTensor>,
}

#[derive(Deserialize)]
struct JsonLoops {
    counts: Vec<i64>,
    tiles: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct JsonTensor {
    name: String,
    role: String,
    mem: String,
    logical: Vec<i64>,
    device: Vec<i64>,
    device_bytes: i64,
    index: BTreeMap<String, i64>,
}

/// Reads a file.
///
/// # Errors
/// If the file violates the schema, or has a number that no kernel has.
pub fn read_kernel_entries(text: &str) -> Result<Vec<KernelEntry>, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let file: JsonFile = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| error.to_string())?;
    file.entries.iter().map(convert_entry).collect()
}

fn convert_entry(entry: &JsonEntry) -> Result<KernelEntry, String> {
    let (mut names, mut kernels) = (Vec::new(), vec![Vec::new()]);
    for (number, op) in entry.ops.iter().enumerate() {
        let mut next = Vec::new();
        if let JsonOp::Known(op) = op {
            next.push(
                convert_op(op, &mut names)
                    .map_err(|message| format!("entry '{}', op {number}: {message}", entry.id))?,
            );
        }
        let ends = next.is_empty() || !entry.fuse;
        if let Some(kernel) = kernels.last_mut() {
            kernel.extend(next);
        }
        if ends {
            kernels.push(Vec::new());
        }
    }
    kernels.retain(|kernel| !kernel.is_empty());
    Ok(KernelEntry { id: entry.id.clone(), kernels })
}

/// Maximum of points, bytes and executions: integers up to it are exact in a float.
const MAX_EXACT_INTEGER: i64 = 1 << 53;

fn check_positive(what: &str, number: i64) -> Result<i64, String> {
    if (1..=MAX_EXACT_INTEGER).contains(&number) {
        Ok(number)
    } else {
        Err(format!("{what} is {number}, and must be from 1 to {MAX_EXACT_INTEGER}"))
    }
}

fn compute_checked_product(what: &str, numbers: impl IntoIterator<Item = i64>) -> Result<i64, String> {
    let product = numbers
        .into_iter()
        .try_fold(1_i64, |product, number| product.checked_mul(number).filter(|product| *product <= MAX_EXACT_INTEGER));
    product.ok_or_else(|| format!("{what} are more than {MAX_EXACT_INTEGER}"))
}

fn convert_op(op: &JsonKernelOp, names: &mut Vec<String>) -> Result<OpShape, String> {
    let position = |name: &str| {
        let found = op.iter_space.keys().position(|key| key == name);
        found.ok_or_else(|| format!("'{name}' is no dimension of 'iter_space'"))
    };
    let mut dims = Vec::with_capacity(op.iter_space.len());
    for (name, &extent) in &op.iter_space {
        let slices =
            check_positive(&format!("the slices of '{name}'"), op.core_splits.get(name).copied().unwrap_or(1))?;
        let is_reduced = op.reduction_dims.iter().any(|reduced| reduced == name);
        dims.push(Dim { extent: check_positive(&format!("the extent of '{name}'"), extent)?, slices, is_reduced });
    }
    op.reduction_dims.iter().chain(op.core_splits.keys()).try_for_each(|name| position(name).map(|_| ()))?;
    let mut loops = Vec::new();
    if let Some(around) = &op.around {
        if around.counts.len() != around.tiles.len() {
            return Err(format!(
                "expected as many 'tiles' as 'counts' of a loop, found {} and {}",
                around.tiles.len(),
                around.counts.len()
            ));
        }
        for (&trips, tiles) in around.counts.iter().zip(&around.tiles) {
            // A loop over a dimension that the op does not have repeats the op.
            let tiled = tiles.iter().filter_map(|name| position(name).ok()).collect();
            loops.push(Loop { trips: check_positive("the count of a loop", trips)?, tiled });
        }
    }
    let trips = compute_checked_product("executions", loops.iter().map(|around| around.trips))?;
    compute_checked_product("points", dims.iter().map(|dim| dim.extent).chain([trips]))?;
    compute_checked_product("cores", dims.iter().map(|dim| dim.slices))?;
    let mut operands = Vec::with_capacity(op.tensors.len());
    for tensor in &op.tensors {
        let element_bytes = check_positive("'dtype_bytes'", op.dtype_bytes)?;
        let operand = convert_operand(tensor, element_bytes, &position, names)
            .map_err(|message| format!("tensor '{}': {message}", tensor.name))?;
        compute_checked_product("bytes of all executions", [operand.device_bytes, trips])?;
        operands.push(operand);
    }
    operands.sort_by_key(|operand| operand.is_output);
    let kind = match op.kind.as_str() {
        "pointwise" => OpKind::Pointwise,
        "reduction" => OpKind::Reduction,
        "matmul" => OpKind::Matmul,
        other => return Err(format!("the kind '{other}' is none of pointwise, reduction and matmul")),
    };
    Ok(OpShape { kind, dims, loops, operands, is_irregular: false, shuffle: None })
}

fn convert_operand(
    tensor: &JsonTensor,
    element_bytes: i64,
    position: &dyn Fn(&str) -> Result<usize, String>,
    names: &mut Vec<String>,
) -> Result<OperandShape, String> {
    let buffer = names.iter().position(|known| *known == tensor.name).unwrap_or_else(|| {
        names.push(tensor.name.clone());
        names.len() - 1
    });
    let strides =
        tensor.index.iter().map(|(dim, stride)| Ok((position(dim)?, *stride))).collect::<Result<Vec<_>, String>>()?;
    let elements = compute_checked_product(
        "elements",
        tensor.logical.iter().map(|size| check_positive("a size", *size)).collect::<Result<Vec<_>, _>>()?,
    )?;
    let device_bytes = check_positive("'device_bytes'", tensor.device_bytes)?;
    // A stick of a sparse tensor holds one element.
    let is_sparse = elements == 1 || device_bytes / STICK_BYTES >= elements;
    let dim_of = |stride: i64| strides.iter().find(|(_, known)| *known == stride).map(|(dim, _)| *dim);
    // By default, torch-spyre puts the outermost of three dimensions between the sticks.
    let inner = match (tensor.logical.as_slice(), tensor.device.as_slice()) {
        ([outer, middle, last], [first, .., between, _]) if between == outer && first == middle => {
            dim_of(middle * last)
        }
        ([_, _, last] | [_, last], _) => dim_of(*last),
        _ => None,
    };
    Ok(OperandShape {
        buffer,
        is_output: tensor.role == "output",
        is_kernel_input: tensor.name.starts_with("arg"),
        is_in_lx: tensor.mem == "lx",
        device_bytes,
        element_bytes,
        moved_by: strides.iter().map(|(dim, _)| *dim).collect(),
        stick: dim_of(1).filter(|_| !is_sparse),
        inner,
    })
}
