//! Reads a bundle of op specs from JSON: the format of the golden `case.json` ("golden README"), which is the output of
//! torch-spyre's front half.
//!
//! ```text
//! {"pool_bytes": 0, "program": [{"op": "add", "is_reduction": false,
//!    "iteration_space": [{"name": "c0", "range": 128, "split": 2}, ...],
//!    "args": [{"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16",
//!              "device_size": [4, 128, 64], "device_coordinates": ["c1 floordiv 64", "c0", "c1 mod 64"]}, ...]}]}
//! ```

use super::affine_text::{self, AffineError};
use crate::bundle::{
    Allocation, Bundle, BundleItem, ElementArrangement, IterationDim, NamedConstant, OpSpec, OpSpecOperand, OpWindow,
    OwnedDim, Ownership, SymbolicDim, WindowAxis,
};
use machine::DeviceFormat;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Display;

/// Reason why a case is not a bundle. The text starts with the JSON path of the error.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The JSON does not match the schema.
    #[error("{0}")]
    Shape(#[from] serde_path_to_error::Error<serde_json::Error>),
    /// A value is invalid.
    #[error("{path}: {what}")]
    Value {
        /// JSON path of the value.
        path: String,
        /// Description of the error.
        what: String,
    },
}

/// Reads the bundle of a `case.json`.
///
/// # Errors
///
/// If the text is not JSON, has an unknown field or an invalid value.
pub fn read_case(text: &str) -> Result<Bundle, CaseError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let case: CaseFile = serde_path_to_error::deserialize(&mut deserializer)?;
    deserializer.end().or_else(|error| value_error("end", error))?;
    let items = read_items(&case.program, "program")?;
    Ok(Bundle { pool_bytes: case.pool_bytes, items })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields that describe a case to people are accepted and not used")]
struct CaseFile {
    #[serde(default)]
    name: String,
    #[serde(default)]
    family: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    origin: String,
    #[serde(default)]
    torch_spyre_commit: String,
    #[serde(default)]
    pool_bytes: i64,
    #[serde(default)]
    args: Vec<serde_json::Value>,
    program: Vec<CaseItem>,
    #[serde(default)]
    unknown_constants: Vec<serde_json::Value>,
    #[serde(default)]
    rounding_sensitive_constants: Vec<serde_json::Value>,
}

/// Op or loop. One struct reads both, so that an error names the field and not only the item.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseItem {
    r#loop: Option<i64>,
    body: Option<Vec<CaseItem>>,
    op: Option<String>,
    is_reduction: Option<bool>,
    iteration_space: Option<Vec<CaseDim>>,
    args: Option<Vec<CaseOperand>>,
    constants: Option<BTreeMap<String, CaseValue>>,
    constants_order: Option<Vec<String>>,
    /// Front ends attach more parameters than emission reads, so this field and `other_info` accept any member.
    conv_params: Option<BTreeMap<String, CaseValue>>,
    node_output_ranges: Option<[i64; 4]>,
    other_info: Option<CaseValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseDim {
    name: String,
    range: i64,
    split: i64,
    symbolic: Option<CaseSymbolic>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseSymbolic {
    symbol: String,
    max: i64,
    granularity: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseOperand {
    is_input: bool,
    arg_index: Option<i64>,
    allocation: CaseAllocation,
    dtype: String,
    element_arrangement: Option<String>,
    device_size: Vec<i64>,
    device_coordinates: Vec<String>,
    tile_advance: Option<Vec<i64>>,
    name: Option<String>,
    work_division: Option<CaseDivision>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseAllocation {
    hbm: Option<i64>,
    lx: Option<i64>,
    pool: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseDivision {
    slices: BTreeMap<String, i64>,
    core_to_slice: BTreeMap<String, String>,
}

/// Constant or parameter.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum CaseValue {
    Truth(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Object(BTreeMap<String, CaseValue>),
    Other(serde::de::IgnoredAny),
}

impl CaseValue {
    fn as_number(&self) -> Option<f64> {
        match self {
            Self::Truth(value) => Some(f64::from(u8::from(*value))),
            #[expect(clippy::cast_precision_loss, reason = "a constant of an op is a float in the end")]
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            Self::Text(text) => text.parse().ok(),
            Self::Object(_) | Self::Other(_) => None,
        }
    }

    fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Truth(_) | Self::Number(_) | Self::Text(_) | Self::Object(_) | Self::Other(_) => None,
        }
    }

    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Truth(_) | Self::Integer(_) | Self::Number(_) | Self::Object(_) | Self::Other(_) => None,
        }
    }

    fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Truth(_) | Self::Integer(_) | Self::Number(_) | Self::Text(_) | Self::Other(_) => None,
        }
    }
}

fn value_error<T>(path: impl Into<String>, what: impl Display) -> Result<T, CaseError> {
    Err(CaseError::Value { path: path.into(), what: what.to_string() })
}

fn require_field<T>(value: Option<T>, path: &str, field: &str) -> Result<T, CaseError> {
    value.map_or_else(|| value_error(path, format_args!("missing field '{field}'")), Ok)
}

fn read_items(program: &[CaseItem], path: &str) -> Result<Vec<BundleItem>, CaseError> {
    let mut items = Vec::with_capacity(program.len());
    for (index, item) in program.iter().enumerate() {
        let path = format!("{path}[{index}]");
        items.push(match (item.r#loop, &item.op) {
            (Some(count), None) => {
                let body = require_field(item.body.as_ref(), &path, "body")?;
                BundleItem::Loop { count, symbol: None, body: self::read_items(body, &format!("{path}.body"))? }
            }
            (None, Some(function)) => BundleItem::Op(Box::new(read_op(item, function, &path)?)),
            (Some(_), Some(_)) => return value_error(path, "both 'loop' and 'op'; an item is one of them"),
            (None, None) => return value_error(path, "neither 'loop' nor 'op'; an item is one of them"),
        });
    }
    Ok(items)
}

fn read_op(item: &CaseItem, function: &str, path: &str) -> Result<OpSpec, CaseError> {
    let dims = require_field(item.iteration_space.as_ref(), path, "iteration_space")?;
    let names: Vec<_> = dims.iter().map(|dim| dim.name.as_str()).collect();
    // The check of the op rejects an excessive number of cores; the limit only bounds the time of this loop.
    let cores = dims.iter().fold(1_i64, |product, dim| product.saturating_mul(dim.split)).min(1024);
    let operands = require_field(item.args.as_ref(), path, "args")?;
    let operands = operands
        .iter()
        .enumerate()
        .map(|(index, case)| read_operand(case, &names, cores, &format!("{path}.args[{index}]")));
    Ok(OpSpec {
        function: function.to_owned(),
        is_reduction: require_field(item.is_reduction, path, "is_reduction")?,
        iteration_space: dims.iter().map(read_iteration_dim).collect(),
        operands: operands.collect::<Result<_, _>>()?,
        constants: read_constants(item, function, path)?,
        window: read_window(item, function),
        node_output_ranges: item.node_output_ranges,
    })
}

fn read_iteration_dim(dim: &CaseDim) -> IterationDim {
    let symbolic = dim.symbolic.as_ref().map(|symbolic| SymbolicDim {
        symbol: symbolic.symbol.clone(),
        max: symbolic.max,
        granularity: symbolic.granularity,
    });
    IterationDim { name: Some(dim.name.clone()), range: dim.range, split: dim.split, divisor: None, symbolic }
}

fn read_operand(case: &CaseOperand, names: &[&str], cores: i64, path: &str) -> Result<OpSpecOperand, CaseError> {
    let position = |name: &str| names.iter().position(|known| *known == name);
    let mut coordinates = Vec::with_capacity(case.device_coordinates.len());
    for (index, text) in case.device_coordinates.iter().enumerate() {
        let read = affine_text::parse_coordinate(text, &position);
        coordinates.push(read.or_else(|error| value_error(format!("{path}.device_coordinates[{index}]"), error))?);
    }
    let format: DeviceFormat = case.dtype.parse().or_else(|error| value_error(format!("{path}.dtype"), error))?;
    let ownership = case
        .work_division
        .as_ref()
        .map(|division| read_ownership(division, names, cores, &format!("{path}.work_division")));
    Ok(OpSpecOperand {
        is_input: case.is_input,
        format,
        arrangement: read_arrangement(case, path)?,
        device_size: case.device_size.clone(),
        coordinates,
        allocation: read_allocation(case, path)?,
        tile_advance: case.tile_advance.clone().unwrap_or_default(),
        name: case.name.clone(),
        ownership: ownership.transpose()?,
    })
}

fn read_arrangement(case: &CaseOperand, path: &str) -> Result<ElementArrangement, CaseError> {
    let Some(name) = &case.element_arrangement else { return Ok(ElementArrangement::Standard) };
    let known = ElementArrangement::ALL.into_iter().find(|arrangement| arrangement.name() == name);
    known.map_or_else(
        || value_error(format!("{path}.element_arrangement"), format_args!("unknown element arrangement '{name}'")),
        Ok,
    )
}

fn read_allocation(case: &CaseOperand, path: &str) -> Result<Allocation, CaseError> {
    match (case.allocation.hbm, case.allocation.pool, case.allocation.lx) {
        (Some(offset_bytes), None, None) => {
            let argument = case.arg_index.and_then(|index| u32::try_from(index).ok());
            Ok(Allocation::Hbm { argument: require_field(argument, path, "arg_index")?, offset_bytes })
        }
        (None, Some(offset_bytes), None) => Ok(Allocation::Pool { offset_bytes }),
        (None, None, Some(offset_bytes)) => Ok(Allocation::Lx { offset_bytes }),
        _ => value_error(format!("{path}.allocation"), "must have exactly one of 'hbm', 'pool' and 'lx'"),
    }
}

/// Reads the assignment of slices to cores. A case states slices as expressions of the core, which must form a
/// mixed-radix number.
fn read_ownership(division: &CaseDivision, names: &[&str], cores: i64, path: &str) -> Result<Ownership, CaseError> {
    let mut dims = Vec::new();
    for (name, slices) in &division.slices {
        let Some(dim) = names.iter().position(|known| known == name) else {
            return value_error(format!("{path}.slices"), format_args!("'{name}' is no iteration dimension"));
        };
        if *slices > 1 {
            let path = format!("{path}.core_to_slice.{name}");
            let text = require_field(division.core_to_slice.get(name), &path, name)?;
            let owned = read_owned_dim(dim, *slices, cores, text).or_else(|error| value_error(&path, error))?;
            dims.push(owned.map_or_else(
                || {
                    value_error(
                        &path,
                        format_args!("'{text}' does not give the {cores} cores {slices} slices in equal runs"),
                    )
                },
                Ok,
            )?);
        }
    }
    dims.sort_by_key(|owned| owned.dim);
    Ok(Ownership { dims })
}

/// Reads the slices of one dimension; `None` if consecutive cores do not have the slices in equal runs.
fn read_owned_dim(dim: usize, slices: i64, cores: i64, text: &str) -> Result<Option<OwnedDim>, AffineError> {
    let mut divisor = None;
    for core in 0..cores {
        let slice = affine_text::parse_slice(text, core)?;
        if slice == 1 && divisor.is_none() {
            divisor = Some(core);
        }
        // All cores before the first core of slice 1 have slice 0.
        if slice != divisor.map_or(0, |divisor| core / divisor.max(1) % slices) {
            return Ok(None);
        }
    }
    Ok(divisor.map(|divisor| OwnedDim { dim, slices, divisor }))
}

/// Reads the named constants. For a pooling, whose window the front end also passes as constants, only the scale is
/// one.
fn read_constants(item: &CaseItem, function: &str, path: &str) -> Result<Vec<NamedConstant>, CaseError> {
    let Some(values) = &item.constants else { return Ok(Vec::new()) };
    let mut order = item.constants_order.clone().unwrap_or_else(|| values.keys().cloned().collect());
    if order.len() != values.len() {
        return value_error(
            format!("{path}.constants_order"),
            format_args!("{} names for {} constants", order.len(), values.len()),
        );
    }
    order.retain(|name| function != POOL_FUNCTION || name == "scaling_factor");
    let read = |name: String| {
        let path = format!("{path}.constants.{name}");
        let value = require_field(values.get(&name), &path, &name)?.as_number();
        Ok(NamedConstant { name, value: value.map_or_else(|| value_error(path, "is no number"), Ok)? })
    };
    order.into_iter().map(read).collect()
}

const POOL_FUNCTION: &str = "avgpoolfwd";

/// Reads the window from the parameters of each windowed op.
fn read_window(item: &CaseItem, function: &str) -> Option<OpWindow> {
    if !matches!(function, POOL_FUNCTION | "conv2d" | "depthwiseconv2dnative") {
        return None;
    }
    let other = item.other_info.as_ref().and_then(CaseValue::as_object);
    let nested = other.into_iter().flat_map(BTreeMap::values).filter_map(CaseValue::as_object);
    let sources: Vec<_> =
        [item.conv_params.as_ref(), item.constants.as_ref(), other].into_iter().flatten().chain(nested).collect();
    let find = |names: &[&str]| names.iter().find_map(|name| sources.iter().find_map(|source| source.get(*name)));
    let number = |names: &[&str]| find(names).and_then(CaseValue::as_integer);
    let axis = |kernel: &str, stride: [&str; 2], padding: [&str; 2], dilation: [&str; 2], total: &str| WindowAxis {
        kernel: number(&[kernel]).unwrap_or(1),
        stride: number(&stride).unwrap_or(1),
        padding: number(&padding).unwrap_or(0),
        dilation: number(&dilation).unwrap_or(1),
        total_size: number(&[total]),
    };
    Some(OpWindow {
        height: axis("kernel_h", ["stride_h", "stride_i"], ["pad_h", "pad_i"], ["dil_h", "dilation_i"], "total_size_i"),
        width: axis("kernel_w", ["stride_w", "stride_j"], ["pad_w", "pad_j"], ["dil_w", "dilation_j"], "total_size_j"),
        pad_type: find(&["pad_type"]).and_then(CaseValue::as_text).map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERAND: &str = r#"{"is_input": true, "arg_index": 0, "allocation": {"hbm": 0}, "dtype": "SEN169_FP16",
        "device_size": [2, 64], "device_coordinates": ["c0 floordiv 64", "c0 mod 64"]}"#;

    fn case(operand: &str) -> String {
        let op = format!(
            r#"{{"op": "neg", "is_reduction": false, "iteration_space": [{{"name": "c0", "range": 128, "split": 1}}],
            "args": [{OPERAND}, {operand}]}}"#
        );
        format!(r#"{{"program": [{{"loop": 2, "body": [{op}]}}]}}"#)
    }

    #[test]
    fn reads_loop_and_op() {
        let bundle = read_case(&case(OPERAND)).unwrap();
        assert_eq!(bundle.ops()[0].operands.len(), 2);
        assert_eq!(bundle.ops()[0].operands[0].allocation, Allocation::Hbm { argument: 0, offset_bytes: 0 });
    }

    #[test]
    fn names_path_of_error() {
        let unknown = read_case(&case(&OPERAND.replace("is_input", "is_inputs"))).unwrap_err().to_string();
        assert!(unknown.starts_with("program[0].body[0].args[1]"), "{unknown}");
        let coordinate = read_case(&case(&OPERAND.replace("c0 mod 64", "c7"))).unwrap_err().to_string();
        assert_eq!(
            coordinate,
            "program[0].body[0].args[1].device_coordinates[1]: 'c7', character 1: 'c7' is no iteration dimension"
        );
        let allocation =
            read_case(&case(&OPERAND.replace("\"hbm\": 0", "\"hbm\": 0, \"lx\": 0"))).unwrap_err().to_string();
        assert_eq!(
            allocation,
            "program[0].body[0].args[1].allocation: must have exactly one of 'hbm', 'pool' and 'lx'"
        );
        let trailing = read_case(&format!("{} 1", case(OPERAND))).unwrap_err().to_string();
        assert!(trailing.starts_with("end: trailing characters"), "{trailing}");
    }

    #[test]
    fn rejects_ownership_that_is_not_mixed_radix() {
        assert_eq!(
            read_owned_dim(1, 2, 8, "(core_id floordiv 4) mod 2"),
            Ok(Some(OwnedDim { dim: 1, slices: 2, divisor: 4 }))
        );
        for other in ["core_id mod 3", "0", "1", "1 - core_id mod 2", "core_id"] {
            assert_eq!(read_owned_dim(1, 2, 8, other), Ok(None), "{other}");
        }
    }
}
