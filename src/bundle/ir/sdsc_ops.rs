//! Converts `sdsc` ops and attributes from and to the model of a bundle.

use crate::dialect::{
    OdsEnum,
    ods::{attr, memory, sdsc},
    sdsc_attribute, sdsc_parameters,
};
use crate::{
    bundle::{
        Allocation, Bundle, BundleItem, Coordinate, CoordinateSource, ElementArrangement, IterationDim,
        LaunchLiveRange, LoopSymbol, NamedConstant, OpSpec, OpSpecOperand, OpWindow, OwnedDim, Ownership, SymbolicDim,
        WindowAxis,
    },
    mlir::{
        AffineExpression, Attribute, AttributeList, Context, Location, Op, OpExt, append_op, array_attribute, build_op,
        elements, float_value, integer, integers, map_attribute, map_from_exprs, map_of, map_results, new_block,
        string, string_array, strings, symbol_attribute,
    },
};
use program::layout::CoordinateTerm;

impl OdsEnum for ElementArrangement {
    const ALL: &'static [Self] = &Self::ALL;
}

/// Parameters of an `#sdsc` attribute, by name.
struct AttributeParameters<'c> {
    entries: Vec<(&'c str, Attribute<'c>)>,
}

impl<'c> AttributeParameters<'c> {
    fn from_attribute(attribute: Attribute<'c>) -> Result<Self, String> {
        let entries =
            sdsc_parameters(attribute).ok_or_else(|| format!("expected an #sdsc attribute, found {attribute}"))?;
        Ok(Self { entries })
    }

    fn get(&self, name: &str) -> Option<Attribute<'c>> {
        self.entries.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Reads a parameter that the attribute's definition requires. Panics if it is missing or has another kind.
    fn read_required<T>(&self, name: &str, read: impl FnOnce(Attribute<'c>) -> Option<T>) -> T {
        self.get(name).and_then(read).unwrap_or_else(|| panic!("an #sdsc attribute without '{name}'"))
    }

    fn integer(&self, name: &str) -> i64 {
        self.read_required(name, integer)
    }

    fn enumerated<E: OdsEnum>(&self, name: &str) -> E {
        self.read_required(name, |number| integer(number).and_then(E::from_ods_number))
    }

    fn text(&self, name: &str) -> Option<&'c str> {
        self.get(name).and_then(string)
    }

    fn integers(&self, name: &str) -> Vec<i64> {
        self.get(name).and_then(integers).unwrap_or_default()
    }
}

/// Appends the items of a bundle to the body of `parent`.
pub(crate) fn push_items<'c>(parent: Op<'c>, location: Location<'c>, items: &[BundleItem]) {
    let context = parent.ctx();
    for item in items {
        match item {
            BundleItem::Op(op) => {
                append_op(parent, op_to_ir(context, location, op, None));
            }
            BundleItem::Loop { count, symbol, body } => {
                let mut attributes = AttributeList::new(context).with_int(attr::COUNT, *count);
                if let Some(LoopSymbol { name, dim, tile, granularity }) = symbol {
                    attributes = attributes
                        .with_text(attr::SYMBOL, name)
                        .with_text(attr::DIM, dim)
                        .with_int(attr::TILE, *tile)
                        .with_int(attr::GRANULARITY, *granularity);
                }
                let around = append_op(
                    parent,
                    build_op(sdsc::LOOP, location, &[], &[], attributes, vec![new_block(&[], location)]),
                );
                push_items(around, location, body);
            }
        }
    }
}

/// Builds an `sdsc.bundle` with the buffers of its kernel arguments.
#[must_use]
pub(crate) fn bundle_to_ir<'c>(
    context: &'c Context,
    location: Location<'c>,
    name: &str,
    bundle: &Bundle,
    buffers: &[String],
) -> melior::ir::Operation<'c> {
    let buffers: Vec<Attribute<'c>> = buffers.iter().map(|buffer| symbol_attribute(context, buffer)).collect();
    let attributes = AttributeList::new(context)
        .with_text(attr::SYM_NAME, name)
        .with_attribute(attr::BUFFERS, array_attribute(context, &buffers))
        .with_int(attr::POOL_BYTES, bundle.pool_bytes);
    build_op(sdsc::BUNDLE, location, &[], &[], attributes, vec![new_block(&[], location)])
}

/// Writes the live ranges of a launch on its `sdsc.bundle`, or on the module that replaces it.
pub(crate) fn set_live_ranges(bundle: Op<'_>, mut live_ranges: Vec<LaunchLiveRange>) {
    live_ranges.sort_unstable_by_key(|live_range| (live_range.first, live_range.offset_bytes, *live_range));
    if !live_ranges.is_empty() {
        let texts: Vec<String> = live_ranges.iter().map(ToString::to_string).collect();
        bundle.set_attr(attr::SDSC_LIVES, string_array(bundle.ctx(), &texts));
    }
}

/// Returns the live ranges of a launch.
///
/// # Errors
/// The text of an invalid live range.
pub(crate) fn live_ranges_from_ir(bundle: Op<'_>) -> Result<Vec<LaunchLiveRange>, String> {
    let texts = bundle
        .attr(attr::SDSC_LIVES)
        .map_or(Some(Vec::new()), strings)
        .ok_or_else(|| format!("'{}' must be a list of strings", attr::SDSC_LIVES))?;
    texts.into_iter().map(str::parse).collect()
}

/// Builds an `sdsc.op`; `file` is the name of its SDSC file once the bundle is lowered.
#[must_use]
pub(crate) fn op_to_ir<'c>(
    context: &'c Context,
    location: Location<'c>,
    op: &OpSpec,
    file: Option<&str>,
) -> melior::ir::Operation<'c> {
    let num_dims = op.iteration_space.len();
    let dims: Vec<_> = op
        .iteration_space
        .iter()
        .enumerate()
        .map(|(position, dim)| build_dim_attribute(context, position, dim))
        .collect();
    let tensors = |is_input: bool| {
        let some: Vec<_> = op.operands.iter().filter(|operand| operand.is_input == is_input).collect();
        array_attribute(
            context,
            &some.into_iter().map(|operand| build_tensor_attribute(context, operand, num_dims)).collect::<Vec<_>>(),
        )
    };
    let mut attributes = AttributeList::new(context)
        .with_text(attr::FUNCTION, &op.function)
        .with_option(attr::REDUCTION, op.is_reduction.then(|| Attribute::unit(context)))
        .with_attribute(attr::DIMS, array_attribute(context, &dims))
        .with_attribute(attr::INS, tensors(true))
        .with_attribute(attr::OUTS, tensors(false));
    if !op.constants.is_empty() {
        let constants: Vec<_> =
            op.constants.iter().map(|constant| build_constant_attribute(context, constant)).collect();
        attributes = attributes.with_attribute(attr::CONSTANTS, array_attribute(context, &constants));
    }
    attributes =
        attributes.with_option(attr::WINDOW, op.window.as_ref().map(|window| build_window_attribute(context, window)));
    if let Some(ranges) = &op.node_output_ranges {
        attributes = attributes.with_ints(attr::OUTPUT_RANGES, ranges);
    }
    if let Some(file) = file {
        attributes = attributes.with_text(attr::FILE, file);
    }
    build_op(sdsc::OP, location, &[], &[], attributes, vec![])
}

fn build_dim_attribute<'c>(context: &'c Context, position: usize, dim: &IterationDim) -> Attribute<'c> {
    let name = dim.name.clone().unwrap_or_else(|| format!("c{position}"));
    let granularity = dim.symbolic.as_ref().map_or(1, |symbolic| symbolic.granularity);
    let mut parameters = AttributeList::new(context)
        .with_text("name", &name)
        .with_int("range", dim.range)
        .with_int("split", dim.split)
        .with_int("granularity", granularity);
    parameters = parameters.with_int("divisor", dim.divisor.unwrap_or(0));
    if let Some(symbolic) = &dim.symbolic {
        parameters = parameters.with_text(attr::SYMBOL, &symbolic.symbol);
    }
    sdsc_attribute("dim", parameters)
}

fn build_constant_attribute<'c>(context: &'c Context, constant: &NamedConstant) -> Attribute<'c> {
    sdsc_attribute(
        "constant",
        AttributeList::new(context).with_text("name", &constant.name).with_float("value", constant.value),
    )
}

fn build_window_attribute<'c>(context: &'c Context, window: &OpWindow) -> Attribute<'c> {
    let axis = |axis: &WindowAxis| -> Vec<i64> {
        [axis.kernel, axis.stride, axis.padding, axis.dilation].into_iter().chain(axis.total_size).collect()
    };
    let mut parameters =
        AttributeList::new(context).with_ints("height", &axis(&window.height)).with_ints("width", &axis(&window.width));
    if let Some(pad_type) = &window.pad_type {
        parameters = parameters.with_text("pad_type", pad_type);
    }
    sdsc_attribute("window", parameters)
}

fn build_tensor_attribute<'c>(context: &'c Context, operand: &OpSpecOperand, num_dims: usize) -> Attribute<'c> {
    let (memory, argument) = match operand.allocation {
        Allocation::Hbm { argument, offset_bytes: _ } => (memory::HBM, i64::from(argument)),
        Allocation::Pool { offset_bytes: _ } => (memory::POOL, -1),
        Allocation::Lx { offset_bytes: _ } => (memory::LX, -1),
    };
    let mut index_tensors: Vec<String> = Vec::new();
    let coordinates: Vec<AffineExpression> =
        operand.coordinates.iter().map(|coordinate| build_coordinate_expr(coordinate, &mut index_tensors)).collect();
    let map = map_from_exprs(context, num_dims, index_tensors.len(), &coordinates);
    let mut parameters = AttributeList::new(context)
        .with_int("format", operand.format.ods_number().into())
        .with_ints("device_size", &operand.device_size)
        .with_attribute("coordinates", map_attribute(map))
        .with_int("memory", memory.into())
        .with_int("argument", argument)
        .with_int("offset_bytes", operand.allocation.offset_bytes())
        .with_int("arrangement", operand.arrangement.ods_number().into());
    if !operand.tile_advance.is_empty() {
        parameters = parameters.with_ints("advance", &operand.tile_advance);
    }
    if !index_tensors.is_empty() {
        parameters = parameters.with_attribute("index_tensors", string_array(context, &index_tensors));
    }
    if let Some(name) = &operand.name {
        parameters = parameters.with_text("name", name);
    }
    if let Some(ownership) = &operand.ownership {
        let owner = |owned: &OwnedDim| {
            let dim = i64::try_from(owned.dim).expect("fewer than 2^63");
            sdsc_attribute(
                "owner",
                AttributeList::new(context)
                    .with_int(attr::DIM, dim)
                    .with_int("slices", owned.slices)
                    .with_int("divisor", owned.divisor),
            )
        };
        let owners: Vec<_> = ownership.dims.iter().map(owner).collect();
        parameters = parameters.with_attribute("owners", array_attribute(context, &owners));
    }
    sdsc_attribute("tensor", parameters)
}

/// Converts a coordinate to an affine expression. An index tensor that it reads becomes the next symbol.
fn build_coordinate_expr(coordinate: &Coordinate, index_tensors: &mut Vec<String>) -> AffineExpression {
    let boxed = |value: i64| Box::new(AffineExpression::Constant(value));
    let term = match &coordinate.term {
        None => return AffineExpression::Constant(coordinate.offset),
        Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo, floordiv })) => {
            let digit = match modulo {
                Some(modulo) => AffineExpression::Mod(Box::new(AffineExpression::Dim(*dim)), boxed(*modulo)),
                None => AffineExpression::Dim(*dim),
            };
            match floordiv {
                Some(divisor) => AffineExpression::FloorDiv(Box::new(digit), boxed(*divisor)),
                None => digit,
            }
        }
        Some(CoordinateSource::Indirect(name)) => {
            index_tensors.push(name.clone());
            AffineExpression::Symbol(index_tensors.len() - 1)
        }
    };
    if coordinate.offset == 0 { term } else { AffineExpression::Add(Box::new(term), boxed(coordinate.offset)) }
}

/// Reads the bundle of an `sdsc.bundle`.
///
/// # Errors
/// The op that is no op spec, and the reason.
pub(crate) fn bundle_from_ir<'c>(bundle: Op<'c>) -> Result<Bundle, (Op<'c>, String)> {
    let pool_bytes = bundle.attr(attr::POOL_BYTES).and_then(integer).unwrap_or(0);
    Ok(Bundle { pool_bytes, items: items_from_ir(bundle)? })
}

fn items_from_ir<'c>(parent: Op<'c>) -> Result<Vec<BundleItem>, (Op<'c>, String)> {
    let item = |op: Op<'c>| {
        if op.is(sdsc::LOOP) {
            let count = op.required_attr("count", integer);
            let symbol = op.attr(attr::SYMBOL).and_then(string).map(|name| LoopSymbol {
                name: name.to_owned(),
                dim: op.text_attr(attr::DIM).to_owned(),
                tile: op.required_attr(attr::TILE, integer),
                granularity: op.required_attr(attr::GRANULARITY, integer),
            });
            return Ok(BundleItem::Loop { count, symbol, body: items_from_ir(op)? });
        }
        op_from_ir(op).map(|spec| BundleItem::Op(Box::new(spec))).map_err(|message| (op, message))
    };
    parent.body_ops().into_iter().map(item).collect()
}

/// Reads the op spec of an `sdsc.op`.
///
/// # Errors
/// A message about the invalid attribute.
pub(crate) fn op_from_ir(op: Op<'_>) -> Result<OpSpec, String> {
    if !op.is(sdsc::OP) {
        return Err("is not an op spec; expected 'sdsc.op' or 'sdsc.loop'".to_owned());
    }
    let list = |name: &str| op.attr(name).and_then(elements).unwrap_or_default();
    let mut operands = Vec::new();
    for (name, is_input) in [("ins", true), ("outs", false)] {
        for tensor in list(name) {
            operands.push(operand_from_attribute(tensor, is_input)?);
        }
    }
    let ranges = op.attr(attr::OUTPUT_RANGES).and_then(integers);
    let node_output_ranges = ranges
        .map(|ranges| ranges.try_into().map_err(|_| "expected four 'output_ranges': N, C, H and W".to_owned()))
        .transpose()?;
    Ok(OpSpec {
        function: op.text_attr(attr::FUNCTION).to_owned(),
        is_reduction: op.attr(attr::REDUCTION).is_some(),
        iteration_space: list("dims").into_iter().map(dim_from_attribute).collect::<Result<_, _>>()?,
        operands,
        constants: list("constants").into_iter().map(constant_from_attribute).collect::<Result<_, _>>()?,
        window: op.attr(attr::WINDOW).map(window_from_attribute).transpose()?,
        node_output_ranges,
    })
}

fn dim_from_attribute(from: Attribute<'_>) -> Result<IterationDim, String> {
    let parameters = AttributeParameters::from_attribute(from)?;
    let range = parameters.integer("range");
    let symbolic = parameters.text("symbol").map(|name| SymbolicDim {
        symbol: name.to_owned(),
        max: range,
        granularity: parameters.integer("granularity"),
    });
    let (split, divisor) =
        (parameters.integer("split"), Some(parameters.integer("divisor")).filter(|divisor| *divisor > 0));
    Ok(IterationDim { name: parameters.text("name").map(str::to_owned), range, split, divisor, symbolic })
}

fn constant_from_attribute(from: Attribute<'_>) -> Result<NamedConstant, String> {
    let parameters = AttributeParameters::from_attribute(from)?;
    let value = parameters.read_required("value", float_value);
    Ok(NamedConstant { name: parameters.read_required("name", string).to_owned(), value })
}

fn window_from_attribute(from: Attribute<'_>) -> Result<OpWindow, String> {
    let parameters = AttributeParameters::from_attribute(from)?;
    let axis = |name: &str| {
        let numbers = parameters.read_required(name, integers);
        WindowAxis {
            kernel: numbers[0],
            stride: numbers[1],
            padding: numbers[2],
            dilation: numbers[3],
            total_size: numbers.get(4).copied(),
        }
    };
    Ok(OpWindow {
        height: axis("height"),
        width: axis("width"),
        pad_type: parameters.text("pad_type").map(str::to_owned),
    })
}

fn operand_from_attribute(from: Attribute<'_>, is_input: bool) -> Result<OpSpecOperand, String> {
    let parameters = AttributeParameters::from_attribute(from)?;
    let offset_bytes = parameters.integer("offset_bytes");
    let allocation = match i32::try_from(parameters.integer("memory")).ok() {
        Some(memory::LX) => Allocation::Lx { offset_bytes },
        Some(memory::POOL) => Allocation::Pool { offset_bytes },
        _ => {
            let argument = parameters.integer("argument");
            let argument = u32::try_from(argument)
                .map_err(|_| format!("expected a kernel argument from 0 to {}, found {argument}", u32::MAX))?;
            Allocation::Hbm { argument, offset_bytes }
        }
    };
    let index_tensors = parameters.get("index_tensors").and_then(strings).unwrap_or_default();
    let map = parameters.get("coordinates").and_then(map_of).ok_or("a tensor has no coordinates")?;
    let coordinates =
        map_results(map).iter().map(|expr| coordinate_from_expr(expr, &index_tensors)).collect::<Option<_>>().ok_or_else(|| {
            format!("expected coordinates that are each one dimension, with 'mod' and 'floordiv', plus a constant, found {map}")
        })?;
    Ok(OpSpecOperand {
        is_input,
        format: parameters.enumerated("format"),
        arrangement: parameters.enumerated("arrangement"),
        device_size: parameters.read_required("device_size", integers),
        coordinates,
        allocation,
        tile_advance: parameters.integers("advance"),
        name: parameters.text("name").map(str::to_owned),
        ownership: parameters.get("owners").and_then(elements).map(ownership_from_attributes).transpose()?,
    })
}

fn ownership_from_attributes(owners: Vec<Attribute<'_>>) -> Result<Ownership, String> {
    let owner = |from: Attribute<'_>| {
        let parameters = AttributeParameters::from_attribute(from)?;
        let dim = usize::try_from(parameters.integer("dim")).expect("the dimension of an owner is not negative");
        Ok(OwnedDim { dim, slices: parameters.integer("slices"), divisor: parameters.integer("divisor") })
    };
    Ok(Ownership { dims: owners.into_iter().map(owner).collect::<Result<_, String>>()? })
}

/// Converts an affine expression to a coordinate; `None` if it is not a mixed-radix term of one dimension plus a
/// number.
fn coordinate_from_expr(expr: &AffineExpression, index_tensors: &[&str]) -> Option<Coordinate> {
    let number =
        |expr: &AffineExpression| if let AffineExpression::Constant(value) = expr { Some(*value) } else { None };
    let (term, offset) = match expr {
        AffineExpression::Constant(value) => return Some(Coordinate::constant(*value)),
        AffineExpression::Add(term, offset) => (term.as_ref(), number(offset)?),
        other => (other, 0),
    };
    let term = match term {
        AffineExpression::Symbol(position) => CoordinateSource::Indirect((*index_tensors.get(*position)?).to_owned()),
        AffineExpression::FloorDiv(digit, divisor) => {
            let (dim, modulo) = term_from_expr(digit)?;
            CoordinateSource::Digits(CoordinateTerm { dim, modulo, floordiv: Some(number(divisor)?) })
        }
        other => {
            let (dim, modulo) = term_from_expr(other)?;
            CoordinateSource::Digits(CoordinateTerm { dim, modulo, floordiv: None })
        }
    };
    Some(Coordinate { term: Some(term), offset })
}

fn term_from_expr(expr: &AffineExpression) -> Option<(usize, Option<i64>)> {
    match expr {
        AffineExpression::Dim(dim) => Some((*dim, None)),
        AffineExpression::Mod(dim, modulo) => match (dim.as_ref(), modulo.as_ref()) {
            (AffineExpression::Dim(dim), AffineExpression::Constant(modulo)) => Some((*dim, Some(*modulo))),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::ElementArrangement;
    use crate::dialect::ods::arrangement;

    #[test]
    fn matches_order_of_arrangements_in_ods() {
        assert_eq!(ElementArrangement::ALL.map(ElementArrangement::name), arrangement::NAMES);
    }
}
